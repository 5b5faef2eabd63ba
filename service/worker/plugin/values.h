/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <toolbox.h>

#include "json/pointer.h"
#include "json/reader.h"

/*
 * JSON read by a plugin by key: the arguments of a call, its configuration, its caller.
 *
 * A key is the name of a member, a JSON Pointer if it begins with '/', or "" for the whole value.
 * All getters return an enum toolbox_status and write their result only with TOOLBOX_OK. A text is
 * copied at its first request, and stays valid until the values are reset.
 */
struct plugin_values {
	struct json_tape tape;         /* no tokens: nothing was read */
	struct json_cursors cursors;   /* into it */
	struct plugin_text *texts;     /* texts returned to the plugin */
	struct plugin_text **by_token; /* the same, two entries for each token; NULL: not made
	                                * yet */
	bool is_short; /* a text had no memory: the plugin may take the value for an absent one */
};

/* Read the @size bytes at @json, which must stay. Return 0, -ENOMEM, or an enum json_status. */
int plugin_values_read(struct plugin_values *values, const char *json, size_t size);

/* Forget the values and free their texts. The tape keeps its memory. */
void plugin_values_reset(struct plugin_values *values);

enum toolbox_type plugin_values_type(struct plugin_values *values, const char *key);
int plugin_values_get_bool(struct plugin_values *values, const char *key, bool *ret);
int plugin_values_get_i64(struct plugin_values *values, const char *key, int64_t *ret);
int plugin_values_get_u64(struct plugin_values *values, const char *key, uint64_t *ret);
int plugin_values_get_double(struct plugin_values *values, const char *key, double *ret);
int plugin_values_get_count(struct plugin_values *values, const char *key, uint32_t *ret);

/* @ret_size (may be NULL) is the size without the NUL. */
int plugin_values_get_string(
	struct plugin_values *values, const char *key, const char **ret, size_t *ret_size);
int plugin_values_get_json(
	struct plugin_values *values, const char *key, const char **ret, size_t *ret_size);
