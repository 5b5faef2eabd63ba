// SPDX-License-Identifier: Apache-2.0
// A server of the SDK for TypeScript, for test_mcp_peers, which serves both eras: over stdio, or over HTTP on a port.
//
//   node mcp_peer_server.cjs [PORT]
const { McpServer, createMcpHandler } = require("@modelcontextprotocol/server");
const { serveStdio } = require("@modelcontextprotocol/server/stdio");
const fs = require("node:fs");
const { z } = require("zod");

const text = (one) => ({ content: [{ type: "text", text: `${one}` }] });

const more = (server) => server.registerTool("grown", { inputSchema: z.object({}) }, async () => text("grown"));
let handler;

function make() {
	const server = new McpServer({ name: "peer", version: "1" });
	server.registerTool("add", { inputSchema: z.object({ a: z.number(), b: z.number() }) },
		async ({ a, b }) => text(a + b));
	server.registerTool("fail", { inputSchema: z.object({ why: z.string() }) }, async ({ why }) => {
		throw new Error(why);
	});
	server.registerTool("slow", { inputSchema: z.object({ seconds: z.number() }) }, async ({ seconds }, context) => {
		const progressToken = context.mcpReq._meta?.progressToken;
		for (let step = 1; step <= 4; step++) {
			if (progressToken !== undefined)
				await context.mcpReq.notify({ method: "notifications/progress",
					params: { progressToken, progress: step, total: 4 } });
			await new Promise((resolve) => setTimeout(resolve, seconds * 250));
		}
		return text("done");
	});
	// Have one tool more, also in the next process, and notify of that.
	server.registerTool("grow", { inputSchema: z.object({}) }, async () => {
		fs.writeFileSync(process.env.GROWN, "");
		if (handler)
			handler.notify.toolsChanged();
		else
			more(server);
		return text("more");
	});
	if (fs.existsSync(process.env.GROWN))
		more(server);
	return server;
}

if (process.argv[2]) {
	handler = createMcpHandler(make);
	require("node:http").createServer(async (request, response) => {
		const gone = new AbortController();
		response.on("close", () => gone.abort());
		const body = await new Response(request.method === "POST" ? request : null).arrayBuffer();
		const answer = await handler.fetch(new Request(`http://127.0.0.1${request.url}`, {
			method: request.method, headers: request.headers, signal: gone.signal,
			body: request.method === "POST" ? body : undefined }));
		response.writeHead(answer.status, Object.fromEntries(answer.headers));
		for await (const piece of answer.body ?? [])
			response.write(piece);
		response.end();
	}).listen(Number(process.argv[2]), "127.0.0.1");
} else {
	serveStdio(make);
}
