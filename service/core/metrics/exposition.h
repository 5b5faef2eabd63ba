/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/service.h"
#include "util/buffer.h"

/* The media type of the exposition. */
#define EXPOSITION_TYPE "application/openmetrics-text; version=1.0.0; charset=utf-8"

/* Append the metrics of @service as OpenMetrics 1.0 text (github.com/OpenObservability/OpenMetrics): counters since
 * its start, and the state of now. Contract.md, HTTP, has their names. */
void exposition_write(const struct service *service, struct buffer *out);
