/* SPDX-License-Identifier: Apache-2.0 */
#include "config/config_layers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "json/pointer.h"
#include "util/cleanup.h"
#include "util/file.h"

/* What is read of a file; the rest of mycroft.conf is for others. */
static const struct {
	const char *path;
	const char *outer;
	const char *inner; /* of it; NULL: all */
} sections[] = {
	{"toolboxd", "toolboxd", NULL},
	{"websocket", "websocket", NULL},
	{"PHAL.ovos-phal-plugin-tools", "PHAL", "ovos-phal-plugin-tools"},
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

/* Turn every comment line of @text into spaces. */
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

static bool is_yaml(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot && (strcmp(dot, ".yml") == 0 || strcmp(dot, ".yaml") == 0);
}

/* Tell why the file cannot be read. Most files of the stack do not exist; only the one that was
 * asked for by name has to. */
static void report_unreadable(
	struct config_reporter *reporter, const struct config_file *file, int error)
{
	if (file->origin != CONFIG_FILE_FLAG && (error == -ENOENT || error == -ENOTDIR))
		return;
	if (error == -EFBIG)
		config_report(reporter, CONFIG_ERROR, file->path, 0, "",
			"the file has more than %u bytes", CONFIG_FILE_BYTES_MAX);
	else
		config_report(reporter, CONFIG_ERROR, file->path, 0, "", "cannot be read: %s",
			strerror(-error));
	reporter->is_broken = true;
	if (file->origin == CONFIG_FILE_FLAG)
		reporter->is_refused = true;
}

/* Read the JSON of a file's @layer. Returns whether it can be used. */
static int parse_layer(
	struct config_reporter *reporter, struct config_layer *layer, bool *ret_is_good)
{
	struct json_error error = {0};
	unsigned int line = 0;
	unsigned int column = 0;
	int r;

	blank_comments(layer->text.data, layer->text.size);
	r = json_tape_read(
		&layer->tape, layer->text.data, layer->text.size, JSON_DEPTH_DEFAULT, &error);
	if (r < 0)
		return r;
	*ret_is_good = r == 0 && json_type_at(&layer->tape, 0) == JSON_OBJECT;
	reporter->is_broken |= !*ret_is_good;
	if (r > 0) {
		json_locate(layer->text.data, error.offset, &line, &column);
		config_report(reporter, CONFIG_ERROR, layer->path, line, "",
			"%s (column %u); the file is not used", error.message, column);
	} else if (!*ret_is_good) {
		config_report(reporter, CONFIG_ERROR, layer->path, 1, "",
			"must hold a JSON object, not %s; the file is not used",
			json_type_name(json_type_at(&layer->tape, 0)));
	}
	return 0;
}

static void layer_deinit(struct config_layer *layer)
{
	json_tape_deinit(&layer->tape);
	buffer_deinit(&layer->text);
}

/* Read one file into the next layer, if it can be used. 0, or a negative errno when memory or
 * descriptors are short: a file that could not be looked at must not count as one that says
 * nothing, since it may be the one that forbids a tool. */
static int read_layer(struct config_reporter *reporter, const struct config_file *file,
	struct config_layers *layers)
{
	struct config_layer layer = {.path = file->path, .origin = file->origin};
	bool is_good = false;
	int r;

	if (is_yaml(file->path)) {
		config_report(reporter, CONFIG_ERROR, file->path, 0, "",
			"YAML is not supported, only JSON; the file is not used");
		reporter->is_broken = true;
		return 0;
	}
	r = file_read(file->path, CONFIG_FILE_BYTES_MAX, &layer.text);
	if (r < 0 && !file_error_is_shortage(r))
		report_unreadable(reporter, file, r);
	else if (r == 0)
		r = parse_layer(reporter, &layer, &is_good);
	if (is_good)
		layers->items[layers->n_items++] = layer;
	else
		layer_deinit(&layer);
	return file_error_is_shortage(r) ? r : 0;
}

/* The `system` section of the lowest layers decides about the higher ones: its first owner, the
 * distribution before the system, is heard (ovos-config, get_system_constraints). */
static bool user_is_disabled(const struct config_layers *layers)
{
	for (size_t i = 0; i < layers->n_items; i++) {
		const struct config_layer *layer = &layers->items[i];
		uint32_t system = JSON_NONE;
		uint32_t value;

		if (layer->origin <= CONFIG_FILE_SYSTEM)
			system = json_find(&layer->tape, 0, "system");
		if (system == JSON_NONE || json_type_at(&layer->tape, system) != JSON_OBJECT)
			continue;
		value = json_find(&layer->tape, system, "disable_user_config");
		return value != JSON_NONE && json_is_true(&layer->tape, value);
	}
	return false;
}

/* Leave only the system's own layer and the one of --config: OVOS counts the distribution's as the
 * user's here (ovos-config, filter_and_merge). */
static void drop_user_layers(struct config_layers *layers)
{
	size_t n_kept = 0;

	for (size_t i = 0; i < layers->n_items; i++) {
		struct config_layer *layer = &layers->items[i];

		if (layer->origin == CONFIG_FILE_SYSTEM || layer->origin == CONFIG_FILE_FLAG)
			layers->items[n_kept++] = *layer;
		else
			layer_deinit(layer);
	}
	layers->n_items = n_kept;
}

int config_layers_read(
	const char *flag, struct config_reporter *reporter, struct config_layers *ret_layers)
{
	int r;

	*ret_layers = (struct config_layers){0};
	r = config_files_find(flag, &ret_layers->files);
	if (r < 0)
		return r;
	ret_layers->items = calloc(ret_layers->files.n_items, sizeof(*ret_layers->items));
	if (!ret_layers->items)
		return -ENOMEM;
	for (size_t i = 0; i < ret_layers->files.n_items; i++) {
		r = read_layer(reporter, &ret_layers->files.items[i], ret_layers);
		if (r < 0)
			return r;
	}
	if (user_is_disabled(ret_layers))
		drop_user_layers(ret_layers);
	return 0;
}

void config_layers_deinit(struct config_layers *layers)
{
	for (size_t i = 0; i < layers->n_items; i++)
		layer_deinit(&layers->items[i]);
	free(layers->items);
	config_files_deinit(&layers->files);
	*layers = (struct config_layers){0};
}

/* The value of a section of the file, or JSON_NONE. */
static uint32_t find_section(const struct json_tape *tape, size_t index)
{
	uint32_t value = json_find(tape, 0, sections[index].outer);

	if (value == JSON_NONE || !sections[index].inner)
		return value;
	return json_type_at(tape, value) == JSON_OBJECT
		       ? json_find(tape, value, sections[index].inner)
		       : JSON_NONE;
}

static int merge_layer(const struct config_layer *layer, struct document *merged)
{
	cleanup(document_cleanup) struct document *own = document_new();
	int r = own ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < sizeof(sections) / sizeof(*sections); i++) {
		uint32_t value = find_section(&layer->tape, i);
		const char *text;
		size_t size;

		if (value == JSON_NONE)
			continue;
		text = json_value_text(&layer->tape, value, &size);
		r = document_set(own, sections[i].path, text, size);
	}
	return r == 0 ? document_merge(merged, own) : r;
}

int config_layers_merge(const struct config_layers *layers, struct document *merged)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < layers->n_items; i++)
		r = merge_layer(&layers->items[i], merged);
	return r;
}

/* Whether @layer holds the value at @pointer; then its line. */
static bool layer_locates(
	const struct config_layer *layer, const char *pointer, unsigned int *ret_line)
{
	uint32_t token = json_pointer_nearest(&layer->tape, pointer);
	cleanup(buffer_deinit) struct buffer found = {0};
	unsigned int column;
	bool is_there;

	json_pointer_write(&layer->tape, token, &found);
	is_there = buffer_terminate(&found) && strcmp(found.data, pointer) == 0;
	if (is_there)
		json_locate(
			layer->text.data, json_at(&layer->tape, token)->offset, ret_line, &column);
	return is_there;
}

const char *config_layers_locate(
	const struct config_layers *layers, const char *pointer, unsigned int *ret_line)
{
	for (size_t i = layers->n_items; i-- > 0;)
		if (layer_locates(&layers->items[i], pointer, ret_line))
			return layers->items[i].path;
	return NULL;
}
