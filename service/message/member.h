/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "json/members.h"

/* The members of a message, found by their keys and not checked. */

enum member_kind {
	MEMBER_TYPE,
	MEMBER_DATA,
	MEMBER_CONTEXT,
	MEMBER_OTHER,
};

struct member {
	enum member_kind kind;
	const char *key; /* with its quotes, unchecked */
	size_t key_size;
	const char *value; /* unchecked, at least one byte */
	size_t value_size;
	const char *whole; /* the value as it came, where a part of it was skimmed */
	size_t whole_size;
};

/* Read the next member. Return 0 or an enum json_members_status. */
int bus_member_next(struct json_members *members, struct member *ret_member);
