/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/dropin/dropin_hint.h"

#include <criterion/criterion.h>
#include <string.h>

#include "util/array.h"

/* Comments like definitions. */

#define PARAM   "# param NAME TYPE DESCRIPTION"
#define RISK    "# risk: read, write or execute"
#define TIMEOUT "# timeout: SECONDS"
#define TITLE   "# title: TEXT"
#define TEXT    "# description: TEXT"

Test(dropin_hint, is_the_form_that_a_comment_may_have_meant)
{
	static const struct {
		const char *comment;
		const char *form; /* before the first line of code; "": it means none */
		const char *below;
	} rows[] = {
		{"risk: read", RISK, RISK},
		{"Risk : read", RISK, RISK},
		{"risc: read", RISK, RISK},
		{"rosc: read", RISK, RISK},
		{"rasch: read", "", ""},
		{"risk read", "", ""},
		{"ri: read", "", ""},
		{"risk level: read", RISK, RISK},
		{"short description: Rings.", TEXT, TEXT},
		{"short long description: Rings.", "", ""},
		{"some other: Rings.", "", ""},
		{"summary: Rings.", TEXT, TEXT},
		{"sumary: Rings.", "", ""},
		{"title: Bell", TITLE, ""},
		{"name: Bell", TITLE, ""},
		{"names: Bell", "", ""},
		{"param: x", PARAM, PARAM},
		{"params x string", PARAM, PARAM},
		{"arg x INT the number", PARAM, PARAM},
		{"arg string", PARAM, PARAM},
		{"arg x y string", "", ""},
		{"arg x strings", "", ""},
		{"arguments are passed", "", ""},
		{"timeout 5", TIMEOUT, TIMEOUT},
		{"timeout 2.5", TIMEOUT, TIMEOUT},
		{"timeout = 5", TIMEOUT, TIMEOUT},
		{"timeout 5s", "", ""},
		{"timeout 5 seconds", "", ""},
		{"timeout", "", ""},
		{"timeout of", "", ""},
		{"deadline (10)", TIMEOUT, TIMEOUT},
		{"risk 5", "", ""},
		{"", "", ""},
		{":", "", ""},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		for (int is_at_top = 0; is_at_top < 2; is_at_top++) {
			const char *comment = rows[i].comment;
			const char *form = dropin_hint_find(comment, strlen(comment), is_at_top);

			cr_expect_str_eq(form ? form : "", is_at_top ? rows[i].form : rows[i].below,
				"%s (%d): %s", comment, is_at_top, form);
		}
}

Test(dropin_hint, is_for_an_unknown_word_with_a_colon)
{
	static const struct {
		const char *comment;
		bool is_unknown;
	} rows[] = {{"category: home", true}, {"category:", true}, {"category:\thome", true},
		{"category:home", false}, {"category", false}, {": home", false}, {"", false},
		{"Category: home", false}, {"my category: home", false}, {"vim: set et", false},
		{"vi: set et", false}, {"vimm: set et", true}, {"a: b", true}, {"z: b", true}};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		cr_expect_eq(dropin_hint_is_unknown(rows[i].comment, strlen(rows[i].comment)),
			rows[i].is_unknown, "%s", rows[i].comment);
}
