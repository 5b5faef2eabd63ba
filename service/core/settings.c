/* SPDX-License-Identifier: Apache-2.0 */
#include "core/settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "json/document.h"
#include "util/cleanup.h"
#include "util/environment.h"

/* Member by member. */
static void override_limits(struct toolbox *toolbox, const struct config_toolbox *settings)
{
	const struct toolbox_limits *by = &settings->limits;
	struct toolbox_limits *limits = &toolbox->limits;

	if (by->timeout_ms)
		limits->timeout_ms = by->timeout_ms;
	if (by->workers)
		limits->workers = by->workers;
	if (by->queue)
		limits->queue = by->queue;
	if (by->memory_mb)
		toolbox->sandbox.memory_mb = limits->memory_mb = by->memory_mb;
	if (settings->has_prestart)
		limits->prestart = by->prestart;
	if (by->has_idle_s) {
		limits->has_idle_s = true;
		limits->idle_s = by->idle_s;
	}
}

/* The document of an object that was checked when it was read. NULL without memory. */
static struct document *read_document(const char *json)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};

	if (json_tape_read(&tape, json, strlen(json), JSON_DEPTH_DEFAULT, NULL) != 0)
		return NULL;
	return document_from_tape(&tape, 0);
}

/* Key by key, at every depth, as the files of the configuration are merged. */
static int merge_config(struct toolbox *toolbox, const char *over_json)
{
	cleanup(document_cleanup) struct document *config =
		read_document(toolbox->config ? toolbox->config : "{}");
	cleanup(document_cleanup) struct document *over = read_document(over_json);
	cleanup(buffer_deinit) struct buffer text = {0};
	char *merged;

	if (!config || !over || document_merge(config, over) < 0)
		return -ENOMEM;
	document_write(config, &text);
	merged = buffer_take(&text, NULL);
	if (!merged)
		return -ENOMEM;
	free(toolbox->config);
	toolbox->config = merged;
	return 0;
}

int settings_apply(const struct config_toolbox *settings, struct toolbox *toolbox)
{
	int r;

	if (!settings || settings->digest == 0)
		return 0;
	toolbox->settings = settings->digest;
	override_limits(toolbox, settings);
	r = environment_copy(settings->environment, &toolbox->environment);
	r = r ? r : toolbox_sandbox_override(&toolbox->sandbox, &settings->sandbox);
	if (r == 0 && settings->config && kind_facts(toolbox->kind)->tells_tools)
		r = merge_config(toolbox, settings->config);
	return r ? r : toolbox_prepare(toolbox);
}
