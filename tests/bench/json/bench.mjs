// SPDX-License-Identifier: Apache-2.0
// One round of JSON.parse, measured as bench.c does: a line of file and nanoseconds for each file.
import {readFileSync} from "node:fs";

const MEASURE_NS = 15_000_000n;
const BATCH_BYTES = 200_000;

for (const file of process.argv.slice(2)) {
	const text = readFileSync(file, "utf8");
	const batch = Math.floor(BATCH_BYTES / (text.length + 50)) + 1;
	const end = process.hrtime.bigint() + MEASURE_NS;
	let best = Infinity;

	while (process.hrtime.bigint() < end) {
		const start = process.hrtime.bigint();

		for (let i = 0; i < batch; i++)
			JSON.parse(text);
		best = Math.min(best, Number(process.hrtime.bigint() - start) / batch);
	}
	console.log(`${file}\t${best.toFixed(1)}`);
}
