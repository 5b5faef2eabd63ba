/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/policy/questions.h"

#include <string.h>

#include "ctl/response.h"
#include "ctl/terminal.h"
#include "json/member.h"
#include "json/number.h"
#include "json/writer.h"

/* The pages of a list: one has a megabyte, or one question. */
#define PAGES_MAX 1024

static bool is_hex_text(const char *text, size_t size)
{
	return strspn(text, "0123456789abcdef") == size && text[size] == '\0';
}

bool questions_read_hex(
	const struct json_tape *tape, uint32_t object, const char *key, char *ret, size_t size)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	if (!json_read_text(tape, json_find(tape, object, key), &text))
		return false;
	if (!buffer_terminate(&text) || text.size != size || !is_hex_text(text.data, size))
		return false;
	memcpy(ret, text.data, size + 1);
	return true;
}

bool questions_is_id(const char *id)
{
	return is_hex_text(id, HEX_ID_CHARS);
}

/* Return whether the member `seal` of the message at @object is the one that @prove makes. */
static bool is_sealed(const struct approval_key *key, const struct json_tape *tape, uint32_t object,
	const char *id,
	bool (*prove)(const unsigned char *key, const char *id, const char *digest, char *ret),
	char ret_seal[PROOF_CHARS + 1])
{
	char digest[PROOF_CHARS + 1];
	char wanted[PROOF_CHARS + 1];

	return questions_read_hex(tape, object, "seal", ret_seal, PROOF_CHARS) &&
	       proof_digest(tape, object, digest) == 0 && prove(key->bytes, id, digest, wanted) &&
	       proof_is(wanted, ret_seal, PROOF_CHARS);
}

bool questions_read(const struct approval_key *key, const struct json_tape *tape, uint32_t object,
	struct question_mark *ret_mark)
{
	*ret_mark = (struct question_mark){0};
	if (json_type_at(tape, object) != JSON_OBJECT ||
		!questions_read_hex(tape, object, "id", ret_mark->id, HEX_ID_CHARS))
		return false;
	return key->state != APPROVAL_KEY_READY ||
	       is_sealed(key, tape, object, ret_mark->id, proof_of_question, ret_mark->seal);
}

bool questions_is_end(const struct approval_key *key, const struct json_tape *tape, uint32_t object,
	const struct question_mark *question)
{
	char id[HEX_ID_CHARS + 1];
	char seal[PROOF_CHARS + 1];

	return json_type_at(tape, object) == JSON_OBJECT &&
	       questions_read_hex(tape, object, "id", id, HEX_ID_CHARS) &&
	       strcmp(id, question->id) == 0 &&
	       (key->state != APPROVAL_KEY_READY ||
		       is_sealed(key, tape, object, id, proof_of_end, seal));
}

void questions_complain(void)
{
	static bool is_complained;

	if (!is_complained)
		terminal_complain(
			"a question is not shown, because it has no right seal: it is not "
			"from the service, or the service has another key, or has not "
			"read its own (toolboxctl reload)");
	is_complained = true;
}

/* Ask for the questions after the one with the number @after, and call @take for each one of the
 * service. Return 0 with *ret_next, 0 at the end, or an enum ctl_status after a complaint. */
static int take_page(struct ctl_session *session, const struct approval_key *key, uint64_t after,
	question_function take, void *data, uint64_t *ret_next)
{
	cleanup(ctl_response_deinit) struct ctl_response response = {0};
	cleanup(buffer_deinit) struct buffer request = {0};
	struct question_mark mark;
	uint32_t list;
	uint32_t next;
	int r;

	json_write_member_u64(&request, "after", after);
	r = ctl_session_ask(session, "ovos.tools.approval.list", &request, &response);
	if (r != 0)
		return r;
	list = ctl_response_find(&response, 0, "pending", JSON_ARRAY);
	next = ctl_response_find(&response, 0, "next", JSON_NUMBER);
	if (list == JSON_NONE) {
		ctl_response_complain(&response);
		r = ctl_response_status(&response);
		return r != CTL_DONE ? r : CTL_ERROR;
	}
	json_each(i, &response.tape, list) {
		if (questions_read(key, &response.tape, i, &mark))
			take(data, &response.tape, i, &mark);
		else
			questions_complain();
	}
	if (next == JSON_NONE || json_number_u64(&response.tape, next, ret_next) != 0)
		*ret_next = 0;
	return 0;
}

int questions_each(struct ctl_session *session, const struct approval_key *key,
	question_function take, void *data)
{
	uint64_t after = 0;
	uint64_t next = 0;
	int r;

	/* A peer that lies about the next page is not followed for ever. */
	for (int i = 0; i < PAGES_MAX; i++) {
		r = take_page(session, key, after, take, data, &next);
		if (r != 0 || next <= after)
			return r;
		after = next;
	}
	return 0;
}
