/* SPDX-License-Identifier: Apache-2.0 */
#include "config/layers/flags.h"

#include <stdio.h>
#include <string.h>

#include "util/buffer.h"
#include "util/cleanup.h"
#include "util/text/visible.h"

#define EXIT_USAGE 2

bool config_flags_take(struct config_flags *flags, int option, const char *value)
{
	const char **place = option == 'b'   ? &flags->bus
			     : option == 'c' ? &flags->config
			     : option == 'l' ? &flags->log_level
			     : option == 'f' ? &flags->log_format
					     : NULL;

	if (place)
		*place = value;
	return place;
}

int config_flags_misuse(const char *program, const char *reason, const char *what)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	visible_append(&text, what, strlen(what));
	fprintf(stderr, "%s: %s%s\nTry '%s --help'.\n", program, reason,
		buffer_terminate(&text) ? text.data : "", program);
	return EXIT_USAGE;
}
