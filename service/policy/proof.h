/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/approval_key.h"
#include "json/tape.h"
#include "util/text/text_view.h"

/*
 * Proofs by the key of `approval.key_file`: the HMAC-SHA256 of a text, as lower-case hexadecimal
 * digits. The first line of the text is its domain, so a proof of one kind is never a proof of
 * another kind.
 *
 *   by toolboxd, a seal    question \n ID \n DIGEST          the question asked by it
 *                          resolved \n ID \n DIGEST          the end of that
 *   by a person, a proof   answer \n ID \n DECISION \n SEAL  an answer to the question with SEAL
 *                          attach \n SECONDS \n NONCE
 *
 * DIGEST is the SHA-256 of the message as canonical JSON (json/canonical.h), without its `seal` and
 * its `expires_s`, which changes with the time. So a person believes only toolboxd, and
 * an answer counts only for the words shown to the person.
 *
 * An id is never used again and is forgotten with its answer, a nonce with the attach proved by it,
 * so a proof is of no use to its readers on the bus.
 */

#define PROOF_CHARS 64

/* Write the digest of the message at @object of @tape to @ret. Return 0, -ENOMEM or -EINVAL. */
int proof_digest(const struct json_tape *tape, uint32_t object, char ret[PROOF_CHARS + 1]);

/* Write the seal of the question @id with the @digest, or of its end, to @ret. Return false
 * without memory. */
bool proof_of_question(const unsigned char key[APPROVAL_KEY_BYTES], const char *id,
	const char *digest, char ret[PROOF_CHARS + 1]);
bool proof_of_end(const unsigned char key[APPROVAL_KEY_BYTES], const char *id, const char *digest,
	char ret[PROOF_CHARS + 1]);

/* Write the proof of the @decision on the question @id with the @seal, or of attaching for
 * @seconds, to @ret. Return false without memory. */
bool proof_of_answer(const unsigned char key[APPROVAL_KEY_BYTES], const char *id,
	const struct text_view *decision, const char *seal, char ret[PROOF_CHARS + 1]);
bool proof_of_attach(const unsigned char key[APPROVAL_KEY_BYTES], uint64_t seconds,
	const char *nonce, char ret[PROOF_CHARS + 1]);

/* Return whether the @size bytes at @text are @proof. The time does not depend on where they
 * differ. */
bool proof_is(const char proof[PROOF_CHARS + 1], const char *text, size_t size);
