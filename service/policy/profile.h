/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "catalogue/catalogue.h"
#include "config/config.h"

/*
 * A profile as it is in one catalogue: the tools that its names mean there, and a catalogue of
 * these alone. Whatever is installed later is in the next catalogue, and so in the next profile.
 */
struct profile {
	char *name;
	bool has_all;             /* every tool, and so no set and no view of its own */
	struct catalogue_set set; /* the tools that it has */
	struct catalogue *view;   /* the catalogue of these */
};

/* Make @profile the one that @config describes, in @catalogue. Return 0 or -ENOMEM; it is to be
 * given back in either case. */
int profile_init(struct profile *profile, const struct config_profile *config,
	const struct catalogue *catalogue);

/* Free the memory of @profile. */
void profile_deinit(struct profile *profile);

/* Return the catalogue of the tools of @catalogue that all of the @n @profiles have; NULL without
 * memory. None of them has all. The time is that of the smallest one, and of a look at each 64
 * tools. */
struct catalogue *profile_intersect(
	const struct profile *const *profiles, size_t n, const struct catalogue *catalogue);
