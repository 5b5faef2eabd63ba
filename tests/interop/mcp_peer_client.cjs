// SPDX-License-Identifier: Apache-2.0
// A client of the TypeScript SDKs, for test_mcp_clients: lists, calls, fails, has progress, and cancels.
//
//   node mcp_peer_client.cjs v1|v2|modern URL
//   node mcp_peer_client.cjs v1|v2|modern COMMAND ARGUMENT…
//
// It prints one line of JSON with what came of that.
const [kind, target, ...args] = process.argv.slice(2);
const isUrl = /^https?:/.test(target);

function open() {
	const who = { name: "peer", version: "1" };
	if (kind === "v1") {
		const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
		const { StreamableHTTPClientTransport } = require("@modelcontextprotocol/sdk/client/streamableHttp.js");
		const { StdioClientTransport } = require("@modelcontextprotocol/sdk/client/stdio.js");
		return [new Client(who), StreamableHTTPClientTransport, StdioClientTransport];
	}
	const { Client, StreamableHTTPClientTransport } = require("@modelcontextprotocol/client");
	const { StdioClientTransport } = require("@modelcontextprotocol/client/stdio");
	const options = kind === "modern" ? { versionNegotiation: { mode: { pin: "2026-07-28" } } } : {};
	return [new Client(who, options), StreamableHTTPClientTransport, StdioClientTransport];
}

async function main() {
	const [client, Http, Stdio] = open();
	const call = (name, args, options) => kind === "v1"
		? client.callTool({ name, arguments: args }, undefined, options)
		: client.callTool({ name, arguments: args }, options);
	await client.connect(isUrl ? new Http(new URL(target))
		: new Stdio({ command: target, args, env: process.env, stderr: "inherit" }));
	const seen = { tools: (await client.listTools()).tools.map((tool) => tool.name) };
	seen.sum = (await call("math_tools__add", { a: 3, b: 4 })).structuredContent;
	const failed = await call("peers__fail", {});
	seen.failed = [failed.isError, failed.content[0].text];
	seen.unknown = await call("nope", {}).then(() => false, () => true);
	const stop = new AbortController();
	seen.cancelled = await call("peers__slow", {}, { signal: stop.signal, onprogress: (one) => {
		seen.progress = [one.progress, one.message];
		stop.abort("enough");
	} }).then(() => false, () => true);
	console.log(JSON.stringify(seen));
	// The connection stays until the caller has seen that nothing runs.
	process.stdin.once("data", async () => {
		await client.close();
		process.exit(0);
	});
}

main().catch((error) => {
	console.error(error);
	process.exit(1);
});
