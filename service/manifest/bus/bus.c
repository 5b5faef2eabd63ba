/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/bus/bus.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "call/bus_topics.h"
#include "json/member.h"
#include "json/number.h"
#include "util/array.h"

/*
 * The `bus` object of a tool, checked. The schema of manifests has checked the types of its members
 * before; this file checks how they belong together, and to the argument schema:
 *
 *   bus ─ one of topic, messages, ask ─ topics ─ templates ─ reply ─ result ─▶ struct bus_call
 *                                         │                                    (call/bus_call.h)
 *                                         └─ dangerous: the risk is `execute`
 */

/* A result without an output schema of its own. */
static const char sent_output[] =
	"{\"type\":\"object\",\"properties\":{\"sent\":{\"const\":true}},\"required\":[\"sent\"]}";
static const char usual_output[] = "{\"type\":\"object\"}";

/* The end of the description of a tool with a message without a reply. */
static const char unconfirmed[] = "Nothing confirms that it was done.";

struct bus_check {
	const struct manifest_scope *scope;
	uint32_t entry;      /* the tool */
	uint32_t bus;        /* its member `bus` */
	uint32_t properties; /* properties of its argument schema; JSON_NONE: it has none */
	int *error;          /* 0, or -ENOMEM: a check was left out */
};

#define REFUSE(check, token, ...)                                                                  \
	diagnose((check)->scope->problems, DIAGNOSTIC_ERROR, (check)->scope->tape, token,          \
		__VA_ARGS__)

static uint32_t find_member(const struct bus_check *check, const char *key)
{
	return json_find(check->scope->tape, check->bus, key);
}

/* Return a copy of the string at @token, which the caller frees; NULL, with the error, without
 * memory. */
static char *copy_checked(const struct bus_check *check, uint32_t token)
{
	char *text = json_string_dup(check->scope->tape, token, NULL);

	if (!text)
		*check->error = -ENOMEM;
	return text;
}

/* ── which keys belong together ──────────────────────────────────────────────────────────────── */

/* The ways to write a tool of kind bus. */
enum form {
	FORM_TOPIC = 1 << 0,
	FORM_MESSAGES = 1 << 1,
	FORM_ASK = 1 << 2,
};

static const struct {
	const char *key;
	unsigned int forms; /* the ones with this key */
} keys_of_forms[] = {
	{"topic", FORM_TOPIC},
	{"messages", FORM_MESSAGES},
	{"ask", FORM_ASK},
	{"data", FORM_TOPIC},
	{"context", FORM_TOPIC},
	{"destination", FORM_TOPIC | FORM_MESSAGES},
	{"reply", FORM_TOPIC | FORM_MESSAGES},
	{"unasked", FORM_TOPIC | FORM_MESSAGES},
	{"unless", FORM_TOPIC | FORM_MESSAGES},
	{"collect", FORM_TOPIC | FORM_MESSAGES},
	{"when", FORM_ASK},
	{"listen_ms", FORM_ASK},
};

/* Return the form of the object; 0 with a problem if it has none, or several. */
static unsigned int check_form(const struct bus_check *check)
{
	static const char *const names[] = {"topic", "messages", "ask"};
	unsigned int form = 0;
	unsigned int n_forms = 0;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (find_member(check, names[i]) == JSON_NONE)
			continue;
		form = 1u << i;
		n_forms++;
	}
	if (n_forms == 1)
		return form;
	REFUSE(check, check->bus,
		"must have one of \"topic\" (a message to send), \"messages\" (several) and "
		"\"ask\" (a text to speak); it has %s",
		n_forms == 0 ? "none of them" : "more than one");
	return 0;
}

static void refuse_keys_of_other_forms(const struct bus_check *check, unsigned int form)
{
	static const char *const names[] = {
		[FORM_TOPIC] = "topic", [FORM_MESSAGES] = "messages", [FORM_ASK] = "ask"};

	for (size_t i = 0; i < ARRAY_SIZE(keys_of_forms); i++) {
		uint32_t value = find_member(check, keys_of_forms[i].key);

		if (value != JSON_NONE && !(keys_of_forms[i].forms & form))
			REFUSE(check, value, "\"%s\" has no meaning beside \"%s\"; leave it out",
				keys_of_forms[i].key, names[form]);
	}
}

/* Without a reply there is nothing to look into. */
static void check_no_reply(const struct bus_check *check)
{
	static const char *const keys[] = {"unasked", "unless", "collect", "result", "as", "error"};
	uint32_t reply = find_member(check, "reply");

	if (reply == JSON_NONE || json_type_at(check->scope->tape, reply) != JSON_FALSE)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		uint32_t value = find_member(check, keys[i]);

		if (value != JSON_NONE)
			REFUSE(check, value,
				"\"%s\" has no meaning beside \"reply\": false; leave one of them "
				"out",
				keys[i]);
	}
}

/* ── topics ──────────────────────────────────────────────────────────────────────────────────── */

/* Check the topic at @token. Return whether it is dangerous to send. */
static bool check_topic(const struct bus_check *check, uint32_t token)
{
	char topic[256] = "";
	cleanup_free char *text = copy_checked(check, token);

	if (!text)
		return false;
	strncpy(topic, text, sizeof(topic) - 1);
	if (!bus_topics_is_valid(text))
		REFUSE(check, token,
			"must be a topic: letters, digits, '_' and '-', separated by '.' or ':', "
			"such as \"mycroft.volume.get\"; it is '%s'",
			topic);
	else if (bus_topics_is_ours(text))
		REFUSE(check, token,
			"the topic '%s' is toolboxd's own; name the topic of another service",
			topic);
	return bus_topics_is_dangerous(text);
}

/* Check the topics of the string or the array of strings at @value. */
static void check_topics(const struct bus_check *check, uint32_t value)
{
	const struct json_tape *tape = check->scope->tape;

	if (json_type_at(tape, value) == JSON_STRING)
		check_topic(check, value);
	else if (json_type_at(tape, value) == JSON_ARRAY)
		json_each(topic, tape, value)
			check_topic(check, topic);
}

/* Check that the reply to the message with the topic at @topic can be named by "reply": true. */
static void check_response(const struct bus_check *check, uint32_t topic)
{
	uint32_t reply = find_member(check, "reply");
	cleanup_free char *text = copy_checked(check, topic);

	if (reply != JSON_NONE && !json_is_true(check->scope->tape, reply)) {
		check_topics(check, reply);
		return;
	}
	if (text && !bus_topics_has_response(text))
		REFUSE(check, reply != JSON_NONE ? reply : topic,
			"the topic '%.200s' has no '.response'; write the topic of its reply as "
			"\"reply\", or \"reply\": false",
			text);
}

/* Return whether the topic of the tool is the operator's. */
static bool has_setting(const struct bus_check *check)
{
	uint32_t topic = find_member(check, "topic");

	return topic != JSON_NONE && json_at(check->scope->tape, topic)->length > 0 &&
	       json_bytes(check->scope->tape, topic)[0] == '$';
}

/* Check the name of the setting with the topic of the tool. The setting has the topic of the reply,
 * too. */
static void check_setting(const struct bus_check *check)
{
	uint32_t topic = find_member(check, "topic");
	uint32_t reply = find_member(check, "reply");
	cleanup_free char *text = copy_checked(check, topic);

	if (text && (!bus_topics_is_valid(text + 1) || strpbrk(text, ".:")))
		REFUSE(check, topic,
			"must be '$' and the name of a setting of the toolbox, such as "
			"\"$topics\"");
	if (reply != JSON_NONE)
		REFUSE(check, reply,
			"\"reply\" has no meaning beside a topic of the operator, who names the "
			"reply with it; leave it out");
}

/* ── templates ───────────────────────────────────────────────────────────────────────────────── */

/* Append the names of the arguments: 'a', 'b', 'c'. */
static void write_argument_names(const struct bus_check *check, struct buffer *out)
{
	if (check->properties == JSON_NONE)
		return;
	json_each_key(key, check->scope->tape, check->properties) {
		buffer_append_string(out, out->size > 0 ? ", '" : "'");
		json_string_decode(check->scope->tape, key, out);
		buffer_append_char(out, '\'');
	}
}

/* Return the schema of the argument called @name, which is at @place; JSON_NONE with a problem when
 * there is none. */
static uint32_t find_schema(
	const struct bus_check *check, uint32_t place, const char *name, size_t size)
{
	cleanup(buffer_deinit) struct buffer names = {0};
	uint32_t schema = check->properties != JSON_NONE ? json_find_sized(check->scope->tape,
								   check->properties, name, size)
							 : JSON_NONE;

	if (schema != JSON_NONE)
		return schema;
	write_argument_names(check, &names);
	REFUSE(check, place, "'%.*s' is not an argument (%s%s)%s", (int)size, name,
		names.size > 0 ? "they are " : "the tool has none",
		names.size > 0 && buffer_terminate(&names) ? names.data : "",
		json_type_at(check->scope->tape, place) == JSON_STRING
			? "; write '{{NAME}' for a brace that means itself"
			: "");
	return JSON_NONE;
}

/* Return whether the schema at @schema has the type @type alone, or with @other (may be NULL). */
static bool has_only_type(
	const struct bus_check *check, uint32_t schema, const char *type, const char *other)
{
	const struct json_tape *tape = check->scope->tape;
	uint32_t given = json_find(tape, schema, "type");

	if (given == JSON_NONE)
		return false;
	if (json_type_at(tape, given) == JSON_STRING)
		return json_is_text(tape, given, type) ||
		       (other && json_is_text(tape, given, other));
	json_each(each, tape, given)
		if (!json_is_text(tape, each, type) && !json_is_text(tape, each, "null") &&
			!(other && json_is_text(tape, each, other)))
			return false;
	return json_count(tape, given) > 0;
}

/* Check the factor at @token. */
static void check_factor(const struct bus_check *check, uint32_t token)
{
	const struct json_tape *tape = check->scope->tape;
	double value = 0;

	if (json_type_at(tape, token) != JSON_NUMBER || json_number_f64(tape, token, &value) != 0 ||
		value == 0 ||
		!json_number_is_divisor(json_bytes(tape, token), json_at(tape, token)->length))
		REFUSE(check, token,
			"must be a number other than 0 with at most %d digits, such as 0.01; leave "
			"\"scale\" out for a value as it is",
			JSON_DIVISOR_DIGITS_MAX);
}

/* Check the argument to multiply: its name is at @name. */
static void check_scaled(const struct bus_check *check, uint32_t name, uint32_t scale)
{
	const struct json_tape *tape = check->scope->tape;
	uint32_t schema;

	check_factor(check, scale);
	if (json_type_at(tape, name) != JSON_STRING) {
		REFUSE(check, name, "must be the name of an argument");
		return;
	}
	schema = find_schema(check, name, json_bytes(tape, name), json_at(tape, name)->length);
	if (schema != JSON_NONE && !has_only_type(check, schema, "number", "integer"))
		REFUSE(check, name,
			"the argument '%.*s' is multiplied, so its schema must have the type "
			"\"number\" or \"integer\"",
			(int)json_at(tape, name)->length, json_bytes(tape, name));
}

static void check_string(const struct bus_check *check, uint32_t token)
{
	const char *text = json_bytes(check->scope->tape, token);
	size_t size = json_at(check->scope->tape, token)->length;
	struct bus_piece piece;

	while (bus_call_next_piece(&text, &size, &piece))
		if (piece.kind == BUS_PIECE_ARGUMENT)
			find_schema(check, token, piece.text, piece.size);
}

/* Check the templates of the value at @token, token by token: keys are none. */
static void check_template(const struct bus_check *check, uint32_t token)
{
	const struct json_tape *tape = check->scope->tape;
	uint32_t name;
	uint32_t scale;

	if (bus_call_is_scaled(tape, token, &name, &scale)) {
		check_scaled(check, name, scale);
	} else if (json_type_at(tape, token) == JSON_STRING) {
		check_string(check, token);
	} else if (json_type_at(tape, token) == JSON_ARRAY) {
		json_each(element, tape, token)
			check_template(check, element);
	} else if (json_type_at(tape, token) == JSON_OBJECT) {
		json_each_key(key, tape, token)
			check_template(check, key + 1);
	}
}

/* Check the data at @token: an object, or one argument of type object. */
static void check_data(const struct bus_check *check, uint32_t token)
{
	const struct json_tape *tape = check->scope->tape;
	struct bus_piece piece;
	uint32_t schema;

	if (json_type_at(tape, token) == JSON_OBJECT) {
		check_template(check, token);
		return;
	}
	if (!bus_call_is_argument(tape, token, &piece)) {
		REFUSE(check, token,
			"must be an object, or the name of one argument in braces, such as "
			"\"{fields}\"");
		return;
	}
	schema = find_schema(check, token, piece.text, piece.size);
	if (schema != JSON_NONE && !has_only_type(check, schema, "object", NULL))
		REFUSE(check, token,
			"the argument '%.*s' is the data of the message, so its schema must have "
			"the type \"object\"",
			(int)piece.size, piece.text);
}

static void check_context(const struct bus_check *check, uint32_t token)
{
	static const char *const kept[] = {"source", "destination", "session"};

	check_template(check, token);
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++) {
		uint32_t value = json_find(check->scope->tape, token, kept[i]);

		if (value != JSON_NONE)
			REFUSE(check, value,
				"\"%s\" cannot be a member of \"context\": toolboxd sets it%s",
				kept[i], i == 0 ? "" : "; it is a key of \"bus\" itself");
	}
}

/* Check the message at @object: the tool's own, or one of several; but for its topic. */
static void check_content(const struct bus_check *check, uint32_t object)
{
	const struct json_tape *tape = check->scope->tape;
	uint32_t data = json_find(tape, object, "data");
	uint32_t context = json_find(tape, object, "context");

	if (data != JSON_NONE)
		check_data(check, data);
	if (context != JSON_NONE)
		check_context(check, context);
}

/* Check the whole message at @object. Return whether it is dangerous to send. */
static bool check_message(const struct bus_check *check, uint32_t object)
{
	check_content(check, object);
	return check_topic(check, json_find(check->scope->tape, object, "topic"));
}

/* Check all messages, and the reply to the last one. Return the token of a dangerous topic, or
 * JSON_NONE. */
static uint32_t check_messages(const struct bus_check *check)
{
	const struct json_tape *tape = check->scope->tape;
	uint32_t list = find_member(check, "messages");
	uint32_t last = check->bus;
	uint32_t dangerous = JSON_NONE;

	if (has_setting(check)) {
		check_content(check, check->bus);
		check_setting(check);
		return JSON_NONE;
	}
	if (list == JSON_NONE) {
		if (check_message(check, check->bus))
			dangerous = find_member(check, "topic");
	} else {
		json_each(message, tape, list) {
			last = message;
			if (check_message(check, message) && dangerous == JSON_NONE)
				dangerous = json_find(tape, message, "topic");
		}
	}
	check_response(check, json_find(tape, last, "topic"));
	return dangerous;
}

/* ── the reply ───────────────────────────────────────────────────────────────────────────────── */

/* Check that the string at @token is a JSON Pointer (RFC 6901 §3). */
static void check_pointer(const struct bus_check *check, uint32_t token)
{
	cleanup_free char *text = copy_checked(check, token);
	bool is_pointer = text && (*text == '\0' || *text == '/');

	for (const char *at = text; is_pointer && (at = strchr(at, '~')); at++)
		is_pointer = at[1] == '0' || at[1] == '1';
	if (text && !is_pointer)
		REFUSE(check, token,
			"must be a JSON Pointer: \"\", or '/' before each key, such as "
			"\"/%.100s\"; it is '%.100s'",
			strchr(text, '~') ? "percent" : text, text);
}

static void check_result(const struct bus_check *check, uint32_t token)
{
	const struct json_tape *tape = check->scope->tape;

	if (json_type_at(tape, token) == JSON_STRING) {
		check_pointer(check, token);
		return;
	}
	json_each_key(key, tape, token) {
		uint32_t scale = json_find(tape, key + 1, "scale");

		check_pointer(check, json_find(tape, key + 1, "at"));
		if (scale != JSON_NONE)
			check_factor(check, scale);
	}
}

/* Check that the member @key names a boolean argument. */
static void check_condition(const struct bus_check *check, const char *key)
{
	const struct json_tape *tape = check->scope->tape;
	uint32_t name = find_member(check, key);
	uint32_t schema;

	if (name == JSON_NONE)
		return;
	schema = find_schema(check, name, json_bytes(tape, name), json_at(tape, name)->length);
	if (schema != JSON_NONE && !has_only_type(check, schema, "boolean", NULL))
		REFUSE(check, name,
			"the argument '%.*s' decides whether a reply is awaited, so its schema "
			"must have the type \"boolean\"",
			(int)json_at(tape, name)->length, json_bytes(tape, name));
}

static void check_reply(const struct bus_check *check)
{
	const struct json_tape *tape = check->scope->tape;
	uint32_t result = find_member(check, "result");
	uint32_t error = find_member(check, "error");
	uint32_t collect = find_member(check, "collect");

	if (result != JSON_NONE)
		check_result(check, result);
	if (error != JSON_NONE)
		check_pointer(check, error);
	if (collect != JSON_NONE) {
		check_topics(check, json_find(tape, collect, "topics"));
		if (json_find(tape, collect, "at") != JSON_NONE)
			check_pointer(check, json_find(tape, collect, "at"));
	}
	check_condition(check, "unless");
	check_condition(check, "when");
}

/* ── the tool ────────────────────────────────────────────────────────────────────────────────── */

/* Give @tool the risk of the dangerous topic at @topic, unless the manifest has a lower one. */
static void raise_risk(const struct bus_check *check, uint32_t topic, struct tool *tool)
{
	const struct json_tape *tape = check->scope->tape;
	uint32_t own = json_find(tape, check->entry, "risk");

	if (tool->risk != TOOL_UNRATED && tool->risk < TOOL_EXECUTE)
		REFUSE(check, own != JSON_NONE ? own : json_find(tape, 0, "risk"),
			"the topic '%.*s' changes the machine, or speaks for a person, so the risk "
			"of the tool '%s' must be \"execute\", not \"%s\"",
			(int)json_at(tape, topic)->length, json_bytes(tape, topic), tool->name,
			tool_risk_names[tool->risk]);
	tool->risk = TOOL_EXECUTE;
}

/* Append to the description of @tool that nothing confirms its effect. */
static int describe_unconfirmed(struct tool *tool)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	char *description;

	buffer_printf(
		&text, "%s%s%s", tool->description, *tool->description ? " " : "", unconfirmed);
	description = buffer_take(&text, NULL);
	if (!description)
		return -ENOMEM;
	free(tool->description);
	tool->description = description;
	return 0;
}

/* Return whether no message ever confirms the effect of the tool. */
static bool is_unconfirmed(const struct bus_call *call)
{
	return call->ask == JSON_NONE && !call->setting && call->replies.n_items == 0;
}

/* Make the struct of what was checked. */
static int make_bus_call(const struct bus_check *check, bool is_dangerous, struct tool *tool)
{
	const struct json_tape *tape = check->scope->tape;
	uint32_t schema = json_find(tape, check->entry, "argument_schema");
	struct bus_call *call =
		bus_call_new(tape, check->bus, json_find(tape, 0, "destination"), schema);

	if (!call)
		return -ENOMEM;
	tool->bus = call;
	call->is_dangerous = is_dangerous;
	if (call->ask != JSON_NONE && tool->timeout_ms == 0)
		tool->timeout_ms = call->listen_ms + BUS_CALL_SPEAKING_MS;
	return is_unconfirmed(call) ? describe_unconfirmed(tool) : 0;
}

int manifest_bus_read(const struct manifest_scope *scope, uint32_t object, struct tool *tool)
{
	uint32_t schema = json_find(scope->tape, object, "argument_schema");
	uint32_t properties = schema ? json_find(scope->tape, schema, "properties") : JSON_NONE;
	int r = 0;
	struct bus_check check = {
		scope, object, json_find(scope->tape, object, "bus"), properties, &r};
	size_t n_errors = scope->problems->n_errors;
	uint32_t dangerous = JSON_NONE;
	unsigned int form = check_form(&check);

	/* The schema's compiler refuses `properties` other than an object. */
	if (form == 0 ||
		(properties != JSON_NONE && json_type_at(scope->tape, properties) != JSON_OBJECT))
		return manifest_scope_read_schemas(scope, object, usual_output, tool);
	refuse_keys_of_other_forms(&check, form);
	check_no_reply(&check);
	if (form == FORM_ASK)
		check_string(&check, find_member(&check, "ask"));
	else
		dangerous = check_messages(&check);
	check_reply(&check);
	if (dangerous != JSON_NONE)
		raise_risk(&check, dangerous, tool);
	if (r || scope->problems->n_errors > n_errors)
		return r;
	r = make_bus_call(&check, dangerous != JSON_NONE, tool);
	return r ? r
		 : manifest_scope_read_schemas(scope, object,
			   is_unconfirmed(tool->bus) ? sent_output : usual_output, tool);
}

void manifest_bus_refuse_processes(const struct json_tape *tape, struct diagnostics *problems)
{
	static const char *const limits[] = {
		"workers", "memory_mb", "prestart", "idle_s", "max_ms"};
	uint32_t object = json_find(tape, 0, "limits");
	uint32_t sandbox = json_find(tape, 0, "sandbox");

	if (sandbox != JSON_NONE)
		diagnose(problems, DIAGNOSTIC_ERROR, tape, sandbox,
			"a toolbox of the kind \"bus\" has no process to confine; leave it out");
	for (size_t i = 0; object != JSON_NONE && i < ARRAY_SIZE(limits); i++) {
		uint32_t value = json_find(tape, object, limits[i]);

		if (value != JSON_NONE)
			diagnose(problems, DIAGNOSTIC_ERROR, tape, value,
				"\"%s\" is about processes, and a toolbox of the kind \"bus\" has "
				"none; leave it out",
				limits[i]);
	}
}
