/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <limits.h>

#include "ctl/options.h"

/*
 * The commands of toolboxctl, one struct each. Their table is in toolboxctl.c.
 *
 *   argv ─options▶ command and flags ─run▶ exit status
 */

/* The exit status of toolboxctl (contract.md, Command lines). */
enum ctl_status {
	CTL_DONE,
	CTL_ERROR,     /* the response is an error, or something is not valid */
	CTL_USAGE,     /* the command line, or a file named there, cannot be used */
	CTL_NO_BUS,    /* no bus, or no service on it */
	CTL_NO_ANSWER, /* the service is alive but did not answer, or the tool's time is over */
};

struct ctl_command {
	const char *name;
	const char *arguments; /* as in the usage text: "NAME", "" */
	const char *summary;   /* one line for the list of commands */
	const char *help;      /* more lines, or "" */
	const char *examples;  /* lines to copy, each with its newline */
	unsigned int flags;    /* its CTL_FLAG_… besides the common ones */
	unsigned int n_least;  /* fewest and most arguments */
	unsigned int n_most;
	int (*run)(const struct ctl_options *options); /* return an enum ctl_status */
};

#define CTL_MANY UINT_MAX

int ctl_list(const struct ctl_options *options);
int ctl_get(const struct ctl_options *options);
int ctl_invoke(const struct ctl_options *options);
int ctl_reload(const struct ctl_options *options);
int ctl_status(const struct ctl_options *options);
int ctl_calls(const struct ctl_options *options);
int ctl_cancel(const struct ctl_options *options);
int ctl_jobs(const struct ctl_options *options);
int ctl_watch(const struct ctl_options *options);
int ctl_match(const struct ctl_options *options);
int ctl_search(const struct ctl_options *options);
int ctl_say(const struct ctl_options *options);
int ctl_chat(const struct ctl_options *options);
int ctl_check(const struct ctl_options *options);
int ctl_test(const struct ctl_options *options);
int ctl_validate(const struct ctl_options *options);
int ctl_audit(const struct ctl_options *options);
int ctl_approvals(const struct ctl_options *options);
int ctl_approve(const struct ctl_options *options);
int ctl_deny(const struct ctl_options *options);
int ctl_approval(const struct ctl_options *options);
int ctl_mcp(const struct ctl_options *options);
int ctl_dev(const struct ctl_options *options);
int ctl_new(const struct ctl_options *options);
int ctl_remember(const struct ctl_options *options);
int ctl_profile(const struct ctl_options *options);
int ctl_token(const struct ctl_options *options);
int ctl_trust(const struct ctl_options *options);
int ctl_add(const struct ctl_options *options);
int ctl_remove(const struct ctl_options *options);
