/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/policy/audit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "config/config.h"
#include "ctl/command.h"
#include "ctl/since.h"
#include "ctl/table.h"
#include "ctl/terminal.h"
#include "json/member.h"
#include "util/array.h"

/*
 * toolboxctl audit: list lines of an audit log, or check its chain (ctl/policy/audit_verify).
 *
 *   FILE.1, FILE ─▶ lines ──since, tool, source──▶ table, or the lines themselves
 */

/* Room for 2026-11-23T10:00:00.000Z. */
#define TIME_BYTES 32

static const struct column {
	const char *key;
	struct table_column column;
} columns[] = {
	{"time", {"TIME", false}},
	{"source", {"SOURCE", false}},
	{"toolbox_id", {"TOOLBOX", false}},
	{"tool", {"TOOL", false}},
	{"risk", {"RISK", false}},
	{"decision", {"DECISION", false}},
	{"by", {"BY", false}},
	{"duration_ms", {"MS", true}},
	{"outcome", {"OUTCOME", false}},
};
#define N_COLUMNS ARRAY_SIZE(columns)

struct listing {
	const struct ctl_options *options;
	char since[TIME_BYTES]; /* UTC, as in the lines; "": all */
	struct json_tape tape;  /* the line listed */
	struct table table;
	bool has_wrong; /* a line is not from an audit log */
};

/* Set the time of --since. Return 0, or CTL_USAGE after a complaint. */
static int read_since(struct listing *listing)
{
	const char *text = listing->options->since;
	struct tm parts;
	time_t since;
	int r;

	if (!text)
		return 0;
	r = since_read(text, &since);
	if (r == 0 && gmtime_r(&since, &parts))
		strftime(listing->since, sizeof(listing->since), "%Y-%m-%dT%H:%M:%S", &parts);
	return r;
}

/* ── the listing ─────────────────────────────────────────────────────────────────────────────── */

static bool member_is(
	const struct json_tape *tape, const char *key, const char *wanted, size_t size)
{
	uint32_t token = json_find_typed_at(tape, 0, key, JSON_STRING);

	return token != JSON_NONE && json_string_equals(tape, token, wanted, size);
}

/* Return whether the line is about the tool @wanted: TOOL or TOOLBOX/TOOL. */
static bool is_tool(const struct json_tape *tape, const char *wanted)
{
	const char *slash = strchr(wanted, '/');
	const char *name = slash ? slash + 1 : wanted;

	return member_is(tape, "tool", name, strlen(name)) &&
	       (!slash || member_is(tape, "toolbox_id", wanted, (size_t)(slash - wanted)));
}

/* Return whether the line is as late as --since. Times of one form have the order of their
 * texts. */
static bool is_late(const struct listing *listing)
{
	const struct json_tape *tape = &listing->tape;
	uint32_t token = json_find_typed_at(tape, 0, "time", JSON_STRING);
	size_t size = strlen(listing->since);

	return size == 0 || (token != JSON_NONE && json_at(tape, token)->length >= size &&
				    memcmp(json_bytes(tape, token), listing->since, size) >= 0);
}

static void list_line(struct listing *listing, const struct audit_line *line)
{
	const struct ctl_options *options = listing->options;
	const struct json_tape *tape = &listing->tape;
	cleanup(buffer_deinit) struct buffer text = {0};

	if (!is_late(listing) || (options->tool && !is_tool(tape, options->tool)) ||
		(options->source &&
			!member_is(tape, "source", options->source, strlen(options->source))))
		return;
	if (options->json) {
		buffer_append(&text, line->text, line->size);
		buffer_append_char(&text, '\n');
		terminal_print_json_text(&text);
		return;
	}
	for (size_t i = 0; i < N_COLUMNS; i++)
		table_add_member(&listing->table, tape, 0, columns[i].key);
}

static void list_text(struct listing *listing, const char *file, const struct buffer *text)
{
	struct audit_line line;
	unsigned long number = 0;
	size_t at = 0;

	while (ctl_audit_next(text, &at, &line)) {
		number++;
		if (ctl_audit_parse(&line, &listing->tape)) {
			list_line(listing, &line);
		} else {
			terminal_complain("%s:%lu: is no line of an audit log", file, number);
			listing->has_wrong = true;
		}
	}
}

static int list_file(struct listing *listing, const char *file)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	int r = ctl_audit_read(file, &text);

	if (r == 0)
		list_text(listing, file, &text);
	return r;
}

/* List the file of the configuration, after the old file, which had grown too large. */
static int list_configured(struct listing *listing)
{
	const struct config_flags flags = {0};
	cleanup(config_deinit) struct config config = {0};
	cleanup(buffer_deinit) struct buffer old = {0};
	struct diagnostic_counts counts = {0};

	if (config_read(&flags, diagnostic_print, &counts, &config) != 0 || !config.audit_file) {
		terminal_complain("the configuration has no audit.file; name a FILE");
		return CTL_USAGE;
	}
	buffer_printf(&old, "%s.1", config.audit_file);
	if (!buffer_terminate(&old)) {
		terminal_complain("%s", strerror(ENOMEM));
		return CTL_USAGE;
	}
	if (access(old.data, F_OK) == 0 && list_file(listing, old.data) != 0)
		return CTL_USAGE;
	return list_file(listing, config.audit_file);
}

int ctl_audit(const struct ctl_options *options)
{
	struct table_column titles[N_COLUMNS];
	struct listing listing = {.options = options};
	const char *first = options->n_positional > 1 ? options->positional[1] : NULL;
	int r;

	if (first && strcmp(first, "verify") == 0)
		return ctl_audit_verify(options);
	if (options->n_positional > 2) {
		terminal_complain("audit takes one FILE, or verify FILE...");
		return CTL_USAGE;
	}
	r = read_since(&listing);
	if (r != 0)
		return r;
	for (size_t i = 0; i < N_COLUMNS; i++)
		titles[i] = columns[i].column;
	table_init(&listing.table, titles, N_COLUMNS);
	r = first ? list_file(&listing, first) : list_configured(&listing);
	if (!options->json && table_rows(&listing.table) > 0)
		table_print(&listing.table);
	table_deinit(&listing.table);
	json_tape_deinit(&listing.tape);
	return r == 0 && listing.has_wrong ? CTL_ERROR : r;
}
