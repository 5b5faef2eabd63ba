/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/compile/uri.h"

#include <criterion/criterion.h>
#include <string.h>

#include "util/cleanup.h"

TestSuite(schema_uri, .timeout = 60);

static void expect_resolved(const char *base, const char *reference, const char *expected)
{
	cleanup(buffer_deinit) struct buffer out = {0};

	uri_resolve(&out, base, strlen(base), reference, strlen(reference));
	cr_expect_str_eq(
		buffer_terminate(&out), expected, "%s with %s is %s", base, reference, out.data);
}

/* The examples of RFC 3986 section 5.4, without their fragments. */
Test(schema_uri, resolves_references_as_the_examples_of_rfc_3986)
{
	static const char *const rows[][2] = {
		{"g:h", "g:h"},
		{"g", "http://a/b/c/g"},
		{"./g", "http://a/b/c/g"},
		{"g/", "http://a/b/c/g/"},
		{"/g", "http://a/g"},
		{"//g", "http://g"},
		{"?y", "http://a/b/c/d;p?y"},
		{"g?y", "http://a/b/c/g?y"},
		{"#s", "http://a/b/c/d;p?q"},
		{"g#s", "http://a/b/c/g"},
		{"g?y#s", "http://a/b/c/g?y"},
		{";x", "http://a/b/c/;x"},
		{"g;x", "http://a/b/c/g;x"},
		{"g;x?y#s", "http://a/b/c/g;x?y"},
		{"", "http://a/b/c/d;p?q"},
		{".", "http://a/b/c/"},
		{"./", "http://a/b/c/"},
		{"..", "http://a/b/"},
		{"../", "http://a/b/"},
		{"../g", "http://a/b/g"},
		{"../..", "http://a/"},
		{"../../", "http://a/"},
		{"../../g", "http://a/g"},
		{"../../../g", "http://a/g"},
		{"../../../../g", "http://a/g"},
		{"/./g", "http://a/g"},
		{"/../g", "http://a/g"},
		{"g.", "http://a/b/c/g."},
		{".g", "http://a/b/c/.g"},
		{"g..", "http://a/b/c/g.."},
		{"..g", "http://a/b/c/..g"},
		{"./../g", "http://a/b/g"},
		{"./g/.", "http://a/b/c/g/"},
		{"g/./h", "http://a/b/c/g/h"},
		{"g/../h", "http://a/b/c/h"},
		{"g;x=1/./y", "http://a/b/c/g;x=1/y"},
		{"g;x=1/../y", "http://a/b/c/y"},
		{"g?y/./x", "http://a/b/c/g?y/./x"},
		{"g?y/../x", "http://a/b/c/g?y/../x"},
		{"g#s/../x", "http://a/b/c/g"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		expect_resolved("http://a/b/c/d;p?q", rows[i][0], rows[i][1]);
}

Test(schema_uri, resolves_against_a_base_of_any_form)
{
	static const char *const rows[][3] = {
		{"", "", ""},
		{"", "g", "g"},
		{"", "/g?q#s", "/g?q"},
		{"folder/file", "g", "folder/g"},
		{"http://a", "g", "http://a/g"},
		{"http://a?q", "?r", "http://a?r"},
		{"http://a?q", "", "http://a?q"},
		{"http://a/b#s", "//c/../d?e", "http://c/d?e"},
		{"http://a/b", "x://c/./d?e", "x://c/d?e"},
		{"urn:x:y", "#s", "urn:x:y"},
		{"urn:x:y", "urn:z?q", "urn:z?q"},
		{"http://a/b", ":g", "http://a/:g"},
		{"http://a/b", "//", "http://"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		expect_resolved(rows[i][0], rows[i][1], rows[i][2]);
}

Test(schema_uri, decodes_whole_escapes)
{
	static const char *const rows[][2] = {
		{"", ""},
		{"plain", "plain"},
		{"%41", "A"},
		{"a%2Fb%2f", "a/b/"},
		{"%c3%A9", "é"},
		{"%", "%"},
		{"%4", "%4"},
		{"%zz", "%zz"},
		{"%4g1", "%4g1"},
		{"%g4", "%g4"},
		{"%%41", "%A"},
		{"%2541", "%41"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cleanup(buffer_deinit) struct buffer out = {0};

		uri_decode(&out, rows[i][0], strlen(rows[i][0]));
		cr_expect_str_eq(buffer_terminate(&out), rows[i][1], "%s", rows[i][0]);
	}
}
