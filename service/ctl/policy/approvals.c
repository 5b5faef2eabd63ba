/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/policy/approvals.h"

#include <string.h>

#include "ctl/policy/allowed.h"
#include "ctl/policy/answers.h"
#include "ctl/session.h"
#include "ctl/table.h"
#include "ctl/terminal.h"
#include "json/number.h"
#include "json/writer.h"
#include "util/array.h"

/* toolboxctl approvals: list the questions that wait. */

/* Append whole seconds: the rest of the time that is left helps no reader. */
static void append_seconds(struct buffer *cell, const struct json_tape *tape, uint32_t token)
{
	double seconds = 0;

	if (token != JSON_NONE && json_type_at(tape, token) == JSON_NUMBER)
		json_number_f64(tape, token, &seconds);
	buffer_printf(cell, "%.0f", seconds);
}

struct listing {
	struct table table;
	struct buffer json; /* the elements of the list; with --json */
	size_t n;
};

static void add_question_row(
	void *data, const struct json_tape *tape, uint32_t object, const struct question_mark *mark)
{
	static const char *const keys[] = {"id", NULL, "risk", "source", "expires_s", "question"};
	struct listing *listing = data;

	(void)mark;
	listing->n++;
	for (size_t k = 0; k < ARRAY_SIZE(keys); k++) {
		struct buffer *cell = table_cell(&listing->table);

		if (keys[k] && strcmp(keys[k], "expires_s") == 0) {
			append_seconds(cell, tape, json_find(tape, object, keys[k]));
		} else if (keys[k]) {
			terminal_append_member(cell, tape, object, keys[k]);
		} else {
			terminal_append_tool(cell, tape, object);
		}
		table_next(&listing->table);
	}
}

static void add_json(
	void *data, const struct json_tape *tape, uint32_t object, const struct question_mark *mark)
{
	struct listing *listing = data;

	(void)mark;
	if (listing->n++ > 0)
		buffer_append_char(&listing->json, ',');
	json_write_compact(&listing->json, tape, object);
}

/* List the questions as one object, as the service would. */
static int list_json(struct ctl_session *session, const struct approval_key *key)
{
	struct listing listing = {0};
	cleanup(buffer_deinit) struct buffer out = {0};
	int r = questions_each(session, key, add_json, &listing);

	buffer_append_string(&out, "{\"pending\":[");
	buffer_append_buffer(&out, &listing.json);
	buffer_append_string(&out, "]}\n");
	if (r == 0)
		terminal_print_json_text(&out);
	buffer_deinit(&listing.json);
	return r;
}

static int list_table(struct ctl_session *session, const struct approval_key *key)
{
	static const struct table_column columns[] = {{"ID", false}, {"TOOL", false},
		{"RISK", false}, {"FROM", false}, {"SECONDS", true}, {"QUESTION", false}};
	struct listing listing = {0};
	int r;

	table_init(&listing.table, columns, ARRAY_SIZE(columns));
	r = questions_each(session, key, add_question_row, &listing);
	if (r == 0 && listing.n > 0)
		table_print(&listing.table);
	else if (r == 0)
		terminal_complain("no call waits for approval");
	table_deinit(&listing.table);
	return r;
}

int ctl_approvals(const struct ctl_options *options)
{
	cleanup(ctl_session_cleanup) struct ctl_session *session = NULL;
	struct approval_key key;
	int r;

	if (options->allowed)
		return allowed_list(options);
	if (options->watch)
		return approvals_watch(options);
	r = ctl_answers_open(options, &session, &key);
	if (r != 0)
		return r;
	return options->json ? list_json(session, &key) : list_table(session, &key);
}
