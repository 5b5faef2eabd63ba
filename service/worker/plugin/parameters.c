/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/plugin/parameters.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "json/reader.h"
#include "json/writer.h"
#include "util/array.h"

/* A double holds every whole number below exactly. */
#define WHOLE_MAX 0x1p53

/* The types of JSON Schema, and the keywords for the bounds of their values. */
static const struct type {
	const char *name;
	const char *least; /* NULL: values of the type have no bounds */
	const char *most;
	bool is_counted; /* the bounds count characters or elements */
} types[] = {
	{"string", "minLength", "maxLength", true},
	{"integer", "minimum", "maximum", false},
	{"number", "minimum", "maximum", false},
	{"boolean", NULL, NULL, false},
	{"array", "minItems", "maxItems", true},
	{"object", NULL, NULL, false},
};

static const struct type *find_type(const char *name)
{
	for (size_t i = 0; name && i < ARRAY_SIZE(types); i++)
		if (strcmp(name, types[i].name) == 0)
			return &types[i];
	return NULL;
}

__attribute__((format(printf, 3, 4))) static int refuse_parameter(
	struct buffer *why, const char *name, const char *format, ...)
{
	va_list arguments;

	buffer_printf(why, "its parameter '%s' ", name);
	va_start(arguments, format);
	buffer_vprintf(why, format, arguments);
	va_end(arguments);
	return PLUGIN_PARAMETERS_E_WRONG;
}

/* Return whether @bound can be the smallest or largest value of the type. */
static bool is_bound(const struct type *type, double bound)
{
	if (isnan(bound))
		return false;
	return !type->is_counted || isinf(bound) ||
	       (bound >= 0 && bound <= UINT32_MAX && bound == trunc(bound));
}

/* Write the bound, a whole number without a point; no bound is not written. */
static void append_bound(struct buffer *out, const struct type *type, bool is_most, double bound)
{
	if (isinf(bound) || (type->is_counted && !is_most && bound == 0))
		return;
	buffer_printf(out, ",\"%s\":", is_most ? type->most : type->least);
	if (bound == trunc(bound) && fabs(bound) < WHOLE_MAX)
		json_write_i64(out, (int64_t)bound);
	else
		json_write_f64(out, bound);
}

static int append_bounds(const struct toolbox_parameter *parameter, const struct type *type,
	struct buffer *out, struct buffer *why)
{
	double least = parameter->min;
	double most = parameter->max;

	if (least == 0 && most == 0)
		return 0;
	if (!type->least)
		return refuse_parameter(why, parameter->name,
			"has min and max, but a value of type %s has no bounds", type->name);
	if (!is_bound(type, least) || !is_bound(type, most) || least > most)
		return refuse_parameter(why, parameter->name,
			"has min %g and max %g: min must not exceed max%s", least, most,
			type->is_counted ? ", and both count characters or elements" : "");
	append_bound(out, type, false, least);
	append_bound(out, type, true, most);
	return 0;
}

static int append_default(
	const struct toolbox_parameter *parameter, struct buffer *out, struct buffer *why)
{
	const char *text = parameter->default_json;
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	struct json_error error;
	int r;

	if (!text)
		return 0;
	r = json_tape_read(&tape, text, strlen(text), JSON_DEPTH_DEFAULT / 2, &error);
	if (r < 0)
		return r;
	if (r > 0)
		return refuse_parameter(why, parameter->name,
			"has a default that is not JSON: %s at byte %zu%s", error.message,
			error.offset,
			strcmp(parameter->type, "string") == 0
				? "; a string is in quotes: \"\\\"text\\\"\""
				: "");
	json_write_member_value(out, "default", &tape, 0);
	return 0;
}

static int append_parameter(
	const struct toolbox_parameter *parameter, struct buffer *out, struct buffer *why)
{
	const struct type *type = find_type(parameter->type);
	int r;

	if (!type)
		return refuse_parameter(why, parameter->name,
			"has the type '%s': string, integer, number, boolean, array or object was "
			"expected",
			parameter->type ? parameter->type : "NULL");
	json_write_bytes_lossy(out, parameter->name, strlen(parameter->name));
	buffer_printf(out, ":{\"type\":\"%s\"", type->name);
	r = append_bounds(parameter, type, out, why);
	r = r ? r : append_default(parameter, out, why);
	if (parameter->text) {
		buffer_append_string(out, ",\"description\":");
		json_write_bytes_lossy(out, parameter->text, strlen(parameter->text));
	}
	buffer_append_char(out, '}');
	return r;
}

/* Return whether a parameter before the one at @index has its name. */
static bool has_twin(const struct toolbox_parameter *parameters, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (strcmp(parameters[i].name, parameters[index].name) == 0)
			return true;
	return false;
}

static int append_all(
	const struct toolbox_parameter *parameters, struct buffer *out, struct buffer *why)
{
	int r = 0;

	for (size_t i = 0; r == 0 && parameters[i].name; i++) {
		if (i == PLUGIN_PARAMETERS_MAX)
			return refuse_parameter(why, parameters[i].name,
				"is the %uth: at most %u are read; an entry without a name ends "
				"them",
				PLUGIN_PARAMETERS_MAX + 1, PLUGIN_PARAMETERS_MAX);
		if (has_twin(parameters, i))
			return refuse_parameter(why, parameters[i].name, "is there twice");
		buffer_append_string(out, i == 0 ? "" : ",");
		r = append_parameter(&parameters[i], out, why);
	}
	return r;
}

static void append_required(const struct toolbox_parameter *parameters, struct buffer *out)
{
	bool is_any = false;

	for (; parameters->name; parameters++) {
		if (!parameters->required)
			continue;
		buffer_append_string(out, is_any ? "," : ",\"required\":[");
		json_write_bytes_lossy(out, parameters->name, strlen(parameters->name));
		is_any = true;
	}
	if (is_any)
		buffer_append_char(out, ']');
}

int plugin_parameters_write(
	const struct toolbox_parameter *parameters, struct buffer *out, struct buffer *why)
{
	int r;

	buffer_append_string(out, "{\"type\":\"object\",\"properties\":{");
	r = append_all(parameters, out, why);
	if (r)
		return r;
	buffer_append_char(out, '}');
	append_required(parameters, out);
	buffer_append_string(out, ",\"additionalProperties\":false}");
	return 0;
}
