/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "json/reader.h"
#include "schema/schema.h"
#include "util/buffer.h"

/*
 * The findings of the second pass, in the order in which it makes them; the report has them in the
 * order of the instance. More are kept than reported, because the last finding may belong first.
 */
#define FINDINGS_MAX 64

struct finding {
	uint32_t token; /* a token of the instance */
	char *message;
};

struct findings {
	struct finding list[FINDINGS_MAX];
	uint32_t count;
	bool is_full; /* there was one more */
	int error;    /* 0, or the first failure: -ENOMEM */
};

/* Begin without findings. The list, a kilobyte, stays as it is. */
static inline void findings_init(struct findings *findings)
{
	findings->count = 0;
	findings->is_full = false;
	findings->error = 0;
}

/* Add a finding at @token. @message is emptied; a second copy of a finding is not added. */
void findings_add(struct findings *findings, uint32_t token, struct buffer *message);

/* Add what was found to @report; paths lead from @root of @tape. 0 or -ENOMEM. */
int findings_report(struct findings *findings, const struct json_tape *tape, uint32_t root,
	struct schema_report *report);

void findings_deinit(struct findings *findings);
