/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Assertions about our own state: the rules in headers with the words must, only, once or never.
 *
 * They are always on. A failed one is a mistake of this program: it is logged with the function,
 * the file and the line, and the process aborts before the mistake spreads. The service manager
 * restarts a daemon, and the processes of its toolboxes end with it.
 *
 * Never check bytes that come from outside (the bus, a host, a manifest, a schema): bound, parse
 * and refuse them with an error.
 */

/* Abort unless @condition holds. @condition is evaluated once and has no side effects. */
#define check(condition)                                                                           \
	(__builtin_expect(!!(condition), 1)                                                        \
			? (void)0                                                                  \
			: check_failed(#condition, __func__, __FILE_NAME__, __LINE__))

/* Log that @condition does not hold in @function, at @line of @file, and abort. */
__attribute__((noreturn, cold)) void check_failed(
	const char *condition, const char *function, const char *file, int line);
