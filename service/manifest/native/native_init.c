/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/native/native_init.h"

#include "call/native/program.h"

int manifest_native_init_read(
	const struct json_tape *tape, struct package *package, struct diagnostics *problems)
{
	struct native_function unused = {0};
	uint32_t init = json_find(tape, 0, "init");
	int r;

	if (init == JSON_NONE)
		return 0;
	r = native_program_read(
		tape, init, package->types, NULL, &unused, &package->init, problems);
	native_function_deinit(&unused);
	return r < 0 ? r : 0;
}
