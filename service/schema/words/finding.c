/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/words/finding.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "json/pointer.h"

void findings_add(struct findings *findings, uint32_t token, struct buffer *message)
{
	struct finding *finding = &findings->list[findings->count];
	char *text = buffer_take(message, NULL);

	if (!text) {
		findings->error = -ENOMEM;
		return;
	}
	for (uint32_t i = 0; i < findings->count; i++) {
		const struct finding *other = &findings->list[i];

		if (other->token == token && strcmp(other->message, text) == 0) {
			free(text);
			return;
		}
	}
	if (findings->count == FINDINGS_MAX) {
		findings->is_full = true;
		free(text);
		return;
	}
	*finding = (struct finding){token, text};
	findings->count++;
}

/* By place in the instance; what was found at one place stays in its order. */
static void sort(struct findings *findings)
{
	for (uint32_t i = 1; i < findings->count; i++) {
		struct finding moved = findings->list[i];
		uint32_t k = i;

		for (; k > 0 && findings->list[k - 1].token > moved.token; k--)
			findings->list[k] = findings->list[k - 1];
		findings->list[k] = moved;
	}
}

int findings_report(struct findings *findings, const struct json_tape *tape, uint32_t root,
	struct schema_report *report)
{
	cleanup(buffer_deinit) struct buffer path = {0};
	size_t skipped;
	int r = findings->error;

	json_pointer_write(tape, root, &path);
	skipped = path.size;
	sort(findings);
	for (uint32_t i = 0; r == 0 && i < findings->count; i++) {
		buffer_reset(&path);
		json_pointer_write(tape, findings->list[i].token, &path);
		if (!buffer_terminate(&path))
			return -ENOMEM;
		r = schema_report_add(report, path.data + skipped, findings->list[i].message);
	}
	report->is_cut |= findings->is_full;
	return r;
}

void findings_deinit(struct findings *findings)
{
	while (findings->count > 0)
		free(findings->list[--findings->count].message);
}
