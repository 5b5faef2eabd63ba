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
	for (size_t i = 0; i < catalogue_n_skipped(catalogue); i++) {
		const struct catalogue_skipped *skipped = catalogue_skipped(catalogue, i);

		buffer_append_string(out, i > 0 ? ",{" : "{");
		json_write_member_text(out, "toolbox_id", skipped->toolbox_id);
		json_write_member_text(out, "name", skipped->name);
		json_write_member_text(out, "why", skipped->why);
		buffer_append_char(out, '}');
	}
	buffer_append_char(out, ']');
}
