/* SPDX-License-Identifier: Apache-2.0 */
#include "config/layers/stack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/layers/unused.h"
#include "json/member.h"
#include "json/pointer.h"
#include "json/writer.h"
#include "util/array.h"
#include "util/file/file.h"
#include "util/file/paths.h"

/* The sections of a file that are read. The rest of mycroft.conf belongs to other programs. */
static const struct {
	const char *outer;
	const char *inner; /* member of @outer; NULL: all of @outer */
} sections[] = {
	{"toolboxd", NULL},
	{"websocket", NULL},
	{"PHAL", "ovos-phal-plugin-tools"},
	{"lang", NULL},
};

/* The first of them are ours alone: a mistake there may hide a restriction. */
#define N_OWN_SECTIONS 2

struct stack_reader {
	struct config_closing *closing;
	struct config_stack *stack;
};

/* ── one file ────────────────────────────────────────────────────────────────────────────────── */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

/* Replace every comment by spaces, so that offsets and lines stay right. A comment is a whole line
 * that begins with `//` or `#` (ovos-utils, json_helper.py). */
static void blank_comments(char *text, size_t size)
{
	char *end = text + size;

	for (char *line = text; line < end;) {
		char *next = memchr(line, '\n', (size_t)(end - line));
		char *stop = next ? next : end;
		char *first = line;

		while (first < stop && is_blank(*first))
			first++;
		if (first < stop &&
			(*first == '#' || (stop - first >= 2 && !memcmp(first, "//", 2))))
			memset(first, ' ', (size_t)(stop - first));
		line = stop + 1;
	}
}

static bool is_all_blank(const struct buffer *text)
{
	for (size_t i = 0; i < text->size; i++)
		if (!is_blank(text->data[i]) && text->data[i] != '\n')
			return false;
	return true;
}

static bool is_yaml(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot && (strcmp(dot, ".yml") == 0 || strcmp(dot, ".yaml") == 0);
}

/* Read the value of a section of ours at @value once more, without what only a lax reader takes.
 * The offset of @ret_error is one of the file. */
static int read_strictly(
	const struct config_layer *layer, uint32_t value, struct json_error *ret_error)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	size_t size;
	const char *text = json_value_text(&layer->tape, value, &size);
	int r = json_tape_read(&tape, text, size, JSON_DEPTH_DEFAULT, ret_error);

	if (r > 0)
		ret_error->offset += (size_t)(text - layer->text.data);
	return r;
}

/* Check the member of the root whose key is at @key, if it is one of our sections, of which @found
 * were met before it. */
static int check_member(const struct config_layer *layer, uint32_t key, bool found[N_OWN_SECTIONS],
	struct json_error *ret_error)
{
	for (size_t i = 0; i < N_OWN_SECTIONS; i++) {
		if (!json_is_text(&layer->tape, key, sections[i].outer))
			continue;
		if (!found[i]) {
			found[i] = true;
			return read_strictly(layer, key + 1, ret_error);
		}
		*ret_error = (struct json_error){JSON_E_DUPLICATE_KEY,
			json_at(&layer->tape, key)->offset, "the section is there twice"};
		return JSON_E_DUPLICATE_KEY;
	}
	return 0;
}

/* Read the text of @layer: the sections of other programs as Python's json does, ours by the rules
 * of JSON. Return as json_tape_read(). */
static int read_layer_text(struct config_layer *layer, struct json_error *ret_error)
{
	const struct json_tape *tape = &layer->tape;
	bool found[N_OWN_SECTIONS] = {false};
	int r = json_tape_read_lax(
		&layer->tape, layer->text.data, layer->text.size, JSON_DEPTH_DEFAULT, ret_error);

	if (r != 0 || json_type_at(tape, 0) != JSON_OBJECT)
		return r;
	layer->has_repeated_keys = ret_error->status == JSON_E_DUPLICATE_KEY;
	json_each_key_while(r == 0, key, tape, 0)
		r = check_member(layer, key, found, ret_error);
	return r;
}

/* Parse the text of @layer. Return 0 with *ret_is_good true when its root is an object, 0 after a
 * report otherwise, or -ENOMEM. */
static int parse_layer(struct stack_reader *reader, struct config_layer *layer, bool *ret_is_good)
{
	struct json_error error = {0};
	int r;

	blank_comments(layer->text.data, layer->text.size);
	if (is_all_blank(&layer->text))
		buffer_append_string(&layer->text, "{}");
	r = buffer_status(&layer->text);
	if (r == 0)
		r = read_layer_text(layer, &error);
	if (r < 0)
		return r;
	*ret_is_good = r == 0 && json_type_at(&layer->tape, 0) == JSON_OBJECT;
	if (r > 0)
		config_closing_report_text(reader->closing, layer->path, layer->text.data, &error);
	else if (!*ret_is_good)
		config_closing_report(reader->closing, layer->path, 1,
			"must hold a JSON object, not %s",
			json_type_name(json_type_at(&layer->tape, 0)));
	return 0;
}

static void layer_deinit(struct config_layer *layer)
{
	json_tape_deinit(&layer->tape);
	buffer_deinit(&layer->text);
	config_unused_deinit(&layer->unused);
	free(layer->path);
}

/* Read the file at layer->path. Return 0 or a shortage's negative errno: a file that could not be
 * opened must not count as an empty one, because it may forbid a tool. */
static int read_layer(struct stack_reader *reader, struct config_layer *layer, bool *ret_is_good)
{
	bool is_missing;
	int r;

	if (is_yaml(layer->path)) {
		config_closing_report(
			reader->closing, layer->path, 0, "YAML is not supported, only JSON");
		return 0;
	}
	r = file_read(layer->path, CONFIG_FILE_BYTES_MAX, &layer->text);
	if (r == 0)
		return parse_layer(reader, layer, ret_is_good);
	if (file_error_is_shortage(r))
		return r;
	/* Most files of the stack do not exist; only the file of --config must. */
	is_missing = r == -ENOENT || r == -ENOTDIR;
	if (!is_missing || layer->origin == CONFIG_ORIGIN_FLAG) {
		config_closing_report_unreadable(
			reader->closing, layer->path, CONFIG_FILE_BYTES_MAX, r);
		reader->stack->is_refused |= is_missing;
	}
	return 0;
}

/* ── all files ───────────────────────────────────────────────────────────────────────────────── */

/* Return the variable's value, or @fallback when it is unset or empty. */
static const char *variable_or(const char *name, const char *fallback)
{
	const char *value = getenv(name);

	return value && *value ? value : fallback;
}

/* Return the last member @key of @object, which may have more than one, or JSON_NONE. */
static uint32_t find_last(const struct json_tape *tape, uint32_t object, const char *key)
{
	uint32_t found = JSON_NONE;

	json_each_key(i, tape, object)
		if (json_is_text(tape, i, key))
			found = i + 1;
	return found;
}

/* Return whether the files of the user are disabled. The lowest layer with a `system` section
 * decides (ovos-config, get_system_constraints). */
static bool user_is_disabled(const struct config_stack *stack)
{
	for (size_t i = 0; i < stack->n_layers; i++) {
		const struct config_layer *layer = &stack->layers[i];
		uint32_t system = JSON_NONE;
		uint32_t value;

		if (layer->origin <= CONFIG_ORIGIN_SYSTEM)
			system = find_last(&layer->tape, 0, "system");
		if (system == JSON_NONE || json_type_at(&layer->tape, system) != JSON_OBJECT)
			continue;
		value = find_last(&layer->tape, system, "disable_user_config");
		return value != JSON_NONE && json_is_true(&layer->tape, value);
	}
	return false;
}

/* A walk over the paths of the files. */
struct file_walk {
	config_file_function visit;
	void *data;
};

/* Visit the file at @path (@size bytes), or at @path/BASE/NAME when @is_folder. */
static int visit_file(const struct file_walk *walk, enum config_origin origin, const char *path,
	size_t size, bool is_folder)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	buffer_append(&text, path, size);
	if (is_folder)
		buffer_printf(&text, "/%s/%s", variable_or("OVOS_CONFIG_BASE_FOLDER", "mycroft"),
			variable_or("OVOS_CONFIG_FILENAME", "mycroft.conf"));
	return buffer_terminate(&text) ? walk->visit(walk->data, origin, text.data) : -ENOMEM;
}

/* Visit the file that @variable names, else the one in @folder. */
static int visit_fixed(const struct file_walk *walk, enum config_origin origin,
	const char *variable, const char *folder)
{
	const char *path = variable_or(variable, NULL);

	if (path)
		return visit_file(walk, origin, path, strlen(path), false);
	return visit_file(walk, origin, folder, strlen(folder), true);
}

/* Walk $XDG_CONFIG_DIRS from its end, because its first folder is the highest. */
static int visit_xdg_dirs(const struct file_walk *walk)
{
	const char *list = variable_or("XDG_CONFIG_DIRS", "/etc/xdg");
	const char *end = list + strlen(list);

	for (;;) {
		const char *start = end;
		int r = 0;

		while (start > list && start[-1] != ':')
			start--;
		if (start < end && *start == '/')
			r = visit_file(
				walk, CONFIG_ORIGIN_USER, start, (size_t)(end - start), true);
		if (r != 0)
			return r;
		if (start == list)
			return 0;
		end = start - 1;
	}
}

static int visit_xdg_home(const struct file_walk *walk)
{
	cleanup_free char *folder = NULL;
	int r = paths_xdg_home("XDG_CONFIG_HOME", ".config", &folder);

	if (r < 0 || !folder)
		return r;
	return visit_file(walk, CONFIG_ORIGIN_USER, folder, strlen(folder), true);
}

int config_stack_each_file(const char *flag, config_file_function visit, void *data)
{
	const struct file_walk walk = {visit, data};
	int r = visit_fixed(
		&walk, CONFIG_ORIGIN_DISTRIBUTION, "OVOS_DISTRIBUTION_CONFIG", "/usr/share");

	if (r == 0)
		r = visit_fixed(&walk, CONFIG_ORIGIN_SYSTEM, "MYCROFT_SYSTEM_CONFIG", "/etc");
	if (r == 0)
		r = visit_xdg_dirs(&walk);
	if (r == 0)
		r = visit_xdg_home(&walk);
	if (r == 0 && flag)
		r = visit_file(&walk, CONFIG_ORIGIN_FLAG, flag, strlen(flag), false);
	return r;
}

/* Add the file at @path, if it can be used. A config_file_function. */
static int add_layer(void *data, enum config_origin origin, const char *path)
{
	struct stack_reader *reader = data;
	struct config_stack *stack = reader->stack;
	struct config_layer layer = {.origin = origin, .path = strdup(path)};
	bool is_good = false;
	int r = layer.path ? array_grow(stack->layers, stack->n_layers) : -ENOMEM;

	/* Nothing of a file that does not count may close the configuration. */
	if (origin == CONFIG_ORIGIN_USER && user_is_disabled(stack)) {
		free(layer.path);
		return r;
	}
	if (r == 0)
		r = read_layer(reader, &layer, &is_good);
	if (is_good)
		stack->layers[stack->n_layers++] = layer;
	else
		layer_deinit(&layer);
	return r;
}

/* Keep only the layers of the system and of --config: OVOS drops the distribution's with the user's
 * (ovos-config, filter_and_merge). */
static void drop_user_layers(struct config_stack *stack)
{
	size_t n_kept = 0;

	for (size_t i = 0; i < stack->n_layers; i++) {
		struct config_layer *layer = &stack->layers[i];

		if (layer->origin == CONFIG_ORIGIN_SYSTEM || layer->origin == CONFIG_ORIGIN_FLAG)
			stack->layers[n_kept++] = *layer;
		else
			layer_deinit(layer);
	}
	stack->n_layers = n_kept;
}

int config_stack_read(
	const char *flag, struct config_closing *closing, struct config_stack *ret_stack)
{
	struct stack_reader reader = {closing, ret_stack};
	int r;

	*ret_stack = (struct config_stack){0};
	r = config_stack_each_file(flag, add_layer, &reader);
	ret_stack->drops_user = user_is_disabled(ret_stack);
	if (r == 0 && ret_stack->drops_user)
		drop_user_layers(ret_stack);
	return r;
}

int config_stack_add(struct config_stack *stack, const struct buffer *text)
{
	struct config_layer layer = {.origin = CONFIG_ORIGIN_ENVIRONMENT};
	int r = array_grow(stack->layers, stack->n_layers);

	buffer_append_buffer(&layer.text, text);
	if (r == 0)
		r = buffer_status(&layer.text);
	if (r == 0)
		r = json_tape_read(
			&layer.tape, layer.text.data, layer.text.size, JSON_DEPTH_DEFAULT, NULL);
	if (r == 0)
		stack->layers[stack->n_layers++] = layer;
	else
		layer_deinit(&layer);
	return r;
}

void config_stack_deinit(struct config_stack *stack)
{
	for (size_t i = 0; i < stack->n_layers; i++)
		layer_deinit(&stack->layers[i]);
	free(stack->layers);
	*stack = (struct config_stack){0};
}

/* ── merging and locating ────────────────────────────────────────────────────────────────────── */

/* Return the value of a section of the file, or JSON_NONE. */
static uint32_t find_section(const struct json_tape *tape, size_t index)
{
	uint32_t value = find_last(tape, 0, sections[index].outer);

	if (value == JSON_NONE || !sections[index].inner)
		return value;
	return json_type_at(tape, value) == JSON_OBJECT
		       ? find_last(tape, value, sections[index].inner)
		       : JSON_NONE;
}

/* Append the section @index of @layer, the value at @value, to the members @own. 0 or -ENOMEM. */
static int write_section(
	struct config_layer *layer, size_t index, uint32_t value, struct buffer *own)
{
	const char *inner = sections[index].inner;
	cleanup(buffer_deinit) struct buffer text = {0};
	int r = 0;

	if (layer->has_repeated_keys && index >= N_OWN_SECTIONS)
		config_unused_add_repeated(&layer->unused, &layer->tape, value);
	/* All of it is used, and was read strictly. */
	if (index < N_OWN_SECTIONS && config_unused_is_empty(&layer->unused))
		json_write_compact(&text, &layer->tape, value);
	else
		r = config_unused_write_rest(&layer->unused, &layer->tape, value, &text);
	if (r < 0 || config_unused_has(&layer->unused, value))
		return r;
	json_write_member(own, sections[index].outer);
	if (inner) {
		buffer_append_char(own, '{');
		json_write_key(own, inner);
	}
	buffer_append_buffer(own, &text);
	if (inner)
		buffer_append_char(own, '}');
	return buffer_status(own);
}

/* Merge the object @own over the object @merged. 0 or -ENOMEM. */
static int merge_text(const struct buffer *own, struct buffer *merged)
{
	cleanup(json_tape_cleanup) struct json_tape under = {0};
	cleanup(json_tape_cleanup) struct json_tape over = {0};
	cleanup(buffer_deinit) struct buffer text = {0};
	int r = json_tape_read(&under, merged->data, merged->size, JSON_DEPTH_DEFAULT, NULL);

	r = r ? r : json_tape_read(&over, own->data, own->size, JSON_DEPTH_DEFAULT, NULL);
	if (r != 0)
		return r;
	json_write_merged(&text, &under, 0, &over, 0);
	buffer_reset(merged);
	buffer_append_buffer(merged, &text);
	return buffer_status(merged);
}

/* @has_bus: the `websocket` of a file does not count. */
static int merge_layer(struct config_layer *layer, bool has_bus, struct buffer *merged)
{
	bool is_hidden = has_bus && layer->origin != CONFIG_ORIGIN_ENVIRONMENT;
	cleanup(buffer_deinit) struct buffer own = {0};
	int r = 0;

	buffer_append_char(&own, '{');
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(sections); i++) {
		uint32_t value = find_section(&layer->tape, i);

		if (value != JSON_NONE &&
			!(is_hidden && strcmp(sections[i].outer, "websocket") == 0))
			r = write_section(layer, i, value, &own);
	}
	buffer_append_char(&own, '}');
	r = r ? r : buffer_status(&own);
	return r ? r : merge_text(&own, merged);
}

int config_stack_merge(struct config_stack *stack, bool has_bus, struct buffer *merged)
{
	int r;

	buffer_printf(merged, "{\"toolboxd\":{},\"websocket\":%s}", has_bus ? "null" : "{}");
	r = buffer_status(merged);
	for (size_t i = 0; r == 0 && i < stack->n_layers; i++)
		r = merge_layer(&stack->layers[i], has_bus, merged);
	return r;
}

unsigned int config_layer_line(const struct config_layer *layer, uint32_t token)
{
	unsigned int line;
	unsigned int column;

	json_locate(layer->text.data, json_at(&layer->tape, token)->offset, &line, &column);
	return line;
}

const char *config_stack_locate(
	const struct config_stack *stack, const char *pointer, unsigned int *ret_line)
{
	for (size_t i = stack->n_layers; i-- > 0;) {
		const struct config_layer *layer = &stack->layers[i];
		uint32_t token;

		if (!layer->path || !json_pointer_find(&layer->tape, pointer, NULL, &token) ||
			config_unused_has(&layer->unused, token))
			continue;
		*ret_line = config_layer_line(layer, token);
		return layer->path;
	}
	return NULL;
}
