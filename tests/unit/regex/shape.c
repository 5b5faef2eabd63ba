/* SPDX-License-Identifier: Apache-2.0 */
#include "regex/shape.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "regex/pattern.h"

/* "^X$" may have a shape, "^(?:X)$" means the same and has none. */
static const char *const bodies[] = {"", "a", "[0-9]{2}", "[a-b]*", "[a-b]*-", "a?b", "a+b?-{2,3}",
	"\\w+", "\\d{1,2}-?", "[^a]*", "[^a-b]+a", "[a-]*", "\\-+0", "[\\w-]+", "a{0,1}b{2,}",
	"[0-9]+?-", "\\.a*", "a*a", "a*b?a", "[ab]+b[ab]{1,2}-?", "[^-\\s]+-[^-\\s]+\\.[a-z]+",
	"\\S+", "\\W*a?", "[\\D]{2,}0*", "\\s?[^\\S]*", "a(-b)*", "[ab]{1,2}(-[0ab]{1,2})*",
	"0+(?:\\.0+)*", "a?(-0?b)*", "a(-b*)*", "[^-]+(-[^-]+)*", "a(-)*", "a(b{1,2})*", "a(b)*b",
	"a(-b?a)*", "a(b?-)*", "a*(a-)*", "-(a{0}-)*", "(-a)*", "a(-b)*?", "a(-b)+", "a()*",
	"a(-(0)*)*"};

/* Characters of the texts that are tried. */
static const char *const characters[] = {"a", "b", "0", "-", ".", "\xc3\xa9", "\n", "\xc2\xa0"};
#define N_CHARACTERS (sizeof(characters) / sizeof(characters[0]))
#define LENGTH_MAX   4

typedef int (*new_function)(
	const char *text, size_t size, struct pattern **ret_pattern, struct buffer *ret_reason);

static struct pattern *new_pattern(
	new_function new, const char *start, const char *body, const char *end)
{
	cleanup(buffer_deinit) struct buffer reason = {0};
	struct pattern *pattern = NULL;
	char text[128];

	snprintf(text, sizeof(text), "%s%s%s", start, body, end);
	cr_assert_eq(new (text, strlen(text), &pattern, &reason), 0, "%s", text);
	return pattern;
}

static void compare(new_function new, const char *body)
{
	cleanup(pattern_cleanup) struct pattern *plain = new_pattern(new, "^", body, "$");
	cleanup(pattern_cleanup) struct pattern *grouped =
		new_pattern(pattern_new, "^(?:", body, ")$");
	cleanup(regex_scratch_cleanup) struct regex_scratch *scratch = regex_scratch_new();

	for (unsigned int seed = 0; seed < 600; seed++) {
		char text[64] = "";
		unsigned int rest = seed * 2654435761u >> 8;

		for (unsigned int i = 0; i < seed % (LENGTH_MAX + 1); i++) {
			strcat(text, characters[rest % N_CHARACTERS]);
			rest /= N_CHARACTERS;
		}
		cr_assert_eq(pattern_match(plain, scratch, text, strlen(text)),
			pattern_match(grouped, scratch, text, strlen(text)), "^%s$ and %s", body,
			text);
	}
}

Test(regex_shape, decides_as_the_engine_does, .timeout = 120)
{
	for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++)
		compare(pattern_new, bodies[i]);
}

Test(regex_pattern, decides_alike_when_it_is_compiled_for_each_search, .timeout = 120)
{
	for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++)
		compare(pattern_new_brief, bodies[i]);
	compare(pattern_new_brief, "(?:a|b)+-?");
}

static bool has_shape(const char *pattern)
{
	struct shape shape;

	return shape_read(pattern, strlen(pattern), &shape);
}

Test(regex_shape, leaves_what_needs_many_retries_to_the_engine)
{
	static const char pattern[] = "^a*a*a*b$";
	char text[60];
	struct shape shape;

	memset(text, 'a', sizeof(text));
	cr_assert(shape_read(pattern, strlen(pattern), &shape));
	cr_assert_not(shape.is_greedy);
	cr_expect_eq(shape_match(&shape, text, sizeof(text)), SHAPE_UNKNOWN);
	text[sizeof(text) - 1] = 'b';
	cr_expect_eq(shape_match(&shape, text, sizeof(text)), SHAPE_MATCHES);
}

Test(regex_shape, tries_once_where_no_item_can_take_too_much)
{
	struct shape shape;

	cr_assert(shape_read("^[0-9]{2}[0-9]+$", 16, &shape));
	cr_expect(shape.is_greedy, "the first item takes two, never more");
	cr_assert(shape_read("^[0-9]+[0-9]$", 13, &shape));
	cr_expect_not(shape.is_greedy);
}

Test(regex_shape, is_a_sequence_of_characters_and_classes)
{
	cr_assert(has_shape("^[0-9]{5}$"));
	cr_assert(has_shape("^[a-z][a-z0-9_-]*$"));
	cr_assert(has_shape("^v\\d+\\.\\d+$"));
	cr_assert(has_shape("^[^@\\s]+@[^@\\s]+\\.[a-z]{2,}$"));
	cr_assert(has_shape("^a+?b$"));
	cr_assert(has_shape("^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$"));
	cr_assert(has_shape("^\\d+(?:\\.\\d+)*$"));
	cr_assert_not(has_shape("^a(b)*a$"));
	cr_assert_not(has_shape("^a(b)+$"));
	cr_assert_not(has_shape("^a(b?)*$"));
	cr_assert_not(has_shape("^[ab]+(b)*$"));
	cr_assert_not(has_shape("^a(-(b)*)*$"));
	cr_assert_not(has_shape("^a(-b$"));
	cr_assert_not(has_shape("^a|b$"));
	cr_assert_not(has_shape("^.*$"));
	cr_assert_not(has_shape("^(a)$"));
	cr_assert_not(has_shape("[a]$"));
	cr_assert_not(has_shape("ab$"));
	cr_assert_not(has_shape("^ab"));
	cr_assert_not(has_shape("$"));
	cr_assert_not(has_shape("^a\\$"));
	cr_assert_not(has_shape("^\\b$"));
	cr_assert_not(has_shape("^\\n$"));
	cr_assert_not(has_shape("^\xc3\xa9$"));
	cr_assert_not(has_shape("^a{1,$"));
}
