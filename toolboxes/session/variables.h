/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SESSION_VARIABLES_H
#define SESSION_VARIABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "text.h"

/*
 * Variables of sessions, in a database of SQLite:
 *
 *   sessions   id, owner, session, set_s ──┬─ variables   session, name, value
 *                  the last change ────────┘
 *
 * One call is one transaction, which waits for the disk: it counts as a whole or not at all,
 * whatever ends the process, and however many processes have the database. A session without a
 * change for VARIABLES_KEPT_S is gone; and when there are more sessions, or more bytes, than the
 * bounds, so is the session that was not changed for longest; of the owner alone that makes one
 * more, if it has more than its share (OWNER_SHARE).
 */
#define VARIABLES_MAX        256 /* of a session */
#define VARIABLE_VALUE_BYTES 4096
#define VARIABLE_NAME_BYTES  256
#define VARIABLES_KEPT_S     (30l * 86400)
#define SESSIONS_MAX         1024
#define VARIABLES_BYTES_MAX  (64u << 20) /* of the file */

struct variables;

/* The session: its owner (""; a caller of the bus) and its id. */
struct variables_session {
	const char *owner;
	const char *id;
};

/* Open the database at @path, made if it is absent. Return NULL with @why. */
struct variables *variables_open(const char *path, struct text *why);

void variables_close(struct variables *variables);

/* Return whether the file has been moved or removed since it was opened. */
bool variables_has_moved(const struct variables *variables);

/* Set the variables in the JSON text @json, an object of strings without U+0000. Return the number
 * of variables that the session has now; -1 with @why, and nothing changed. */
int variables_set(struct variables *variables, const struct variables_session *session,
	const char *json, int64_t now_s, struct text *why);

typedef void (*variables_function)(void *data, const char *name, const char *value, size_t size);

/* Call @function for each variable of the session, by name. Return false with @why. */
bool variables_get(struct variables *variables, const struct variables_session *session,
	int64_t now_s, variables_function function, void *data, struct text *why);

#endif
