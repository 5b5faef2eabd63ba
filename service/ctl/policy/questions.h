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
 * message that looks like a question, or like the end of one. With the key of the service only
 * those with a right seal count (policy/proof.h); without a key all do.
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

/* Return whether @id is that of a question. */
bool questions_is_id(const char *id);

/* Return whether the value at @object, which a client has sent as a question, is one of the
 * service. */
bool questions_read(const struct approval_key *key, const struct json_tape *tape, uint32_t object,
	struct question_mark *ret_mark);

/* Return whether the value at @object, which a client has sent as an end, is that of @question by
 * the service. */
bool questions_is_end(const struct approval_key *key, const struct json_tape *tape, uint32_t object,
	const struct question_mark *question);

/* Complain, the first time only, that a question is not shown, because it has no right seal. */
void questions_complain(void);

/* Take a question: the object at @object of @tape. */
typedef void (*question_function)(void *data, const struct json_tape *tape, uint32_t object,
	const struct question_mark *mark);

/* Ask for the questions that wait, and call @take for each one of the service, the oldest first;
 * complain about others. Return 0, or an enum ctl_status after a complaint. */
int questions_each(struct ctl_session *session, const struct approval_key *key,
	question_function take, void *data);
