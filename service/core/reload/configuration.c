/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "core/reload/reload.h"
#include "json/writer.h"
#include "util/diagnostic.h"
#include "util/log.h"

/*
 * The configuration at a reload: read again, or kept.
 *
 *   files ─▶ read ─┬─ open ───▶ in force, but for what only a start can change
 *                  └─ closed ─┬─ another one is in force ─▶ that one stays
 *                             └─ a closed one is, since the start ─▶ still nothing is offered
 *
 * Only a start reads the keys with a ¹ in contract.md, Configuration. When they differ after a start
 * that was closed, the service starts again. Mistakes go to the log and, as `configuration`, into
 * the answers to reload and status requests.
 */

/* The most mistakes in one answer; the log has all of them. */
#define MISTAKES_MAX 20

/* Append @mistake to the array reload->mistakes, which reload_write_mistakes() closes. */
static void add_mistake(struct reload *reload, const struct diagnostic *mistake)
{
	struct buffer *out = &reload->mistakes;

	if (reload->n_mistakes++ >= MISTAKES_MAX)
		return;
	buffer_append_string(out, out->size == 0 ? "[{\"file\":" : ",{\"file\":");
	if (mistake->file)
		json_write_text(out, mistake->file);
	else
		buffer_append_string(out, "null");
	if (mistake->file && mistake->line > 0)
		buffer_printf(out, ",\"line\":%u", mistake->line);
	else
		buffer_append_string(out, ",\"line\":null");
	buffer_append_string(out, ",\"path\":");
	json_write_text(out, mistake->pointer ? mistake->pointer : "");
	buffer_append_string(out, ",\"error\":");
	json_write_text(out, mistake->text);
	buffer_append_char(out, '}');
}

/* A diagnostic_function. */
static void take_mistake(void *data, const struct diagnostic *mistake)
{
	struct reload *reload = data;

	diagnostic_log(&reload->problems, mistake);
	if (mistake->severity == DIAGNOSTIC_ERROR)
		add_mistake(reload, mistake);
}

/* Put @config (taken over) in force. */
static void put_in_force(struct reload *reload, struct config *config)
{
	struct config *in_force = reload->parts.config;

	config->bus = in_force->bus;
	config->limits = in_force->limits;
	/* A closed start did not know these. */
	if (!config->closed && in_force->closed)
		reload->starts_again = config->start_digest != in_force->start_digest;
	config->start_digest = in_force->start_digest;
	config_deinit(in_force);
	*in_force = *config;
	log_setup(in_force->log_level, in_force->log_format);
	reload->handler.configured(reload->data);
}

void reload_configuration(struct reload *reload)
{
	static const char kept[] = "the configuration in force stays as it was";
	static const char offered[] = "nothing is offered until this is mended";
	const struct diagnostic_sink sink = {take_mistake, reload};
	bool was_closed = reload->parts.config->closed != NULL;
	struct config config = {0};
	int r;

	buffer_reset(&reload->mistakes);
	reload->n_mistakes = 0;
	r = config_read(reload->flags, take_mistake, reload, &config);
	if (r < 0)
		diagnostic_report(&sink, DIAGNOSTIC_ERROR, NULL, 0, "", "%s", strerror(-r));
	if (r != 0 || config.closed)
		diagnostic_report(
			&sink, DIAGNOSTIC_ERROR, NULL, 0, "", "%s", was_closed ? offered : kept);
	if (r == 0 && (!config.closed || was_closed))
		put_in_force(reload, &config);
	else
		config_deinit(&config);
}

void reload_write_mistakes(
	const struct reload *reload, const struct catalogue *view, struct answer *answer)
{
	struct buffer *out;

	if (reload->mistakes.size == 0 || view != reload->parts.offer->catalogue)
		return;
	out = answer_member(answer, "configuration");
	buffer_append(out, reload->mistakes.data, reload->mistakes.size);
	buffer_append_char(out, ']');
}
