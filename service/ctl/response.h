/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "json/reader.h"
#include "util/buffer.h"

/* The data of a response: an object. */
struct ctl_response {
	struct buffer text; /* as it came */
	struct json_tape tape;
};

void ctl_response_deinit(struct ctl_response *response);

/* The enum ctl_status that the response stands for: CTL_DONE; CTL_ERROR, or CTL_NO_ANSWER (code
 * `timeout`), when it holds an error. */
int ctl_response_status(const struct ctl_response *response);

/* Print it verbatim, on one line. */
void ctl_response_print(const struct ctl_response *response);

/* Complain about the error that it holds, and help if it can be. */
void ctl_response_complain(const struct ctl_response *response);

/* Report the response: verbatim when @is_json, else complained about, or by @print. Returns what it
 * stands for. */
int ctl_response_report(const struct ctl_response *response, bool is_json,
	void (*print)(const struct ctl_response *response));

/* The member @key of @object; JSON_NONE when it is not there, or of another @type. */
uint32_t ctl_response_find(
	const struct ctl_response *response, uint32_t object, const char *key, enum json_type type);
