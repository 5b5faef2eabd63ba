/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/request/answer.h"
#include "policy/caller.h"
#include "util/buffer.h"
#include "util/text/text_view.h"

/*
 * A call for display: tool, caller and end, but no arguments. A summary has a fixed size, whatever
 * its call holds, and is filled without allocating:
 *
 *                                    ┌─ call_summary_go_on ─▶ running
 *   struct call ── call_summary_describe ─┤
 *                                    └─ call_summary_end ───▶ done, failed
 *
 * Its texts are JSON, like the texts of struct call. A longer one is cut to the bound of its part
 * and ends with "…".
 */

enum summary_state {
	SUMMARY_RUNNING, /* in flight: it waits, or it runs */
	SUMMARY_DONE,
	SUMMARY_FAILED,
};

/* The names of the states, by value; NULL ends the list. */
extern const char *const call_summary_state_names[];

enum summary_part {
	SUMMARY_CALL_ID,
	SUMMARY_NAME,
	SUMMARY_TOOLBOX, /* absent: no tool was found */
	SUMMARY_SOURCE,
	SUMMARY_SESSION,
	SUMMARY_TEXT, /* the reason of a failure, or the last progress of a call that runs */
	SUMMARY_PARTS,
};

/* The bounds of the parts in bytes of JSON text, with quotes. An id or a name of a tool is never
 * cut. */
#define SUMMARY_CALL_ID_BYTES 130
#define SUMMARY_NAME_BYTES    130
#define SUMMARY_TOOLBOX_BYTES 130
#define SUMMARY_SOURCE_BYTES  130
#define SUMMARY_SESSION_BYTES 130
#define SUMMARY_TEXT_BYTES    290
#define SUMMARY_TEXTS_BYTES                                                                        \
	(SUMMARY_CALL_ID_BYTES + SUMMARY_NAME_BYTES + SUMMARY_TOOLBOX_BYTES +                      \
		SUMMARY_SOURCE_BYTES + SUMMARY_SESSION_BYTES + SUMMARY_TEXT_BYTES)

struct call_summary {
	uint64_t number; /* number of the call in its process: see call_id_format() */
	uint64_t started_ns;
	uint64_t duration_us; /* 0: it runs, or was refused */
	double progress;
	uint32_t process;
	enum summary_state state;
	enum call_door door;
	enum answer_code code; /* set in SUMMARY_FAILED */
	bool has_progress;
	bool is_source_cut;
	uint16_t ends[SUMMARY_PARTS]; /* the end of each part in texts */
	char texts[SUMMARY_TEXTS_BYTES];
};

struct call;

/* Describe @call in @ret_summary, without its state and text. */
void call_summary_describe(const struct call *call, struct call_summary *ret_summary);

/* Add the state of the running @call to @summary: the last progress, or the reason of its wait. */
void call_summary_go_on(struct call_summary *summary, const struct call *call);

/* Add the end of its call to @summary: it took @duration_us, and failed with @code for @reason (a
 * JSON string; empty: none) unless @code is negative. */
void call_summary_end(
	struct call_summary *summary, uint64_t duration_us, int code, const struct buffer *reason);

/* Return a part with its quotes; absent when the call has no such text. */
struct text_view call_summary_part(const struct call_summary *summary, enum summary_part part);

/* Return whether @summary has @text, cut like its own, as this part. */
bool call_summary_has(
	const struct call_summary *summary, enum summary_part part, const struct text_view *text);

/* Append @summary as a JSON object (contract.md, ovos.tools.calls). @now_ns: clock_now_ns().
 * @real_ns: what CLOCK_REALTIME is ahead of that. */
void call_summary_write(
	const struct call_summary *summary, uint64_t now_ns, int64_t real_ns, struct buffer *out);
