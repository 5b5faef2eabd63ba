/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "json/tape.h"
#include "util/buffer.h"
#include "util/text/text_view.h"

/*
 * The spoken faces of a tool (contract.md, Utterances): its sentences for a person, by language.
 *
 *   {"en": {"done": "That makes {result}.", "failed": "That did not work: {error}."}, "de": {…}}
 *              │
 *   de-AT ─▶ de-AT, de, else en (util/text/language_tag.h) ─▶ done ─▶ {result}: 7 ─▶ a sentence
 *
 * A name in braces is an argument of the call, or a top member of its result. A string is spoken as
 * text, and any other value as its JSON text. A sentence with a name that has no value is not
 * spoken.
 */

enum spoken_face {
	SPOKEN_CONFIRM, /* the question whether the call may run */
	SPOKEN_DONE,
	SPOKEN_FAILED, /* {error}: the reason */
	SPOKEN_WAIT,   /* the call takes a while */
};
#define SPOKEN_FACES (SPOKEN_WAIT + 1)

/* The language of a tool without a face in the wanted one. */
#define SPOKEN_LANGUAGE "en"

/* The most code points of one value in a sentence. */
#define SPOKEN_VALUE_POINTS 1000

/* The values of a sentence: objects, or NULL for none; @error is absent unless the call failed. */
struct spoken_values {
	const struct json_tape *arguments;
	const struct json_tape *result;
	struct text_view error;
	uint64_t named; /* after spoken_write(): a bit for each of the first arguments in the
			   sentence */
};

/* Return whether the sentence written with @values has each of its arguments. */
bool spoken_names_all(const struct spoken_values *values);

/* Return the name of @face: the key of its text. */
const char *spoken_face_name(enum spoken_face face);

/* Append to @out the sentence @face of the faces @json (the text of an object; NULL: none) in the
 * language @tag, with @values, and to @ret_tag the tag of its language. Return false, with nothing
 * appended, when there is no such face, or a value is absent. Without memory @out fails. */
bool spoken_write(const char *json, enum spoken_face face, struct text_view tag,
	struct spoken_values *values, struct buffer *out, struct buffer *ret_tag);
