/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "catalogue/catalogue.h"
#include "config/config.h"
#include "manifest/manifest.h"

/*
 * The toolboxes of guests, as a load takes them in:
 *
 *   text of a registration ─▶ package ─┐
 *                                      ├─▶ the catalogue of the files, with the guests
 *   a catalogue, of files or in force ─┘
 *
 * A guest gives way to a file with its id, and to the limits of all toolboxes.
 */

/* The text of a registration (manifest/guest/guest.h), shared by the loop with a load. Only the
 * loop counts its references. */
struct guest_text {
	unsigned int references;
	size_t size;
	char bytes[]; /* with a NUL */
};

/* Return the text of @size bytes at @bytes, with one reference, or NULL without memory. */
struct guest_text *guest_text_new(const char *bytes, size_t size);
struct guest_text *guest_text_ref(struct guest_text *text);

/* Takes NULL. */
void guest_text_unref(struct guest_text *text);

enum guest_outcome {
	GUEST_OFFERED,
	GUEST_LATER,     /* no time was left to read it; the earlier package is offered */
	GUEST_REFUSED,   /* its text has problems; the earlier package is offered */
	GUEST_DISPLACED, /* a file has its id */
	GUEST_NO_ROOM,   /* limits.toolboxes or limits.tools */
};

struct guest_entry {
	uint64_t number; /* the owner's, for knowing it again */
	struct guest_text *text;
	char *source;
	bool is_new;             /* the text was not read yet */
	struct package *package; /* as read before, or NULL; afterwards as read now */
	struct diagnostics problems;
	enum guest_outcome outcome;
};

/* The guests of one load. A zeroed set is empty. */
struct guest_set {
	struct guest_entry *items;
	size_t n_items;
};

/* Append a guest with the members @entry has so far: references are taken, the source is copied. 0
 * or -ENOMEM. */
int guest_set_add(struct guest_set *set, const struct guest_entry *entry);

/* Drop the guests: the set is empty again. From the loop. */
void guest_set_deinit(struct guest_set *set);

/* The most time of its thread in which a load reads guests; it leaves the others for the next. */
#define GUESTS_MS_MAX 1000

/* Read the guests of @set that are not read yet, or not with the settings of @config. 0 or a
 * negative errno. Beside the loop, as the next function. */
int guests_read(struct manifest_reader *reader, const struct config *config, struct guest_set *set);

/* Return the toolboxes of @base that come from files with the guests of @set, as a new catalogue,
 * and the outcome of each guest in @set. NULL without memory. */
struct catalogue *guests_merge(const struct catalogue *base, struct guest_set *set,
	const struct config *config, uint64_t generation);
