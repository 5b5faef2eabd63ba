/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The values of flags, which override everything. NULL or empty: not given. */
struct config_flags {
	const char *bus;
	const char *config; /* a file: one more layer above the stack */
	const char *const *toolbox_dirs;
	size_t n_toolbox_dirs;
	const char *const *http; /* in place of http.listen */
	size_t n_http;
	const char *log_level;
	const char *log_format;
	const char *trace_files;  /* the file for reports of the hosts' tracers
				    (worker/sandbox/trace.h); NULL: hosts are not traced */
	const char *const *files; /* just these manifests and folders of drop-in programs, whatever
				     the folders hold */
	size_t n_files;
	bool is_second; /* part of a command, beside the daemon: no audit log is written, which has
				one writer, nothing listens for HTTP, and log lines are plain */
	const char *private; /* the token of the embedded bus, which only the person who starts the
				service knows: calls need no approval; or NULL */
	bool keeps_approval; /* with private: another person calls, so calls need the
				approval that is configured */
};

/* Set the flag of @option ('b' --bus, 'c' --config, 'l' --log-level, 'f' --log-format) to @value,
 * which is borrowed. Return whether @option is the letter of such a flag. */
bool config_flags_take(struct config_flags *flags, int option, const char *value);

/* Complain on stderr for @program: @reason, then @what, a text of the command line. Return the exit
 * status of wrong usage. */
int config_flags_misuse(const char *program, const char *reason, const char *what);
