/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/client/secrets.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "scarce.h"
#include "util/cleanup.h"

/* The secrets of these tests. */
static int read_secret(void *data, bool is_file, const char *name, struct buffer *value)
{
	cr_expect_eq(data, &read_secret);
	if (is_file && strcmp(name, "/token") == 0)
		buffer_append_string(value, "s3cret\n\n");
	else if (is_file && strcmp(name, "/line") == 0)
		buffer_append_string(value, "line}one\n");
	else if (is_file && strcmp(name, "/crlf") == 0)
		buffer_append_string(value, "x\r\n");
	else if (is_file && strcmp(name, "/nul") == 0)
		buffer_append(value, "a\0b", 3);
	else if (is_file && strcmp(name, "/long") == 0)
		buffer_printf(value, "%*d", (int)MCP_SECRET_BYTES, 1);
	else if (is_file && strcmp(name, "/longer") == 0)
		buffer_printf(value, "%*d", (int)MCP_SECRET_BYTES + 1, 1);
	else if (!is_file && strcmp(name, "KEY") == 0)
		buffer_append_string(value, "s3cret-key");
	else if (!is_file && (strcmp(name, "HOME") == 0 || strcmp(name, "HOMES") == 0))
		buffer_append_string(value, "/home/somebody");
	else if (!is_file && strcmp(name, "PEM") == 0)
		buffer_append_string(value, "-begin-\nAAAA\n\nab\n");
	else if (!is_file && strcmp(name, "EMPTY") == 0)
		buffer_append_string(value, "");
	else
		return -ENOENT;
	return 0;
}

static int expand(struct mcp_secrets *secrets, const char *text, bool is_header, struct buffer *out,
	struct buffer *reason)
{
	return mcp_secrets_expand(
		secrets, text, is_header, read_secret, (void *)&read_secret, out, reason);
}

/* Check that @text becomes @wanted, or is refused for the reason @reason. */
static void expect_expanded(
	const char *text, bool is_header, const char *wanted, const char *wanted_reason)
{
	cleanup(mcp_secrets_deinit) struct mcp_secrets secrets = {0};
	cleanup(buffer_deinit) struct buffer out = {0};
	cleanup(buffer_deinit) struct buffer reason = {0};

	cr_expect_eq(expand(&secrets, text, is_header, &out, &reason), wanted ? 0 : MCP_E_MISSING,
		"%s", text);
	cr_assert_not_null(buffer_terminate(&out));
	cr_assert_not_null(buffer_terminate(&reason));
	if (wanted)
		cr_expect_str_eq(out.data, wanted, "%s: %s", text, out.data);
	cr_expect_str_eq(reason.data, wanted ? "" : wanted_reason, "%s: %s", text, reason.data);
}

Test(mcp_secrets, take_the_place_of_their_names)
{
	expect_expanded("", true, "", NULL);
	expect_expanded("Bearer ${env:KEY}!", true, "Bearer s3cret-key!", NULL);
	expect_expanded("${env:KEY}${env:EMPTY}${file:/line}", true, "s3cret-keyline}one", NULL);
	expect_expanded(
		"$ $x $${env:KEY} $$${file:/line}", true, "$ $x ${env:KEY} $${file:/line}", NULL);
	expect_expanded("{\"a\": \"$5 }\"}", true, "{\"a\": \"$5 }\"}", NULL);
}

Test(mcp_secrets, of_a_file_lose_one_newline)
{
	expect_expanded("${file:/token}", false, "s3cret\n", NULL);
	expect_expanded("${env:PEM}", false, "-begin-\nAAAA\n\nab\n", NULL);
}

Test(mcp_secrets, that_are_missing_are_named)
{
	expect_expanded("a ${env:NONE}", true, NULL,
		"${env:NONE} cannot be read: No such file or directory");
	expect_expanded("${file:/none} b", true, NULL,
		"${file:/none} cannot be read: No such file or directory");
	expect_expanded("${file:/longer}", true, NULL, "${file:/longer} has more than 64 KiB");
	expect_expanded("pass${word}", true, NULL,
		"${ begins neither ${env:NAME} nor ${file:PATH}; for the text, write $${");
	expect_expanded("${env:KEY word", true, NULL,
		"${ begins neither ${env:NAME} nor ${file:PATH}; for the text, write $${");
}

Test(mcp_secrets, are_one_line_in_a_header)
{
	expect_expanded("${file:/token}", true, NULL, "${file:/token} has a control character");
	expect_expanded("${file:/crlf}", true, NULL, "${file:/crlf} has a control character");
	expect_expanded("${file:/crlf}", false, "x\r", NULL);
	expect_expanded("${file:/nul}", false, NULL, "${file:/nul} has a NUL");
}

static void expect_masked(const struct mcp_secrets *secrets, const char *text, const char *wanted)
{
	cleanup(buffer_deinit) struct buffer out = {0};

	mcp_secrets_mask(secrets, text, strlen(text), &out);
	cr_assert_not_null(buffer_terminate(&out));
	cr_expect_str_eq(out.data, wanted, "%s: %s", text, out.data);
}

Test(mcp_secrets, are_masked)
{
	cleanup(mcp_secrets_deinit) struct mcp_secrets secrets = {0};
	cleanup(buffer_deinit) struct buffer out = {0};
	size_t n_items;

	expect_masked(&secrets, "s3cret", "s3cret");
	cr_assert_eq(
		expand(&secrets, "${file:/token}${env:KEY}${env:PEM}${env:KEY}", false, &out, NULL),
		0);
	expect_masked(&secrets, "key s3cret-key, s3cret, s3cre", "key ***, ***, ***");
	expect_masked(&secrets, "s3cre s3c", "s3cre s3c");
	expect_masked(&secrets, "AAAAA ab -begin-", "***A ab ***");
	expect_masked(&secrets, "s3s3crets3cret", "s3******");
	expect_masked(&secrets, "", "");
	n_items = secrets.n_items;
	cr_assert_eq(expand(&secrets, "${env:KEY}", false, &out, NULL), 0);
	cr_expect_eq(secrets.n_items, n_items);
}

Test(mcp_secrets, are_masked_in_each_form)
{
	cleanup(mcp_secrets_deinit) struct mcp_secrets secrets = {0};

	cr_assert_eq(mcp_secrets_add(&secrets, "a/\"b\\\xC3\xA9z", 8), 0);
	expect_masked(&secrets, "a/\"b\\\xC3\xA9z.", "***.");
	expect_masked(&secrets, "a/\\\"b\\\\\xC3\xA9z.", "***.");
	expect_masked(&secrets, "a\\/\\\"b\\\\\xC3\xA9z.", "***.");
	expect_masked(&secrets, "a/\\\"b\\\\\\u00e9z.", "***.");
	expect_masked(&secrets, "a%2F%22b%5C%C3%A9z.", "***.");
	/* base64 of it after "", "x", "u:" and "user:" */
	expect_masked(&secrets, "YS8iYlzDqXo=", "***o=");
	expect_masked(&secrets, "eGEvImJcw6l6", "eG***");
	expect_masked(&secrets, "dTphLyJiXMOpeg==", "dTp***g==");
	expect_masked(&secrets, "dXNlcjphLyJiXMOpeg==", "dXNlcjp***g==");
}

Test(mcp_secrets, are_masked_in_the_strings_of_json)
{
	cleanup(mcp_secrets_deinit) struct mcp_secrets secrets = {0};
	cleanup(buffer_deinit) struct buffer out = {0};
	static const char text[] = "{\"1234\":[1234,\"a\\\"1234\",\"\\\\\"]}";
	static const char twice[] = "{\"1234\":1,\"12341234\":2,\"***\":3}";

	cr_assert_eq(mcp_secrets_add(&secrets, "1234", 4), 0);
	cr_expect(mcp_secrets_are_in(&secrets, text, strlen(text)));
	cr_expect_not(mcp_secrets_are_in(&secrets, "123 4", 5));
	cr_expect_eq(mcp_secrets_mask_json(&secrets, text, strlen(text), &out), 0);
	cr_assert_not_null(buffer_terminate(&out));
	cr_expect_str_eq(out.data, "{\"***\":[1234,\"a\\\"***\",\"\\\\\"]}");
	cr_expect_eq(mcp_secrets_mask_json(&secrets, twice, strlen(twice), &out), -EBADMSG);
}

Test(mcp_secrets, are_masked_in_texts_that_go_on)
{
	static const struct {
		const char *text;
		size_t taken;
		const char *wanted;
	} parts[] = {
		{"key s3cre", 4, "key "},
		/* It may be the longer one. */
		{"key s3cret", 4, "key "},
		{"key s3cret.s", 11, "key ***."},
		{"s3cret-key", 10, "***"},
		{"s3crex", 6, "s3crex"},
	};
	cleanup(mcp_secrets_deinit) struct mcp_secrets secrets = {0};
	cleanup(buffer_deinit) struct buffer out = {0};

	cr_assert_eq(expand(&secrets, "${file:/token}${env:KEY}", false, &out, NULL), 0);
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		const char *text = parts[i].text;

		buffer_reset(&out);
		cr_expect_eq(mcp_secrets_mask_part(&secrets, text, strlen(text), &out),
			parts[i].taken, "%s", text);
		cr_assert_not_null(buffer_terminate(&out));
		cr_expect_str_eq(out.data, parts[i].wanted, "%s: %s", text, out.data);
	}
}

Test(mcp_secrets, may_be_long)
{
	cleanup(mcp_secrets_deinit) struct mcp_secrets secrets = {0};
	cleanup(buffer_deinit) struct buffer out = {0};

	cr_assert_eq(expand(&secrets, "${file:/long}", false, &out, NULL), 0);
	cr_expect_eq(out.size, MCP_SECRET_BYTES);
}

Test(mcp_secrets, survive_that_memory_is_short)
{
	for (size_t n = 0; scarce_once_after(n); n++) {
		struct mcp_secrets secrets = {0};
		cleanup(buffer_deinit) struct buffer out = {0};
		cleanup(buffer_deinit) struct buffer reason = {0};
		int r = expand(&secrets, "a ${env:KEY}", false, &out, &reason);

		if (r == 0)
			r = expand(&secrets, "${env:NONE}", false, &out, &reason);
		cr_expect_eq(r, scarce_has_failed() ? -ENOMEM : MCP_E_MISSING, "%zu: %d", n, r);
		mcp_secrets_deinit(&secrets);
	}
}

Test(mcp_secrets, are_told_by_the_name)
{
	static const struct {
		const char *name;
		bool is_secret;
	} rows[] = {
		{"Authorization", true},
		{"X-AUTH", true},
		{"Set-Cookie", true},
		{"CREDENTIALS", true},
		{"key", true},
		{"monKEYs", true},
		{"DB_PASSWD", true},
		{"client-secret", true},
		{"MY_TOKEN", true},
		{"", false},
		{"ke", false},
		{"k-ey", false},
		{"User-Agent", false},
		{"toke", false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_expect_eq(mcp_names_secret(rows[i].name, strlen(rows[i].name)),
			rows[i].is_secret, "%s", rows[i].name);
	cr_expect_not(mcp_names_secret("keys", 2));
}

Test(mcp_secrets, are_no_variables_of_all_programs)
{
	cleanup(mcp_secrets_deinit) struct mcp_secrets secrets = {0};
	cleanup(buffer_deinit) struct buffer out = {0};
	cleanup(buffer_deinit) struct buffer reason = {0};

	cr_assert_eq(expand(&secrets, "${env:HOME}/x", false, &out, &reason), 0);
	cr_expect_eq(secrets.n_items, 0);
	cr_assert_eq(expand(&secrets, "${env:HOMES}/x", false, &out, &reason), 0);
	cr_expect_gt(secrets.n_items, 0);
}

Test(mcp_secrets, are_masked_in_the_ascii_of_json)
{
	static const char *const forms[] = {
		"a-\\u00e9-\\u20ac-\\ud83d\\ude00/b", "a-é-€-😀\\/b", "a-é-€-😀/b"};
	cleanup(mcp_secrets_deinit) struct mcp_secrets secrets = {0};

	cr_assert_eq(mcp_secrets_add(&secrets, "a-é-€-😀/b", strlen("a-é-€-😀/b")), 0);
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		cr_expect(mcp_secrets_are_in(&secrets, forms[i], strlen(forms[i])), "%s", forms[i]);
	cr_expect_not(mcp_secrets_are_in(&secrets, "a-é-€-😀", strlen("a-é-€-😀")));
}
