/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "config/config_files.h"
#include "config/config_report.h"
#include "json/document.h"
#include "json/reader.h"
#include "util/buffer.h"

/*
 * The files of the stack that are there and can be read, each with its tape: merged for their
 * values, kept for telling which file and line a value came from.
 *
 * Comments are whole lines that begin with `//` or `#` (as ovos-utils has it); they are blanked
 * where they stand, so that every offset and line stays right.
 */

/* A larger file is no configuration. */
#define CONFIG_FILE_BYTES_MAX (4u << 20)

struct config_layer {
	const char *path; /* borrowed from the files */
	enum config_file_origin origin;
	struct buffer text;
	struct json_tape tape; /* its root is an object */
};

struct config_layers {
	struct config_files files;
	struct config_layer *items; /* low to high */
	size_t n_items;
};

/*
 * Read every file that is there. One that is broken is reported and left out; so is the whole user
 * part when the system's `system.disable_user_config` says so. A --config file that is not there
 * at all is a refusal. 0 or -ENOMEM; the caller deinits @ret_layers in either case.
 */
int config_layers_read(
	const char *flag, struct config_reporter *reporter, struct config_layers *ret_layers);

void config_layers_deinit(struct config_layers *layers);

/* Merge the sections `toolboxd`, `websocket` and `PHAL.ovos-phal-plugin-tools` of all layers into
 * @merged. 0 or -ENOMEM. */
int config_layers_merge(const struct config_layers *layers, struct document *merged);

/* The file (or NULL) and line that the merged value at @pointer (JSON Pointer) comes from. */
const char *config_layers_locate(
	const struct config_layers *layers, const char *pointer, unsigned int *ret_line);
