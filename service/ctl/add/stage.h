/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "ctl/add/added.h"

/*
 * New registrations on their way into the user's folder: all of them, or none.
 *
 *   FILE, folder, stdin ─copy▶ toolbox.d/.add-XXXXXX/NAME.json ─check─▶ exchanged with
 *                              no service looks there                   toolbox.d/NAME.json
 *                                        ▲                                       │
 *                                        └───────── undone, if a later one fails ┘
 */
struct staged {
	const char *source; /* as on the command line */
	char *name;         /* NAME.json, or the folder NAME */
	char *path;         /* in the stage */
	bool is_folder;
	bool is_put;       /* it is in the folder … */
	bool has_replaced; /* … and the earlier one in the stage */
};

struct stage {
	struct added *added;  /* borrowed, locked */
	char *path;           /* the hidden folder; NULL: not made */
	struct staged *items; /* owned */
	size_t n_items;
};

/* Make the hidden folder of @stage, which stage_close() removes in any case. Return 0, or CTL_ERROR
 * after a complaint. */
int stage_open(struct added *added, struct stage *ret_stage);

/* Copy the registration that @source names: a manifest NAME.json, a folder, or "-", a manifest on
 * stdin. Return 0 or an enum ctl_status after a complaint. */
int stage_copy(struct stage *stage, const char *source);

/* Put all of them into the folder, note that, and take out what `add` had there under their ids.
 * Return 0, or CTL_ERROR after a complaint: none is there then, or all are beside an earlier
 * one. */
int stage_put(struct stage *stage);

/* Move the registration @name out of the folder into @stage. Return 0, or CTL_ERROR after a
 * complaint. */
int stage_take(struct stage *stage, const char *name);

/* Remove the hidden folder and everything in it. */
void stage_close(struct stage *stage);
