/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/words/words.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(words, .timeout = 60);

static const char *write_for(const char *configured, enum words_kind kind, const char *tag)
{
	static struct buffer out;

	buffer_reset(&out);
	words_write(configured, kind, tag ? TEXT_VIEW(tag) : (struct text_view){0}, &out);
	return buffer_terminate(&out);
}

Test(words, are_of_the_language)
{
	cr_expect_str_eq(write_for(NULL, WORDS_CANCELLED, "de-AT"), "Abgebrochen.");
	cr_expect_str_eq(write_for(NULL, WORDS_CANCELLED, "en"), "Stopped.");
	cr_expect_str_eq(write_for(NULL, WORDS_CANCELLED, "fr"), "Stopped.");
	cr_expect_str_eq(write_for(NULL, WORDS_CANCELLED, NULL), "Stopped.");
	cr_expect(strstr(write_for(NULL, WORDS_NO_SERVER, "de"), "Sprachmodell"));
}

Test(words, are_those_of_the_configuration)
{
	static const char own[] = "{\"de\":{\"cancelled\":\"Aus.\"},\"fr\":{\"error\":\"Zut.\"},"
				  "\"en\":{\"limit\":\"Enough.\"},\"it\":null}";

	cr_expect_str_eq(write_for(own, WORDS_CANCELLED, "de-CH"), "Aus.");
	cr_expect_str_eq(write_for(own, WORDS_ERROR, "fr"), "Zut.");
	cr_expect_str_eq(write_for(own, WORDS_LIMIT, "fr"), "Enough.");
	cr_expect_str_eq(write_for(own, WORDS_CANCELLED, "it"), "Stopped.");
}
