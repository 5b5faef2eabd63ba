/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "config/config_log.h"
#include "core/reload.h"
#include "json/writer.h"
#include "util/log.h"

/*
 * The configuration at a reload: read anew, or kept.
 *
 *   files ─▶ read ─┬─ whole ───────────────────────────────────▶ in force, but for what only a
 *                  │                                              start can change
 *                  └─ a file cannot be read or parsed, or holds
 *                     what must not be guessed at ─────────────▶ what was in force stays
 *
 * Only a start reads the keys with a ¹ in contract.md, Configuration. What is wrong goes to the log
 * and, as `configuration`, into the answers of those who asked.
 */

/* Mistakes that an answer tells; the log tells all of them. */
#define MISTAKES_MAX 20

/* An array that is not closed yet, in service->mistakes. */
static void add_mistake(struct service *service, const char *file, unsigned int line,
	const char *path, const char *text)
{
	struct buffer *out = &service->mistakes;

	if (service->n_mistakes++ >= MISTAKES_MAX)
		return;
	buffer_append_string(out, out->size == 0 ? "[{\"file\":" : ",{\"file\":");
	if (file)
		json_write_text(out, file);
	else
		buffer_append_string(out, "null");
	if (file && line > 0)
		buffer_printf(out, ",\"line\":%u", line);
	else
		buffer_append_string(out, ",\"line\":null");
	buffer_append_string(out, ",\"path\":");
	json_write_text(out, path ? path : "");
	buffer_append_string(out, ",\"error\":");
	json_write_text(out, text);
	buffer_append_char(out, '}');
}

/* A config_report_function. */
static void tell(void *data, enum config_severity severity, const char *file, unsigned int line,
	const char *path, const char *text)
{
	struct service *service = data;

	config_log(&service->problems, severity, file, line, path, text);
	if (severity == CONFIG_ERROR)
		add_mistake(service, file, line, path, text);
}

void reload_configuration(struct service *service)
{
	static const char kept[] = "the configuration in force stays as it was";
	struct config config = {0};
	int r;

	buffer_reset(&service->mistakes);
	service->n_mistakes = 0;
	r = config_read(service->flags, tell, service, &config);
	if (r != 0 || config.is_partial) {
		if (r < 0)
			tell(service, CONFIG_ERROR, NULL, 0, "", strerror(-r));
		tell(service, CONFIG_ERROR, NULL, 0, "", kept);
		config_deinit(&config);
		return;
	}
	config.bus = service->config.bus;
	config.limits = service->config.limits;
	config_deinit(&service->config);
	service->config = config;
	log_setup(config.log_level, config.log_format);
}

void reload_write_mistakes(const struct service *service, struct answer *answer)
{
	struct buffer *out;

	if (service->mistakes.size == 0)
		return;
	out = answer_member(answer, "configuration");
	buffer_append(out, service->mistakes.data, service->mistakes.size);
	buffer_append_char(out, ']');
}
