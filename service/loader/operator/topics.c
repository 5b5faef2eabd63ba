/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/operator/topics.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "call/bus_call.h"
#include "call/bus_topics.h"
#include "catalogue/toolbox.h"
#include "json/document.h"
#include "json/member.h"
#include "message/envelope.h"
#include "util/cleanup.h"

static const char form[] = "must be a topic, or {\"topic\": TOPIC, \"reply\": TOPIC}";

/* The settings of one toolbox, on their way into its tools. */
struct resolving {
	struct toolbox *toolbox;
	const struct config_toolbox *settings; /* may be NULL */
	const struct json_tape *tape;          /* over the settings */
	struct sandbox_refusal *refusal;
};

/* Refuse the setting @setting, or its member @tool (may be NULL); @expected ends the sentence. */
static int refuse(
	struct resolving *resolving, const char *setting, const char *tool, const char *expected)
{
	struct sandbox_refusal *refusal = resolving->refusal;

	snprintf(refusal->pointer, sizeof(refusal->pointer), "/tools");
	snprintf(refusal->text, sizeof(refusal->text), "toolboxes.%.128s.%.64s%s%.64s %s",
		resolving->toolbox->id, setting, tool ? "." : "", tool ? tool : "", expected);
	return OPERATOR_TOPICS_E_REFUSED;
}

/* Return whether a tool with the setting @setting has the name at @key. */
static bool means_tool(const struct resolving *resolving, const char *setting, uint32_t key)
{
	const struct toolbox *toolbox = resolving->toolbox;

	for (size_t i = 0; i < toolbox->n_tools; i++) {
		const struct tool *tool = &toolbox->tools[i];

		if (tool->bus->setting && strcmp(tool->bus->setting, setting) == 0 &&
			json_is_text(resolving->tape, key, tool->name))
			return true;
	}
	return false;
}

/* Check that @setting is an object with names of tools. */
static int check_names(struct resolving *resolving, const char *setting, uint32_t value)
{
	const struct json_tape *tape = resolving->tape;

	if (json_type_at(tape, value) != JSON_OBJECT)
		return refuse(resolving, setting, NULL,
			"must be an object with a topic for each tool, such as {\"TOOL\": "
			"\"a.b\"}");
	json_each_key(key, tape, value) {
		cleanup_free char *name = json_string_dup(tape, key, NULL);

		if (!name)
			return -ENOMEM;
		if (!means_tool(resolving, setting, key))
			return refuse(resolving, setting, name, "means no tool of this toolbox");
	}
	return 0;
}

/* Take the topic at @value of the member @tool into *ret_topic, which the caller frees. */
static int take_topic(struct resolving *resolving, const char *setting, const char *tool,
	uint32_t value, char **ret_topic)
{
	cleanup_free char *topic = NULL;
	size_t size;

	if (json_type_at(resolving->tape, value) != JSON_STRING)
		return refuse(resolving, setting, tool, form);
	topic = json_string_dup(resolving->tape, value, &size);
	if (!topic)
		return -ENOMEM;
	if (strlen(topic) != size || size >= BUS_TOPIC_BYTES || !bus_topics_is_valid(topic))
		return refuse(resolving, setting, tool,
			"must be a topic: letters, digits, '_' and '-', separated by '.' or ':', "
			"such as \"phone.call\"");
	if (bus_topics_is_ours(topic))
		return refuse(resolving, setting, tool,
			"is a topic of toolboxd; name the topic of another service");
	*ret_topic = take_ptr(topic);
	return 0;
}

/* Return the risk of @tool: the operator's word, else its own. */
static enum tool_risk risk_of(const struct resolving *resolving, const struct tool *tool)
{
	const struct config_tool *own = config_tool_find(resolving->settings, tool->name);

	return own && own->risk != TOOL_UNRATED ? own->risk : tool->risk;
}

/* Set the topics of @tool. A dangerous one is only for a tool of risk `execute`. */
static int set_topic(
	struct resolving *resolving, struct tool *tool, const char *topic, const char *reply)
{
	const char *id = resolving->toolbox->id;

	tool->bus->is_dangerous = bus_topics_is_dangerous(topic);
	if (tool->bus->is_dangerous && risk_of(resolving, tool) != TOOL_EXECUTE &&
		asprintf(&tool->lack,
			"its topic '%s' changes the machine, or speaks for a person; "
			"toolboxes.%s.tools.%s.risk has to be execute",
			topic, id, tool->name) < 0)
		return -ENOMEM;
	return bus_call_set_topic(tool->bus, topic, reply);
}

/* Read the member @value of the setting of @tool: a topic, or an object with it. */
static int read_topics(struct resolving *resolving, struct tool *tool, uint32_t value)
{
	const struct json_tape *tape = resolving->tape;
	const char *setting = tool->bus->setting;
	bool is_object = json_type_at(tape, value) == JSON_OBJECT;
	uint32_t topic_at = is_object ? json_find(tape, value, "topic") : value;
	uint32_t reply_at = is_object ? json_find(tape, value, "reply") : JSON_NONE;
	cleanup_free char *topic = NULL;
	cleanup_free char *reply = NULL;
	int r;

	if (is_object &&
		(topic_at == JSON_NONE || json_count(tape, value) != 1u + (reply_at != JSON_NONE)))
		return refuse(resolving, setting, tool->name, form);
	r = take_topic(resolving, setting, tool->name, topic_at, &topic);
	if (r == 0 && reply_at != JSON_NONE)
		r = take_topic(resolving, setting, tool->name, reply_at, &reply);
	return r ? r : set_topic(resolving, tool, topic, reply);
}

/* Give @tool its topic. A tool without a topic is not offered. */
static int resolve_tool(struct resolving *resolving, struct tool *tool)
{
	const char *setting = tool->bus->setting;
	uint32_t topics = json_find(resolving->tape, 0, setting);
	uint32_t value = JSON_NONE;
	int r = 0;

	if (topics != JSON_NONE && json_type_at(resolving->tape, topics) != JSON_NULL) {
		r = check_names(resolving, setting, topics);
		value = r ? JSON_NONE : json_find(resolving->tape, topics, tool->name);
	}
	if (r)
		return r;
	if (value != JSON_NONE && json_type_at(resolving->tape, value) != JSON_NULL)
		return read_topics(resolving, tool, value);
	return asprintf(&tool->lack, "it has no topic; toolboxes.%s.%s.%s sets it",
		       resolving->toolbox->id, setting, tool->name) < 0
		       ? -ENOMEM
		       : 0;
}

int operator_topics_resolve(
	const struct config *config, struct package *package, struct sandbox_refusal *ret_refusal)
{
	struct resolving resolving = {.refusal = ret_refusal};
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	const char *text;
	bool has_setting = false;
	int r = 0;

	if (package->kind != KIND_BUS)
		return 0;
	resolving.toolbox = package->toolboxes[0];
	resolving.settings = config_toolbox_find(config, package->id);
	text = resolving.settings && resolving.settings->config ? resolving.settings->config : "{}";
	if (json_tape_read(&tape, text, strlen(text), JSON_DOCUMENT_DEPTH_MAX, NULL) != 0)
		return -ENOMEM;
	resolving.tape = &tape;
	for (size_t i = 0; r == 0 && i < resolving.toolbox->n_tools; i++) {
		struct tool *tool = &resolving.toolbox->tools[i];

		if (!tool->bus || !tool->bus->setting)
			continue;
		has_setting = true;
		r = resolve_tool(&resolving, tool);
	}
	return r || !has_setting ? r : package_prepare(package);
}
