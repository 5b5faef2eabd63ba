/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/new/sentence.h"
#include "util/cleanup.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

TestSuite(ctl_sentence, .timeout = 60);

static bool read_sample(const char *sample, struct buffer *sentence, struct buffer *slots)
{
	bool is_good = new_read_sample(sample, strlen(sample), sentence, slots);

	cr_assert(buffer_terminate(sentence) && buffer_terminate(slots));
	return is_good;
}

Test(ctl_sentence, keeps_the_first_alternatives_and_the_slots_of_a_sample)
{
	static const struct {
		const char *sample;
		const char *sentence;
		const char *slots;
	} cases[] = {
		{"what time is it", "what time is it", ""},
		{"(can|could) you count [slowly] to {number:n}", "can you count to {n}", "n"},
		{"tell me what I (just |)said", "tell me what I just said", ""},
		{"((a|b) c|d) e", "a c e", ""},
		{"[please [now]] say {sentence} to {who}", "say {sentence} to {who}",
			"sentence who"},
		{"  count\tto  {n} ", "count to {n}", "n"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		cleanup(buffer_deinit) struct buffer sentence = {0};
		cleanup(buffer_deinit) struct buffer slots = {0};

		cr_expect(read_sample(cases[i].sample, &sentence, &slots), "%s", cases[i].sample);
		cr_expect_str_eq(sentence.data, cases[i].sentence);
		cr_expect_str_eq(slots.data, cases[i].slots);
	}
}

Test(ctl_sentence, refuses_a_sample_that_is_not_well_formed)
{
	static const char *const samples[] = {"", "  ", "[all of it]", "say {", "say }", "say {}",
		"say {a b}", "say {x:}", "a [b", "a | b", "(a | b", "say {a\"b}", "say {1a}",
		"say {n:1a}", "say {a{b}", "say {\303\244}", "say {a-b}", "say {:}", "[[a]",
		"say [a"};

	for (size_t i = 0; i < sizeof(samples) / sizeof(*samples); i++) {
		cleanup(buffer_deinit) struct buffer sentence = {0};
		cleanup(buffer_deinit) struct buffer slots = {0};

		cr_expect_not(read_sample(samples[i], &sentence, &slots), "%s", samples[i]);
	}
}

Test(ctl_sentence, names_each_slot_once_by_its_whole_name)
{
	cleanup(buffer_deinit) struct buffer sentence = {0};
	cleanup(buffer_deinit) struct buffer slots = {0};

	cr_expect(read_sample("from {ab} to {a} by {t:b} or {_1}, {u:a}{ab}", &sentence, &slots));
	cr_expect_str_eq(sentence.data, "from {ab} to {a} by {b} or {_1}, {a}{ab}");
	cr_expect_str_eq(slots.data, "ab a b _1");
}

Test(ctl_sentence, reads_no_byte_after_a_sample)
{
	static const char text[] = "(a|b) [c] {t:n} d";

	for (size_t size = 1; size <= strlen(text); size++) {
		cleanup_free char *exact = malloc(size); /* without a NUL after it */
		cleanup(buffer_deinit) struct buffer sentence = {0};
		cleanup(buffer_deinit) struct buffer slots = {0};

		memcpy(exact, text, size);
		new_read_sample(exact, size, &sentence, &slots);
		cr_expect_leq(sentence.size, size);
		cr_expect_leq(slots.size, size);
	}
}
