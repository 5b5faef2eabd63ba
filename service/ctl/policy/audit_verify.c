/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "ctl/policy/audit.h"
#include "ctl/command.h"
#include "ctl/terminal.h"
#include "json/member.h"
#include "policy/audit_chain.h"

/*
 * toolboxctl audit verify: check that each line has the hash of the line before it.
 *
 *   FILE.1 ── last hash ──▶ first `prev` of FILE ── last hash ──▶ printed
 *
 * Files are given in their order. The first line of the first one may follow anything, which is
 * printed.
 */

struct verification {
	struct audit_hash before; /* hash that the first line follows; "": it is the first ever */
	struct audit_hash last;   /* hash of the line before */
	bool has_last;            /* there is one */
	unsigned long number;     /* the number of the line in its file */
	unsigned long n_lines;
	struct json_tape tape;
};

/* Keep the string at @prev, by which the first line goes on with lines of other files. Return
 * whether it is one of AUDIT_HASH_CHARS or "". */
static bool take_before(struct verification *verification, uint32_t prev)
{
	const struct json_tape *tape = &verification->tape;
	size_t size = json_at(tape, prev)->length;

	if (size > AUDIT_HASH_CHARS)
		return false;
	memcpy(verification->before.text, json_bytes(tape, prev), size);
	verification->before.text[size] = '\0';
	return (size == AUDIT_HASH_CHARS || size == 0) &&
	       strspn(verification->before.text, "0123456789abcdef") == size;
}

/* Append what was verified, and from where on. */
static void write_verdict(const struct verification *verification, struct buffer *out)
{
	if (!verification->has_last) {
		buffer_append_string(out, "no lines: there is nothing to verify\n");
		return;
	}
	buffer_printf(out, "%lu line%s, the chain is whole ", verification->n_lines,
		verification->n_lines == 1 ? "" : "s");
	if (*verification->before.text)
		buffer_printf(out, "after the line with the hash %s, which is not here",
			verification->before.text);
	else
		buffer_append_string(out, "from the first line ever");
	buffer_printf(out, "; last hash: %s\n", verification->last.text);
}

/* Return the reason why @line breaks the chain, or NULL; then it is the line before. */
static const char *find_break(struct verification *verification, const struct audit_line *line)
{
	struct json_tape *tape = &verification->tape;
	const char *last = verification->last.text;
	uint32_t prev;

	if (!line->is_whole)
		return "the line is torn: it has no end";
	if (!ctl_audit_parse(line, tape))
		return "it is no line of an audit log";
	prev = json_find_typed_at(tape, 0, "prev", JSON_STRING);
	if (prev == JSON_NONE)
		return "it has no \"prev\"";
	if (verification->has_last && !json_is_text(tape, prev, last))
		return "its \"prev\" is not the hash of the line before: one of them was changed, "
		       "or a line between them is missing";
	if (!verification->has_last && !take_before(verification, prev))
		return "its \"prev\" is no hash";
	audit_hash_line(line->text, line->size, &verification->last);
	verification->has_last = true;
	return NULL;
}

static int verify_file(struct verification *verification, const char *file)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	int r = ctl_audit_read(file, &text);
	struct audit_line line;
	size_t at = 0;

	verification->number = 0;
	while (r == 0 && ctl_audit_next(&text, &at, &line)) {
		const char *reason = find_break(verification, &line);

		verification->number++;
		verification->n_lines++;
		if (!reason)
			continue;
		terminal_complain(
			"%s:%lu: the chain is broken: %s", file, verification->number, reason);
		r = CTL_ERROR;
	}
	return r;
}

int ctl_audit_verify(const struct ctl_options *options)
{
	struct verification verification = {0};
	cleanup(buffer_deinit) struct buffer out = {0};
	int r = 0;

	if (options->n_positional < 3) {
		terminal_complain("audit verify needs a FILE");
		return CTL_USAGE;
	}
	for (size_t i = 2; r == 0 && i < options->n_positional; i++)
		r = verify_file(&verification, options->positional[i]);
	json_tape_deinit(&verification.tape);
	if (r != 0)
		return r;
	if (options->json)
		buffer_printf(&out, "{\"lines\":%lu,\"after\":\"%s\",\"last\":\"%s\"}\n",
			verification.n_lines, verification.before.text, verification.last.text);
	else
		write_verdict(&verification, &out);
	terminal_print(&out);
	return CTL_DONE;
}
