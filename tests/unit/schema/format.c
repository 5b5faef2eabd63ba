/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <string.h>

#include "judge.h"
#include "util/buffer.h"

/* Beside the official suite, which has the cases one by one (tests/conformance). */

static bool is_format(const char *format, const char *value)
{
	static const struct schema_options asserting = {.assert_formats = true};
	cleanup(buffer_deinit) struct buffer schema = {0};

	buffer_printf(&schema, "{\"format\":\"%s\"}", format);
	return judge_with(&asserting, buffer_terminate(&schema), value);
}

Test(schema_format, looks_at_strings_only)
{
	cr_assert(is_format("ipv4", "12"));
	cr_assert(is_format("uuid", "null"));
}

Test(schema_format, knows_when_a_leap_second_may_be)
{
	cr_assert(is_format("time", "\"23:59:60Z\""));
	cr_assert(is_format("time", "\"01:29:60+01:30\""));
	cr_assert_not(is_format("time", "\"22:59:60Z\""));
}

Test(schema_format, knows_which_years_of_a_century_leap)
{
	cr_assert(is_format("date", "\"2000-02-29\""));
	cr_assert_not(is_format("date", "\"1900-02-29\""));
	cr_assert_not(is_format("date", "\"1995-02-29\""));
}

Test(schema_format, takes_an_address_of_the_future_whose_version_is_hex)
{
	cr_assert(is_format("uri", "\"http://[v1F.a:b]\""));
	cr_assert_not(is_format("uri", "\"http://[v1G.a:b]\""));
}

/* RFC 3986 section 4.2: a port is part of an authority, and that begins with two slashes. */
Test(schema_format, takes_a_colon_in_a_later_segment)
{
	cr_assert(is_format("uri-reference", "\"a/b:c\""));
	cr_assert_not(is_format("uri-reference", "\"//b:c\""));
	cr_assert_not(is_format("uri-reference", "\"b:c d\""));
}

/* IDNA 2008 as libidn2 has it. */
Test(schema_format, takes_labels_that_may_be_registered)
{
	cr_assert(is_format("hostname", "\"xn--zbb\""));          /* U+0585 */
	cr_assert(is_format("hostname", "\"xn--4dbc.example\"")); /* U+05D0 U+05D1 */
	cr_assert(is_format("hostname", "\"xn--k9d\""));          /* U+13AE, not its small form */
	cr_assert(is_format("hostname", "\"XN--MNCHEN-3YA\""));
}

Test(schema_format, refuses_labels_that_may_not_be_registered)
{
	cr_assert_not(is_format("hostname", "\"xn--a-vbb\""));   /* U+0061 U+0300: not NFC */
	cr_assert_not(is_format("hostname", "\"xn--hba\""));     /* U+00AA, a form of `a` */
	cr_assert_not(is_format("hostname", "\"xn--5sd\""));     /* U+1170, an old Hangul Jamo */
	cr_assert_not(is_format("hostname", "\"xn--a-0hc\""));   /* a, U+05D0: two directions */
	cr_assert_not(is_format("hostname", "\"xn--8hb\""));     /* U+0660 alone: a digit first */
	cr_assert_not(is_format("hostname", "\"xn----hyc\""));   /* - U+06F0: a hyphen first */
	cr_assert_not(is_format("hostname", "\"xn--ab--rla\"")); /* ab U+00E4 -: a hyphen last */
	cr_assert_not(is_format("hostname", "\"xn--veka\""));    /* U+30FB twice, without Kana */
}

Test(schema_format, refuses_labels_of_unassigned_code_points)
{
	cr_assert_not(is_format("hostname", "\"xn--zva\""));     /* U+0378 */
	cr_assert_not(is_format("hostname", "\"xn--a-qib\""));   /* a, U+0378 */
	cr_assert_not(is_format("hostname", "\"a.xn--wdb.b\"")); /* U+05C8 */
}

/* Unassigned is what libidn2's own tables lack: in 2.3.3 the letters that came after Unicode 12. */
Test(schema_format, refuses_labels_of_letters_that_libidn2_does_not_know)
{
	void *library = dlopen("libidn2.so.0", RTLD_NOW);
	const char *(*version)(const char *) = NULL;

	cr_assert(library);
	*(void **)&version = dlsym(library, "idn2_check_version");
	cr_assert(version);
	if (strcmp(version(NULL), "2.3.3") != 0)
		cr_skip_test("libidn2 is another one: %s", version(NULL));
	cr_assert(is_format("hostname", "\"xn--l14h\""));     /* U+1E2C0 of Unicode 12 */
	cr_assert_not(is_format("hostname", "\"xn--kzb\""));  /* U+08BE of Unicode 13 */
	cr_assert_not(is_format("hostname", "\"xn--cxb\""));  /* U+0870 of Unicode 14 */
	cr_assert_not(is_format("hostname", "\"xn--gl7a\"")); /* U+9FF0 of Unicode 13 */
}

Test(schema_format, sees_behind_a_nul)
{
	cr_assert_not(is_format("date", "\"2026-11-21\\u0000\""));
	cr_assert_not(is_format("ipv4", "\"192.0.2.1\\u0000.example\""));
	cr_assert_not(is_format("hostname", "\"a\\u0000\""));
	cr_assert_not(is_format("uri", "\"http://a/\\u0000\""));
	cr_assert_not(is_format("email", "\"a\\u0000@b.c\""));
	cr_assert_not(is_format("duration", "\"P1\\u0000\""));
}

Test(schema_format, takes_the_shortest_of_each)
{
	cr_assert(is_format("uri", "\"a:\""));
	cr_assert(is_format("uri-reference", "\"\""));
	cr_assert(is_format("json-pointer", "\"\""));
	cr_assert(is_format("ipv6", "\"::\""));
	cr_assert(is_format("duration", "\"P1D\""));
	cr_assert_not(is_format("email", "\"\""));
	cr_assert_not(is_format("email", "\"@example.org\""));
	cr_assert_not(is_format("email", "\"joe example.org\""));
	cr_assert_not(is_format("hostname", "\"\""));
	cr_assert_not(is_format("ipv6", "\":\""));
	cr_assert_not(is_format("duration", "\"P1\""));
	cr_assert_not(is_format("time", "\"\""));
}

Test(schema_format, looks_at_every_label_of_a_host_name)
{
	cr_assert(is_format("hostname", "\"localhost\""));
	cr_assert(is_format("hostname", "\"a.b-c.d\""));
	cr_assert_not(is_format("hostname", "\"a.-b\""));
	cr_assert_not(is_format("hostname", "\"a..b\""));
	cr_assert_not(is_format("hostname", "\"a.b_\""));
	cr_assert_not(is_format("hostname", "\"a.b.\""));
}

Test(schema_format, wants_a_time_after_the_date)
{
	cr_assert(is_format("date-time", "\"2026-11-21T00:00:00Z\""));
	cr_assert(is_format("date-time", "\"2026-11-21t00:00:00z\""));
	cr_assert_not(is_format("date-time", "\"2026-11-21\""));
	cr_assert_not(is_format("date-time", "\"2026-11-2\\u0031\""));
	cr_assert_not(is_format("date-time", "\"2026-11-21 00:00:00Z\""));
}

Test(schema_format, wants_a_scheme_that_begins_with_a_letter)
{
	cr_assert(is_format("uri", "\"a1+-.:x\""));
	cr_assert(is_format("uri", "\"Z:x\""));
	cr_assert_not(is_format("uri", "\"1a:x\""));
	cr_assert_not(is_format("uri", "\"+a:x\""));
	cr_assert_not(is_format("uri", "\"a_b:x\""));
	cr_assert_not(is_format("uri", "\":x\""));
}

Test(schema_format, decodes_labels_that_are_international)
{
	cr_assert(is_format("hostname", "\"xn--mnchen-3ya.example\""));
	cr_assert_not(is_format("hostname", "\"xn--\""));
	cr_assert_not(is_format("hostname", "\"xn--99999999999999\""));
}

Test(schema_format, asserts_encoded_content_in_draft_07)
{
	static const char schema[] =
		"{\"$schema\":\"http://json-schema.org/draft-07/schema#\","
		"\"contentEncoding\":\"base64\",\"contentMediaType\":\"application/json\"}";

	cr_assert(judge(schema, "\"e30=\""));
	cr_assert_not(judge(schema, "\"e3=\""));
	cr_assert_not(judge(schema, "\"e30\""));
	cr_assert_not(judge(schema, "\"e3t9\""));
}
