/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <limits.h>

#include "ctl/options.h"

/*
 * toolboxctl: one struct for each command; the table of them is in toolboxctl.c.
 *
 *   argv ─options▶ which command, which flags ─run▶ exit status
 */

/* The exit status of toolboxctl (contract.md, Command lines). */
enum ctl_status {
	CTL_DONE,
	CTL_ERROR,     /* the response holds an error, or something is not valid */
	CTL_USAGE,     /* the command line, or a file that it names, cannot be used */
	CTL_NO_BUS,    /* no bus, or no service on it */
	CTL_NO_ANSWER, /* the service is alive, but did not answer; or the tool's time was up */
};

struct ctl_command {
	const char *name;
	const char *arguments; /* as in usage: "NAME", "" */
	const char *summary;   /* a line for the list of commands */
	const char *help;      /* more lines, or "" */
	unsigned int flags;    /* CTL_FLAG_… that it takes beside the common ones */
	unsigned int n_least;  /* arguments, at least and at most */
	unsigned int n_most;
	int (*run)(const struct ctl_options *options); /* gives an enum ctl_status */
};

#define CTL_MANY UINT_MAX

int ctl_list(const struct ctl_options *options);
int ctl_get(const struct ctl_options *options);
int ctl_invoke(const struct ctl_options *options);
int ctl_reload(const struct ctl_options *options);
int ctl_status(const struct ctl_options *options);
int ctl_watch(const struct ctl_options *options);
int ctl_match(const struct ctl_options *options);
int ctl_check(const struct ctl_options *options);
int ctl_validate(const struct ctl_options *options);
int ctl_new(const struct ctl_options *options);
