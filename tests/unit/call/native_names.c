/* SPDX-License-Identifier: Apache-2.0 */
#include "call/native/names.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "native_fixture.h"
#include "util/cleanup.h"

#define N_MAX 17

static char names[N_MAX][8];
static struct native_named values[N_MAX];
static struct native_enum enumeration = {.values = values};

static void set_up(void)
{
	for (unsigned int i = 0; i < N_MAX; i++) {
		snprintf(names[i], sizeof(names[i]), "n%u", i);
		values[i] = (struct native_named){.name = names[i], .bits = UINT64_C(1) << i};
	}
}

TestSuite(native_names, .init = set_up);

/* Expect @value as an enum, or as flags, of @n names to be refused with @words; NULL: to pass. */
static void expect_words(bool is_flags, size_t n, const char *value, const char *words)
{
	const struct native_parameter parameter = {
		.type = NATIVE_U32, .is_flags = is_flags, .enumeration = &enumeration};
	cleanup(buffer_deinit) struct buffer out = {0};
	cleanup(json_tape_cleanup) struct json_tape tape = {0};

	enumeration.n_values = n;
	native_read_tape(&tape, value);
	cr_expect_eq(native_names_check(&parameter, &tape, 0, &out), words ? NATIVE_E_REFUSED : 0,
		"%s", value);
	cr_expect_str_eq(buffer_terminate(&out), words ? words : "", "%s", value);
}

Test(native_names, are_listed_up_to_a_number_where_none_fits)
{
	static const char sixteen[] = "must be one of n0, n1, n2, n3, n4, n5, n6, n7, n8, n9, n10, "
				      "n11, n12, n13, n14, n15";
	char more[sizeof(sixteen) + 8];

	snprintf(more, sizeof(more), "%s, …", sixteen);
	expect_words(false, 2, "\"n1\"", NULL);
	expect_words(false, 2, "\"n2\"", "must be one of n0, n1");
	expect_words(false, 16, "\"n16\"", sixteen);
	expect_words(false, 17, "\"other\"", more);
}

Test(native_names, of_flags_are_each_there_once)
{
	static const char refusal[] = "must be an array of different names of n0, n1";

	expect_words(true, 2, "[]", NULL);
	expect_words(true, 2, "[\"n1\",\"n0\"]", NULL);
	expect_words(true, 2, "[\"n1\",\"n0\",{\"unknown\":4}]", NULL);
	expect_words(true, 2, "[{\"unknown\":4294967295}]", NULL);
	expect_words(true, 2, "\"n1\"", refusal);
	expect_words(true, 2, "[\"n1\",\"n1\"]", refusal);
	expect_words(true, 2, "[\"n2\"]", refusal);
	expect_words(true, 2, "[{\"unknown\":4},{\"unknown\":4}]", refusal);
	expect_words(true, 2, "[{\"unknown\":4294967296}]", refusal);
	expect_words(true, 2, "[{\"unknown\":-1}]", refusal);
	expect_words(true, 2, "[{\"unknown\":\"4\"}]", refusal);
	expect_words(true, 2, "[{\"unknown\":4,\"more\":1}]", refusal);
	expect_words(true, 2, "[{\"other\":4}]", refusal);
}
