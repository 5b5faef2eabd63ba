/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "catalogue/package.h"
#include "config/config.h"
#include "loader/sandbox_max.h"

/*
 * Topics of the operator (contract.md, Kind bus): a tool with "topic": "$topics" is sent on the
 * topic that the setting `topics` has for it.
 *
 *   toolboxes.ID.topics: {"connect_call": "sip.call",
 *                         "send_message": {"topic": "sip.text", "reply": "sip.text.response"}}
 *
 * A tool without a topic is not offered.
 */

enum operator_topics_status {
	OPERATOR_TOPICS_E_REFUSED = 1, /* a setting has a mistake */
};

/* Give the tools of @package, just read, their topics. Without such a tool nothing is done. 0,
 * OPERATOR_TOPICS_E_REFUSED with @ret_refusal, or -ENOMEM. */
int operator_topics_resolve(
	const struct config *config, struct package *package, struct sandbox_refusal *ret_refusal);
