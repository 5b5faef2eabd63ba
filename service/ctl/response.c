/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/response.h"

#include <string.h>

#include "ctl/command.h"
#include "ctl/terminal.h"
#include "json/member.h"
#include "json/writer.h"
#include "util/array.h"

void ctl_response_deinit(struct ctl_response *response)
{
	json_tape_deinit(&response->tape);
	buffer_deinit(&response->text);
}

int ctl_response_copy(struct ctl_response *response, const struct json_tape *data)
{
	size_t size;
	const char *text = json_value_text(data, 0, &size);

	buffer_reset(&response->text);
	buffer_append(&response->text, text, size);
	if (buffer_status(&response->text) < 0)
		return buffer_status(&response->text);
	return json_tape_read(&response->tape, response->text.data, response->text.size,
		CTL_RESPONSE_DEPTH_MAX, NULL);
}

uint32_t ctl_response_find(
	const struct ctl_response *response, uint32_t object, const char *key, enum json_type type)
{
	return json_find_typed_at(&response->tape, object, key, type);
}

bool ctl_response_has_code(const struct ctl_response *response, const char *code)
{
	return json_member_is(&response->tape, 0, "code", code);
}

int ctl_response_status(const struct ctl_response *response)
{
	if (json_find(&response->tape, 0, "error") == JSON_NONE)
		return CTL_DONE;
	return ctl_response_has_code(response, "timeout") ? CTL_NO_ANSWER : CTL_ERROR;
}

void ctl_response_print(const struct ctl_response *response)
{
	cleanup(buffer_deinit) struct buffer line = {0};

	/* Another implementation may have written it on several lines. */
	if (memchr(response->text.data, '\n', response->text.size))
		json_write_compact(&line, &response->tape, 0);
	else
		buffer_append(&line, response->text.data, response->text.size);
	buffer_append_char(&line, '\n');
	terminal_print_json_text(&line);
}

void ctl_response_complain(const struct ctl_response *response)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	terminal_append_member(&text, &response->tape, 0, "error");
	terminal_complain_text(&text);
}

/* FILE:LINE PATH: error */
static void complain_mistake(const struct ctl_response *response, uint32_t mistake)
{
	static const char *const keys[] = {"file", "line", "path"};
	static const char *const before[] = {"", ":", " "};
	const struct json_tape *tape = &response->tape;
	cleanup(buffer_deinit) struct buffer line = {0};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		uint32_t value = json_find(tape, mistake, keys[i]);

		if (value == JSON_NONE || json_type_at(tape, value) == JSON_NULL ||
			(json_type_at(tape, value) == JSON_STRING &&
				json_at(tape, value)->length == 0))
			continue;
		buffer_append_string(&line, line.size > 0 ? before[i] : "");
		terminal_append_value(&line, tape, value);
	}
	buffer_append_string(&line, line.size > 0 ? ": " : "");
	terminal_append_text(&line, tape, mistake, "error");
	terminal_complain_text(&line);
}

uint32_t ctl_response_complain_each(const struct ctl_response *response, const char *key,
	ctl_complain_function complain, bool is_silent)
{
	const struct json_tape *tape = &response->tape;
	uint32_t list = ctl_response_find(response, 0, key, JSON_ARRAY);

	if (list == JSON_NONE)
		return 0;
	json_each_while(!is_silent, i, tape, list)
		complain(response, i);
	return json_count(tape, list);
}

uint32_t ctl_response_complain_mistakes(const struct ctl_response *response, bool is_silent)
{
	return ctl_response_complain_each(response, "configuration", complain_mistake, is_silent);
}

int ctl_response_report(const struct ctl_response *response, bool is_json,
	void (*print)(const struct ctl_response *response))
{
	int status = ctl_response_status(response);

	if (is_json)
		ctl_response_print(response);
	else if (status != CTL_DONE)
		ctl_response_complain(response);
	else if (print)
		print(response);
	return status;
}

int ctl_response_judge(int r, const struct ctl_response *response)
{
	return r != 0 ? r : ctl_response_report(response, false, NULL);
}
