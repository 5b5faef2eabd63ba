/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/sandbox_max.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../scratch.h"
#include "scarce.h"
#include "util/array.h"

/* The widest sandbox that the configuration allows. */

static char *dirs[1];
static struct config config = {.toolbox_dirs = {dirs, 1}};
static struct package package;
static struct sandbox_refusal refusal;

/*
 *   boxes          a registration folder, with box.json and own/box.json
 *   state/box      the state folder
 */
static void set_up(void)
{
	scratch_set_up();
	scratch_write("boxes/box.json", "");
	scratch_write("boxes/own/box.json", "");
	scratch_write("boxes/own/in/file", "");
	scratch_write("boxes/own2/file", "");
	scratch_write("state/box/file", "");
	scratch_write("state/box2/file", "");
	cr_assert_eq(symlink("../own2", scratch_path("boxes/own/out")), 0);
	setenv("STATE_DIRECTORY", scratch_path("state"), 1);
	dirs[0] = strdup(scratch_path("boxes"));
	package = (struct package){.id = (char *)"box"};
}

static void tear_down(void)
{
	text_list_deinit(&package.sandbox.read.list);
	text_list_deinit(&package.sandbox.write.list);
	free(package.file);
	free(dirs[0]);
	scratch_tear_down();
}

TestSuite(sandbox_max, .init = set_up, .fini = tear_down);

Test(sandbox_max, bounds_the_class_and_unix_sockets)
{
	static const char *const names[] = {"compute", "net", "command", "none"};

	for (int max = SANDBOX_COMPUTE; max <= SANDBOX_NONE; max++)
		for (int i = 0; i < 2 * SANDBOX_N_CLASSES; i++) {
			int class = i / 2;
			bool has_unix = i % 2;
			bool counts = has_unix && class <= SANDBOX_NET;
			bool is_refused = class > max || (counts && max <= SANDBOX_NET);
			char text[256];

			config.sandbox_max = (enum sandbox_class)max;
			package.sandbox.class = (enum sandbox_class) class;
			package.sandbox.has_unix = has_unix;
			cr_expect_eq(sandbox_max_refuses(&config, &package, &refusal), is_refused,
				"%s in %s", names[class], names[max]);
			if (!is_refused)
				continue;
			snprintf(text, sizeof(text),
				"the sandbox class \"%s\"%s is wider than \"%s\", the widest that "
				"toolboxd.sandbox_max of the configuration allows",
				names[class], counts ? " with unix sockets" : "", names[max]);
			cr_expect_str_eq(refusal.text, text);
			cr_expect_str_eq(refusal.pointer, "/sandbox/class");
		}
}

static void set_paths(struct sandbox_paths *paths, const char *first, const char *second)
{
	text_list_deinit(&paths->list);
	if (first)
		cr_assert_eq(text_list_add(&paths->list, scratch_path(first)), 0);
	if (second)
		cr_assert_eq(text_list_add(&paths->list, scratch_path(second)), 0);
}

static void set_file(const char *file)
{
	free(package.file);
	package.file = strdup(scratch_path(file));
}

#define OUTSIDE "is outside of the toolbox's own folder and of its state folder"
#define ABSENT  "does not exist"
#define INSIDE  "is inside of another path that may be written; leave it out"

Test(sandbox_max, bounds_the_paths_to_the_folders_of_the_toolbox)
{
	static const struct {
		const char *file;
		const char *path;
		const char *reading; /* why it is refused; NULL: it is not */
		const char *writing;
	} rows[] = {
		{"boxes/own/box.json", "boxes/own", NULL, NULL},
		{"boxes/own/box.json", "boxes/own/in/file", NULL, NULL},
		{"boxes/own", "boxes/own/in/file", NULL, NULL},
		{"boxes/own/box.json", "boxes/own2/file", OUTSIDE, OUTSIDE},
		{"boxes/own/box.json", "boxes/own/out/file", OUTSIDE, OUTSIDE},
		{"boxes/own/box.json", "boxes/own/out/../own/in", NULL, NULL},
		{"boxes/own/box.json", "boxes", OUTSIDE, OUTSIDE},
		{"boxes/own/box.json", "boxes/own/none", ABSENT, ABSENT},
		{"boxes/own/box.json", "state/box/file", NULL, NULL},
		{"boxes/own/box.json", "state/box", NULL, NULL},
		{"boxes/own/box.json", "state/box2/file", OUTSIDE, OUTSIDE},
		{"boxes/own/box.json", "state", OUTSIDE, OUTSIDE},
		{"boxes/box.json", "boxes/own2/file", NULL, OUTSIDE},
		{"boxes/box.json", "state/box", NULL, NULL},
		{"gone/box.json", "boxes/own", OUTSIDE, OUTSIDE},
	};

	config.sandbox_max = SANDBOX_COMMAND;
	for (size_t i = 0; i < 2 * ARRAY_SIZE(rows); i++) {
		bool is_written = i % 2;
		const char *reason = is_written ? rows[i / 2].writing : rows[i / 2].reading;
		char text[512];

		set_file(rows[i / 2].file);
		set_paths(&package.sandbox.read, is_written ? NULL : rows[i / 2].path, NULL);
		set_paths(&package.sandbox.write, is_written ? rows[i / 2].path : NULL, NULL);
		cr_expect_eq(sandbox_max_refuses(&config, &package, &refusal), reason != NULL,
			"%s, %s", rows[i / 2].file, rows[i / 2].path);
		if (!reason)
			continue;
		snprintf(text, sizeof(text),
			"%s %s; toolboxd.sandbox_max of the configuration is \"command\", and only "
			"\"none\" allows it",
			scratch_path(rows[i / 2].path), reason);
		cr_expect_str_eq(refusal.text, text, "%s", refusal.text);
		cr_expect_str_eq(
			refusal.pointer, is_written ? "/sandbox/write/0" : "/sandbox/read/0");
	}
}

Test(sandbox_max, takes_no_path_inside_of_a_written_one)
{
	config.sandbox_max = SANDBOX_NET;
	set_file("boxes/own/box.json");
	set_paths(&package.sandbox.write, "boxes/own/in", "boxes/own/in/file");
	cr_assert(sandbox_max_refuses(&config, &package, &refusal));
	cr_expect_str_eq(refusal.pointer, "/sandbox/write/1");
	cr_expect(strstr(refusal.text, "/file " INSIDE ";"), "%s", refusal.text);
	set_paths(&package.sandbox.write, "boxes/own/in", "boxes/own/in");
	cr_expect_not(sandbox_max_refuses(&config, &package, &refusal), "the same one");
	set_paths(&package.sandbox.read, "boxes/own/box.json", "boxes/own/in/file");
	cr_assert(sandbox_max_refuses(&config, &package, &refusal));
	cr_expect_str_eq(refusal.pointer, "/sandbox/read/1");
}

Test(sandbox_max, leaves_to_the_operator_and_to_wider_classes_what_they_name)
{
	config.sandbox_max = SANDBOX_COMMAND;
	set_file("boxes/own/box.json");
	set_paths(&package.sandbox.read, "boxes/own", "boxes/own2");
	package.sandbox.read.n_operator = 1;
	cr_expect_not(sandbox_max_refuses(&config, &package, &refusal));
	package.sandbox.read.n_operator = 0;
	cr_expect(sandbox_max_refuses(&config, &package, &refusal));
	package.sandbox.class = SANDBOX_COMMAND;
	cr_expect_not(sandbox_max_refuses(&config, &package, &refusal));
	package.sandbox.class = SANDBOX_NET;
	cr_expect(sandbox_max_refuses(&config, &package, &refusal));
	config.sandbox_max = SANDBOX_NONE;
	cr_expect_not(sandbox_max_refuses(&config, &package, &refusal));
}

Test(sandbox_max, refuses_what_it_cannot_judge_without_memory)
{
	size_t n = 0;

	config.sandbox_max = SANDBOX_COMMAND;
	set_file("boxes/own/box.json");
	set_paths(&package.sandbox.read, "boxes/own/in", NULL);
	set_paths(&package.sandbox.write, "state/box", NULL);
	for (; scarce_once_after(n); n++) {
		bool is_refused = sandbox_max_refuses(&config, &package, &refusal);

		cr_expect_eq(is_refused, scarce_has_failed(), "%zu", n);
		if (is_refused) {
			cr_expect_str_eq(refusal.text, strerror(ENOMEM));
			cr_expect_str_eq(refusal.pointer, "");
		}
	}
	cr_expect_gt(n, 5);
}
