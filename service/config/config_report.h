/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "config/config.h"

/* Where the steps of reading a configuration tell what is wrong. */
struct config_reporter {
	config_report_function function;
	void *data;
	bool is_broken;  /* a file is there and cannot be read or parsed: what it says is missing */
	bool is_refused; /* something was told that the daemon must not start with */
	bool is_misused; /* a flag has a value that cannot be used */
};

/* Tell something; the arguments are those of config_report_function, the text formatted. */
void config_report(struct config_reporter *reporter, enum config_severity severity,
	const char *file, unsigned int line, const char *path, const char *format, ...)
	__attribute__((format(printf, 6, 7)));
