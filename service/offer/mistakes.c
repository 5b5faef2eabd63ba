/* SPDX-License-Identifier: Apache-2.0 */
#include "offer/mistakes.h"

#include "json/writer.h"

/* The most mistakes in one answer; the log has all of them. */
#define MISTAKES_MAX 20

void mistakes_begin(struct mistakes *mistakes)
{
	mistakes->was_wrong = mistakes->n > 0;
	mistakes->n = 0;
	buffer_reset(&mistakes->json);
}

/* Append @mistake to the array, which mistakes_write() closes. */
static void add_mistake(struct mistakes *mistakes, const struct diagnostic *mistake)
{
	struct buffer *out = &mistakes->json;

	if (mistakes->n++ >= MISTAKES_MAX)
		return;
	buffer_append_string(out, out->size == 0 ? "[{\"file\":" : ",{\"file\":");
	json_write_text(out, mistake->file);
	if (mistake->file && mistake->line > 0)
		buffer_printf(out, ",\"line\":%u", mistake->line);
	else
		buffer_append_string(out, ",\"line\":null");
	json_write_member_text(out, "path", mistake->pointer ? mistake->pointer : "");
	json_write_member_text(out, "error", mistake->text);
	buffer_append_char(out, '}');
}

void mistakes_take(void *data, const struct diagnostic *diagnostic)
{
	struct mistakes *mistakes = data;

	problems_log_diagnostic(&mistakes->problems, diagnostic);
	if (diagnostic->severity == DIAGNOSTIC_ERROR)
		add_mistake(mistakes, diagnostic);
}

void mistakes_end(struct mistakes *mistakes)
{
	problems_end_round(&mistakes->problems);
	if (mistakes->was_wrong && mistakes->n == 0)
		log_info("The configuration has no errors any more");
}

void mistakes_write(const struct mistakes *mistakes, struct buffer *out)
{
	buffer_append(out, mistakes->json.data, mistakes->json.size);
	buffer_append_char(out, ']');
}

void mistakes_deinit(struct mistakes *mistakes)
{
	problems_deinit(&mistakes->problems);
	buffer_deinit(&mistakes->json);
	*mistakes = (struct mistakes){0};
}
