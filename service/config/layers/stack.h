/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "config/closing.h"
#include "config/layers/unused.h"
#include "json/reader.h"
#include "util/buffer.h"

/*
 * The mycroft.conf stack: its files, lowest first (ovos-config, locations.py).
 *
 *   $OVOS_DISTRIBUTION_CONFIG, else /usr/share/BASE/NAME
 *   $MYCROFT_SYSTEM_CONFIG, else /etc/BASE/NAME
 *   DIR/BASE/NAME for $XDG_CONFIG_DIRS (else /etc/xdg), whose first is the highest
 *   $XDG_CONFIG_HOME/BASE/NAME (else ~/.config/BASE/NAME)
 *   the file of --config
 *
 * BASE is $OVOS_CONFIG_BASE_FOLDER, else "mycroft"; NAME is $OVOS_CONFIG_FILENAME, else
 * "mycroft.conf". Relative XDG folders are ignored (XDG Base Directory Specification).
 *
 * Each file that can be read stays here as a layer with its tape: the layers are merged for their
 * values, and searched for the file and line of a value when it is reported.
 *
 * Other programs, which have the other sections, read them with Python's json. That takes more than
 * our reader: of a key that occurs twice the last one counts, NaN and Infinity are numbers, and \u
 * escapes need no partner. These may not make a whole file unreadable, so a file is read in this
 * way, and `toolboxd` and `websocket` once more by the rules of JSON.
 */

/* A larger file is no configuration. */
#define CONFIG_FILE_BYTES_MAX (4u << 20)

enum config_origin {
	CONFIG_ORIGIN_DISTRIBUTION,
	CONFIG_ORIGIN_SYSTEM,
	CONFIG_ORIGIN_USER,
	CONFIG_ORIGIN_FLAG,
	CONFIG_ORIGIN_ENVIRONMENT, /* variables and flags (config/layers/environment.h) */
};

struct config_layer {
	char *path; /* NULL: it is no file */
	enum config_origin origin;
	struct buffer text;          /* text of the file, each comment replaced by spaces */
	struct json_tape tape;       /* made by json_tape_read_lax(); its root is an object */
	bool has_repeated_keys;      /* in the sections of other programs */
	struct config_unused unused; /* mistakes in it (config/layers/check.h) */
};

struct config_stack {
	struct config_layer *layers; /* low to high */
	size_t n_layers;
	bool is_refused; /* the file of --config does not exist */
	bool drops_user; /* the system disables the files of the user */
};

/*
 * Read every existing file; @flag is the value of --config, or NULL. A file that cannot be read or
 * parsed is reported to @closing and skipped; a file without any text is an empty object. The files
 * of the user are skipped when the system's `system.disable_user_config` is true. Return 0,
 * -ENOMEM, or the negative errno of a shortage of descriptors. The caller deinits @ret_stack in
 * either case.
 */
int config_stack_read(
	const char *flag, struct config_closing *closing, struct config_stack *ret_stack);

/* Receive the path of one file. Return 0, or what ends the walk. */
typedef int (*config_file_function)(void *data, enum config_origin origin, const char *path);

/* Call @visit with @data for every file of the stack, lowest first, whether it exists or not. @flag
 * is the value of --config, or NULL. Return 0, what @visit returned, or -ENOMEM. */
int config_stack_each_file(const char *flag, config_file_function visit, void *data);

/* Add @text, JSON of variables and flags, above all files. Return 0 or -ENOMEM. */
int config_stack_add(struct config_stack *stack, const struct buffer *text);

void config_stack_deinit(struct config_stack *stack);

/* Append an object with the sections `toolboxd`, `websocket`, `PHAL.ovos-phal-plugin-tools` and
 * `lang` of all layers, merged (json_write_merged()) without their mistakes; @has_bus: without the
 * `websocket` of the files. Return 0 or -ENOMEM. */
int config_stack_merge(struct config_stack *stack, bool has_bus, struct buffer *merged);

/* Return the line of the value at @token of @layer, a file. */
unsigned int config_layer_line(const struct config_layer *layer, uint32_t token);

/* Return the path of the highest file whose value at @pointer (JSON Pointer) counts, with its line
 * in *ret_line; NULL when no file has one. */
const char *config_stack_locate(
	const struct config_stack *stack, const char *pointer, unsigned int *ret_line);
