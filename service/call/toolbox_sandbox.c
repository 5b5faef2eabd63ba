/* SPDX-License-Identifier: Apache-2.0 */
#include "call/toolbox_sandbox.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json/member.h"
#include "json/writer.h"
#include "util/cleanup.h"
#include "util/stringify.h"
#include "util/text/text.h"

const char *const sandbox_class_names[SANDBOX_N_CLASSES + 1] = {
	[SANDBOX_COMPUTE] = "compute",
	[SANDBOX_NET] = "net",
	[SANDBOX_COMMAND] = "command",
	[SANDBOX_NONE] = "none",
	NULL,
};

const char *sandbox_class_name(enum sandbox_class class)
{
	return sandbox_class_names[class];
}

static int refuse_sandbox(struct sandbox_mistake *mistake, uint32_t token, const char *expected)
{
	*mistake = (struct sandbox_mistake){.token = token, .expected = expected};
	return SANDBOX_E_MALFORMED;
}

int sandbox_paths_take(struct sandbox_paths *paths, char *path)
{
	paths->is_given = true;
	return text_list_take(&paths->list, path);
}

bool sandbox_path_is_setting(const char *path)
{
	static const char letters[] = TEXT_ALPHANUMERIC "_";
	size_t size = path[0] == '$' ? strspn(path + 1, letters) : 0;
	const char *rest = path + 1 + size;

	if (size > 0 && *rest == '.' && rest[1])
		rest += 1 + strspn(rest + 1, letters);
	return size > 0 && *rest == '\0';
}

/* The text at @token as an absolute path, which the caller frees. */
static int read_path(const struct json_tape *tape, uint32_t token, const char *folder,
	char **ret_path, struct sandbox_mistake *ret_mistake)
{
	static const char expected[] = "must be a path: absolute, or in a manifest relative to its "
				       "folder";
	cleanup_free char *text = NULL;
	bool is_whole;
	size_t size;

	if (json_type_at(tape, token) != JSON_STRING)
		return refuse_sandbox(ret_mistake, token, expected);
	text = json_string_dup(tape, token, &size);
	if (!text)
		return -ENOMEM;
	is_whole = text[0] == '/' || sandbox_path_is_setting(text);
	if (size == 0 || strlen(text) != size || (!is_whole && !folder))
		return refuse_sandbox(ret_mistake, token, expected);
	if (is_whole)
		*ret_path = take_ptr(text);
	else if (asprintf(ret_path, "%s/%s", folder, text) < 0)
		return -ENOMEM;
	return 0;
}

static int read_paths(const struct json_tape *tape, uint32_t token, const char *folder,
	uint32_t max, struct sandbox_paths *paths, struct sandbox_mistake *ret_mistake)
{
	int r = 0;

	text_list_deinit(&paths->list);
	*paths = (struct sandbox_paths){0};
	if (json_type_at(tape, token) != JSON_ARRAY || json_count(tape, token) > max)
		return refuse_sandbox(ret_mistake, token,
			"must be a list of at most " STRINGIFY(SANDBOX_PATHS_MAX) " paths");
	paths->is_given = true;
	json_each_while(r == 0, item, tape, token) {
		char *path = NULL;

		r = read_path(tape, item, folder, &path, ret_mistake);
		r = r ? r : text_list_take(&paths->list, path);
	}
	return r;
}

static int read_class(const struct json_tape *tape, uint32_t token, struct toolbox_sandbox *sandbox,
	struct sandbox_mistake *ret_mistake)
{
	int class = json_word_at(tape, token, sandbox_class_names);

	if (class < 0)
		return refuse_sandbox(ret_mistake, token,
			"must be \"compute\", \"net\", \"command\" or \"none\"");
	sandbox->class = (enum sandbox_class) class;
	sandbox->has_class = true;
	return 0;
}

static int read_unix(const struct json_tape *tape, uint32_t token, struct toolbox_sandbox *sandbox,
	struct sandbox_mistake *ret_mistake)
{
	if (json_type_at(tape, token) != JSON_TRUE && json_type_at(tape, token) != JSON_FALSE)
		return refuse_sandbox(ret_mistake, token, "must be true or false");
	sandbox->has_unix = json_is_true(tape, token);
	sandbox->has_unix_given = true;
	return 0;
}

int toolbox_sandbox_read(const struct json_tape *tape, uint32_t token, const char *folder,
	struct toolbox_sandbox *sandbox, struct sandbox_mistake *ret_mistake)
{
	/* The LOAD frame may have more: the paths of several settings, and the fences. */
	uint32_t max = folder ? SANDBOX_PATHS_MAX : SANDBOX_LOADED_PATHS_MAX;
	int r = 0;

	if (json_type_at(tape, token) != JSON_OBJECT)
		return refuse_sandbox(ret_mistake, token, "must be an object");
	json_each_key_while(r == 0, key, tape, token) {
		if (json_type_at(tape, key + 1) == JSON_NULL)
			continue;
		if (json_is_text(tape, key, "class"))
			r = read_class(tape, key + 1, sandbox, ret_mistake);
		else if (json_is_text(tape, key, "read"))
			r = read_paths(tape, key + 1, folder, max, &sandbox->read, ret_mistake);
		else if (json_is_text(tape, key, "write"))
			r = read_paths(tape, key + 1, folder, max, &sandbox->write, ret_mistake);
		else if (json_is_text(tape, key, "hidden"))
			r = read_paths(tape, key + 1, NULL, max, &sandbox->hidden, ret_mistake);
		else if (json_is_text(tape, key, "kept"))
			r = read_paths(tape, key + 1, NULL, max, &sandbox->kept, ret_mistake);
		else if (json_is_text(tape, key, "unix"))
			r = read_unix(tape, key + 1, sandbox, ret_mistake);
		else
			r = refuse_sandbox(ret_mistake, key + 1,
				"is an unknown key; expected \"class\", \"read\", \"write\" or "
				"\"unix\"");
	}
	return r;
}

static int copy_paths(struct sandbox_paths *paths, const struct sandbox_paths *by)
{
	int r = 0;

	if (!by->is_given)
		return 0;
	text_list_deinit(&paths->list);
	*paths = (struct sandbox_paths){.is_given = true};
	for (size_t i = 0; r == 0 && i < by->list.n_items; i++)
		r = text_list_add(&paths->list, by->list.items[i]);
	return r;
}

int toolbox_sandbox_override(struct toolbox_sandbox *sandbox, const struct toolbox_sandbox *by)
{
	int r;

	/* A class closes unix sockets, unless they are named beside it. */
	if (by->has_class) {
		sandbox->has_unix = false;
		sandbox->class = by->class;
	}
	sandbox->has_class |= by->has_class;
	if (by->has_unix_given)
		sandbox->has_unix = by->has_unix;
	sandbox->has_unix_given |= by->has_unix_given;
	r = copy_paths(&sandbox->read, &by->read);
	return r ? r : copy_paths(&sandbox->write, &by->write);
}

static void write_paths(const char *key, const struct sandbox_paths *paths, struct buffer *out)
{
	if (!paths->is_given)
		return;
	json_write_member(out, key);
	json_write_texts(out, paths->list.items, paths->list.n_items);
}

void toolbox_sandbox_write(const struct toolbox_sandbox *sandbox, struct buffer *out)
{
	buffer_append_string(out, "{\"class\":");
	json_write_text(out, sandbox_class_names[sandbox->class]);
	write_paths("read", &sandbox->read, out);
	write_paths("write", &sandbox->write, out);
	write_paths("hidden", &sandbox->hidden, out);
	write_paths("kept", &sandbox->kept, out);
	if (sandbox->has_unix)
		buffer_append_string(out, ",\"unix\":true");
	buffer_append_char(out, '}');
}

static int compare_numbers(size_t left, size_t right)
{
	return (left > right) - (left < right);
}

static int compare_paths(const struct sandbox_paths *left, const struct sandbox_paths *right)
{
	int order = compare_numbers(left->is_given, right->is_given);

	order = order ? order : compare_numbers(left->list.n_items, right->list.n_items);
	for (size_t i = 0; order == 0 && i < left->list.n_items; i++)
		order = strcmp(left->list.items[i], right->list.items[i]);
	return order;
}

int toolbox_sandbox_compare(const struct toolbox_sandbox *left, const struct toolbox_sandbox *right)
{
	int order = compare_numbers(left->class, right->class);

	order = order ? order : compare_numbers(left->has_unix, right->has_unix);
	order = order ? order : compare_numbers(left->memory_mb, right->memory_mb);
	order = order ? order : compare_paths(&left->read, &right->read);
	order = order ? order : compare_paths(&left->write, &right->write);
	order = order ? order : compare_paths(&left->hidden, &right->hidden);
	return order ? order : compare_paths(&left->kept, &right->kept);
}

void toolbox_sandbox_deinit(struct toolbox_sandbox *sandbox)
{
	text_list_deinit(&sandbox->read.list);
	text_list_deinit(&sandbox->write.list);
	text_list_deinit(&sandbox->hidden.list);
	text_list_deinit(&sandbox->kept.list);
}
