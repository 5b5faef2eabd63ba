/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "util/cleanup.h"

/* A given name without a meaning, and the nearest name with one. */
struct token_guess {
	const char *wanted; /* borrowed */
	char *name;         /* owned; NULL: none is near */
	unsigned int distance;
};

/* Take @candidate into account. */
void guess_compare(struct token_guess *guess, const char *candidate);

/* Complain that no @kind ("toolbox") is called so: with the near name, else with @advice. */
void guess_complain(const struct token_guess *guess, const char *kind, const char *advice);

/* Free the name. */
void guess_deinit(struct token_guess *guess);
