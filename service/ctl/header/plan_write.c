/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/header/plan_write.h"

#include <string.h>

#include "ctl/header/comment.h"
#include "json/writer.h"
#include "util/cleanup.h"

#define INDENT "\n      "

/* ── values ──────────────────────────────────────────────────────────────────────────────────── */

static const char *enum_name(const struct c_record *record)
{
	return record->tag ? record->tag : record->alias;
}

/* Return whether the names of the enum can be written: it has a name, and all values are known. */
static bool is_written_enum(const struct c_record *record)
{
	if (!record || !enum_name(record) || record->n_enumerators == 0)
		return false;
	for (size_t i = 0; i < record->n_enumerators; i++)
		if (!record->enumerators[i].is_known)
			return false;
	return true;
}

static void write_key_text(struct buffer *out, const char *key, const char *text)
{
	buffer_append_string(out, ", ");
	json_write_key(out, key);
	buffer_append_char(out, ' ');
	json_write_bytes_lossy(out, text, strlen(text));
}

/* Append `"type": …` and what belongs to it. */
static void write_type_word(const struct plan_argument *argument, struct buffer *out)
{
	bool is_enum = strcmp(argument->word, "enum") == 0 || strcmp(argument->word, "flags") == 0;

	if (is_enum && !is_written_enum(argument->enumeration)) {
		buffer_append_string(out, "\"type\": \"i32\"");
		return;
	}
	buffer_printf(out, "\"type\": \"%s\"", argument->word);
	if (is_enum)
		write_key_text(out, "enum", enum_name(argument->enumeration));
	if (argument->items)
		buffer_printf(out, ", \"items\": \"%s\"", argument->items);
}

static bool is_plan_buffer(const struct plan_argument *argument)
{
	return !argument->is_handed && (argument->items || strcmp(argument->word, "str") == 0 ||
					       strcmp(argument->word, "bytes") == 0);
}

static void write_plan_question(const struct plan_argument *argument, struct buffer *out)
{
	if (argument->question)
		write_key_text(out, "question", argument->question);
}

/* Append who frees a text. */
static void write_transfer(const struct plan_argument *argument, struct buffer *out)
{
	buffer_printf(out, ", \"transfer\": \"%s\"", argument->is_owned ? "full" : "none");
	if (argument->is_owned && argument->free_symbol)
		write_key_text(out, "free", argument->free_symbol);
}

/* Append the keys of an output. */
static void write_output_keys(const struct plan_call *call, const struct plan_argument *argument,
	const char *sign, struct buffer *out)
{
	if (argument->has_size)
		buffer_printf(
			out, ", \"size\": \"%s%s\"", sign, call->arguments[argument->of].name);
	if (is_plan_buffer(argument))
		buffer_printf(out, ", \"capacity\": %d", PLAN_CAPACITY);
	if (argument->is_handed && strcmp(argument->word, "handle") != 0)
		write_transfer(argument, out);
	if (argument->kind == PLAN_MEMORY) {
		cleanup(buffer_deinit) struct buffer c = {0};

		c_type_write_resolved(argument->c, &c);
		buffer_printf(out, ", \"size\": %llu", (unsigned long long)argument->size);
		if (buffer_terminate(&c))
			write_key_text(
				out, "c", strncmp(c.data, "const ", 6) == 0 ? c.data + 6 : c.data);
	}
}

static void write_c_description(const struct header *header, const struct c_function *function,
	const struct plan_argument *argument, struct buffer *out)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	if (argument->description) {
		write_key_text(out, "description", argument->description);
		return;
	}
	comment_describe_parameter(header, function, argument->name, &text);
	if (text.size > 0 && buffer_terminate(&text))
		write_key_text(out, "description", text.data);
}

/* Return whether @argument is a value of the caller. */
static bool is_given_value(const struct plan_argument *argument)
{
	return argument->kind == PLAN_GIVEN || argument->kind == PLAN_INOUT;
}

/* Append a member of `parameters`, a value of the caller. */
static void write_given_value(const struct header *header, const struct plan_call *call,
	const struct plan_argument *argument, struct buffer *out)
{
	buffer_printf(out, "{\"name\": \"%s\", ", argument->name);
	write_type_word(argument, out);
	if (is_given_value(argument) || argument->kind == PLAN_OUT)
		write_c_description(header, call->function, argument, out);
	if (argument->is_nullable)
		buffer_append_string(out, ", \"nullable\": true");
}

/* ── the form of one function ────────────────────────────────────────────────────────────────── */

static void write_c_parameter(const struct header *header, const struct plan_call *call,
	const struct plan_argument *argument, struct buffer *out)
{
	write_given_value(header, call, argument, out);
	switch (argument->kind) {
	case PLAN_LENGTH:
		write_key_text(out, "length_of", call->arguments[argument->of].name);
		if (argument->is_pointer)
			write_key_text(out, "dir", "inout");
		break;
	case PLAN_OUT:
		write_key_text(out, "dir", "out");
		write_output_keys(call, argument, "", out);
		break;
	case PLAN_INOUT:
		write_key_text(out, "dir", "inout");
		break;
	case PLAN_TEXT:
		write_key_text(out, "value", argument->text);
		break;
	default:
		break;
	}
	write_plan_question(argument, out);
	buffer_append_char(out, '}');
}

/* Append `"returns": …` after a comma. Nothing for void. @sign: `$` in steps, else nothing. */
static void write_call_returns(
	const struct plan_call *call, bool is_whole, const char *sign, struct buffer *out)
{
	const struct plan_argument *returned = &call->returned;
	bool is_handle = returned->word && strcmp(returned->word, "handle") == 0;

	if (!returned->word && !call->throws)
		return;
	buffer_append_string(out, *sign ? ", \"returns\": {" : "," INDENT "\"returns\": {");
	if (!returned->word) {
		buffer_append_string(out, "\"type\": \"void\", \"errors\": \"gerror\"}");
		return;
	}
	if (is_whole || is_handle)
		buffer_printf(out, "\"name\": \"%s\", ", returned->name);
	write_type_word(returned, out);
	if (call->throws)
		buffer_append_string(out, ", \"errors\": \"gerror\"");
	if (returned->is_nullable || (is_whole && is_handle && !call->last))
		buffer_append_string(out, ", \"nullable\": true");
	if (returned->is_owned)
		write_transfer(returned, out);
	if (call->size_from < call->n_arguments)
		buffer_printf(
			out, ", \"size\": \"%s%s\"", sign, call->arguments[call->size_from].name);
	write_plan_question(returned, out);
	buffer_append_char(out, '}');
}

static void write_variadic(const struct plan_call *call, struct buffer *out)
{
	if (call->function->type->is_variadic)
		buffer_printf(out, ", \"variadic\": %zu", call->function->type->n_parameters);
}

static void write_one_function(
	const struct header *header, const struct plan *plan, struct buffer *out)
{
	const struct plan_call *call = &plan->calls[0];

	buffer_printf(out, INDENT "\"symbol\": \"%s\"", call->function->name);
	write_variadic(call, out);
	if (call->n_arguments > 0) {
		buffer_append_string(out, "," INDENT "\"parameters\": [");
		for (size_t i = 0; i < call->n_arguments; i++) {
			buffer_append_string(out, i > 0 ? "," INDENT "  " : INDENT "  ");
			write_c_parameter(header, call, &call->arguments[i], out);
		}
		buffer_append_char(out, ']');
	}
	write_call_returns(call, true, "", out);
}

/* ── steps ───────────────────────────────────────────────────────────────────────────────────── */

static void write_step_argument(
	const struct plan_call *call, const struct plan_argument *argument, struct buffer *out)
{
	const struct plan_argument *of = &call->arguments[argument->of];

	switch (argument->kind) {
	case PLAN_GIVEN:
	case PLAN_HANDLE:
		buffer_printf(out, "\"$%s\"", argument->name);
		return;
	case PLAN_TEXT:
		buffer_append_string(out, "{\"str\": ");
		json_write_text(out, argument->text);
		buffer_append_char(out, '}');
		return;
	case PLAN_LENGTH:
		if (!argument->is_pointer) {
			buffer_printf(out, "{\"length_of\": \"$%s\", \"type\": \"%s\"}", of->name,
				argument->word);
			return;
		}
		buffer_printf(out,
			"{\"inout\": {\"name\": \"%s\", \"type\": \"%s\", \"length_of\": \"$%s\"}}",
			argument->name, argument->word, of->name);
		return;
	case PLAN_INOUT:
		buffer_printf(out, "{\"inout\": {\"name\": \"%s_after\", ", argument->name);
		write_type_word(argument, out);
		buffer_printf(out, ", \"value\": \"$%s\"", argument->name);
		break;
	default:
		buffer_printf(out, "{\"out\": {\"name\": \"%s\", ", argument->name);
		write_type_word(argument, out);
		write_output_keys(call, argument, "$", out);
		if (argument->is_nullable)
			buffer_append_string(out, ", \"nullable\": true");
		break;
	}
	write_plan_question(argument, out);
	buffer_append_string(out, "}}");
}

static void write_one_step(const struct plan_call *call, bool is_whole, struct buffer *out)
{
	buffer_printf(out, "{\"call\": \"%s\"", call->function->name);
	write_variadic(call, out);
	if (call->n_arguments > 0) {
		buffer_append_string(out, ", \"args\": [");
		for (size_t i = 0; i < call->n_arguments; i++) {
			buffer_append_string(out, i > 0 ? ", " : "");
			write_step_argument(call, &call->arguments[i], out);
		}
		buffer_append_char(out, ']');
	}
	write_call_returns(call, is_whole, "$", out);
	if (call->last)
		buffer_printf(out,
			"," INDENT "   \"finally\": {\"call\": \"%s\", \"args\": [\"$%s\"]}",
			call->last->name, call->last_of);
	buffer_append_char(out, '}');
}

static void write_call_steps(
	const struct header *header, const struct plan *plan, struct buffer *out)
{
	bool is_first = true;

	buffer_append_string(out, INDENT "\"parameters\": [");
	for (size_t i = 0; i < plan->n_calls; i++) {
		const struct plan_call *call = &plan->calls[i];

		for (size_t j = 0; j < call->n_arguments; j++) {
			if (!is_given_value(&call->arguments[j]))
				continue;
			buffer_append_string(out, is_first ? INDENT "  " : "," INDENT "  ");
			write_given_value(header, call, &call->arguments[j], out);
			if (call->arguments[j].kind == PLAN_GIVEN)
				write_plan_question(&call->arguments[j], out);
			buffer_append_char(out, '}');
			is_first = false;
		}
	}
	buffer_append_string(out, "]," INDENT "\"steps\": [");
	for (size_t i = 0; i < plan->n_calls; i++) {
		buffer_append_string(out, i > 0 ? "," INDENT "  " : INDENT "  ");
		write_one_step(&plan->calls[i], i + 1 == plan->n_calls, out);
	}
	buffer_append_char(out, ']');
}

/* ── all of it ───────────────────────────────────────────────────────────────────────────────── */

void plan_write_tool(const struct header *header, const struct plan *plan, struct buffer *out)
{
	const struct c_function *function = plan->calls[plan->n_calls - 1].function;
	cleanup(buffer_deinit) struct buffer text = {0};

	if (plan->calls[plan->n_calls - 1].description)
		buffer_append_string(&text, plan->calls[plan->n_calls - 1].description);
	else
		comment_describe(header, function, &text);
	if (text.size == 0)
		c_function_write(function->type, function->name, &text);
	buffer_fail_with(out, &text);
	buffer_printf(out, "{\"name\": \"%s\",\n     \"description\": ", function->name);
	json_write_bytes_lossy(out, buffer_text(&text), text.size);
	buffer_append_string(out, ",\n     \"native\": {");
	if (plan_needs_steps(plan))
		write_call_steps(header, plan, out);
	else
		write_one_function(header, plan, out);
	buffer_append_string(out, "}}");
}

static bool has_enum_name(const struct buffer *names, const char *name)
{
	for (size_t at = 0; at < names->size; at += strlen(names->data + at) + 1)
		if (strcmp(names->data + at, name) == 0)
			return true;
	return false;
}

/* Append one enum. A second name of a value is left out. */
static void write_c_enum(const struct c_record *record, struct buffer *written, struct buffer *out)
{
	bool is_first = true;

	if (!is_written_enum(record) || has_enum_name(written, enum_name(record)))
		return;
	buffer_append_string(out, written->size > 0 ? ",\n    \"" : "\n    \"");
	buffer_printf(out, "%s\": {", enum_name(record));
	buffer_append(written, enum_name(record), strlen(enum_name(record)) + 1);
	for (size_t i = 0; i < record->n_enumerators; i++) {
		bool is_new = true;

		for (size_t j = 0; j < i; j++)
			is_new = is_new &&
				 record->enumerators[j].value != record->enumerators[i].value;
		if (!is_new)
			continue;
		buffer_printf(out, "%s\"%s\": %lld", is_first ? "" : ", ",
			record->enumerators[i].name, (long long)record->enumerators[i].value);
		is_first = false;
	}
	buffer_append_char(out, '}');
}

void plan_write_enums(const struct plan *plan, struct buffer *written, struct buffer *out)
{
	for (size_t i = 0; i < plan->n_calls; i++) {
		for (size_t j = 0; j < plan->calls[i].n_arguments; j++)
			write_c_enum(plan->calls[i].arguments[j].enumeration, written, out);
		write_c_enum(plan->calls[i].returned.enumeration, written, out);
	}
}
