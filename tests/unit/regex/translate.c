/* SPDX-License-Identifier: Apache-2.0 */
#include "regex/translate.h"

#include <criterion/criterion.h>
#include <string.h>

#include "regex/pattern.h"

/* Patterns mean here what they mean in ECMA-262 with the flag u. */

static bool matches(const char *pattern, const char *text)
{
	cleanup(pattern_cleanup) struct pattern *compiled = NULL;
	cleanup(regex_scratch_cleanup) struct regex_scratch *scratch = regex_scratch_new();
	cleanup(buffer_deinit) struct buffer reason = {0};

	cr_assert_eq(pattern_new(pattern, strlen(pattern), &compiled, &reason), 0, "%s: %s",
		pattern, buffer_terminate(&reason));
	return pattern_match(compiled, scratch, text, strlen(text)) == REGEX_MATCHES;
}

static void expect(const char *pattern, const char *good, const char *bad)
{
	cr_expect(matches(pattern, good), "%s takes no '%s'", pattern, good);
	cr_expect_not(matches(pattern, bad), "%s takes '%s'", pattern, bad);
}

static void expect_refused(const char *pattern, const char *part)
{
	struct pattern *compiled = NULL;
	cleanup(buffer_deinit) struct buffer reason = {0};

	cr_expect_eq(pattern_new(pattern, strlen(pattern), &compiled, &reason), REGEX_E_REFUSED,
		"%s", pattern);
	cr_expect(strstr(buffer_terminate(&reason), part), "%s: %s", pattern, reason.data);
	cr_expect_not(pattern_is_valid(pattern, strlen(pattern)), "%s", pattern);
	pattern_free(compiled);
}

Test(regex_translate, knows_escapes_of_one_character)
{
	expect("^\\x41$", "A", "B");
	expect("^\\x41a$", "Aa", "A");
	expect("^\\u0041$", "A", "B");
	expect("^\\u{1F600}$", "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x81");
	expect("^\\u{0}$|^\\u{10FFFF}$", "\xf4\x8f\xbf\xbf", "0");
	expect("^\\ud83d\\ude00$", "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x81");
	expect("^\\uD800?\\u0041$", "A", "B");
	expect("^[\\uD800\\u0041]$", "A", "B");
	expect("^\\cJ$", "\n", "J");
	expect("^\\cj[\\cz]$", "\n\x1a", "\nz");
	expect("^\\v$", "\v", "v");
	expect("^[\\v\\t]$", "\t", "t");
	expect("^\\0?a$", "a", "0a");
	expect("^\\t\\n\\f\\r$", "\t\n\f\r", "tnfr");
	expect("^\\/\\.\\*\\$$", "/.*$", "/a*$");
	expect("^[\\b]$", "\b", "b");
	expect("a\\b", "a b", "ab");
	expect("a\\B", "ab", "a b");
}

Test(regex_translate, repeats_a_class_of_no_character)
{
	expect("^a[]*b", "ab", "a");
	expect("^a[]+b|^c", "c", "ab");
	expect("^a[]{2}?b|^c", "c", "ab");
	expect("^a[]{0,3}b", "ab", "a");
	expect("^(?:[]|x)+y", "xy", "y");
	expect("^a[^]{2}b", "a\nxb", "a\nb");
	expect("^[\\uD800]*a", "a", "b");
	expect("^[\\uD800]{0}a|^\\uDFFF{2}", "a", "b");
	expect("^\\uD800*a\\uD800?b", "ab", "a");
}

Test(regex_translate, leaves_halves_of_surrogate_pairs_in_their_ranges)
{
	expect("^[\\uD800-\\uDFFF]$|^a", "a", "-");
	expect("^[x-\\uD800]$", "z", "-");
	expect("^[x-\\uD800]$", "\xed\x9f\xbf", "\xee\x80\x80");
	expect("^[\\uD800-\\uE000]$", "\xee\x80\x80", "-");
	expect("^[\\uD800-\\u{10FFFF}]$", "\xf4\x8f\xbf\xbf", "\xed\x9f\xbf");
	expect("^[^\\uD800-\\uDFFF]$", "-", "");
	expect_refused("[\\uDFFF-\\uD800]", "range out of order");
	expect_refused("[\\uD800-a]", "range out of order");
}

Test(regex_translate, refuses_escapes_that_are_none)
{
	expect_refused("\\u{110000}", "code point");
	expect_refused("\\u{}", "code point");
	expect_refused("\\u{41", "code point");
	expect_refused("\\u004", "four hex digits");
	expect_refused("\\x4", "two hex digits");
	expect_refused("\\c1", "needs a letter");
	expect_refused("\\c", "needs a letter");
	expect_refused("\\01", "octal");
	expect_refused("a\\", "ends in a backslash");
	expect_refused("\\A", "no escape");
	expect_refused("\\Z", "no escape");
	expect_refused("\\\xc3\xa9", "no escape");
	expect_refused("\\_x\\a", "no escape");
	expect_refused("\\k", "angle brackets");
	expect_refused("[\\8]", "no escape");
	expect_refused("\\pL", "in braces");
	expect_refused("\\p{L", "no closing brace");
	expect_refused("\\p{L-}", "unknown property");
	expect_refused("\\p{}", "unknown property");
	expect_refused("\\p{Nothing}", "");
}

Test(regex_translate, knows_the_white_space_and_the_line_ends_of_unicode)
{
	expect("^\\s$", "\xef\xbb\xbf", "x");
	expect("^[\\s]$", "\xc2\xa0", "x");
	expect("^\\S$", "x", "\xe2\x80\x83");
	expect("^[\\S]$", "x", "\xe2\x80\x83");
	expect("^.$", "x", "\xe2\x80\xa8");
	expect("^.$", "\v", "\r");
}

Test(regex_translate, knows_properties_by_both_of_their_names)
{
	expect("^\\p{Lu}$", "A", "a");
	expect("^\\p{Uppercase_Letter}$", "A", "a");
	expect("^\\p{gc=Lu}$", "A", "a");
	expect("^\\p{General_Category=Uppercase_Letter}$", "A", "a");
	expect("^\\P{Letter}$", "1", "a");
	expect("^[\\p{digit}x]$", "x", "a");
	expect("^\\p{Assigned}$", "a", "\xcd\xb8");
	expect("^\\P{Assigned}$", "\xcd\xb8", "a");
}

Test(regex_translate, takes_a_hyphen_beside_a_set_or_an_end_as_itself)
{
	expect("^[a-c]$", "b", "-");
	expect("^[-c]$", "-", "b");
	expect("^[a-]$", "-", "b");
	expect("^[^-c]$", "b", "-");
	expect("^[a-\\d]$", "-", "b");
	expect("^[\\d-x]$", "-", "b");
	expect("^[\\w-.]$", "-", ",");
	expect("^[+-\\s]$", "-", ",");
	expect("^[+--]$", ",", ".");
}

Test(regex_translate, takes_as_itself_what_only_pcre2_sees_more_in)
{
	expect("^[[:a]$", ":", "b");
	expect("^[[]$", "[", "]");
	expect("^a{$", "a{", "a");
	expect("^a{x}$", "a{x}", "a");
	expect("^a{1,x}$", "a{1,x}", "a");
	expect("^a}]$", "a}]", "a");
	expect("^a{,2}$", "a{,2}", "aa");
}

Test(regex_translate, repeats)
{
	expect("^a{2}$", "aa", "a");
	expect("^a{2,}$", "aaaa", "a");
	expect("^a{2,3}$", "aaa", "aaaa");
	expect("^a{12}$", "aaaaaaaaaaaa", "aaaaaaaaaaa");
	expect("^(?:ab){2}$", "abab", "ab");
	expect("^(?:ab)*?c$", "ababc", "aba");
	expect("^a+?$", "aa", "b");
	expect("^(a{)$", "a{", "a");
	expect_refused("a++", "nothing that '+'");
	expect_refused("(?:a)*+", "nothing that '+'");
	expect_refused("a{2}+", "nothing that '+'");
	expect_refused("(*FAIL)", "nothing that '*'");
}

Test(regex_translate, knows_groups_and_what_refers_to_them)
{
	expect("^(a|b)\\1$", "bb", "ab");
	expect("^(?<first>a|b)\\k<first>$", "bb", "ab");
	expect("^(?:a|b)c$", "bc", "b");
	expect("a(?=b)", "ab", "ac");
	expect("a(?!b)", "ac", "ab");
	expect("(?<=a)b", "ab", "cb");
	expect("(?<!a)b", "cb", "ab");
	expect("^(a)(b)(c)(d)(e)(f)(g)(h)(i)(j)\\10$", "abcdefghijj", "abcdefghija0");
	expect("a|b", "xb", "xc");
	expect("^a|b$", "xb", "xa");
	expect_refused("(?i)a", "'(?' must go on with");
	expect_refused("(?", "'(?' must go on with");
	expect_refused("(?#x)", "'(?' must go on with");
	expect_refused("(a", "");
	expect_refused("a)", "");
	expect_refused("[a", "not closed");
	expect_refused("[", "not closed");
}

/* A search that begins at the next place goes through all of them (regex/regex.h). */
Test(regex_translate, is_interrupted_at_each_alternative_that_stands_in_no_group)
{
	static const char *const texts[][2] = {{"(a)|b", "|" REGEX_CALLOUT "b"},
		{"(a|(b))|c", "|" REGEX_CALLOUT "c"}, {"(a|(b)|c)", "|c"}};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		cleanup(buffer_deinit) struct buffer out = {0};
		const char *reason;

		cr_assert(regex_translate(texts[i][0], strlen(texts[i][0]), &out, &reason));
		cr_expect(strstr(buffer_terminate(&out), texts[i][1]), "%s: %s", texts[i][0],
			out.data);
	}
}
