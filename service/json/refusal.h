/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "json/reader.h"

/* A refusal while a text is read: a json_error with a pointer into the text. */
struct json_fault {
	int status;
	const char *at;
	const char *message;
};

/* Fill @fault; returns @status. */
int json_refuse(
	struct json_fault *fault, enum json_status status, const char *at, const char *message);

/*
 * Describe a byte not allowed by the grammar: the usual mistakes by name (comments, single quotes,
 * a comma too many, Python's None), every other by the expected token.
 *
 * @at is the byte, or @end when the text is over. All return a constant message.
 */
const char *json_refusal_value(const char *text, const char *at, const char *end);
const char *json_refusal_key(const char *at, const char *end);
const char *json_refusal_colon(const char *at, const char *end);
const char *json_refusal_comma(enum json_type container, const char *at, const char *end);
const char *json_refusal_number(const char *start, const char *at, const char *end);
const char *json_refusal_escape(const char *at, const char *end);
