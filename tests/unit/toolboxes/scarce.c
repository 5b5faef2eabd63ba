/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <string.h>

#include "diff.h"
#include "edit.h"
#include "patch_apply.h"
#include "patch_parse.h"
#include "scarce.h"

/* Memory that is short: a tool then fails, and never writes a text that is cut. */

static const char patch_text[] = "*** Begin Patch\n*** Update File: f\n@@ a\n b\n-c\n+d\n@@\n+e\n"
				 "*** Add File: g\n+x\n*** End Patch\n";

/* Parse and apply the patch. Return whether *ret_after has the result. */
static bool apply_once(struct text *ret_after, struct text *why)
{
	struct patch patch = {0};
	struct text before = {0};
	bool is_good;

	text_put(&before, "a\nb\nc\n");
	is_good = !before.has_failed && patch_parse(patch_text, strlen(patch_text), &patch, why) &&
		  patch_apply(&patch, &patch.operations[0], "f", &before, ret_after, why);
	patch_free(&patch);
	text_free(&before);
	return is_good;
}

Test(scarce, patches_are_whole_or_fail)
{
	size_t n = 0;

	for (; scarce_once_after(n); n++) {
		struct text after = {0};
		struct text why = {0};
		bool is_good = apply_once(&after, &why);

		cr_expect(!is_good || strcmp(text_string(&after), "a\nb\nd\ne\n") == 0, "%zu: %s",
			n, text_string(&after));
		cr_expect(is_good || scarce_has_failed(), "%zu: %s", n, text_string(&why));
		text_free(&after);
		text_free(&why);
	}
	cr_expect_gt(n, 8);
}

Test(scarce, edits_are_whole_or_fail)
{
	size_t n = 0;

	for (; scarce_once_after(n); n++) {
		struct text text = {0};
		struct text why = {0};
		bool is_good;

		text_put(&text, "  a\n  b\n");
		is_good = !text.has_failed && edit_replace(&text, "a\nb", "c\nd", &why);
		cr_expect(!is_good || strcmp(text_string(&text), "  c\n  d\n") == 0, "%zu: %s", n,
			text_string(&text));
		cr_expect(is_good || scarce_has_failed(), "%zu", n);
		text_free(&text);
		text_free(&why);
	}
	cr_expect_gt(n, 3);
}

Test(scarce, differences_are_whole_or_have_failed)
{
	size_t n = 0;

	for (; scarce_once_after(n); n++) {
		struct text a = {0};
		struct text b = {0};
		struct text out = {0};

		text_put(&a, "1\n2\n3\n");
		text_put(&b, "1\nx\n3\n");
		if (!a.has_failed && !b.has_failed) {
			diff_write(&out, "f", &a, &b);
			cr_expect(out.has_failed ||
					  strcmp(text_string(&out), "--- f\n+++ f\n@@ -1,3 +1,3 "
								    "@@\n 1\n-2\n+x\n 3\n") == 0,
				"%zu: %s", n, text_string(&out));
		}
		text_free(&a);
		text_free(&b);
		text_free(&out);
	}
	cr_expect_gt(n, 5);
}
