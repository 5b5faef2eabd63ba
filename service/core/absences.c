/* SPDX-License-Identifier: Apache-2.0 */
#include "core/absences.h"

#include <string.h>

#include "json/writer.h"

static void write_member(struct buffer *out, const char *key, const char *text)
{
	if (out->data && out->data[out->size - 1] != '{')
		buffer_append_char(out, ',');
	json_write_key(out, key);
	if (text)
		/* A path may hold any bytes; a frame may not. */
		json_write_bytes_lossy(out, text, strlen(text));
	else
		json_write_text(out, NULL);
}

void absences_write_failed(const struct catalogue *catalogue, struct buffer *out)
{
	buffer_append_char(out, '[');
	for (size_t i = 0; i < catalogue_n_failures(catalogue); i++) {
		const struct catalogue_failure *failure = catalogue_failure(catalogue, i);

		buffer_append_string(out, i > 0 ? ",{" : "{");
		write_member(out, "toolbox_id", failure->toolbox_id);
		write_member(out, "error", failure->error);
		buffer_append_char(out, '}');
	}
	buffer_append_char(out, ']');
}

void absences_write_not_offered(const struct catalogue *catalogue, struct buffer *out)
{
	buffer_append_char(out, '[');
	for (size_t i = 0; i < catalogue_n_absences(catalogue); i++) {
		const struct catalogue_absence *absence = catalogue_absence(catalogue, i);

		buffer_append_string(out, i > 0 ? ",{" : "{");
		write_member(out, "toolbox_id", absence->toolbox_id);
		write_member(out, "name", absence->name);
		write_member(out, "why", absence->why);
		buffer_append_char(out, '}');
	}
	buffer_append_char(out, ']');
}
