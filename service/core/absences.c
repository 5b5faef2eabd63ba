/* SPDX-License-Identifier: Apache-2.0 */
#include "core/absences.h"

#include "json/writer.h"

void absences_write_failed(const struct catalogue *catalogue, struct buffer *out)
{
	buffer_append_char(out, '[');
	for (size_t i = 0; i < catalogue_n_failures(catalogue); i++) {
		const struct catalogue_failure *failure = catalogue_failure(catalogue, i);

		buffer_append_string(out, i > 0 ? ",{" : "{");
		json_write_member_text(out, "toolbox_id", failure->toolbox_id);
		json_write_member_text(out, "error", failure->error);
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
		json_write_member_text(out, "toolbox_id", absence->toolbox_id);
		json_write_member_text(out, "name", absence->name);
		json_write_member_text(out, "why", absence->why);
		buffer_append_char(out, '}');
	}
	buffer_append_char(out, ']');
}
