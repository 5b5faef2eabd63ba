/* SPDX-License-Identifier: Apache-2.0 */
#include "catalogue/package.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "call/native/program.h"
#include "catalogue/failure/failed.h"
#include "manifest_fixture.h"
#include "scarce.h"
#include "util/array.h"

/* A package: the needs of its hosts, and hosts of several packages. */

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
		row.concurrent = 1;
		cr_expect_eq(package_capacity(&row), 1, "%zu", i);
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

/* ── the LOAD frame ──────────────────────────────────────────────────────────────────────────── */

#define HALF(text) "{'kind':'native','library':'libm.so.6'," text "'tools':["
#define SANDBOX    "\"sandbox\":{\"class\":\"compute\"},\"memory_mb\":"

Test(package, tells_its_hosts_what_to_load)
{
	static const struct {
		const char *manifest;
		const char *load;
	} rows[] = {
		{"{'kind':'bus','tools':[{'name':'f','bus':{'topic':'a.b','reply':false}}]}",
			"{\"kind\":\"bus\",\"toolbox_id\":\"box\",\"sandbox\":{\"class\":"
			"\"compute\"},"
			"\"memory_mb\":0,\"guard\":false,\"tools\":["},
		{"{'kind':'plugin','library':'/l.so'}", "{\"kind\":\"plugin\",\"toolbox_id\":"
							"\"box\",\"library\":\"/l.so\"," SANDBOX},
		{"{'kind':'plugin','library':'/l.so','concurrent':2}",
			"{\"kind\":\"concurrent\",\"toolbox_id\":\"box\",\"library\":\"/"
			"l.so\"," SANDBOX},
		{"{'kind':'native','libraries':['/l.so','/m.so'],'tools':[{'name':'f'," SQRT "}]}",
			"{\"kind\":\"native\",\"toolbox_id\":\"box\",\"libraries\":[\"/l.so\",\"/"
			"m.so\"]," SANDBOX},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		read_good(rows[i].manifest);
		cr_expect(
			strstr(package->load, rows[i].load) == package->load, "%s", package->load);
		cr_expect_eq(strlen(package->load), package->load_size);
	}
}

/* Two packages with the same surroundings: the first is kept, with a tool `f`. */
static void read_two(const char *first, const char *second, struct package *ret[2])
{
	read_good(first);
	ret[0] = package_ref(package);
	read_good(second);
	ret[1] = package;
}

Test(package, shares_a_frame_with_others)
{
	struct package *two[2];
	struct buffer both = {0};
	struct buffer one = {0};

	read_two(HALF("") "{'name':'f'," SQRT "},{'name':'g'," SQRT "}]}",
		"{'toolbox_id':'other','kind':'native','library':'libm.so.6','tools':[{'name':'h'"
		"," SQRT "}]}",
		two);
	package_write_load(two, 1, &one);
	buffer_append(&one, "", 0);
	cr_expect_eq(one.size, two[0]->load_size);
	cr_expect_eq(memcmp(one.data, two[0]->load, one.size), 0, "%.*s", (int)one.size, one.data);
	package_write_load(two, 2, &both);
	cr_expect_eq(both.size - one.size,
		1 + two[1]->load_size - two[1]->load_head - two[1]->load_tail);
	cr_expect(strstr(buffer_terminate(&both), "}}},{\"symbol\"") ||
			  strstr(both.data, "},{\"symbol\""),
		"%s", both.data);
	cr_expect_str_eq(both.data + both.size - 2, "]}", "%s", both.data);
	buffer_deinit(&both);
	buffer_deinit(&one);
	package_unref(two[0]);
}

#define OPEN(symbol) "'init':[{'call':'" symbol "'}],"

Test(package, asks_a_shared_host_to_check_the_initial_steps_only)
{
	struct package *two[2];
	struct buffer both = {0};

	read_two(HALF(OPEN("setup")) "{'name':'f'," SQRT "}]}",
		HALF(OPEN("setup")) "{'name':'g'," SQRT "}]}", two);
	package_write_load(two, 2, &both);
	cr_expect(strstr(buffer_terminate(&both),
			  "],\"is_check\":true,\"init\":[{\"call\":\"setup\"}]}"),
		"%s", both.data);
	cr_expect(strstr(two[0]->load, "],\"init\":[{\"call\":\"setup\"}]}"), "%s", two[0]->load);
	buffer_deinit(&both);
	package_unref(two[0]);
}

Test(package, runs_a_tool_otherwise_where_what_it_runs_with_is_another)
{
	static const struct {
		const char *manifest;
		bool is_other;
	} rows[] = {
		{HALF("") "{'name':'f'," SQRT "}]}", false},
		{HALF("'limits':{'workers':3},'description':'d',") "{'name':'f'," SQRT "}]}",
			false},
		{HALF("") "{'name':'f','description':'d'," SQRT "}]}", false},
		{HALF("'sandbox':{'class':'net'},") "{'name':'f'," SQRT "}]}", true},
		{HALF(OPEN("setup")) "{'name':'f'," SQRT "}]}", true},
		{"{'kind':'native','library':'libc.so.6','tools':[{'name':'f'," SQRT "}]}", true},
		{"{'kind':'native','libraries':['libm.so.6','libc.so.6'],'tools':[{'name':'f'," SQRT
		 "}]}",
			true},
		{HALF("'enums':{'e':{'a':0}},") "{'name':'f'," SQRT "}]}", true},
		{HALF("") "{'name':'f','native':{'symbol':'cbrt','parameters':[{'name':'x','type':"
			  "'f64'}],'returns':{'type':'f64'}}}]}",
			true},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct package *two[2];

		read_two(rows[0].manifest, rows[i].manifest, two);
		cr_expect_eq(memcmp(two[0]->tools[0]->run, two[1]->tools[0]->run,
				     ORIGIN_DIGEST_BYTES) != 0,
			rows[i].is_other, "%s", rows[i].manifest);
		package_unref(two[0]);
	}
}

Test(package, runs_a_program_otherwise_where_its_files_or_variables_are_others)
{
	static const char box[] = "{'kind':'command','cwd':'.','tools':[{'name':'f','command':"
				  "{'argv':['./run','x.sh','./y.sh']}}]}";
	static const char *const files[] = {"run", "x.sh", "y.sh"};
	unsigned char run[ORIGIN_DIGEST_BYTES];

	for (size_t i = 0; i <= ARRAY_SIZE(files); i++) {
		for (size_t k = 0; k < ARRAY_SIZE(files); k++) {
			manifest_write(files[k], "one");
			cr_assert_eq(chmod(manifest_path(files[k]), 0700), 0);
		}
		read_good(box);
		memcpy(run, package->tools[0]->run, sizeof(run));
		if (i < ARRAY_SIZE(files))
			manifest_write(files[i], "two");
		read_good(box);
		if (i == ARRAY_SIZE(files)) {
			package->environment = calloc(1, sizeof("A=b\0"));
			cr_assert(package->environment);
			memcpy(package->environment, "A=b", strlen("A=b"));
			cr_assert_eq(package_prepare(package), 0);
		}
		cr_expect_neq(memcmp(run, package->tools[0]->run, sizeof(run)), 0, "%zu", i);
	}
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
