/* SPDX-License-Identifier: Apache-2.0 */

/*
 * toolboxes/convert: the input is an expression, and the name of a unit. Each has a value, or a
 * mistake with words, at a character of the input. Exact digits are the value when they are read
 * again.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "expression.h"
#include "units.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static void require(bool claim)
{
	if (!claim)
		abort();
}

/* Read the digits of @value again. */
static void check_value(const struct number *value)
{
	struct expression_mistake mistake;
	struct text text = {0};
	struct number again;
	bool is_exact;

	number_init(&again);
	number_write(value, &text, &is_exact);
	require(text.size > 0);
	if (is_exact && text.size <= EXPRESSION_BYTES_MAX) {
		require(expression_evaluate(text.data, text.size, &again, &mistake));
		require(number_compare(value, &again) == 0);
	}
	number_deinit(&again);
	text_free(&text);
}

static void check_expression(const char *text, size_t size)
{
	struct expression_mistake mistake = {.at = 0};
	struct number value;

	number_init(&value);
	if (expression_evaluate(text, size, &value, &mistake))
		check_value(&value);
	else
		require(*mistake.words && mistake.at >= 1 && mistake.at <= size + 1);
	number_deinit(&value);
}

/* A unit that is known is 1 of itself. */
static void check_unit(const char *unit)
{
	char words[UNITS_WORDS_BYTES] = "";
	struct number value;
	size_t used;

	number_init(&value);
	number_read(&value, "1", 1, &used);
	if (units_convert(&value, unit, unit, words))
		require(fabs(number_double(&value) - 1) < 1e-9);
	else
		require(*words);
	number_deinit(&value);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	number_set_up();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	require(text);
	memcpy(text, data, size);
	text[size] = '\0';
	check_expression(text, size);
	check_unit(text);
	free(text);
	return 0;
}
