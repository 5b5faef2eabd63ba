/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/client/salvage.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "json/reader.h"
#include "util/cleanup.h"

Test(mcp_salvage, reads_the_numbers_of_our_requests)
{
	static const struct {
		const char *id;
		uint64_t number;
	} rows[] = {
		{"7", 7},
		{"0", 0},
		{"-7", 0},
		{"7.5", 0},
		{"18446744073709551615", UINT64_MAX},
		{"\"7\"", 7},
		{"\"10\"", 10},
		{"\"07\"", 0},
		{"\"0\"", 0},
		{"\"\"", 0},
		{"\"7x\"", 0},
		{"\"/7\"", 0},
		{"\":7\"", 0},
		{"\"9\"", 9},
		{"\"1234567890123456789\"", UINT64_C(1234567890123456789)},
		{"\"99999999999999999999\"", 0},
		{"null", 0},
		{"[7]", 0},
		{"true", 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cleanup(json_tape_cleanup) struct json_tape tape = {0};
		char text[64];

		snprintf(text, sizeof(text), "[%s]", rows[i].id);
		cr_assert_eq(json_tape_read(&tape, text, strlen(text), 3, NULL), 0);
		cr_expect_eq(mcp_id_number(&tape, 1), rows[i].number, "%s", rows[i].id);
	}
	cr_expect_eq(mcp_id_number(NULL, JSON_NONE), 0);
}

Test(mcp_salvage, finds_the_id_of_a_response_that_is_cut)
{
	static const struct {
		const char *text;
		uint64_t id;
	} rows[] = {
		{"{\"id\":7,\"result\":{\"v\":[", 7},
		{"{\"id\":\"12\",\"error\":{", 12},
		{"{\"result\":{\"id\":3},\"id\":9}", 9},
		{"{ \"id\" : 7 , \"result\" : 1", 7},
		{"{\"a\":\"\\\"{\",\"id\":7,\"result\":", 7},
		{"{\"id\":7,\"method\":\"x\",\"result\":1}", 0},
		{"{\"id\":7}", 0},
		{"{\"result\":1}", 0},
		{"{\"result\":{\"id\":7}", 0},
		{"{\"id\":07,\"result\":1}", 0},
		{"{\"id\":7x,\"result\":1}", 0},
		{"{\"id\":\"7,\"result\":1}", 0},
		{"{\"id\":-7,\"result\":1}", 0},
		{"[\"id\",7,\"result\"]", 0},
		{"", 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_expect_eq(mcp_salvage_id(rows[i].text, strlen(rows[i].text)), rows[i].id, "%s",
			rows[i].text);
}

Test(mcp_salvage, names_a_response_to_no_request)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	mcp_write_stranger(TEXT_VIEW("\"x\""), &text);
	buffer_append_char(&text, '\n');
	mcp_write_stranger((struct text_view){NULL, 0}, &text);
	cr_expect_str_eq(buffer_terminate(&text),
		"it has sent a response to an unknown request: \"x\"\n"
		"it has sent a response to an unknown request: without an id");
}
