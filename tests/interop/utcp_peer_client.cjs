// SPDX-License-Identifier: Apache-2.0
// The client of @utcp/sdk, for test_mcp_clients: lists, calls, and fails. It prints one line of JSON with what came
// of that.
//
//   node utcp_peer_client.cjs URL
const { UtcpClient } = require("@utcp/sdk");
const { HttpCallTemplateSerializer } = require("@utcp/http");

async function main() {
	const client = await UtcpClient.create(process.cwd(), {});
	const manual = new HttpCallTemplateSerializer().validateDict(
		{ name: "home", call_template_type: "http", http_method: "GET", url: process.argv[2] });
	const registered = await client.registerManual(manual);
	const seen = { errors: registered.errors, tools: (await client.getTools()).map((tool) => tool.name) };
	seen.sum = await client.callTool("home.add", { body: { a: 3, b: 4 } });
	seen.failed = await client.callTool("home.fail", { body: {} }).then(() => null, (error) => `${error}`);
	console.log(JSON.stringify(seen));
}

main().catch((error) => {
	console.error(error);
	process.exit(1);
});
