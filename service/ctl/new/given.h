/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "ctl/options.h"
#include "util/buffer.h"

/*
 * The variables and headers given to a server by `toolboxctl new --kind mcp`:
 *
 *   --env NAME                  ${env:NAME}      a variable of toolboxd
 *   --env 'NAME=${file:PATH}'   ${file:PATH}     a value that names a secret is kept as it is
 *   --env LOG_LEVEL=debug       debug
 *   --env API_KEY=VALUE         ${file:SECRETS/ID.API_KEY}
 *   --header 'NAME: VALUE'      likewise
 *
 * SECRETS is $XDG_CONFIG_HOME/toolboxd/secrets. A value is a secret by its name
 * (mcp_names_secret(), and names that end in `pass` or `pwd`), if it is a URL with a user, and if
 * it is a word of 16 characters or more with letters and digits.
 */

/* Check what @options give to the server of the toolbox @id. CTL_DONE; else a message was printed:
 * CTL_USAGE or CTL_ERROR. */
int new_given_check(const char *id, const struct ctl_options *options);

/* Let the manifest of a trial name the secrets: make them variables of this process. 0 or
 * -ENOMEM. */
int new_given_lend(const struct ctl_options *options);

/* Append the member `env` or `headers` of the manifest of @id. @is_trial: it names the variables of
 * new_given_lend(). */
void new_given_write(
	const char *id, const struct ctl_options *options, bool is_trial, struct buffer *out);

/* Write the files of the secrets, readable only for their owner. Store their folder in *ret_folder,
 * which the caller frees; NULL without secrets. 0 or a negative errno. */
int new_given_keep(const char *id, const struct ctl_options *options, char **ret_folder);
