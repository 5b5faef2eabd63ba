/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/listing/match.h"
#include "core/request/answer.h"
#include "core/request/request_scope.h"
#include "core/voice/utterance.h"

/* Serve ovos.tools.utterance: call the tool of @match with the arguments @args, with @answer taken
 * over, if the match is complete; else write that there is none. */
void utterance_serve(struct utterances *utterances, struct request_scope *scope,
	const struct match *match, struct buffer *args, struct answer *answer);
