/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "ctl/command.h"

/*
 * Help: on the program, on a command and on a topic; and the right word for a wrong one.
 *
 *   toolboxctl help          the commands
 *   toolboxctl help invoke   as toolboxctl invoke --help
 *   toolboxctl help types    a topic: types.txt
 *   toolboxctl run           unknown command 'run'; did you mean 'invoke'?
 */

/* Print the help on the program, which has the @n_commands @commands. */
void help_print_program(const struct ctl_command *commands, size_t n_commands);

void help_print_command(const struct ctl_command *command);

/* Print the help on the topic @name. Return whether there is one. */
bool help_print_topic(const char *name);

/* Return the name of the topic @index, or NULL after the last one. */
const char *help_topic_name(size_t index);

/* Complain that there is no command @name, with the probably intended command. */
void help_refuse_command(const struct ctl_command *commands, size_t n_commands, const char *name);
