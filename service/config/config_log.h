/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "config/config.h"

/* A config_report_function that writes to the log; @data is a struct log_rate to hold the lines to,
 * or NULL. */
void config_log(void *data, enum config_severity severity, const char *file, unsigned int line,
	const char *path, const char *text);

/* A config_report_function that writes `error|warning FILE:LINE PATH: text` to stderr and counts
 * errors in the unsigned int at @data. */
void config_print(void *data, enum config_severity severity, const char *file, unsigned int line,
	const char *path, const char *text);
