// SPDX-License-Identifier: Apache-2.0
// The tasks of the official package for TypeScript, for test_mcp_tasks: a call that is a task, one that fails, one that
// is none, and one that is cancelled. The package leaves the requests to its host, which is this program.
//
//   MODULES=FOLDER node mcp_tasks_client.mjs URL
//
// It prints one line of JSON with what came of that.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const folder = `${process.env.MODULES}/@modelcontextprotocol`;
const { Client, StreamableHTTPClientTransport } = await import(pathToFileURL(
	createRequire(`${process.env.MODULES}/`).resolve("@modelcontextprotocol/client")).href);
const { createTaskSessionFromClient } = await import(pathToFileURL(`${folder}/ext-tasks/dist/client/index.js`).href);

const url = process.argv[2];
const version = "2026-07-28";
const clientInfo = { name: "peer", version: "1" };
const clientCapabilities = { extensions: { "io.modelcontextprotocol/tasks": {} } };
const client = new Client(clientInfo, { capabilities: clientCapabilities, versionNegotiation: { mode: { pin: version } } });
await client.connect(new StreamableHTTPClientTransport(new URL(url)));

let number = 0;
async function rawDispatch(request) {
	const headers = { "Content-Type": "application/json", Accept: "application/json, text/event-stream",
		"MCP-Protocol-Version": version, "Mcp-Method": request.method };
	const name = request.params.taskId ?? request.params.name;
	if (name) headers["Mcp-Name"] = name;
	const body = JSON.stringify({ ...request, jsonrpc: "2.0", id: `raw-${++number}` });
	const answer = await (await fetch(url, { method: "POST", headers, body })).json();
	return answer.error ? { kind: "error", error: answer.error } : { kind: "result", result: answer.result };
}

const session = createTaskSessionFromClient(client, { endpointId: "peer", rawDispatch,
	v2RequestFraming: { protocolVersion: version, clientInfo, clientCapabilities } });
const text = ({ outcome }) => {
	if (outcome.status !== "completed") throw outcome.error;
	return outcome.result.structuredContent.output.trim();
};
const seen = {};
const work = await (await session.callTool("work", { seconds: 0.2 })).settle();
seen.work = [work.outcome.status, text(work), Boolean(work.lastTask)];
const failed = await (await session.callTool("work", { fail: 3 })).settle();
seen.failed = [failed.outcome.status, failed.outcome.result.isError];
const plain = await (await session.callTool("never", {})).settle();
seen.plain = [plain.outcome.status, text(plain), Boolean(plain.lastTask)];
const long = await session.callTool("work", { seconds: 60 });
await long.cancel();
seen.cancelled = (await long.settle()).outcome.status;
console.log(JSON.stringify(seen));
await session.close();
await client.close();
