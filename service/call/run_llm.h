/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "json/tape.h"
#include "util/buffer.h"

/*
 * Whether the assistant speaks after a tool: the flag `run_llm`, which a model chooses per call
 * (contract.md, Speaking after a tool; ai-manager, pkg/toolhandler/definitions.go).
 *
 *   manifest     true, false ─▶ the default, and a property of the listed schema
 *                absent      ─▶ no default
 *                "argument"  ─▶ a plain argument of the tool: nothing here applies
 *
 *   call         {"a": 1, "run_llm": true} ─┬─▶ {"a": 1} ─▶ schema ─▶ tool
 *                                           └─▶ "run_llm": true beside the result or the error
 */
enum run_llm {
	RUN_LLM_UNSAID,
	RUN_LLM_NO,
	RUN_LLM_YES,
	RUN_LLM_ARGUMENT, /* for a tool alone, never for a call */
};

#define RUN_LLM_KEY "run_llm"

/* Return the value of the manifest at @token of @tape, JSON_NONE for an absent one. */
enum run_llm run_llm_at(const struct json_tape *tape, uint32_t token);

/* Append the argument schema at the root of @tape with the property `run_llm`, whose default is
 * @value, RUN_LLM_NO or RUN_LLM_YES. */
void run_llm_write_listed(const struct json_tape *tape, enum run_llm value, struct buffer *out);

/* Return whether the argument schema at the root of @tape declares the property `run_llm`. */
bool run_llm_is_declared(const struct json_tape *tape);

/* Append that schema without the property, which it does not require then either. */
void run_llm_write_checked(const struct json_tape *tape, struct buffer *out);

/* Append the object at @object of @tape without its member `run_llm`. */
void run_llm_write_rest(const struct json_tape *tape, uint32_t object, struct buffer *out);
