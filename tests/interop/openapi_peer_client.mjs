// SPDX-License-Identifier: Apache-2.0
// Readers of OpenAPI of npm, for test_readers: each reads the document, and follows its references. It prints one
// line of JSON: the names of the operations that each has found.
//
//   node openapi_peer_client.mjs URL
import { createRequire } from "node:module";

const require = createRequire(process.env.NODE_PATH + "/");
const seen = {};

// The parser takes no URL of this device, so it gets the document itself.
const document = await (await fetch(process.argv[2])).json();
const SwaggerParser = require("@apidevtools/swagger-parser");
const whole = await SwaggerParser.validate(document);
seen["swagger-parser"] = Object.values(whole.paths).map((path) => path.post.operationId);

const { default: openapiTS, astToString } = await import(require.resolve("openapi-typescript").replace(/\.cjs$/, ".mjs"));
const text = astToString(await openapiTS(new URL(process.argv[2])));
seen["openapi-typescript"] = [...text.matchAll(/^ {4}"\/v1\/tools\/([^"]+)": \{$/gm)].map((found) => found[1]);
console.log(JSON.stringify(seen));
