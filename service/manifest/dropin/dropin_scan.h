/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The programs in a folder of drop-in programs (contract.md, Drop-in programs).
 *
 *   toolbox.d/home/lights.sh         home/lights
 *   toolbox.d/home/music/next        home/music_next
 *   toolbox.d/home/music/_shared.py  left out, as are types.py, helpers, my_helpers.sh,
 *   toolbox.d/home/notes.txt         and whatever cannot be run; .hidden is not looked at
 *   toolbox.d/home/lights.py         with `# toolbox: python` as its first line no program, but a
 *                                    toolbox, home_lights, of kind python
 */

enum dropin_status {
	DROPIN_E_REFUSED = 1, /* its definition cannot be read */
};

struct dropin {
	char *name; /* name of the tool */
	char *path;
	bool is_direct;      /* not in a folder of its own service */
	bool is_aside;       /* left out on purpose: by its name, or as a file other than a
	                      * program */
	char *reason;        /* the reason why it is not offered; NULL: it is */
	uint32_t program;    /* among the files examined before it was read … */
	uint32_t definition; /* … likewise, the file beside it */
};

/* Sorted by name; zeroed before use. */
struct dropin_list {
	struct dropin *items;
	size_t n_items;
	size_t n_aside;           /* items with is_aside */
	size_t n_seen;            /* entries of folders */
	struct dropin *toolboxes; /* the files of Python that are toolboxes, sorted by path */
	size_t n_toolboxes;
};

/* Most programs, most toolboxes, and most entries of any sort: more are a mistake. */
#define DROPINS_MAX        1000
#define DROPIN_ENTRIES_MAX 10000

/* The most listed names of files left out on purpose. */
#define DROPIN_ASIDE_MAX 100

/* List the programs in @folder. 0, -E2BIG (more than the above), or the negative errno of a folder
 * that cannot be listed; the list is the caller's to deinit in any case. */
int dropin_scan(const char *folder, struct dropin_list *list);

/* Leave @dropin out, with the reason. Return 0 or -ENOMEM. */
int dropin_leave_out(struct dropin *dropin, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

void dropin_list_deinit(struct dropin_list *list);

/* Return the name of the file or folder at @path without its suffix: *ret_size bytes. */
const char *dropin_stem(const char *path, size_t *ret_size);

/* Return whether a file or folder called @name is never a program or a folder of programs. */
bool dropin_is_left_out(const char *name);
