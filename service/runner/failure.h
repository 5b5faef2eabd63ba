/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "runner/call.h"
#include "util/buffer.h"

/* Append to @out the reason why a call with the result @result failed, for people who know which
 * tool it was: "SIGABRT; stderr: \"about to die\"", the tool's own text, or nothing where the code
 * has all of it. UTF-8, of any length and with any characters: the tool may have written it. */
void failure_write(const struct call_result *result, struct buffer *out);
