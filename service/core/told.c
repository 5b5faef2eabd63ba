/* SPDX-License-Identifier: Apache-2.0 */
#include "core/told.h"

#include <errno.h>
#include <string.h>

#include "core/checker.h"

bool told_is_awaited(const struct toolbox *toolbox)
{
	return kind_facts(toolbox->kind)->tells_tools && toolbox->n_tools == 0;
}

static int take(struct manifest_reader *reader, struct toolbox *toolbox, const char *told,
	size_t size, struct problems *problems)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	uint32_t tools = JSON_NONE;
	int r = json_tape_read(&tape, told, size, JSON_DEPTH_DEFAULT, NULL);

	if (r == 0 && json_type_at(&tape, 0) == JSON_OBJECT)
		tools = json_find(&tape, 0, "tools");
	if (r >= 0 && tools == JSON_NONE) {
		problems_add_line(problems, PROBLEM_ERROR, 0, "", "its host tells no tools");
		return MANIFEST_E_REFUSED;
	}
	if (r == 0)
		r = manifest_take_tools(reader, &tape, tools, toolbox, problems);
	if (r)
		return r;
	checker_note(toolbox, &tape);
	toolbox->is_checked = true;
	return 0;
}

int told_recall(
	struct manifest_reader *reader, struct toolbox *toolbox, char ret_key[TOLD_KEY_BYTES])
{
	cleanup(problems_deinit) struct problems problems = {0};
	cleanup(buffer_deinit) struct buffer told = {0};
	int r = toolbox_library_look(&toolbox->library);

	*ret_key = '\0';
	if (r < 0)
		return r == -ENOMEM ? r : -ENOENT;
	told_cache_key(toolbox, ret_key);
	r = told_cache_read(ret_key, &told);
	r = r ? r : take(reader, toolbox, told.data, told.size, &problems);
	return r > 0 ? -ENOENT : r;
}

int told_hear(struct manifest_reader *reader, struct toolbox *toolbox, const char *told,
	size_t size, const char *key, struct problems *problems)
{
	char key_now[TOLD_KEY_BYTES];
	int r;

	told_cache_key(toolbox, key_now);
	r = take(reader, toolbox, told, size, problems);
	if (r == 0 && strcmp(key, key_now) == 0)
		told_cache_write(key, told, size);
	return r;
}
