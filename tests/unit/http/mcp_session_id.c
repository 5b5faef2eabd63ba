/* SPDX-License-Identifier: Apache-2.0 */
#include "http/mcp/session_id.h"

#include <criterion/criterion.h>
#include <ctype.h>
#include <string.h>

/* Ids of sessions: what is in one, and who may show it. */

#define NOW_S UINT64_C(0x1122334455667788)

static const unsigned char key[MCP_SESSION_KEY_BYTES] = "a key of thirty-two bytes";

static struct http_identity identity = {.source = "http:me", .holder = "http:me"};
static struct mcp_session_id id;

static void make(void)
{
	cr_assert_eq(mcp_session_id_make(key, &identity, NOW_S, &id), 0);
}

TestSuite(mcp_session_id, .init = make);

/* Return whether @text is an id of the caller with the key @with. */
static bool is_read(const unsigned char *with, const char *text)
{
	struct mcp_session_id read;

	return mcp_session_id_read(with, &identity, text, &read);
}

Test(mcp_session_id, begins_with_its_time_and_is_hexadecimal)
{
	cr_expect_eq(strlen(id.text), (size_t)MCP_SESSION_ID_CHARS);
	cr_expect_eq(strlen(id.name), (size_t)HEX_ID_CHARS);
	cr_expect_eq(strncmp(id.text, "1122334455667788", 16), 0, "%s", id.text);
	cr_expect_eq(strspn(id.text, "0123456789abcdef"), (size_t)MCP_SESSION_ID_CHARS);
	cr_expect_eq(strspn(id.name, "0123456789abcdef"), (size_t)HEX_ID_CHARS);
	cr_expect_null(strstr(id.text, id.name), "others see the name, and learn nothing");
}

Test(mcp_session_id, gives_back_what_it_was_made_of)
{
	struct mcp_session_id read;

	cr_assert(mcp_session_id_read(key, &identity, id.text, &read));
	cr_expect_str_eq(read.text, id.text);
	cr_expect_str_eq(read.name, id.name);
	cr_expect_eq(read.entry.start_s, NOW_S);
	cr_expect_eq(read.entry.holder, id.entry.holder);
	cr_expect_eq(read.entry.tag, id.entry.tag);
}

Test(mcp_session_id, is_never_the_same_and_its_tag_is_no_cut)
{
	for (int i = 0; i < 1000; i++) {
		struct mcp_session_id before = id;

		make();
		cr_expect_neq(strcmp(id.text, before.text), 0);
		cr_expect_neq(strcmp(id.name, before.name), 0);
		cr_expect_eq(id.entry.tag & 1, 1, "0 would be a cut");
		cr_expect_eq(id.entry.holder, before.entry.holder);
	}
}

Test(mcp_session_id, is_no_other_text)
{
	char text[2 * MCP_SESSION_ID_CHARS];

	for (size_t size = 0; size < MCP_SESSION_ID_CHARS; size++) {
		snprintf(text, sizeof(text), "%.*s", (int)size, id.text);
		cr_expect_not(is_read(key, text), "the first %zu digits", size);
	}
	for (size_t i = 0; i <= MCP_SESSION_ID_CHARS; i++) {
		snprintf(text, sizeof(text), "%.*s0%s", (int)i, id.text, id.text + i);
		cr_expect_not(is_read(key, text), "a further digit at %zu", i);
	}
	for (size_t i = 0; i < MCP_SESSION_ID_CHARS; i++) {
		static const char others[] = " -gG\x7f\xff\n";

		for (size_t other = 0; other < sizeof(others) - 1; other++) {
			strcpy(text, id.text);
			text[i] = others[other];
			cr_expect_not(is_read(key, text), "another character at %zu", i);
		}
		strcpy(text, id.text);
		text[i] = (char)toupper((unsigned char)text[i]);
		cr_expect_eq(is_read(key, text), text[i] == id.text[i], "a capital at %zu", i);
	}
	cr_expect(is_read(key, id.text));
}

Test(mcp_session_id, is_unknown_with_a_key_that_differs_in_one_bit)
{
	for (size_t bit = 0; bit < 8 * sizeof(key); bit++) {
		unsigned char other[sizeof(key)];

		memcpy(other, key, sizeof(key));
		other[bit / 8] ^= (unsigned char)(1 << bit % 8);
		cr_expect_not(is_read(other, id.text), "bit %zu", bit);
	}
}

/* The holder, who pays, is no part of the proof; the caller and the token are. */
Test(mcp_session_id, depends_on_the_caller_and_the_token)
{
	struct http_token token = {.digest = {1}};
	struct http_token other = token;
	struct mcp_session_id read;

	other.digest[HTTP_TOKEN_DIGEST_BYTES - 1] = 1;
	identity.token = &token;
	cr_expect_not(is_read(key, id.text), "made without a token");
	make();
	cr_expect(is_read(key, id.text));
	identity.token = &other;
	cr_expect_not(is_read(key, id.text));
	identity.token = NULL;
	cr_expect_not(is_read(key, id.text), "the token is gone");
	identity.token = &token;
	strcpy(identity.source, "http:me2");
	cr_expect_not(is_read(key, id.text));
	strcpy(identity.source, "http:me");
	identity.holder = "198.51.100.7";
	cr_assert(mcp_session_id_read(key, &identity, id.text, &read));
	cr_expect_neq(read.entry.holder, id.entry.holder);
	cr_expect_eq(read.entry.tag, id.entry.tag);
}

/* All of the longest name counts. */
Test(mcp_session_id, takes_the_longest_source)
{
	static const struct http_token token = {.digest = {1}};

	memset(identity.source, 's', sizeof(identity.source) - 1);
	identity.holder = identity.source;
	identity.token = &token;
	make();
	cr_expect(is_read(key, id.text));
	identity.source[sizeof(identity.source) - 2] = 't';
	cr_expect_not(is_read(key, id.text));
}
