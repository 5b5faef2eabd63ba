/* SPDX-License-Identifier: Apache-2.0 */
#include "message/member.h"

static enum member_kind kind_of(const char *key, size_t size)
{
	if (json_key_is(key, size, "type"))
		return MEMBER_TYPE;
	if (json_key_is(key, size, "data"))
		return MEMBER_DATA;
	if (json_key_is(key, size, "context"))
		return MEMBER_CONTEXT;
	return MEMBER_OTHER;
}

int bus_member_next(struct json_members *members, struct member *ret_member)
{
	struct json_member found;
	int r = json_members_next(members, &found);

	if (r)
		return r;
	*ret_member = (struct member){
		.kind = kind_of(found.key, found.key_size),
		.key = found.key,
		.key_size = found.key_size,
		.value = found.value,
		.value_size = found.value_size,
		.whole = found.value,
		.whole_size = found.value_size,
	};
	return 0;
}
