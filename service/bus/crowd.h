/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "bus/account.h"
#include "util/list.h"

/*
 * The clients of the embedded bus, and the choice of a client to give way to a newcomer when there
 * are too many:
 *
 *   the holder (bus/account.h) that has most clients
 *     └─ its client that has sent nothing and is connected longest; when all have sent something,
 *        the client that has been silent longest
 *
 * So idle connections shut no client out.
 */
struct crowd {
	struct list list; /* the longest connected comes first */
};

/* The member of each client. */
struct crowd_member {
	struct list link;
	uint64_t holder;
	uint64_t heard_ms; /* time of its last message; 0: no message so far */
};

/* The compared clients: more than there may be. */
#define CROWD_MAX 1024

void crowd_init(struct crowd *crowd);

/* Let a client with @member, zeroed, enter. Its account @account gets the network of the address at
 * the other end of @fd as its holder: a token of the bus is the same for all. */
void crowd_enter(struct crowd *crowd, struct crowd_member *member, struct account *account, int fd);

void crowd_leave(struct crowd_member *member);

/* Return the member to give way; NULL when there is none. */
struct crowd_member *crowd_find_least(const struct crowd *crowd);
