/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * The grammar of the parts of an HTTP request (RFC 9110 §5, RFC 9112 §3 and §5), as checks of
 * single bytes and of NUL-terminated texts.
 */

/* Return whether @c may be in the value of a field: visible, space, tab or obs-text (RFC 9110
 * §5.5). */
bool field_is_value_byte(char c);

/* Return whether @text is one token. */
bool field_is_token(const char *text);

/* Return whether @text is `uri-host [":" port]` (RFC 9110 §7.2). It may be empty. */
bool field_is_host(const char *text);

/* Read the digits of @text, which must be its only bytes (RFC 9110 §8.6: a list of equal lengths is
 * refused here). A number beyond SIZE_MAX becomes SIZE_MAX. Return whether @text was a number. */
bool field_read_length(const char *text, size_t *ret_length);

/* Move *at and *end together past the spaces and tabs at both ends of the text between them (RFC
 * 9110 §5.6.3). */
void field_trim(const char **at, const char **end);

/* Return whether the comma-separated list of @size bytes at @value has @element, in any case (RFC
 * 9110 §5.6.1). */
bool field_list_has(const char *value, size_t size, const char *element);

/* Return whether the list of media ranges @value has @type, with a weight above zero (RFC 9110
 * §12.5.1). */
bool field_accepts(const char *value, const char *type);
