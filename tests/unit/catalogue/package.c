/* SPDX-License-Identifier: Apache-2.0 */
#include "catalogue/package.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "call/native/program.h"
#include "catalogue/failure/failed.h"
#include "manifest_fixture.h"
#include "scarce.h"
#include "util/array.h"

/* A package: what its hosts need, and which packages may share a host. */

TestSuite(package, .init = manifest_set_up, .fini = manifest_tear_down, .timeout = 60);

Test(package, knows_what_its_kind_needs)
{
	static const struct {
		enum toolbox_kind kind;
		unsigned int capacity;
		uint64_t start_ms; /* with 60 seconds less one in the configuration */
		bool has_guard;
		const char *place;
	} rows[] = {
		{KIND_NATIVE, 1, 59999, false, "/library"},
		{KIND_PLUGIN, 1, 59999, false, "/library"},
		{KIND_COMMAND, 1, 59999, true, "/library"},
		{KIND_PYTHON, 1, 59999, true, "/library"},
		{KIND_PYTHON_FILE, 1, 59999, true, "/file"},
		{KIND_MCP, PACKAGE_CALLS_MAX, 60000, true, "/library"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct package row = {.kind = rows[i].kind};

		cr_expect_eq(package_capacity(&row), rows[i].capacity, "%zu", i);
		cr_expect_eq(package_start_ms(&row, 59999), rows[i].start_ms, "%zu", i);
		cr_expect_eq(package_start_ms(&row, 60001), 60001, "%zu", i);
		cr_expect_eq(package_has_guard(&row), rows[i].has_guard, "%zu", i);
		cr_expect_eq(package_starts_programs(&row), rows[i].has_guard, "%zu", i);
		cr_expect_str_eq(package_library_place(&row), rows[i].place);
		row.has_library_list = true;
		cr_expect_str_eq(package_library_place(&row),
			rows[i].kind == KIND_PYTHON_FILE ? "/file" : "/libraries");
		row.concurrent = 7;
		cr_expect_eq(package_capacity(&row), 7, "%zu", i);
	}
}

Test(package, starts_programs_by_its_sandbox)
{
	static const struct {
		enum sandbox_class class;
		const char *name;
		bool has_guard;
		bool starts;
	} rows[] = {
		{SANDBOX_COMPUTE, "compute", false, false},
		{SANDBOX_NET, "net", false, false},
		{SANDBOX_COMMAND, "command", true, true},
		{SANDBOX_NONE, "none", false, true},
	};
	struct package row = {.kind = KIND_PLUGIN};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		row.sandbox.class = rows[i].class;
		cr_expect_eq(package_has_guard(&row), rows[i].has_guard, "%s", rows[i].name);
		cr_expect_eq(package_starts_programs(&row), rows[i].starts, "%s", rows[i].name);
		cr_expect_str_eq(package_sandbox_name(&row), rows[i].name);
	}
	row.kind = KIND_BUS;
	cr_expect_null(package_sandbox_name(&row), "it has no process");
}

/* The order of two packages, each way round. */
static void expect_order(const struct package *left, const struct package *right, int order)
{
	int there = package_compare_loads(left, right);
	int back = package_compare_loads(right, left);

	cr_expect_eq((there > 0) - (there < 0), order);
	cr_expect_eq((back > 0) - (back < 0), -order);
}

Test(package, shares_a_host_only_with_one_of_the_same_library_and_sandbox)
{
	struct native_program steps = {.source = (char *)"[1]"};
	struct native_types types = {.n_enums = 1};
	struct toolbox_library second = {.path = (char *)"m"};
	struct package left = {.kind = KIND_NATIVE,
		.id = (char *)"a",
		.file = (char *)"/a",
		.library = {.path = (char *)"l", .digest = 1}};
	struct package right = left;

	right.id = (char *)"b";
	right.file = (char *)"/b";
	expect_order(&left, &right, 0);
	right.library.digest = 2;
	expect_order(&left, &right, -1);
	right.library.path = (char *)"k";
	expect_order(&left, &right, 1);
	right.library = left.library;
	right.library.next = &second;
	expect_order(&left, &right, -1);
	right.library.next = NULL;
	right.init = &steps;
	expect_order(&left, &right, -1);
	right.init = NULL;
	right.sandbox.class = SANDBOX_NET;
	cr_expect_neq(package_compare_loads(&left, &right), 0);
	right.sandbox.class = left.sandbox.class;
	right.types = &types;
	expect_order(&left, &right, -1);
	left.types = &types;
	expect_order(&left, &right, -1);
	right.file = left.file;
	expect_order(&left, &right, -1);
	right.id = left.id;
	expect_order(&left, &right, 0);
	types = (struct native_types){.n_structs = 1};
	right.id = (char *)"b";
	expect_order(&left, &right, -1);
	types.n_structs = 0;
	expect_order(&left, &right, 0);
}

Test(package, of_another_kind_than_native_shares_no_host)
{
	struct package left = {.kind = KIND_PLUGIN, .id = (char *)"a", .file = (char *)"/a"};
	struct package right = left;

	expect_order(&left, &right, 0);
	right.id = (char *)"b";
	expect_order(&left, &right, -1);
	right.file = (char *)"/A";
	expect_order(&left, &right, 1);
	right.kind = KIND_NATIVE;
	expect_order(&left, &right, 1);
}

Test(package, keeps_a_failed_trial_as_long_as_somebody_holds_it)
{
	struct failed *failed = failed_new("box");
	uint32_t index;

	cr_assert(failed);
	cr_expect_str_eq(failed->id, "box");
	failed->problems = calloc(1, sizeof(*failed->problems));
	cr_assert(failed->problems);
	diagnostics_add(failed->problems, DIAGNOSTIC_ERROR, 1, "/a", "wrong");
	cr_assert_eq(origins_add(&failed->files, "/nowhere", &index), 0);
	cr_expect_eq(failed_ref(failed), failed);
	failed_unref(failed);
	cr_expect_str_eq(failed->problems->items[0].text, "wrong", "it has a holder");
	failed_unref(failed);
	failed_unref(NULL);
	cr_expect_null(failed_ref(NULL));
}
