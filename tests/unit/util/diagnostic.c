/* SPDX-License-Identifier: Apache-2.0 */
#include "util/diagnostic.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <stdio.h>

#include "util/cleanup.h"

static void expect_line(const struct diagnostic *diagnostic, const char *expected)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	diagnostic_write(diagnostic, &text);
	cr_expect_str_eq(buffer_terminate(&text), expected, "%s", text.data);
}

Test(diagnostic, is_written_without_what_is_unknown)
{
	expect_line(&(struct diagnostic){.file = "F", .line = 3, .pointer = "/a", .text = "bad"},
		"F:3 /a: bad");
	expect_line(&(struct diagnostic){.file = "F", .pointer = "/a", .text = "bad"}, "F /a: bad");
	expect_line(&(struct diagnostic){.file = "F", .pointer = "", .text = "bad"}, "F: bad");
	expect_line(&(struct diagnostic){.pointer = "--bus", .text = "bad"}, "--bus: bad");
	expect_line(&(struct diagnostic){.line = 3, .text = "bad"}, "bad");
}

static void take(void *data, const struct diagnostic *diagnostic)
{
	cr_expect_eq(diagnostic->severity, DIAGNOSTIC_WARNING);
	cr_expect_str_eq(diagnostic->file, "F");
	cr_expect_eq(diagnostic->line, 7);
	cr_expect_str_eq(diagnostic->pointer, "/a");
	cr_expect_str_eq(diagnostic->text, "not 2");
	++*(int *)data;
}

Test(diagnostic, is_reported_with_its_text_formatted)
{
	int n = 0;
	const struct diagnostic_sink sink = {take, &n};

	diagnostic_report(&sink, DIAGNOSTIC_WARNING, "F", 7, "/a", "not %d", 2);
	cr_expect_eq(n, 1);
}

Test(diagnostic, is_counted_by_its_severity)
{
	static const struct {
		struct diagnostic_counts counts;
		const char *text;
	} rows[] = {
		{{0, 0}, "0 errors, 0 warnings"},
		{{1, 0}, "1 error, 0 warnings"},
		{{2, 1}, "2 errors, 1 warning"},
	};
	struct diagnostic_counts counts = {0};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cleanup(buffer_deinit) struct buffer text = {0};

		diagnostic_counts_write(&rows[i].counts, &text);
		cr_expect_str_eq(buffer_terminate(&text), rows[i].text);
	}
	diagnostic_count(&counts, &(struct diagnostic){.severity = DIAGNOSTIC_ERROR});
	diagnostic_count(&counts, &(struct diagnostic){.severity = DIAGNOSTIC_ERROR});
	diagnostic_count(&counts, &(struct diagnostic){.severity = DIAGNOSTIC_WARNING});
	cr_expect_eq(counts.n_errors, 2);
	cr_expect_eq(counts.n_warnings, 1);
}

Test(diagnostic, is_printed_visible_and_counted, .init = cr_redirect_stderr)
{
	struct diagnostic_counts counts = {0};

	diagnostic_print(&counts,
		&(struct diagnostic){
			.severity = DIAGNOSTIC_ERROR, .file = "F", .line = 3, .text = "bad \x1b"});
	diagnostic_print(
		&counts, &(struct diagnostic){.severity = DIAGNOSTIC_WARNING, .text = "odd"});
	fflush(stderr);
	cr_expect_stderr_eq_str("error F:3: bad \\u001b\nwarning odd\n");
	cr_expect_eq(counts.n_errors, 1);
	cr_expect_eq(counts.n_warnings, 1);
}

/* ── a bounded list ──────────────────────────────────────────────────────────────────────────── */

static struct diagnostics list;

static void deinit_list(void)
{
	diagnostics_deinit(&list);
}

static void expect_first(const char *expected)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	diagnostics_write_first(&list, "F", &text);
	cr_expect_str_eq(buffer_terminate(&text), expected, "%s", text.data);
}

Test(diagnostic, list_has_each_text_once_a_place, .fini = deinit_list)
{
	char place[] = "/a";

	diagnostics_add(&list, DIAGNOSTIC_ERROR, 1, place, "bad %d", 1);
	place[1] = 'b'; /* copied */
	diagnostics_add(&list, DIAGNOSTIC_ERROR, 2, "/a", "bad 1");
	cr_expect_eq(list.n_items, 1);
	cr_expect_eq(list.n_errors, 1);
	diagnostics_add(&list, DIAGNOSTIC_ERROR, 2, "/b", "bad 1");
	diagnostics_add(&list, DIAGNOSTIC_ERROR, 2, "/a", "bad 2");
	diagnostics_add(&list, DIAGNOSTIC_WARNING, 2, "/a", "odd");
	diagnostics_add(&list, DIAGNOSTIC_WARNING, 2, "/a", "odd");
	cr_expect_eq(list.n_items, 4);
	cr_expect_eq(list.n_errors, 3);
	diagnostics_add(&list, DIAGNOSTIC_ERROR, 2, NULL, "bad 3");
	cr_expect_eq(list.n_items, 4);
	cr_expect_eq(list.n_errors, 4);
	expect_first("F:1 /a: bad 1 (and 3 more)");
}

Test(diagnostic, list_tells_its_first_error, .fini = deinit_list)
{
	expect_first("F: cannot be loaded");
	diagnostics_add(&list, DIAGNOSTIC_WARNING, 1, "/a", "odd");
	expect_first("F: cannot be loaded");
	diagnostics_add(&list, DIAGNOSTIC_ERROR, 2, "/b", "bad");
	expect_first("F:2 /b: bad");
	diagnostics_add(&list, DIAGNOSTIC_ERROR, 3, "/c", "worse");
	expect_first("F:2 /b: bad (and 1 more)");
}

Test(diagnostic, list_without_room_keeps_errors_before_warnings, .fini = deinit_list)
{
	for (int i = 0; i < DIAGNOSTICS_MAX; i++) {
		cr_expect(diagnostics_have_room(&list, DIAGNOSTIC_WARNING));
		diagnostics_add(&list,
			i < DIAGNOSTICS_MAX - 2 ? DIAGNOSTIC_ERROR : DIAGNOSTIC_WARNING, 1, "/a",
			"text %d", i);
	}
	cr_expect_not(diagnostics_have_room(&list, DIAGNOSTIC_WARNING));
	diagnostics_add(&list, DIAGNOSTIC_WARNING, 1, "/a", "odd");
	cr_expect_str_eq(list.items[DIAGNOSTICS_MAX - 1].text, "text 31");
	/* A repeated one takes no place. */
	diagnostics_add(&list, DIAGNOSTIC_ERROR, 1, "/a", "text 0");
	cr_expect_eq(list.n_items, DIAGNOSTICS_MAX);
	cr_expect(diagnostics_have_room(&list, DIAGNOSTIC_ERROR));
	diagnostics_add(&list, DIAGNOSTIC_ERROR, 1, "/a", "bad");
	cr_expect_eq(list.n_items, DIAGNOSTICS_MAX);
	cr_expect_str_eq(list.items[DIAGNOSTICS_MAX - 1].text, "bad");
	cr_expect_str_eq(list.items[DIAGNOSTICS_MAX - 2].text, "text 30");
	cr_expect_not(diagnostics_have_room(&list, DIAGNOSTIC_ERROR));
	diagnostics_add(&list, DIAGNOSTIC_ERROR, 1, "/a", "late");
	cr_expect_eq(list.n_items, DIAGNOSTICS_MAX);
	cr_expect_eq(list.n_errors, DIAGNOSTICS_MAX);
}
