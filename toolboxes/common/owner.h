/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COMMON_OWNER_H
#define COMMON_OWNER_H

#include <string.h>
#include <toolbox.h>

/*
 * The session of a call, for what belongs to one session. A session belongs to the caller that
 * began it: two callers of HTTP with one id of a session have two sessions. All callers on the bus
 * are one owner, since each of them may write any source and any session.
 */

/* Where there is no room, an owner with more than this part of all first loses its own: it could
 * have any number of sessions. */
#define OWNER_SHARE 4

/* Return the owner of the session of @call; "": the bus. */
static inline const char *session_owner(struct toolbox_call call)
{
	const char *identity = toolbox_identity(call);

	/* No client of the bus has such an identity. */
	return strncmp(identity, "http:", 5) == 0 || strncmp(identity, "uid:", 4) == 0 ? identity
										       : "";
}

/* Return the id of the session of @call. A message of OVOS without one belongs to `default`. */
static inline const char *session_id(struct toolbox_call call)
{
	const char *session = toolbox_session(call);

	return *session ? session : "default";
}

#endif
