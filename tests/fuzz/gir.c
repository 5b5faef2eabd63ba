/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/header/gir.h"

/* Any bytes as a GIR file. Each function is found by its name, and a length names a parameter by a
 * number that is not negative. */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool is_so)
{
	if (!is_so)
		abort();
}

static void check_value(const struct gir_value *value)
{
	require(value->length >= GIR_NONE);
	require(value->is_out || !value->is_inout);
	require(!value->description || value->description[0] != '\0');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buffer message = {0};
	struct gir gir = {0};
	int r = gir_read_text((const char *)data, size, "fuzz", &gir, &message);

	require(r == 0 || (r == 1 && message.size > 0));
	for (size_t i = 0; i < gir.n_functions; i++) {
		const struct gir_function *function = gir_find(&gir, gir.functions[i].name);

		require(function && strcmp(function->name, gir.functions[i].name) == 0);
		check_value(&gir.functions[i].returned);
		for (size_t j = 0; j < gir.functions[i].n_parameters; j++)
			check_value(&gir.functions[i].parameters[j]);
	}
	require(r != 0 || gir.n_headers > 0);
	gir_deinit(&gir);
	buffer_deinit(&message);
	return 0;
}
