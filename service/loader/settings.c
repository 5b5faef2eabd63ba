/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "json/writer.h"
#include "loader/described.h"
#include "loader/warn/settings.h"
#include "manifest/mcp.h"
#include "policy/names.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/digest.h"
#include "util/environment.h"

/* Member by member. */
static void override_limits(struct package *package, const struct config_toolbox *settings)
{
	const struct toolbox_limits *by = &settings->limits;
	struct toolbox_limits *limits = &package->limits;

	if (by->timeout_ms)
		limits->timeout_ms = by->timeout_ms;
	if (by->max_ms)
		limits->max_ms = by->max_ms;
	if (by->workers)
		limits->workers = by->workers;
	if (by->queue)
		limits->queue = by->queue;
	if (by->memory_mb)
		package->sandbox.memory_mb = limits->memory_mb = by->memory_mb;
	if (settings->has_prestart)
		limits->prestart = by->prestart;
	if (by->has_idle_s) {
		limits->has_idle_s = true;
		limits->idle_s = by->idle_s;
	}
}

/* Key by key, at every depth, as the files of the configuration are merged. Both texts were checked
 * at their reading. 0 or -ENOMEM. */
static int merge_config(struct package *package, const char *over_json)
{
	const char *json = package->config ? package->config : "{}";
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(json_tape_cleanup) struct json_tape over = {0};
	cleanup(buffer_deinit) struct buffer text = {0};
	char *merged;

	if (json_tape_read(&tape, json, strlen(json), JSON_DEPTH_DEFAULT, NULL) != 0 ||
		json_tape_read(&over, over_json, strlen(over_json), JSON_DEPTH_DEFAULT, NULL) != 0)
		return -ENOMEM;
	json_write_merged(&text, &tape, 0, &over, 0);
	merged = buffer_take(&text, NULL);
	if (!merged)
		return -ENOMEM;
	free(package->config);
	package->config = merged;
	return 0;
}

/* ── by entry points ─────────────────────────────────────────────────────────────────────────── */

/* Write the configuration's settings of entry points missing in @own, the manifest's. */
static void write_toolboxes(
	const struct config *config, const struct json_tape *own, struct buffer *out)
{
	for (size_t i = 0; i < config->n_toolboxes; i++) {
		const struct config_toolbox *settings = &config->toolboxes[i];

		if (!settings->config || json_find(own, 0, settings->toolbox_id) != JSON_NONE)
			continue;
		json_write_member(out, settings->toolbox_id);
		buffer_append_string(out, settings->config);
	}
}

/* Return whether `toolboxes` has settings for the entry point named by the string at @key. */
static bool is_in_toolboxes(const struct config *config, const struct json_tape *tape, uint32_t key)
{
	for (size_t i = 0; i < config->n_toolboxes; i++) {
		const struct config_toolbox *settings = &config->toolboxes[i];

		if (settings->config && json_string_equals(tape, key, settings->toolbox_id,
						strlen(settings->toolbox_id)))
			return true;
	}
	return false;
}

/* Write the remaining settings of the Python plugin replaced by this service. */
static int write_plugins(
	const struct config *config, const struct json_tape *own, struct buffer *out)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	const char *text = config->plugins ? config->plugins : "{}";
	int r = json_tape_read(&tape, text, strlen(text), JSON_DOCUMENT_DEPTH_MAX, NULL);

	json_each_key_while(r == 0, key, &tape, 0) {
		cleanup(buffer_deinit) struct buffer name = {0};

		json_string_decode(&tape, key, &name);
		r = buffer_status(&name);
		if (r == 0 && !is_in_toolboxes(config, &tape, key) &&
			json_find_sized(own, 0, name.data, name.size) == JSON_NONE)
			json_write_member_copy(out, &tape, key);
	}
	return r;
}

/* 0 or -ENOMEM. */
static int gather_by_entry_points(const struct config *config, struct package *package)
{
	cleanup(json_tape_cleanup) struct json_tape own = {0};
	cleanup(buffer_deinit) struct buffer out = {0};
	const char *text = package->config ? package->config : "{}";
	char *gathered;

	if (json_tape_read(&own, text, strlen(text), JSON_DEPTH_DEFAULT, NULL) != 0)
		return -ENOMEM;
	buffer_append_char(&out, '{');
	json_each_key(key, &own, 0)
		json_write_member_copy(&out, &own, key);
	write_toolboxes(config, &own, &out);
	if (write_plugins(config, &own, &out) != 0)
		return -ENOMEM;
	buffer_append_char(&out, '}');
	gathered = buffer_take(&out, NULL);
	if (!gathered)
		return -ENOMEM;
	free(package->config);
	package->config = gathered;
	return 0;
}

/* ── all of it ───────────────────────────────────────────────────────────────────────────────── */

/* Return the value of a list of names: @value if it is a list of names, else @closed. */
static const char *list_text(
	const struct json_tape *tape, uint32_t value, const char *closed, struct buffer *out)
{
	bool is_list = json_type_at(tape, value) == JSON_ARRAY;

	for (uint32_t at = is_list ? json_first(tape, value) : 0;
		is_list && at < json_end(tape, value); at = json_next(tape, at))
		is_list = json_type_at(tape, at) == JSON_STRING;
	if (!is_list)
		return closed;
	json_write_compact(out, tape, value);
	return buffer_terminate(out);
}

/* Let the lists of the settings @tape replace the lists of the rules of @package. An unreadable
 * list offers nothing. 0 or -ENOMEM. */
static int override_rules(const struct json_tape *tape, struct package *package)
{
	static const struct {
		const char *key;
		const char *closed;
	} lists[] = {{"include", "[\"\"]"}, {"exclude", "[\"*\"]"}};
	cleanup(json_tape_cleanup) struct json_tape own = {0};
	cleanup(buffer_deinit) struct buffer out = {0};
	char *rules;

	if (json_tape_read(&own, package->mcp.rules, strlen(package->mcp.rules), JSON_DEPTH_DEFAULT,
		    NULL) != 0)
		return -ENOMEM;
	buffer_append_char(&out, '{');
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		uint32_t value = json_find(tape, 0, lists[i].key);
		cleanup(buffer_deinit) struct buffer list = {0};
		const char *text =
			value == JSON_NONE ? NULL : list_text(tape, value, lists[i].closed, &list);

		if (value != JSON_NONE && !text)
			return -ENOMEM;
		if (text)
			buffer_printf(
				&out, "%s\"%s\":%s", out.size > 1 ? "," : "", lists[i].key, text);
	}
	json_each_key(key, &own, 0) {
		cleanup_free char *name = json_string_dup(&own, key, NULL);

		if (!name)
			return -ENOMEM;
		if (json_find(tape, 0, name) == JSON_NONE || strcmp(name, "tools") == 0)
			json_write_member_copy(&out, &own, key);
	}
	buffer_append_char(&out, '}');
	rules = buffer_take(&out, NULL);
	if (!rules)
		return -ENOMEM;
	free(package->mcp.rules);
	package->mcp.rules = rules;
	return 0;
}

/* Let the choices of the settings @text, a JSON object, replace the choices of the manifest of a
 * server. An unknown risk counts as the highest. 0 or -ENOMEM. */
static int override_choices(const char *text, struct package *package)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	uint32_t resources;
	uint32_t pin;
	uint32_t risk;

	if (json_tape_read(&tape, text, strlen(text), JSON_DEPTH_DEFAULT, NULL) != 0)
		return -ENOMEM;
	pin = json_find(&tape, 0, "pin");
	risk = json_find(&tape, 0, "risk");
	resources = json_find(&tape, 0, "resources");
	if (resources != JSON_NONE)
		package->mcp.has_resources = json_is_true(&tape, resources);
	if (pin != JSON_NONE)
		package->mcp.pin = manifest_pin_mode(&tape, pin);
	if (risk != JSON_NONE)
		package->risk = tool_risk_at(&tape, risk);
	if (risk != JSON_NONE && package->risk == TOOL_UNRATED)
		package->risk = TOOL_EXECUTE;
	return override_rules(&tape, package);
}

static int apply(const struct config_toolbox *settings, struct package *package)
{
	int r;

	override_limits(package, settings);
	if (settings->gate)
		package->has_gate = settings->gate == CONFIG_GATE_EXAMPLES;
	r = environment_copy(settings->environment, &package->environment);
	r = r ? r : toolbox_sandbox_override(&package->sandbox, &settings->sandbox);
	if (r < 0 || !settings->config)
		return r;
	if (package->kind == KIND_MCP)
		r = override_choices(settings->config, package);
	else if (kind_facts(package->kind)->describes_tools &&
		 !kind_facts(package->kind)->has_members)
		r = merge_config(package, settings->config);
	return r;
}

/* Add the variables named by the environment of its server. 0 or -ENOMEM. */
static int add_variables(struct package *package)
{
	cleanup(buffer_deinit) struct buffer out = {0};

	for (const char *entry = package->environment; entry && *entry;
		entry = environment_next(entry))
		buffer_append(&out, entry, strlen(entry) + 1);
	for (const char *entry = package->mcp.variables; *entry; entry = environment_next(entry))
		if (!environment_names(package->environment, entry))
			buffer_append(&out, entry, strlen(entry) + 1);
	free(package->environment);
	package->environment = buffer_take(&out, NULL);
	return package->environment ? 0 : -ENOMEM;
}

uint64_t settings_digest(const struct config *config, const struct package *package)
{
	const struct config_toolbox *own = config_toolbox_find(config, package->id);
	bool has_members = kind_facts(package->kind)->has_members;
	uint64_t digest = own ? own->digest : 0;

	if (!has_members && !package->has_foreign_setting)
		return digest;
	digest = digest ? digest : DIGEST_SEED;
	for (size_t i = 0; i < config->n_toolboxes; i++) {
		const struct config_toolbox *other = &config->toolboxes[i];

		if (other->config)
			digest = digest_text(digest_text(digest, other->toolbox_id), other->config);
	}
	return digest_text(digest, has_members && config->plugins ? config->plugins : "") | 1;
}

/* Return whether the LOAD frame of @package has too short a time for the start of its host. */
static bool has_longer_start(const struct package *package)
{
	return package->kind == KIND_MCP &&
	       package_start_ms(package, package->start_timeout_ms) > package_start_ms(package, 0);
}

int settings_apply(const struct config *config, struct package *package)
{
	const struct config_toolbox *settings = config_toolbox_find(config, package->id);
	bool is_said = settings && settings->digest != 0;
	int r;

	package->settings = settings_digest(config, package);
	r = is_said && !package->is_scanned ? warn_keep_unknown_settings(config, package) : 0;
	/* It has no processes. */
	if (package->is_left_out)
		return r || !is_said
			       ? r
			       : toolbox_sandbox_override(&package->sandbox, &settings->sandbox);
	if (r == 0 && is_said)
		r = apply(settings, package);
	package->start_timeout_ms = config->start_timeout_ms;
	package->trace_files = config->trace_files;
	if (r == 0 && package->mcp.variables)
		r = add_variables(package);
	if (r == 0 && kind_facts(package->kind)->has_members)
		r = gather_by_entry_points(config, package);
	else if (!is_said && !config->trace_files && !has_longer_start(package))
		return 0;
	return r ? r : package_prepare(package);
}

struct worker_options settings_worker_options(
	const struct config *config, const struct package *package, const char *host_program)
{
	return (struct worker_options){
		.host_program = host_program,
		.output_max = config->limits.host_output_bytes,
		.values_max = config_values_max(&config->limits),
		.stderr_max = config->limits.stderr_bytes,
		.start_timeout_ms = package_start_ms(package, config->start_timeout_ms),
	};
}

/* ── what is allowed ─────────────────────────────────────────────────────────────────────────── */

/* Return whether `tools.<name>.enabled` of @settings (NULL: none) is true (the default). */
static bool is_enabled(const struct config_toolbox *settings, const char *name)
{
	const struct config_tool *tool = config_tool_find(settings, name);

	return !tool || tool->is_enabled;
}

/* Return whether an entry of enabled.json means the tool @name of @toolbox_id; or, with @name NULL,
 * the toolbox. */
static bool is_in_enabled(const struct config *config, const char *toolbox_id, const char *name)
{
	const struct text_list *names = &config->enabled.names;

	for (size_t i = 0; i < names->n_items; i++) {
		bool is_tool = strchr(names->items[i], '/') != NULL;

		if (is_tool ? name && name_means(names->items[i], toolbox_id, name)
			    : !name && strcmp(names->items[i], toolbox_id) == 0)
			return true;
	}
	return false;
}

/* Return whether the operator has enabled the tool @name, which its manifest disables; or, with
 * @name NULL, the toolbox. */
static bool is_opened(const struct config *config, const char *toolbox_id, const char *name)
{
	const struct config_toolbox *toolbox = config_toolbox_find(config, toolbox_id);
	const struct config_tool *tool = name ? config_tool_find(toolbox, name) : NULL;

	return (name ? tool && tool->is_opened : toolbox && toolbox->is_opened) ||
	       is_in_enabled(config, toolbox_id, name);
}

/* Return whether the operator has enabled the toolbox @id, which its manifest disables, or any tool
 * of it. */
static bool opens_any(const struct config *config, const char *id)
{
	const struct config_toolbox *toolbox = config_toolbox_find(config, id);
	const struct text_list *names = &config->enabled.names;

	for (size_t i = 0; toolbox && i < toolbox->tools.n_items; i++)
		if (toolbox->tools.items[i].is_opened)
			return true;
	for (size_t i = 0; i < names->n_items; i++) {
		const struct text_list one = {names->items + i, 1};

		if (strchr(names->items[i], '/') && names_may_mean(&one, id))
			return true;
	}
	return is_opened(config, id, NULL);
}

/* Return why the manifest of @tool leaves it out, or NULL. */
static const char *manifest_refusal(const struct config *config, const struct tool *tool)
{
	const struct package *package = tool->toolbox->package;
	const char *id = tool->toolbox->id;

	if ((package->off || tool->off) && !is_opened(config, id, tool->name) &&
		!is_opened(config, package->id, NULL))
		return package->off ? package->off : tool->off;
	if (tool->lack)
		return tool->lack;
	if (tool->is_experimental && !names_mean(&config->experimental, id, tool->name))
		return "experimental; toolboxd.experimental offers it by name";
	return NULL;
}

static struct filter filter_of(const struct config *config)
{
	return (struct filter){&config->tools_enabled, &config->tools_disabled};
}

bool settings_offer(const struct config *config, const struct tool *tool)
{
	struct filter filter = filter_of(config);
	const char *id = tool->toolbox->id;
	const struct config_toolbox *settings = config_toolbox_find(config, id);

	return (!settings || settings->is_enabled) && is_enabled(settings, tool->name) &&
	       !names_mean(&config->disabled.names, id, tool->name) &&
	       !manifest_refusal(config, tool) && filter_offers(&filter, id, tool->name);
}

/* Return the text about a tool left out by the filter. */
static const char *filter_refusal(const struct config *config)
{
	static const char *const texts[] = {"left out by TOOLBOXD_TOOLS_ENABLED",
		"left out by TOOLBOXD_TOOLS_DISABLED", "left out by TOOLBOXD_TOOLS"};

	for (size_t i = 0; config->filter_variable && i < ARRAY_SIZE(texts); i++)
		if (strcmp(texts[i] + strlen("left out by "), config->filter_variable) == 0)
			return texts[i];
	return "left out by tools_enabled or tools_disabled";
}

/* Return why disabled.json disables a tool, or a whole toolbox (@name NULL), by the entry with the
 * last end; NULL: not disabled. */
static const char *why_disabled(
	const struct config *config, const char *toolbox_id, const char *name)
{
	const struct config_remembered *disabled = &config->disabled;
	size_t last = disabled->names.n_items;

	for (size_t i = 0; i < disabled->names.n_items; i++) {
		const struct text_list one = {disabled->names.items + i, 1};
		const char *until = disabled->until.items[i];

		if (!(name ? names_mean(&one, toolbox_id, name)
			   : names_mean_toolbox(&one, toolbox_id)))
			continue;
		if (last == disabled->names.n_items || !*until ||
			(*disabled->until.items[last] &&
				strcmp(until, disabled->until.items[last]) > 0))
			last = i;
	}
	return last < disabled->names.n_items ? config->disabled_why.items[last] : NULL;
}

bool settings_leave_out(
	const struct config *config, const char *toolbox_id, const char *entry_point)
{
	struct filter filter = filter_of(config);

	return !config_toolbox_is_enabled(config, toolbox_id) ||
	       (entry_point && !config_toolbox_is_enabled(config, entry_point)) ||
	       names_mean_toolbox(&config->disabled.names, toolbox_id) ||
	       !filter_offers_any(&filter, toolbox_id);
}

const char *settings_package_refusal(const struct config *config, const struct package *package)
{
	if (!config_toolbox_is_enabled(config, package->id))
		return "its toolbox is not enabled";
	return package->off && !opens_any(config, package->id) ? package->off : NULL;
}

bool settings_leave_out_package(const void *data, const struct package *package)
{
	const struct config *config = data;

	return !kind_facts(package->kind)->has_members &&
	       (settings_package_refusal(config, package) ||
		       settings_leave_out(config, package->id, NULL));
}

const char *settings_toolbox_refusal(const struct config *config, const struct toolbox *toolbox)
{
	const char *refusal = settings_package_refusal(config, toolbox->package);

	if (refusal)
		return refusal;
	if (!settings_leave_out(config, toolbox->id, toolbox->entry_point))
		return NULL;
	if (!config_toolbox_is_enabled(config, toolbox->id) ||
		(toolbox->entry_point && !config_toolbox_is_enabled(config, toolbox->entry_point)))
		return "its toolbox is not enabled";
	refusal = why_disabled(config, toolbox->id, NULL);
	return refusal ? refusal : filter_refusal(config);
}

const char *settings_refusal(const struct config *config, const struct tool *tool)
{
	const char *id = tool->toolbox->id;
	const char *refusal;

	if (!config_toolbox_is_enabled(config, id))
		return "its toolbox is not enabled";
	if (!is_enabled(config_toolbox_find(config, id), tool->name))
		return "it is not enabled (toolboxes.ID.tools.NAME.enabled)";
	refusal = why_disabled(config, id, tool->name);
	if (!refusal)
		refusal = manifest_refusal(config, tool);
	return refusal ? refusal : filter_refusal(config);
}

bool settings_offer_any(const struct config *config, const struct toolbox *toolbox)
{
	if (described_is_awaited(toolbox))
		return !settings_toolbox_refusal(config, toolbox);
	for (size_t i = 0; i < toolbox->n_tools; i++)
		if (settings_offer(config, &toolbox->tools[i]))
			return true;
	return false;
}
