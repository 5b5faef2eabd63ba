/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Patches of toolboxes/files: the input is a text, a NUL, and a patch. Whatever both are, a patch
 * that is accepted applies or fails with words, the same twice; its parts lie inside of it; and a
 * line of the result is a line of the text or of the patch.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "patch_apply.h"
#include "patch_parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool claim)
{
	if (!claim)
		abort();
}

static bool is_inside(struct part part, const char *input, size_t size)
{
	return !part.bytes || (part.bytes >= input && part.bytes + part.size <= input + size);
}

/* Apply the operation, an update, to @before. */
static bool update(const struct patch *patch, const struct patch_operation *operation,
	const struct text *before, struct text *after)
{
	struct text why = {0};
	bool is_good = patch_apply(patch, operation, "file", before, after, &why);

	require(is_good == (why.size == 0));
	text_free(&why);
	return is_good;
}

static void check_update(const struct patch *patch, const struct patch_operation *operation,
	const struct text *before)
{
	struct text once = {0};
	struct text twice = {0};
	bool is_good = update(patch, operation, before, &once);

	require(update(patch, operation, before, &twice) == is_good);
	require(!is_good ||
		(once.size == twice.size &&
			memcmp(text_string(&once), text_string(&twice), once.size) == 0));
	text_free(&once);
	text_free(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = size ? memchr(data, '\0', size) : NULL;
	struct patch patch = {0};
	struct text before = {0};
	struct text why = {0};
	const char *input;
	size_t input_size;

	if (!end)
		return 0;
	text_add(&before, (const char *)data, (size_t)(end - data));
	input = (const char *)end + 1;
	input_size = size - (size_t)(end - data) - 1;
	require(patch_parse(input, input_size, &patch, &why) == (why.size == 0));
	for (size_t i = 0; why.size == 0 && i < patch.n_operations; i++) {
		const struct patch_operation *operation = &patch.operations[i];

		require(operation->path.size > 0 && is_inside(operation->path, input, input_size));
		require(operation->first_hunk + operation->n_hunks <= patch.n_hunks);
		require(operation->first_line + operation->n_lines <= patch.n_lines);
		if (operation->kind == PATCH_UPDATE)
			check_update(&patch, operation, &before);
	}
	for (size_t i = 0; i < patch.n_lines; i++)
		require(is_inside(patch.lines[i].text, input, input_size));
	patch_free(&patch);
	text_free(&before);
	text_free(&why);
	return 0;
}
