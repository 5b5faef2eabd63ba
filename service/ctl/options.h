/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/buffer.h"

/* Flags that only some commands take. The common ones are taken by all, in front of the command's
 * name too. */
#define CTL_FLAG_TOOLBOX 0x001u
#define CTL_FLAG_PROFILE 0x002u
#define CTL_FLAG_FORMAT  0x004u
#define CTL_FLAG_WHY     0x008u
#define CTL_FLAG_ARGS    0x010u
#define CTL_FLAG_DRY_RUN 0x020u
#define CTL_FLAG_LINES   0x040u
#define CTL_FLAG_COMMON  0x080u
#define CTL_FLAG_OFFLINE 0x100u
#define CTL_FLAG_KIND    0x200u

#define CTL_TIMEOUT_MS    5000
#define CTL_TIMEOUT_MAX_S 86400

/* What the command line says. All texts are argv's. */
struct ctl_options {
	const char *bus; /* or NULL, as the others */
	const char *toolbox_id;
	const char *profile;
	const char *format;
	const char *args;
	const char *kind;
	uint64_t timeout_ms;
	bool json;
	bool why;
	bool dry_run;
	bool lines;
	bool offline;
	bool help;
	bool version;
	unsigned int given;      /* CTL_FLAG_… that were */
	const char **positional; /* the command's name, then its arguments; owned */
	size_t n_positional;
};

/* Positive results. */
enum ctl_options_status {
	CTL_OPTIONS_E_USAGE = 1,
};

/*
 * Read the command line (without the program's name). `--flag VALUE` and `--flag=VALUE` are the
 * same; flags may stand anywhere up to a `--`. 0 with @ret_options to be deinited by the caller;
 * CTL_OPTIONS_E_USAGE with what is wrong in @ret_why (a line, NUL-terminated, no newline); or
 * -ENOMEM.
 */
int ctl_options_read(
	int argc, char **argv, struct ctl_options *ret_options, struct buffer *ret_reason);

/* Append the flags of @groups (CTL_FLAG_…) to a help text, a line each. */
void ctl_options_write_help(unsigned int groups, struct buffer *out);

/* The name of the first flag of @groups. */
const char *ctl_options_name(unsigned int groups);

void ctl_options_deinit(struct ctl_options *options);
