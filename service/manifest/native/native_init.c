/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/native/native_init.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "call/native.h"
#include "json/writer.h"
#include "manifest/diagnose.h"
#include "util/cleanup.h"

/* Append the argument at @token, a constant with its type or null, as the parameter @number. */
static void write_argument(
	const struct json_tape *tape, uint32_t token, unsigned int number, struct buffer *out)
{
	buffer_printf(out, "%s{\"name\":\"arg%u\",\"type\":", number > 0 ? "," : "", number);
	if (json_type_at(tape, token) == JSON_NULL) {
		buffer_append_string(out, "\"str\",\"nullable\":true,\"value\":null}");
		return;
	}
	json_write_compact(out, tape, json_first(tape, token));
	buffer_append_string(out, ",\"value\":");
	json_write_compact(out, tape, json_first(tape, token) + 1);
	buffer_append_char(out, '}');
}

/* Append the step at @token as the native object of a tool. */
static void write_call(const struct json_tape *tape, uint32_t token, struct buffer *out)
{
	uint32_t args = json_find(tape, token, "args");
	uint32_t returns = json_find(tape, token, "returns");
	unsigned int number = 0;

	buffer_append_string(out, "{\"symbol\":");
	json_write_compact(out, tape, json_find(tape, token, "call"));
	buffer_append_string(out, ",\"parameters\":[");
	for (uint32_t at = args == JSON_NONE ? 0 : json_first(tape, args);
		args != JSON_NONE && at < json_end(tape, args); at = json_next(tape, at))
		write_argument(tape, at, number++, out);
	buffer_append_char(out, ']');
	if (returns != JSON_NONE) {
		buffer_append_string(out, ",\"returns\":");
		json_write_compact(out, tape, returns);
	}
	buffer_append_char(out, '}');
}

/* Find the place in the manifest of a mistake at @pointer of the native object made from the step
 * at @token. */
static uint32_t find_step_place(const struct json_tape *tape, uint32_t token, const char *pointer)
{
	uint32_t args = json_find(tape, token, "args");
	uint32_t returns = json_find(tape, token, "returns");
	unsigned int number;
	uint32_t at;

	if (returns != JSON_NONE && strncmp(pointer, "/returns", strlen("/returns")) == 0)
		return returns;
	if (args == JSON_NONE || sscanf(pointer, "/parameters/%u", &number) != 1)
		return token;
	for (at = json_first(tape, args); number > 0 && at < json_end(tape, args); number--)
		at = json_next(tape, at);
	return at < json_end(tape, args) ? at : args;
}

/* Append the step at @token to @out, if a host can call it. 0 or -ENOMEM. */
static int read_call(const struct json_tape *tape, uint32_t token, struct buffer *out,
	struct diagnostics *problems)
{
	cleanup(native_function_deinit) struct native_function function = {0};
	cleanup(diagnostics_deinit) struct diagnostics found = {0};
	cleanup(json_tape_cleanup) struct json_tape made = {0};
	cleanup(buffer_deinit) struct buffer text = {0};
	int r;

	write_call(tape, token, &text);
	r = buffer_status(&text);
	r = r ? r : json_tape_read(&made, text.data, text.size, JSON_DEPTH_DEFAULT, NULL);
	if (r > 0)
		diagnose(problems, DIAGNOSTIC_ERROR, tape, token, "is nested too deep");
	r = r ? r : native_function_read(&made, 0, NULL, &function, &found);
	for (size_t i = 0; i < found.n_items; i++)
		diagnose(problems, found.items[i].severity, tape,
			find_step_place(tape, token, found.items[i].pointer), "%s",
			found.items[i].text);
	if (r == 0)
		native_write(&function, out);
	return r < 0 ? r : 0;
}

int manifest_native_init_read(
	const struct json_tape *tape, struct package *package, struct diagnostics *problems)
{
	uint32_t init = json_find(tape, 0, "init");
	cleanup(buffer_deinit) struct buffer out = {0};
	int r = 0;

	if (init == JSON_NONE)
		return 0;
	for (uint32_t at = json_first(tape, init); r == 0 && at < json_end(tape, init);
		at = json_next(tape, at)) {
		uint32_t finally = json_find(tape, at, "finally");

		buffer_append_string(&out, out.size > 0 ? ",{\"call\":" : "{\"call\":");
		r = read_call(tape, at, &out, problems);
		if (r == 0 && finally != JSON_NONE) {
			buffer_append_string(&out, ",\"finally\":");
			r = read_call(tape, finally, &out, problems);
		}
		buffer_append_char(&out, '}');
	}
	if (r)
		return r;
	package->init = buffer_take(&out, NULL);
	return package->init ? 0 : -ENOMEM;
}
