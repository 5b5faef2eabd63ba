/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "formats.h"
#include "schema/format/check.h"

TestSuite(schema_format_uri, .timeout = 60);

Test(schema_format_uri, takes_a_uri_by_the_parts_of_rfc_3986)
{
	static const char *const good[] = {"http://example.org", "a:", "a:b", "urn:isbn:123",
		"mailto:joe@example.org", "file:///etc/passwd", "http://", "http://?", "http://#",
		"http://h?q?/#f?/", "http://u:p@h:80/p", "http://u:p:q@h", "http://@h",
		"http://h:", "http://h:65536", "http://[::1]/", "http://[::1]:80", "http://[v1.a]",
		"http://[VfF.a:b]", "http://1.2.3.4", "http://a%20b", "http://h/%7E", "a+b-c.d:x",
		"A1:", "http://h/a//b", "http://h/!$&'()*+,;=:@-._~", "tel:+1-816-555-1212",
		"ldap://[2001:db8::7]/c=GB?x?y"};
	static const char *const bad[] = {"", "a", "/a", "//a", "?a", "#a", ":a",
		"1a:", "+a:", "a b:", "a_b:", "http://a b", "http://h/a b", "http://h/<",
		"http://h/\"", "http://h/{", "http://h/^", "http://h/`", "http://h/|",
		"http://h/\\", "http://h/%", "http://h/%a", "http://h/%ag", "http://h/%ga",
		"http://h?a b", "http://h#a#b", "http://h:a", "http://h:80a", "http://[::1",
		"http://::1]", "http://[1]", "http://[::1]a", "http://[::1]:a", "http://[v.a]",
		"http://[v1.]", "http://[v1]", "http://[vg.a]", "http://[w1.a]", "http://[v1.%20]",
		"http://[v1./]", "http://u@v@h", "http://u[@h", "http://h[", "http://\xC3\xA4",
		"http://h?\xC3\xA4", "http://h#\x01"};

	EXPECT_FORMAT(format_is_uri, good, bad);
}

Test(schema_format_uri, takes_a_reference_without_a_scheme)
{
	static const char *const good[] = {"", "a", "/", "/a", "//h", "//h/a", "//h:1", "?", "?q",
		"#", "#f", ".", "..", "../a#b", "a/b:c", "./a:b", "/a:b", "a?b:c", "a#b:c",
		"http://h", "a:b", "%41", "a;b=c", "//[::1]/x", "?a/b?c", "#a/b?c"};
	static const char *const bad[] = {"a b", ":", ":a", "1:a", "a%", "a%4", "a%zz", "\\\\h\\a",
		"<a>", "#a#b", "//h:x", "//[", "?a b", "#a b", "a^b", "\xC3\xA4", "%\xC3\xA4",
		"1a:b"};

	expect_formats(format_is_uri_reference, good, sizeof(good) / sizeof(*good), true);
	expect_formats(format_is_uri_reference, bad, sizeof(bad) / sizeof(*bad), false);
}

/* Every byte in every part. */
Test(schema_format_uri, takes_in_each_part_the_characters_of_that_part)
{
	static const char unreserved[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";
	static const char delimiters[] = "!$&'()*+,;=";
	static const struct {
		const char *before;
		const char *after;
		const char *more;
	} parts[] = {
		{"http://", "@h/", ":"},
		{"http://h/", "x", ":@/?#"},
		{"http://h?", "x", ":@/?#"},
		{"http://h#", "x", ":@/?"},
	};

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		for (int c = 1; c < 256; c++) {
			char text[32];
			bool is_good = strchr(unreserved, c) || strchr(delimiters, c) ||
				       strchr(parts[i].more, c);

			snprintf(text, sizeof(text), "%s%c%s", parts[i].before, c, parts[i].after);
			/* In the authority these end it: what follows is another part. */
			if (i == 0 && strchr("@/?#[", c))
				continue;
			cr_expect_eq(judge_format(format_is_uri, text, strlen(text)), is_good,
				"part %zu: %02x", i, c);
		}
}

Test(schema_format_uri, takes_a_json_pointer_with_its_escapes)
{
	static const char *const good[] = {"", "/", "//", "/a/0", "/~0", "/~1", "/~01", "/a~0b~1c",
		"/ ", "/\xC3\xA4", "/%", "/\"", "/a/"};
	static const char *const bad[] = {
		"a", "#", "#/a", "~0", "/~", "/~2", "/~a", "/a~", "/~0~", " /"};

	expect_formats(format_is_json_pointer, good, sizeof(good) / sizeof(*good), true);
	expect_formats(format_is_json_pointer, bad, sizeof(bad) / sizeof(*bad), false);
	cr_expect(judge_format(format_is_json_pointer, "/\0", 2), "a key may have any character");
}
