/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "config/approval_key.h"
#include "ctl/session.h"
#include "json/tape.h"
#include "policy/hex.h"
#include "policy/proof.h"

/*
 * The questions of the service, as far as they can be believed. Every client of a bus can send a
 * message like a question, or like the end of a question. With the key of the service only messages
 * with a right seal count (policy/proof.h); without a key all do.
 */

/* The names by which an answer means its question. */
struct question_mark {
	char id[HEX_ID_CHARS + 1];
	char seal[PROOF_CHARS + 1]; /* "" without a key */
};

/* Copy the member @key of the object at @object, a string of @size lower-case hexadecimal digits,
 * to @ret. Return false when it is anything else. */
bool questions_read_hex(
	const struct json_tape *tape, uint32_t object, const char *key, char *ret, size_t size);

/* Return whether @id is the id of a question. */
bool questions_is_id(const char *id);

/* Return whether the value at @object, sent by a client as a question, comes from the service. */
bool questions_read(const struct approval_key *key, const struct json_tape *tape, uint32_t object,
	struct question_mark *ret_mark);

/* Return whether the value at @object, sent by a client as an end, is the service's end of
 * @question. */
bool questions_is_end(const struct approval_key *key, const struct json_tape *tape, uint32_t object,
	const struct question_mark *question);

/* Complain, the first time only, about a question not shown for lack of a right seal. */
void questions_complain(void);

/* Take a question: the object at @object of @tape. */
typedef void (*question_function)(void *data, const struct json_tape *tape, uint32_t object,
	const struct question_mark *mark);

/* Ask for the waiting questions, and call @take for each of the service, the oldest first; complain
 * about others. Return 0, or an enum ctl_status after a complaint. */
int questions_each(struct ctl_session *session, const struct approval_key *key,
	question_function take, void *data);
