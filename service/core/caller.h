/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "catalogue/toolbox.h"
#include "core/request.h"
#include "json/reader.h"
#include "util/buffer.h"

/*
 * Who calls, as far as tools are told of it, by the kinds that ask (catalogue/kind.h):
 *
 *   {"call_id", "session_id", "lang"}      strings, or null where the caller did not say
 */

/* Put the object for a call of @tool in place of what is in @out; nothing, where the kind does not
 * ask. @context is the request's, `lang` its session's, else its own. */
void caller_write(const struct tool *tool, const struct json_tape *context,
	const struct request *request, struct buffer *out);
