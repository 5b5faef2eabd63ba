/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/service.h"
#include "util/buffer.h"

/* OpenMetrics 1.0 (github.com/OpenObservability/OpenMetrics), and the text format 0.0.4 of
 * Prometheus, which is older and which more programs read. */
enum exposition_format {
	EXPOSITION_TEXT,
	EXPOSITION_OPENMETRICS,
	EXPOSITION_FORMATS,
};

/* Return the media type of @format. */
const char *exposition_type(enum exposition_format format);

/* Append the metrics of @service in @format: counters since its start, and the state of now.
 * Contract.md, HTTP, has their names. */
void exposition_write(
	const struct service *service, enum exposition_format format, struct buffer *out);
