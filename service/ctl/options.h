/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/buffer.h"

/* Groups of flags. Only some commands take those; every command takes the common ones, which may
 * also precede its name. */
#define CTL_FLAG_TOOLBOX 0x001u
#define CTL_FLAG_PROFILE 0x002u
#define CTL_FLAG_FORMAT  0x004u
#define CTL_FLAG_WHY     0x008u
#define CTL_FLAG_ARGS    0x010u
#define CTL_FLAG_DRY_RUN 0x020u
#define CTL_FLAG_LINES   0x040u
#define CTL_FLAG_FILE    0x20000u
#define CTL_FLAG_COMMON  0x080u
#define CTL_FLAG_OFFLINE 0x100u
#define CTL_FLAG_KIND    0x200u
#define CTL_FLAG_BUS     0x400u
#define CTL_FLAG_TOOL    0x10000u
#define CTL_FLAG_PAST    0x1000000u
#define CTL_FLAG_CALLS   0x2000000u
#define CTL_FLAG_EVENTS  0x4000000u
#define CTL_FLAG_WATCH   0x800u
#define CTL_FLAG_ALLOWED 0x40000000u
#define CTL_FLAG_FOR     0x80000000u
#define CTL_FLAG_SESSION 0x1000u
#define CTL_FLAG_REASON  0x2000u
#define CTL_FLAG_KEY     0x4000u
#define CTL_FLAG_LONG    0x8000u
#define CTL_FLAG_ALL     0x40000u
#define CTL_FLAG_RUN     0x10000000u
#define CTL_FLAG_HEADER  0x20000000u

#define CTL_FLAG_DIR   0x80000u
#define CTL_FLAG_MCP   0x100000u
#define CTL_FLAG_ADMIN 0x200000u
#define CTL_FLAG_SHOW  0x800000u
#define CTL_FLAG_HTTP  0x400000u
#define CTL_FLAG_LANG  0x8000000u

#define CTL_TIMEOUT_MS    5000
#define CTL_TIMEOUT_MAX_S 86400

/* The parsed command line. All texts belong to argv. */
struct ctl_options {
	const char *bus; /* or NULL, as the others */
	const char *http;
	const char *token_file;
	const char *toolbox_id;
	const char **toolboxes; /* each given toolbox_id, in order; owned */
	size_t n_toolboxes;
	const char *profile;
	const char *toolbox_dir;
	const char *format;
	const char *args;
	const char *kind;
	const char *skill; /* --from-skill */
	const char *out;
	const char *pkg;
	const char *library;
	const char *gir; /* --from-gir */
	const char *only;
	const char *risk;
	const char *cflags;
	const char *url;
	const char *variable; /* the last --env and --header */
	const char *header;
	const char **variables; /* each --env, in order; owned */
	size_t n_variables;
	const char **headers; /* each --header, likewise: of HTTP, or of C */
	size_t n_headers;
	const char *from_header;   /* the last --from-header */
	const char **from_headers; /* each of them, likewise */
	size_t n_from_headers;
	char **command; /* the words after --command; of argv */
	size_t n_command;
	const char *file;
	const char *get;
	const char *since;
	const char *span; /* the value of --for */
	const char *tool;
	const char *source;
	const char *count;
	const char *reason;
	const char *lang;
	uint64_t timeout_ms;
	bool json;
	bool why;
	bool is_long;
	bool stat;
	bool dry_run;
	bool background;
	bool trace_files;
	bool all;
	bool run;
	bool raw;
	bool yes;
	bool has_timeout; /* --timeout was given */
	bool lines;
	bool offline;
	bool standalone;
	bool bare;
	bool lazy;
	bool watch;
	bool allowed;
	bool session;
	bool makes_new;
	bool admin;
	bool force;
	bool show;
	bool running;
	bool failed;
	bool ended;
	bool shows_arguments;
	bool help;
	bool version;
	uint64_t given;          /* a bit for each given flag: see ctl_options_other() */
	const char **positional; /* the command's name, then its arguments; owned */
	size_t n_positional;
};

/* Positive results. */
enum ctl_options_status {
	CTL_OPTIONS_E_USAGE = 1,
};

/*
 * Parse the command line (without the program's name). `--flag VALUE` and `--flag=VALUE` are the
 * same; flags may be anywhere before a `--`. Return 0 with @ret_options, which the caller deinits;
 * CTL_OPTIONS_E_USAGE with a description in @ret_reason (one line, NUL-terminated, no newline); or
 * -ENOMEM.
 */
int ctl_options_read(
	int argc, char **argv, struct ctl_options *ret_options, struct buffer *ret_reason);

/* Append the flags of @groups (CTL_FLAG_…) to a help text of @width columns. */
void ctl_options_write_help(unsigned int groups, size_t width, struct buffer *out);

/* Return the name of the flag @index among the flags of @groups, or NULL after the last. */
const char *ctl_options_flag(unsigned int groups, size_t index);

/* Return the word for the value of the flag @name in help texts; NULL without such a flag, or for a
 * flag without a value. */
const char *ctl_options_value(const char *name);

/* Return the name of a given flag outside of @groups; NULL: there is none. */
const char *ctl_options_other(const struct ctl_options *options, unsigned int groups);

void ctl_options_deinit(struct ctl_options *options);
