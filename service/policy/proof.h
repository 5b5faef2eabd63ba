/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/approval_key.h"
#include "util/text_view.h"

/*
 * The proof that an answer comes from who holds the key of `approval.key_file`: the HMAC-SHA256 of
 * what is answered, as lower-case hexadecimal digits.
 *
 *   an answer   ID \n DECISION
 *   an attach   attach \n SECONDS \n NONCE
 *
 * An id is never used again and is forgotten with its answer, a nonce with the attach that it
 * proved, so a proof is of no use to who reads it on the bus.
 */

#define PROOF_CHARS 64

/* Write the proof of the @decision on the question @id, or of attaching for @seconds, to @ret. Return
 * false when libcrypto fails. */
bool proof_of_answer(const unsigned char key[APPROVAL_KEY_BYTES], const char *id,
	const struct text_view *decision, char ret[PROOF_CHARS + 1]);
bool proof_of_attach(const unsigned char key[APPROVAL_KEY_BYTES], uint64_t seconds,
	const char *nonce, char ret[PROOF_CHARS + 1]);

/* Return whether the @size bytes at @text are @proof. The time does not depend on where they differ. */
bool proof_is(const char proof[PROOF_CHARS + 1], const char *text, size_t size);
