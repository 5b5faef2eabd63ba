// SPDX-License-Identifier: Apache-2.0
// The conformance suite of MCP, of which one process runs many scenarios: to start takes longer than a scenario.
//
//     node conformance.mjs index.js    each line of stdin {"args": […], "env": {…}}, of stdout {"status", "output"}
//
// The suite is a program that ends by process.exit(). It is read again for each scenario, and so keeps nothing of the
// scenario before; the packages that it imports are read once, and take nearly all the time.
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const suite = pathToFileURL(process.argv[2]).href;
const write = process.stdout.write.bind(process.stdout);
let runs = 0;

for await (const line of createInterface({ input: process.stdin })) {
	const { args, env } = JSON.parse(line);
	let output = "";
	process.stdout.write = process.stderr.write = (text) => ((output += text), true);
	process.argv.splice(2, Infinity, ...args);
	Object.assign(process.env, env);
	const status = await new Promise((end, fail) => {
		process.exit = end;
		import(`${suite}?${runs++}`).catch(fail);
	});
	write(JSON.stringify({ status, output }) + "\n");
}
