/* SPDX-License-Identifier: Apache-2.0 */
#include "call/bus_call.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "json/member.h"
#include "json/number.h"
#include "json/pointer.h"
#include "json/writer.h"
#include "util/assert.h"

/*
 * The object is kept as its text and a tape over it, so filling a template is a walk over tokens:
 * literal values are copied as bytes, and arguments are put in between.
 */

#define NAME_FIRST "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"
#define NAME_REST  NAME_FIRST "0123456789-"

/* ── templates ───────────────────────────────────────────────────────────────────────────────── */

/* Return the number of bytes of the name of an argument at @text, followed by `}`; 0 without. */
static size_t name_size(const char *text, size_t size)
{
	size_t at = 0;

	while (at < size && strchr(at == 0 ? NAME_FIRST : NAME_REST, text[at]) && text[at] != '\0')
		at++;
	return at < size && text[at] == '}' ? at : 0;
}

bool bus_call_next_piece(const char **template, size_t *size, struct bus_piece *ret_piece)
{
	const char *text = *template;
	const char *brace;
	size_t used;

	if (*size == 0)
		return false;
	*ret_piece = (struct bus_piece){text, 1, BUS_PIECE_LITERAL};
	if (*text == '{' && (used = name_size(text + 1, *size - 1)) > 0) {
		*ret_piece = (struct bus_piece){text + 1, used, BUS_PIECE_ARGUMENT};
		used += 2;
	} else if (*size > 1 && text[0] == '{' && text[1] == '{') {
		used = 2;
	} else {
		brace = memchr(text + 1, '{', *size - 1);
		used = brace ? (size_t)(brace - text) : *size;
		ret_piece->size = used;
	}
	*template += used;
	*size -= used;
	return true;
}

bool bus_call_is_argument(const struct json_tape *tape, uint32_t token, struct bus_piece *ret_piece)
{
	const char *text = json_bytes(tape, token);
	size_t size = json_at(tape, token)->length;

	return json_type_at(tape, token) == JSON_STRING &&
	       bus_call_next_piece(&text, &size, ret_piece) && size == 0 &&
	       ret_piece->kind == BUS_PIECE_ARGUMENT;
}

bool bus_call_is_scaled(
	const struct json_tape *tape, uint32_t token, uint32_t *ret_name, uint32_t *ret_scale)
{
	if (json_type_at(tape, token) != JSON_OBJECT || json_count(tape, token) != 2)
		return false;
	*ret_name = json_find(tape, token, "arg");
	*ret_scale = json_find(tape, token, "scale");
	return *ret_name != JSON_NONE && *ret_scale != JSON_NONE;
}

/* The values for a template. */
struct filling {
	const struct bus_call *call;
	const struct json_tape *arguments;
	struct buffer *out;
};

/* Return the argument called @name, or JSON_NONE when it counts as absent. */
static uint32_t find_given(const struct filling *filling, const char *name, size_t size)
{
	const struct json_tape *arguments = filling->arguments;
	uint32_t value = json_find_sized(arguments, 0, name, size);

	if (value == JSON_NONE || json_type_at(arguments, value) != JSON_NULL)
		return value;
	for (size_t i = 0; i < filling->call->required.n_items; i++)
		if (strncmp(filling->call->required.items[i], name, size) == 0 &&
			filling->call->required.items[i][size] == '\0')
			return value;
	return JSON_NONE;
}

/* Return whether the template at @token needs an absent argument. */
static bool lacks_argument(const struct filling *filling, uint32_t token)
{
	const struct json_tape *tape = &filling->call->tape;
	const char *text = json_bytes(tape, token);
	size_t size = json_at(tape, token)->length;
	struct bus_piece piece;
	uint32_t name;
	uint32_t scale;

	if (bus_call_is_scaled(tape, token, &name, &scale))
		return find_given(filling, json_bytes(tape, name), json_at(tape, name)->length) ==
		       JSON_NONE;
	if (json_type_at(tape, token) != JSON_STRING)
		return false;
	while (bus_call_next_piece(&text, &size, &piece))
		if (piece.kind == BUS_PIECE_ARGUMENT &&
			find_given(filling, piece.text, piece.size) == JSON_NONE)
			return true;
	return false;
}

static void write_bytes(const struct json_tape *tape, uint32_t token, struct buffer *out)
{
	struct text_view view = json_value_view(tape, token);

	buffer_append(out, view.text, view.size);
}

/* Append the argument at @value as a part of a JSON string. */
static void write_inside(const struct json_tape *arguments, uint32_t value, struct buffer *out)
{
	cleanup(buffer_deinit) struct buffer compact = {0};
	cleanup(buffer_deinit) struct buffer quoted = {0};

	if (json_type_at(arguments, value) == JSON_STRING) {
		buffer_append(out, json_bytes(arguments, value), json_at(arguments, value)->length);
		return;
	}
	json_write_compact(&compact, arguments, value);
	json_write_buffer(&quoted, &compact);
	buffer_fail_with(out, &compact);
	buffer_fail_with(out, &quoted);
	if (quoted.size > 2)
		buffer_append(out, quoted.data + 1, quoted.size - 2);
}

static void fill_string(const struct filling *filling, uint32_t token)
{
	const struct json_tape *tape = &filling->call->tape;
	const char *text = json_bytes(tape, token);
	size_t size = json_at(tape, token)->length;
	struct bus_piece piece;

	if (bus_call_is_argument(tape, token, &piece)) {
		write_bytes(filling->arguments, find_given(filling, piece.text, piece.size),
			filling->out);
		return;
	}
	buffer_append_char(filling->out, '"');
	while (bus_call_next_piece(&text, &size, &piece))
		if (piece.kind == BUS_PIECE_LITERAL)
			buffer_append(filling->out, piece.text, piece.size);
		else
			write_inside(filling->arguments,
				find_given(filling, piece.text, piece.size), filling->out);
	buffer_append_char(filling->out, '"');
}

/* Append the number at @value of @tape times the one at @scale of @factors. Return whether it can
 * be written. */
static bool write_scaled(const struct json_tape *tape, uint32_t value,
	const struct json_tape *factors, uint32_t scale, struct buffer *out)
{
	const struct json_token *number = json_at(tape, value);
	const struct json_token *factor = json_at(factors, scale);

	return number->type == JSON_NUMBER &&
	       json_number_write_product(json_bytes(tape, value), number->length,
		       json_bytes(factors, scale), factor->length, out) == 0;
}

/* Append the product of the argument at @name and the factor at @scale. A null that the schema
 * requires has no product: append the null. */
static void fill_scaled(const struct filling *filling, uint32_t name, uint32_t scale)
{
	const struct json_tape *tape = &filling->call->tape;
	uint32_t value = find_given(filling, json_bytes(tape, name), json_at(tape, name)->length);

	if (!write_scaled(filling->arguments, value, tape, scale, filling->out))
		buffer_append_string(filling->out, "null");
}

static void fill(const struct filling *filling, uint32_t token);

/* Fill in the members, or elements, of the container at @token. */
static void fill_container(const struct filling *filling, uint32_t token)
{
	const struct json_tape *tape = &filling->call->tape;
	bool is_object = json_type_at(tape, token) == JSON_OBJECT;
	struct buffer *out = filling->out;
	uint32_t at = json_first(tape, token);

	buffer_append_char(out, is_object ? '{' : '[');
	for (; at < json_end(tape, token); at = json_next(tape, at)) {
		uint32_t key = at;

		at += is_object;
		if (lacks_argument(filling, at))
			continue;
		json_write_comma(out);
		if (is_object) {
			write_bytes(tape, key, out);
			buffer_append_char(out, ':');
		}
		fill(filling, at);
	}
	buffer_append_char(out, is_object ? '}' : ']');
}

/* Append the template at @token, filled in. Its depth is bounded by the reader of manifests. */
static void fill(const struct filling *filling, uint32_t token)
{
	const struct json_tape *tape = &filling->call->tape;
	uint32_t name;
	uint32_t scale;

	if (bus_call_is_scaled(tape, token, &name, &scale))
		fill_scaled(filling, name, scale);
	else if (json_type_at(tape, token) == JSON_STRING)
		fill_string(filling, token);
	else if (json_type_at(tape, token) >= JSON_ARRAY)
		fill_container(filling, token);
	else
		write_bytes(tape, token, filling->out);
}

uint32_t bus_call_next_refused(
	const struct bus_call *call, const struct json_tape *tape, uint32_t object, uint32_t key)
{
	for (; key < json_end(tape, object); key = json_next_key(tape, key))
		for (uint32_t at = 0; at < call->tape.count; at++) {
			cleanup(buffer_deinit) struct buffer product = {0};
			uint32_t name;
			uint32_t scale;

			if (bus_call_is_scaled(&call->tape, at, &name, &scale) &&
				json_strings_equal(&call->tape, name, tape, key) &&
				json_type_at(tape, key + 1) == JSON_NUMBER &&
				!write_scaled(tape, key + 1, &call->tape, scale, &product))
				return key;
		}
	return key;
}

void bus_call_write_data(const struct bus_call *call, const struct bus_message *message,
	const struct json_tape *arguments, struct buffer *out)
{
	const struct filling filling = {call, arguments, out};

	if (message->data == JSON_NONE || lacks_argument(&filling, message->data))
		buffer_append_string(out, "{}");
	else
		fill(&filling, message->data);
}

void bus_call_write_context(const struct bus_call *call, const struct bus_message *message,
	const struct json_tape *arguments, struct buffer *out)
{
	const struct filling filling = {call, arguments, out};

	if (message->context == JSON_NONE)
		return;
	json_each_key(key, &call->tape, message->context) {
		if (lacks_argument(&filling, key + 1))
			continue;
		buffer_append_char(out, ',');
		write_bytes(&call->tape, key, out);
		buffer_append_char(out, ':');
		fill(&filling, key + 1);
	}
}

void bus_call_write_ask(
	const struct bus_call *call, const struct json_tape *arguments, struct buffer *out)
{
	const struct filling filling = {call, arguments, out};
	struct bus_piece piece;
	uint32_t value;

	if (lacks_argument(&filling, call->ask)) {
		buffer_append_string(out, "\"\"");
		return;
	}
	if (!bus_call_is_argument(&call->tape, call->ask, &piece)) {
		fill_string(&filling, call->ask);
		return;
	}
	/* A text is spoken, whatever the type of the argument is. */
	value = find_given(&filling, piece.text, piece.size);
	buffer_append_char(out, '"');
	write_inside(arguments, value, out);
	buffer_append_char(out, '"');
}

bool bus_call_condition_holds(const struct bus_call *call, const struct json_tape *arguments)
{
	uint32_t value = call->condition ? json_find(arguments, 0, call->condition) : JSON_NONE;

	return value == JSON_NONE || json_type_at(arguments, value) != JSON_FALSE;
}

/* ── the result ──────────────────────────────────────────────────────────────────────────────── */

/* Return whether the value at @value, which `error` points to, is an error: null, false and "" are
 * not, and 0 is not. */
static bool is_error(const struct json_tape *reply, uint32_t value)
{
	const struct json_token *token = json_at(reply, value);
	double number;

	if (token->type == JSON_NUMBER)
		return json_number_f64(reply, value, &number) != 0 || number != 0;
	return token->type != JSON_NULL && token->type != JSON_FALSE &&
	       !(token->type == JSON_STRING && token->length == 0);
}

/* Replace the text in @out by the error in @reply. Return whether there is one. */
static bool write_error(
	const struct bus_call *call, const struct json_tape *reply, struct buffer *out)
{
	uint32_t value;

	if (!call->error || !json_pointer_find(reply, call->error, NULL, &value) ||
		!is_error(reply, value))
		return false;
	buffer_reset(out);
	if (json_type_at(reply, value) == JSON_STRING)
		json_string_decode(reply, value, out);
	else
		json_write_compact(out, reply, value);
	return true;
}

/* Append the value at @value, multiplied if @pointer has a factor. Return false with why not in
 * @out instead. */
static bool write_pointed(const struct bus_call *call, const struct bus_pointer *pointer,
	const struct json_tape *reply, uint32_t value, struct buffer *out)
{
	if (pointer->scale == JSON_NONE) {
		write_bytes(reply, value, out);
		return true;
	}
	if (write_scaled(reply, value, &call->tape, pointer->scale, out))
		return true;
	buffer_reset(out);
	buffer_printf(out, "the reply has no number of at most %d digits at %s, but the type %s",
		JSON_DIGITS_MAX, pointer->at, json_type_name(json_type_at(reply, value)));
	return false;
}

/* Append the member that @pointer means. Return false with why not in @out instead. */
static bool write_result_member(const struct bus_call *call, const struct bus_pointer *pointer,
	const struct json_tape *reply, struct buffer *out)
{
	uint32_t value;

	if (!json_pointer_find(reply, pointer->at, NULL, &value)) {
		if (pointer->is_optional)
			return true;
		buffer_reset(out);
		buffer_printf(out, "the reply has no %s", pointer->at);
		return false;
	}
	if (pointer->key) {
		if (out->size > 1)
			buffer_append_char(out, ',');
		buffer_append_string(out, pointer->key);
	} else if (json_type_at(reply, value) != JSON_OBJECT) {
		buffer_printf(out, "{%s:", call->as);
	}
	if (!write_pointed(call, pointer, reply, value, out))
		return false;
	if (!pointer->key && json_type_at(reply, value) != JSON_OBJECT)
		buffer_append_char(out, '}');
	return true;
}

bool bus_call_write_result(
	const struct bus_call *call, const struct json_tape *reply, struct buffer *out)
{
	bool has_members = call->n_results > 0 && call->results[0].key;

	if (write_error(call, reply, out))
		return false;
	if (call->n_results == 0)
		write_bytes(reply, 0, out);
	if (has_members)
		buffer_append_char(out, '{');
	for (size_t i = 0; i < call->n_results; i++)
		if (!write_result_member(call, &call->results[i], reply, out))
			return false;
	if (has_members)
		buffer_append_char(out, '}');
	return true;
}

/* ── its life ────────────────────────────────────────────────────────────────────────────────── */

void bus_call_free(struct bus_call *call)
{
	if (!call)
		return;
	for (size_t i = 0; i < call->n_messages; i++)
		free(call->messages[i].topic);
	for (size_t i = 0; i < call->n_results; i++) {
		free(call->results[i].key);
		free(call->results[i].at);
	}
	free(call->messages);
	free(call->results);
	text_list_deinit(&call->replies);
	text_list_deinit(&call->collects);
	text_list_deinit(&call->required);
	free(call->setting);
	free(call->collect_at);
	free(call->condition);
	free(call->as);
	free(call->error);
	json_tape_deinit(&call->tape);
	free(call->text);
	free(call);
}

int bus_call_set_topic(struct bus_call *call, const char *topic, const char *reply)
{
	char *copy = strdup(topic);

	if (!copy || (reply && text_list_add(&call->replies, reply) < 0)) {
		free(copy);
		return -ENOMEM;
	}
	free(call->messages[0].topic);
	call->messages[0].topic = copy;
	return 0;
}

void bus_call_write(const struct bus_call *call, struct buffer *out)
{
	buffer_append_string(out, call->text);
	if (!call->setting)
		return;
	buffer_append_string(out, call->messages[0].topic);
	for (size_t i = 0; i < call->replies.n_items; i++) {
		buffer_append_char(out, ' ');
		buffer_append_string(out, call->replies.items[i]);
	}
}

/* Keep the compact text of the object at @object, and read it. The destination of the toolbox is
 * added to an object without a destination. Returns 0 or -ENOMEM. */
static int keep_text(
	struct bus_call *call, const struct json_tape *tape, uint32_t object, uint32_t destination)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	size_t size;

	json_write_compact(&text, tape, object);
	if (destination != JSON_NONE && json_find(tape, object, "destination") == JSON_NONE &&
		buffer_status(&text) == 0) {
		text.size--;
		json_write_member_value(&text, "destination", tape, destination);
		buffer_append_char(&text, '}');
	}
	call->text = buffer_take(&text, &size);
	if (!call->text)
		return -ENOMEM;
	return json_tape_read(&call->tape, call->text, size, JSON_DEPTH_DEFAULT, NULL) == 0
		       ? 0
		       : -ENOMEM;
}

/* Set *ret_text to the decoded member @key of the object at @object, if there is one. 0 or
 * -ENOMEM. */
static int take_member(
	const struct bus_call *call, uint32_t object, const char *key, char **ret_text)
{
	uint32_t value = json_find_typed_at(&call->tape, object, key, JSON_STRING);

	if (value == JSON_NONE)
		return 0;
	*ret_text = json_string_dup(&call->tape, value, NULL);
	return *ret_text ? 0 : -ENOMEM;
}

/* Read the message of the object at @object. 0 or -ENOMEM. */
static int take_message(struct bus_call *call, uint32_t object)
{
	struct bus_message *message = &call->messages[call->n_messages++];

	message->data = json_find(&call->tape, object, "data");
	message->context = json_find(&call->tape, object, "context");
	return take_member(call, object, "topic", &message->topic);
}

static int take_messages(struct bus_call *call)
{
	uint32_t list = json_find(&call->tape, 0, "messages");
	uint32_t count = list != JSON_NONE ? json_count(&call->tape, list) : 1;
	int r = 0;

	call->messages = calloc(count, sizeof(*call->messages));
	if (!call->messages)
		return -ENOMEM;
	if (list == JSON_NONE)
		return take_message(call, 0);
	json_each(message, &call->tape, list) {
		r = take_message(call, message);
		if (r < 0)
			break;
	}
	return r;
}

/* Append the topics of the string, or the array of strings, at @value. 0 or -ENOMEM. */
static int take_topics(const struct bus_call *call, uint32_t value, struct text_list *topics)
{
	int r = 0;

	if (json_type_at(&call->tape, value) == JSON_STRING)
		return text_list_take(topics, json_string_dup(&call->tape, value, NULL));
	json_each(topic, &call->tape, value) {
		r = text_list_take(topics, json_string_dup(&call->tape, topic, NULL));
		if (r < 0)
			break;
	}
	return r;
}

/* Append the topic of the response to the last message. 0 or -ENOMEM. */
static int take_response(struct bus_call *call)
{
	cleanup(buffer_deinit) struct buffer topic = {0};

	buffer_append_string(&topic, call->messages[call->n_messages - 1].topic);
	buffer_append_string(&topic, ".response");
	return text_list_take(&call->replies, buffer_take(&topic, NULL));
}

/* Take the name of the setting out of a topic of the operator. 0 or -ENOMEM. */
static int take_setting(struct bus_call *call)
{
	const char *topic = call->messages[0].topic;

	check(topic);
	if (topic[0] != '$')
		return 0;
	call->setting = strdup(topic + 1);
	return call->setting ? 0 : -ENOMEM;
}

static int take_replies(struct bus_call *call)
{
	uint32_t reply = json_find(&call->tape, 0, "reply");
	uint32_t collect = json_find(&call->tape, 0, "collect");
	int r = 0;

	call->is_unasked = json_member_is_true(&call->tape, 0, "unasked");
	if (call->setting)
		r = 0;
	else if (reply == JSON_NONE || json_is_true(&call->tape, reply))
		r = take_response(call);
	else if (json_type_at(&call->tape, reply) != JSON_FALSE)
		r = take_topics(call, reply, &call->replies);
	if (r < 0 || collect == JSON_NONE)
		return r;
	r = take_topics(call, json_find(&call->tape, collect, "topics"), &call->collects);
	return r < 0 ? r : take_member(call, collect, "at", &call->collect_at);
}

/* Read the pointer of the object {"at", "scale"?, "optional"?} at @object, with the key @key. 0 or
 * -ENOMEM. */
static int take_pointer(struct bus_call *call, uint32_t key)
{
	struct bus_pointer *pointer = &call->results[call->n_results++];
	cleanup(buffer_deinit) struct buffer text = {0};

	write_bytes(&call->tape, key, &text);
	buffer_append_char(&text, ':');
	pointer->key = buffer_take(&text, NULL);
	pointer->scale = json_find(&call->tape, key + 1, "scale");
	pointer->is_optional = json_member_is_true(&call->tape, key + 1, "optional");
	return pointer->key ? take_member(call, key + 1, "at", &pointer->at) : -ENOMEM;
}

static int take_results(struct bus_call *call)
{
	uint32_t result = json_find(&call->tape, 0, "result");
	bool is_object = result != JSON_NONE && json_type_at(&call->tape, result) == JSON_OBJECT;
	int r = 0;

	if (result == JSON_NONE)
		return 0;
	call->results =
		calloc(is_object ? json_count(&call->tape, result) + 1 : 1, sizeof(*call->results));
	if (!call->results)
		return -ENOMEM;
	if (!is_object) {
		call->n_results = 1;
		return take_member(call, 0, "result", &call->results[0].at);
	}
	json_each_key(key, &call->tape, result) {
		r = take_pointer(call, key);
		if (r < 0)
			break;
	}
	return r;
}

/* Keep the JSON text of the key for a result other than an object. 0 or -ENOMEM. */
static int take_as(struct bus_call *call)
{
	uint32_t as = json_find(&call->tape, 0, "as");
	struct text_view view = {"\"result\"", strlen("\"result\"")};

	if (as != JSON_NONE)
		view = json_value_view(&call->tape, as);
	call->as = strndup(view.text, view.size);
	return call->as ? 0 : -ENOMEM;
}

static int take_required(struct bus_call *call, const struct json_tape *tape, uint32_t schema)
{
	uint32_t required = json_find_typed(tape, schema, "required", JSON_ARRAY);
	int r = 0;

	json_each_found(name, tape, required) {
		if (json_type_at(tape, name) == JSON_STRING)
			r = text_list_take(&call->required, json_string_dup(tape, name, NULL));
		if (r < 0)
			break;
	}
	return r;
}

static int take_all(struct bus_call *call)
{
	int r = 0;

	call->listen_ms = BUS_CALL_LISTEN_MS;
	json_read_u64(&call->tape, json_find(&call->tape, 0, "listen_ms"), &call->listen_ms);
	call->has_own_session = json_member_is(&call->tape, 0, "session", "default");
	call->destination = json_find(&call->tape, 0, "destination");
	call->ask = json_find(&call->tape, 0, "ask");
	if (call->ask == JSON_NONE) {
		r = take_messages(call);
		r = r ? r : take_setting(call);
		r = r ? r : take_replies(call);
	}
	r = r ? r : take_results(call);
	r = r ? r : take_as(call);
	r = r ? r : take_member(call, 0, "error", &call->error);
	return r ? r : take_member(call, 0, call->ask ? "when" : "unless", &call->condition);
}

struct bus_call *bus_call_new(
	const struct json_tape *tape, uint32_t object, uint32_t destination, uint32_t schema)
{
	cleanup(bus_call_cleanup) struct bus_call *call = calloc(1, sizeof(*call));

	if (!call || keep_text(call, tape, object, destination) < 0 || take_all(call) < 0 ||
		take_required(call, tape, schema) < 0)
		return NULL;
	return take_ptr(call);
}
