/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "config/closing.h"
#include "json/document.h"
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
 * Each readable file stays here as a layer with its tape: the layers are merged for their values,
 * and searched for the file and line of a value when it is reported.
 */

/* A larger file is no configuration. */
#define CONFIG_FILE_BYTES_MAX (4u << 20)

enum config_origin {
	CONFIG_ORIGIN_DISTRIBUTION,
	CONFIG_ORIGIN_SYSTEM,
	CONFIG_ORIGIN_USER,
	CONFIG_ORIGIN_FLAG,
};

struct config_layer {
	char *path;
	enum config_origin origin;
	struct buffer text;    /* text of the file, each comment replaced by spaces */
	struct json_tape tape; /* its root is an object */
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

void config_stack_deinit(struct config_stack *stack);

/* Merge the sections `toolboxd`, `websocket` and `PHAL.ovos-phal-plugin-tools` of all layers into
 * @merged. Return 0 or -ENOMEM. */
int config_stack_merge(const struct config_stack *stack, struct document *merged);

/* Return the path of the highest file with a value at @pointer (JSON Pointer), with its line in
 * *ret_line; NULL when no file has one. */
const char *config_stack_locate(
	const struct config_stack *stack, const char *pointer, unsigned int *ret_line);
