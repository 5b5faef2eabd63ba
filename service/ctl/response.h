/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "json/reader.h"
#include "util/buffer.h"

/* Levels of a response: schemas of tools may be deep. */
#define CTL_RESPONSE_DEPTH_MAX 1000

/* The data of a response: an object. */
struct ctl_response {
	struct buffer text; /* as received */
	struct json_tape tape;
};

void ctl_response_deinit(struct ctl_response *response);

/* Let @response (zeroed, or used before) have a copy of @data, read with at most
 * CTL_RESPONSE_DEPTH_MAX levels. Return 0 or -ENOMEM. */
int ctl_response_copy(struct ctl_response *response, const struct json_tape *data);

/* Return whether its error has the code @code. */
bool ctl_response_has_code(const struct ctl_response *response, const char *code);

/* Return the enum ctl_status of @response: CTL_DONE, or for an error CTL_ERROR or CTL_NO_ANSWER
 * (code `timeout`). */
int ctl_response_status(const struct ctl_response *response);

/* Return @r, or for 0 the status of @response, after a complaint about its error. */
int ctl_response_judge(int r, const struct ctl_response *response);

/* Print it verbatim, on one line. */
void ctl_response_print(const struct ctl_response *response);

/* Complain about its error. */
void ctl_response_complain(const struct ctl_response *response);

/* Report the response: verbatim if @is_json, else as a complaint about its error or by
 * @print (may be NULL). Return its status. */
int ctl_response_report(const struct ctl_response *response, bool is_json,
	void (*print)(const struct ctl_response *response));

/* Return the member @key of @object; JSON_NONE if it is missing or not of @type. */
uint32_t ctl_response_find(
	const struct ctl_response *response, uint32_t object, const char *key, enum json_type type);

/* Complain about one element, the value at @index, of a list in a response. */
typedef void (*ctl_complain_function)(const struct ctl_response *response, uint32_t index);

/* Call @complain for each element of the list in the member @key, unless @is_silent. Return their
 * number, 0 without such a list. */
uint32_t ctl_response_complain_each(const struct ctl_response *response, const char *key,
	ctl_complain_function complain, bool is_silent);

/* Complain about each mistake in the member `configuration`, unless @is_silent. Return their
 * number. */
uint32_t ctl_response_complain_mistakes(const struct ctl_response *response, bool is_silent);
