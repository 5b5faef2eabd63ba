// SPDX-License-Identifier: Apache-2.0
// ajv 8 on the cases of a folder: the same figures as bench-schema, in the same lines.
//
//   node bench.mjs FOLDER          (ajv installed where node finds it)
import { readFileSync } from "node:fs";
import Ajv2020 from "ajv/dist/2020.js";

const BATCHES = 61;
const BATCH_NS = 1e6;
const COPIES = 64;

const [folder] = process.argv.slice(2);
const read = (name, kind) => readFileSync(`${folder}/${name}.${kind}.json`, "utf8");

function measure(work) {
	let fastest = Infinity;
	for (let batch = 0; batch < BATCHES; batch++) {
		const start = process.hrtime.bigint();
		let rounds = 0;
		let spent = 0;
		do {
			for (let i = 0; i < COPIES; i++) work(i);
			rounds += COPIES;
			spent = Number(process.hrtime.bigint() - start);
		} while (spent < BATCH_NS);
		fastest = Math.min(fastest, spent / rounds);
	}
	return fastest.toFixed(1);
}

for (const name of ["small", "medium", "large"]) {
	const schema = JSON.parse(read(name, "schema"));
	const compile = () => new Ajv2020({ strict: false }).compile(schema);
	const validate = compile();
	let compiling = Infinity;
	for (let i = 0; i < 20; i++) {
		const start = process.hrtime.bigint();
		compile();
		compiling = Math.min(compiling, Number(process.hrtime.bigint() - start));
	}
	console.log(`${name} schema compile ${compiling}`);
	for (const kind of ["valid", "invalid", "invalid-early"]) {
		const text = read(name, kind);
		const texts = Array.from({ length: COPIES }, () => text);
		const values = texts.map((t) => JSON.parse(t));
		if (validate(values[0]) !== (kind === "valid")) throw new Error(`${name}.${kind}`);
		for (let i = 0; i < 20000; i++) validate(values[i % COPIES]);
		console.log(`${name} ${kind} validate ${measure((i) => validate(values[i]))}`);
		console.log(
			`${name} ${kind} parse+validate ${measure((i) => validate(JSON.parse(texts[i])))}`,
		);
		console.log(`${name} ${kind} parse ${measure((i) => JSON.parse(texts[i]))}`);
	}
}
