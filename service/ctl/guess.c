/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/guess.h"

#include <stdlib.h>
#include <string.h>

#include "ctl/terminal.h"
#include "util/text/text.h"

void guess_compare(struct token_guess *guess, const char *candidate)
{
	unsigned int distance;

	if (!text_is_near(guess->wanted, strlen(guess->wanted), candidate, strlen(candidate),
		    &distance) ||
		(guess->name && distance >= guess->distance))
		return;
	free(guess->name);
	guess->name = strdup(candidate);
	guess->distance = distance;
}

void guess_complain(const struct token_guess *guess, const char *kind, const char *advice)
{
	if (guess->name)
		terminal_complain(
			"no %s is called '%s'; is it '%s'?", kind, guess->wanted, guess->name);
	else
		terminal_complain("no %s is called '%s'; %s", kind, guess->wanted, advice);
}

void guess_deinit(struct token_guess *guess)
{
	free(guess->name);
	guess->name = NULL;
}
