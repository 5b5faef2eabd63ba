/* SPDX-License-Identifier: Apache-2.0 */
#include "robots.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static bool allows(const char *text, const char *path)
{
	return robots_allow(text, strlen(text), "toolboxd", path);
}

Test(web_robots, allows_all_without_a_rule)
{
	cr_expect(allows("", "/"));
	cr_expect(allows("User-agent: *\nDisallow:", "/a"));
	cr_expect(allows("Disallow: /", "/a"));
	cr_expect(allows("User-agent: other\nDisallow: /", "/a"));
	cr_expect(allows("no line of it\n\0: x\n", "/a"));
}

Test(web_robots, lets_the_longest_rule_win)
{
	const char *text = "User-agent: *\nDisallow: /a\nAllow: /a/b\nDisallow: /a/b/c\n";

	cr_expect(allows(text, "/"));
	cr_expect_not(allows(text, "/a"));
	cr_expect_not(allows(text, "/apple"));
	cr_expect(allows(text, "/a/b"));
	cr_expect_not(allows(text, "/a/b/c?d"));
	cr_expect(allows("User-agent: *\nDisallow: /a\nAllow: /a", "/a"));
	cr_expect(allows("User-agent: *\nAllow: /a\nDisallow: /a", "/a"));
}

Test(web_robots, takes_the_groups_of_its_name)
{
	const char *text =
		"user-agent: *\ndisallow: /\n\nUSER-AGENT: x\nUser-Agent: ToolboxD # us\n"
		"Disallow: /shut\n\nUser-agent: toolboxd\nDisallow: /more\n";

	cr_expect(allows(text, "/"));
	cr_expect_not(allows(text, "/shut"));
	cr_expect_not(allows(text, "/more"));
	cr_expect(allows("User-agent: toolboxd\n\nUser-agent: *\nAllow: /", "/a"));
	cr_expect_not(allows("\xEF\xBB\xBFUser-agent: *\r\nDisallow: /\r\n", "/a"));
}

Test(web_robots, matches_stars_and_ends)
{
	cr_expect_not(allows("User-agent: *\nDisallow: /*.pdf$", "/a/b.pdf"));
	cr_expect(allows("User-agent: *\nDisallow: /*.pdf$", "/a/b.pdf?x"));
	cr_expect_not(allows("User-agent: *\nDisallow: /*.pdf$", "/a.pdf/b.pdf"));
	cr_expect_not(allows("User-agent: *\nDisallow: *a*b", "/xaxbx"));
	cr_expect(allows("User-agent: *\nDisallow: *b*a$", "/aab"));
	cr_expect_not(allows("User-agent: *\nDisallow: /$", "/"));
	cr_expect(allows("User-agent: *\nDisallow: /$", "/a"));
	cr_expect_not(allows("User-agent: *\nDisallow: /a*$", "/ab"));
	cr_expect(allows("User-agent: *\nDisallow: /ab$", "/a"));
}

Test(web_robots, compares_escapes_as_bytes)
{
	cr_expect_not(allows("User-agent: *\nDisallow: /%7Ejoe", "/~joe/x"));
	cr_expect_not(allows("User-agent: *\nDisallow: /~joe", "/%7ejoe/x"));
	cr_expect_not(allows("User-agent: *\nDisallow: /a%zz", "/a%zz"));
	cr_expect(allows("User-agent: *\nDisallow: /a%2", "/a"));
}

Test(web_robots, takes_a_rule_that_is_longer_than_any_path)
{
	static char text[20000];
	static char path[9000];
	int head = snprintf(text, sizeof(text), "User-agent: *\nDisallow: /");

	memset(text + head, 'a', sizeof(text) - (size_t)head - 1);
	memset(path, 'a', sizeof(path) - 1);
	path[0] = '/';
	cr_expect(allows(text, "/aaaa"));
	allows(text, path);
}
