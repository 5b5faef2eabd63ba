/* SPDX-License-Identifier: Apache-2.0 */
#include "core/request/answer.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>

#include "core/request/address.h"
#include "scarce.h"

#define REQUEST "{\"type\":\"t\",\"context\":{\"source\":\"me\",\"n\":1.10}}"
#define HEAD                                                                                       \
	"{\"type\": \"t.response\", \"context\": {\"source\":\"me\",\"n\":1.10, "                  \
	"\"destination\": \"me\"}, \"data\": {"

static struct bus_envelope envelope;
static struct answer answer;

static void begin(void)
{
	cr_assert_eq(bus_envelope_read(&envelope, REQUEST, strlen(REQUEST), 8), 0);
	answer_begin(&answer, &envelope, BUS_SHARE_OWN);
}

static void give_back(void)
{
	answer_deinit(&answer);
	bus_envelope_deinit(&envelope);
}

TestSuite(answer, .init = begin, .fini = give_back);

static void expect_text(const char *expected)
{
	size_t size;
	const char *text = bus_message_text(&answer.message, &size);

	cr_expect(size == strlen(expected) && memcmp(text, expected, size) == 0, "%.*s", (int)size,
		text);
}

Test(answer, is_written_from_its_front)
{
	answer_member_text(&answer, "name", "a\"b{");
	answer_member_number(&answer, "n", UINT64_MAX);
	answer_member_boolean(&answer, "ok", false);
	answer_member_text(&answer, "none", NULL);
	buffer_append_string(answer_member(&answer, "raw"), "{}");
	expect_text(HEAD "\"name\":\"a\\\"b{\",\"n\":18446744073709551615,\"ok\":false,"
			 "\"none\":null,\"raw\":{}");
}

Test(answer, may_be_to_nobody)
{
	answer_deinit(&answer);
	answer_begin_broadcast(&answer, "ovos.tools.changed");
	expect_text("{\"type\": \"ovos.tools.changed\", \"context\": {\"source\": \"toolboxd\", "
		    "\"session\": {\"session_id\": \"default\"}}, \"data\": {");
}

/* The answers and the ends of an address. */
static char delivered[256];
static int delivered_code;
static unsigned int n_freed;

static void take_answer(struct address *address, struct answer *complete)
{
	size_t size;
	const char *text = bus_message_text(&complete->message, &size);

	(void)address;
	cr_assert_lt(size, sizeof(delivered));
	memcpy(delivered, text, size);
	delivered[size] = '\0';
	delivered_code = answer_is_error(complete) ? (int)complete->code : -1;
}

static void count_freed(struct address *address)
{
	(void)address;
	n_freed++;
}

static const struct address_operations operations = {.answer = take_answer, .free = count_freed};

Test(answer, goes_to_an_address_as_its_data_alone)
{
	struct address address = {.operations = &operations, .references = 1};

	answer_deinit(&answer);
	answer_begin_at(&answer, &address);
	answer_member_text(&answer, "name", "add");
	cr_expect(answer_fits(&answer, sizeof("{'name':'add'") + 2));
	answer_send(&answer, NULL);
	cr_expect_str_eq(delivered, "{\"name\":\"add\"}");
	cr_expect_eq(delivered_code, -1);
	cr_expect_not(answer_is_open(&answer));
	answer_begin_at(&answer, &address);
	answer_error_format(&answer, ANSWER_BUSY, "%d calls", 3);
	answer_send(&answer, NULL);
	cr_expect_str_eq(delivered, "{\"error\":\"3 calls\",\"code\":\"busy\"}");
	cr_expect_eq(delivered_code, ANSWER_BUSY);
	cr_expect_eq(n_freed, 0);
	address_unref(&address);
	cr_expect_eq(n_freed, 1);
}

Test(answer, reaches_no_caller_that_is_gone)
{
	struct address address = {.operations = &operations, .references = 1};

	answer_deinit(&answer);
	answer_begin_at(&answer, &address);
	address_unref(&address);
	cr_expect_eq(n_freed, 0);
	address_leave(&address);
	answer_send(&answer, NULL);
	cr_expect_str_eq(delivered, "");
	cr_expect_eq(n_freed, 1);
	address.references = 1;
	answer_begin_at(&answer, &address);
	answer_deinit(&answer);
	cr_expect_eq(address.references, 1);
}

Test(answer, tells_an_error_and_its_code)
{
	answer_error_format(&answer, ANSWER_BUSY, "%d calls", 3);
	expect_text(HEAD "\"error\":\"3 calls\",\"code\":\"busy\"");
}

Test(answer, cuts_errors_by_code_points_and_mends_them)
{
	answer_error(&answer, ANSWER_TOOL_FAILED, "\xc3\xa9\xc3\xa9x", 5, 2);
	expect_text(HEAD "\"error\":\"\xc3\xa9\xc3\xa9\",\"code\":\"tool_failed\"");
	answer_rewind(&answer);
	answer_error(&answer, ANSWER_TOOL_FAILED, "a\xff", 2, 10);
	expect_text(HEAD "\"error\":\"a\xef\xbf\xbd\",\"code\":\"tool_failed\"");
}

Test(answer, has_a_name_for_every_code)
{
	for (int code = ANSWER_BAD_REQUEST; code <= ANSWER_TOO_LARGE; code++)
		cr_expect(answer_code_name((enum answer_code)code)[0]);
	cr_expect_str_eq(answer_code_name(ANSWER_TOO_LARGE), "too_large");
}

Test(answer, takes_back_what_is_behind_the_mark)
{
	answer_member_text(&answer, "name", "x");
	answer_keep(&answer);
	answer_member_text(&answer, "result", "long");
	answer_rewind(&answer);
	answer_member_text(&answer, "error", "no");
	expect_text(HEAD "\"name\":\"x\",\"error\":\"no\"");
}

Test(answer, fits_a_frame_to_the_byte)
{
	size_t size;

	answer_member_text(&answer, "name", "x");
	bus_message_text(&answer.message, &size);
	cr_expect(answer_fits(&answer, size + 2), "with both braces");
	cr_expect_not(answer_fits(&answer, size + 1));
}

Test(answer, that_does_not_fit_tells_so_instead)
{
	char result[400] = "";

	memset(result, 'r', sizeof(result) - 1);
	answer_member_text(&answer, "name", "x");
	answer_keep(&answer);
	cr_expect(answer_make_fit(&answer, 300, "ask for less"));
	answer_member_text(&answer, "result", result);
	cr_expect_not(answer_make_fit(&answer, 300, "ask for less"));
	expect_text(
		HEAD "\"name\":\"x\",\"error\":\"RuntimeError: The answer has 511 bytes, 300 fit "
		     "in a frame; ask for less\",\"code\":\"too_large\",\"actual\":511,"
		     "\"max\":300");
}

Test(answer, for_which_memory_is_short_tells_so_instead)
{
	char result[4000] = "";

	memset(result, 'r', sizeof(result) - 1);
	answer_member_text(&answer, "name", "x");
	answer_keep(&answer);
	scarce_once_after(0);
	answer_member_text(&answer, "result", result);
	cr_assert(scarce_has_failed());
	cr_expect_not(answer_make_fit(&answer, 10000, "ask for less"));
	expect_text(HEAD "\"name\":\"x\",\"error\":\"RuntimeError: Memory is short\","
			 "\"code\":\"unavailable\"");
}

Test(answer, without_a_beginning_stays_without_one)
{
	answer_deinit(&answer);
	scarce_once_after(0);
	answer_begin(&answer, &envelope, BUS_SHARE_OWN);
	cr_assert(scarce_has_failed());
	cr_expect_not(answer_make_fit(&answer, 10000, "ask for less"));
	cr_expect_neq(buffer_status(&answer.message), 0);
}

/* A name of megabytes was echoed: then even the error does not fit after it. */
Test(answer, gives_up_its_head_when_that_is_too_large_already)
{
	char name[400] = "";

	memset(name, 'n', sizeof(name) - 1);
	answer_member_text(&answer, "name", name);
	answer_keep(&answer);
	answer_member_text(&answer, "result", "x");
	cr_expect_not(answer_make_fit(&answer, 300, "ask for less"));
	expect_text(
		HEAD "\"error\":\"RuntimeError: The answer has 511 bytes, 300 fit in a frame; ask "
		     "for less\",\"code\":\"too_large\",\"actual\":511,\"max\":300");
}

Test(answer, is_sent_once, .signal = SIGABRT)
{
	begin();
	answer_deinit(&answer);
	answer_send(&answer, NULL);
}

Test(answer, is_taken_over_once, .signal = SIGABRT)
{
	struct answer taken;

	begin();
	taken = answer_take(&answer);
	cr_expect(answer_is_open(&taken));
	cr_expect_not(answer_is_open(&answer));
	answer_deinit(&taken);
	answer_take(&answer);
}
