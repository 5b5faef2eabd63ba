/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "catalogue/catalogue.h"
#include "runner/runner.h"
#include "util/buffer.h"

/* The details of one toolbox in ovos.tools.status (contract.md, Requests). Texts of its hosts may
 * have the arguments of any call, so only callers with a view of every tool receive them. */

/* Write the figures of the @n_tools tools of @view from @first on, which @runner runs. @has_texts:
 * with the texts of failures. */
void detail_write_tools(const struct catalogue *view, size_t first, size_t n_tools,
	const struct runner *runner, bool has_texts, struct buffer *out);

/* Write the last lines printed by the hosts of @runner (NULL: none). */
void detail_write_output(const struct runner *runner, struct buffer *out);

/* Write `,"p50_ms":…,"p99_ms":…` of @statistics: null where no call has run. */
void detail_write_quantiles(const struct statistics *statistics, struct buffer *out);

/* Write the member @key: the time @at_ns of stamp_now_ns(), after a comma unless it is the first of
 * its object. */
void detail_write_time(struct buffer *out, const char *key, int64_t at_ns);
