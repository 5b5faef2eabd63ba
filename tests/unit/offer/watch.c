/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "catalogue_fixture.h"
#include "config_fixture.h"
#include "offer/reload.h"

/* The files whose changes begin a reload. Each has a place of its own in the folder of the test. */

static struct loop *loop;
static struct offer offer;
static struct paths paths;
static struct config_flags flags;
static char *dirs[2];
static struct toolbox *boxes[2]; /* the toolboxes in force */
static struct toolbox *toolbox;  /* the last one */
static struct reload reload = {
	.parts = {.config = &config, .offer = &offer}, .flags = &flags, .paths = &paths};

static void set_up(void)
{
	config_set_up();
	for (size_t i = 0; i < 2; i++)
		dirs[i] = strdup(in_folder(i == 0 ? "box.d" : "more.d"));
	flags.toolbox_dirs = (const char *const *)dirs;
	flags.n_toolbox_dirs = 2;
	snprintf(paths.library_dir, sizeof(paths.library_dir), "%s", in_folder("lib"));
	write_file("box.d/a.json", "{}");
	write_file("far/x", "");
	boxes[0] = make_toolbox("a", "f", NULL);
	boxes[1] = toolbox = make_toolbox("b", "f", NULL);
	offer.catalogue = catalogue_new(boxes, 2, NULL, NULL, 1);
	cr_assert(offer.catalogue);
	cr_assert_eq(loop_new(&loop), 0);
}

static void tear_down(void)
{
	watcher_free(reload.watcher);
	catalogue_free(offer.catalogue);
	package_unref(boxes[0]->package);
	package_unref(boxes[1]->package);
	loop_free(loop);
	free(dirs[0]);
	free(dirs[1]);
	config_tear_down();
}

TestSuite(watch, .init = set_up, .fini = tear_down, .timeout = 60);

static void do_nothing(void *data)
{
	(void)data;
}

/* Watch what there is now, with @flags read again. */
static void watch(void)
{
	cr_assert_eq(read_with(&flags), 0);
	watcher_free(reload.watcher);
	cr_assert_eq(watcher_new(loop, do_nothing, NULL, &reload.watcher), 0);
	reload_watch(&reload, false);
}

/* Write each of the files @names, up to NULL: its change @is_noticed. */
static void expect_each(const char *const *names, bool is_noticed)
{
	static unsigned int n_changes;
	char text[40];

	for (; *names; names++) {
		snprintf(text, sizeof(text), "%032u", ++n_changes);
		watch();
		cr_assert_not(watcher_is_pending(reload.watcher));
		write_file(*names, text); /* a token, too */
		cr_expect_eq(watcher_is_pending(reload.watcher), is_noticed, "%s", *names);
	}
}

#define NOTICED(...) expect_each((const char *const[]){__VA_ARGS__, NULL}, true)
#define IGNORED(...) expect_each((const char *const[]){__VA_ARGS__, NULL}, false)

/* Make @name a link to @target. */
static void link_to(const char *name, const char *target)
{
	unlink(in_folder(name));
	write_file(name, "");
	cr_assert_eq(unlink(in_folder(name)), 0);
	cr_assert_eq(symlink(target, in_folder(name)), 0);
}

/* Replace the link @name by itself: that is noticed, or not. */
static void expect_link(const char *name, bool is_noticed)
{
	char target[128] = "";

	watch();
	cr_assert_gt(readlink(in_folder(name), target, sizeof(target) - 1), 0);
	link_to(name, target);
	cr_expect_eq(watcher_is_pending(reload.watcher), is_noticed, "%s", name);
}

Test(watch, notices_the_files_that_are_read)
{
	NOTICED("box.d/a.json", "box.d/new.json", "more.d/first.json", "lib/new.so",
		"home/.config/mycroft/mycroft.conf", "distribution.conf");
	IGNORED("far/x", "unknown.conf");
}

Test(watch, notices_programs_that_are_dropped_in)
{
	write_file("box.d/tools/a.sh", "#!/bin/sh\n");
	link_to("box.d/tools/b.sh", in_folder("far/b.sh"));
	NOTICED("box.d/tools/a.sh", "box.d/tools/new.sh", "far/b.sh");
	IGNORED("far/x");
}

Test(watch, follows_links_however_they_are_written)
{
	link_to("box.d/0.json", "../far/real");
	link_to("box.d/a.json", "../one/./link");
	link_to("one/link", in_folder("two//link"));
	link_to("two/link", ".././one/../three/real");
	NOTICED("three/real", "far/real");
	expect_link("one/link", true);
	expect_link("two/link", true);
	IGNORED("three/x", "two/x", "one/x");
}

Test(watch, follows_links_of_folders)
{
	cr_assert_eq(symlink("far", in_folder("near")), 0);
	link_to("box.d/a.json", "../near/real");
	link_to("more.d", "elsewhere.d");
	NOTICED("far/real", "elsewhere.d/a.json");
	expect_link("near", true);
	expect_link("more.d", true);
	IGNORED("far/x");
}

/* As many as the kernel follows. */
Test(watch, follows_40_links_in_a_row)
{
	char name[32];
	char target[40];

	for (unsigned int n = 40; n <= 41; n++) {
		snprintf(target, sizeof(target), "../far/real");
		for (unsigned int i = n; i > 1; i--) {
			snprintf(name, sizeof(name), "chain/%u-%u", n, i);
			link_to(name, target);
			snprintf(target, sizeof(target), "../%s", name);
		}
		link_to("box.d/a.json", target);
		if (n == 40)
			NOTICED("far/real");
		else
			IGNORED("far/real");
	}
}

/* A link to it only masks a file of another folder. */
Test(watch, leaves_the_null_device_alone)
{
	link_to("box.d/a.json", "/dev/null");
	watch();
	cr_assert_eq(utimensat(AT_FDCWD, "/dev/null", NULL, 0), 0);
	cr_expect_not(watcher_is_pending(reload.watcher));
	expect_link("box.d/a.json", true);
}

Test(watch, notices_the_libraries_found_by_path)
{
	struct toolbox_library second = {.path = strdup(in_folder("libs/second.so"))};
	struct toolbox_library same = {.path = (char *)in_folder("libs/first.so"), .next = &second};
	struct toolbox_library *first = &toolbox->package->library;

	first->path = strdup(in_folder("libs/first.so"));
	first->next = &same;
	write_file("libs/first.so", "");
	link_to("libs/second.so", "../far/second.so");
	NOTICED("libs/first.so", "far/second.so");
	expect_link("libs/second.so", true);
	IGNORED("libs/third.so", "far/x");
	free(first->path);
	first->path = strdup("first.so");
	IGNORED("libs/first.so");
	first->next = NULL;
	free(second.path);
}

Test(watch, notices_files_with_other_names)
{
	struct package *package = toolbox->package;
	uint32_t index;

	write_file("far/a.json", "");
	write_file("far/b.sh", "");
	cr_assert_eq(origins_add(&package->definition, in_folder("box.d/a.json"), &index), 0);
	cr_assert_eq(origins_add(&package->definition, in_folder("far/a.json"), &index), 0);
	cr_assert_eq(origins_add(&package->programs, in_folder("far/b.sh"), &index), 0);
	IGNORED("far/a.json", "far/b.sh");
	package->definition.items[1].is_shared = true;
	package->programs.items[0].is_shared = true;
	NOTICED("far/a.json", "far/b.sh");
}

Test(watch, notices_what_is_served_instead_of_registered_toolboxes)
{
	char *files[] = {strdup(in_folder("served/box.json")), strdup(in_folder("programs"))};

	write_file("served/box.json", "{}");
	write_file("programs/a.sh", "#!/bin/sh\n");
	link_to("programs/b.sh", "../far/b.sh");
	flags.files = (const char *const *)files;
	flags.n_files = 2;
	NOTICED("served/box.json", "served/beside.sh", "programs/a.sh", "far/b.sh");
	IGNORED("far/x");
	free(files[0]);
	free(files[1]);
}

Test(watch, notices_the_files_of_tokens)
{
	char text[512];

	write_file("tokens/one", "0123456789abcdef0123456789abcdef");
	write_file("tokens/two", "1123456789abcdef0123456789abcdef");
	write_file("tokens/bus", "2123456789abcdef0123456789abcdef");
	snprintf(text, sizeof(text),
		"{\"toolboxd\":{\"embedded\":{\"token_file\":\"%s\"},\"http\":{\"tokens\":["
		"{\"name\":\"one\",\"token_file\":\"%s\"},"
		"{\"name\":\"two\",\"token_file\":\"%s\"}]}}}",
		in_folder("tokens/bus"), in_folder("tokens/one"), in_folder("tokens/two"));
	write_user_file(text);
	NOTICED("tokens/one", "tokens/two", "tokens/bus");
	IGNORED("tokens/three");
}

Test(watch, finds_folders_from_where_the_daemon_runs)
{
	const char *relative = "rel.d";

	link_to("rel.d", "elsewhere.d");
	cr_assert_eq(chdir(in_folder(".")), 0);
	flags.toolbox_dirs = &relative;
	flags.n_toolbox_dirs = 1;
	NOTICED("elsewhere.d/a.json");
	expect_link("rel.d", true);
	cr_assert_eq(chdir("/"), 0);
}

Test(watch, is_empty_where_there_is_no_inotify)
{
	reload.is_unwatched = true;
	cr_assert_eq(read_with(&flags), 0);
	reload_watch(&reload, true);
	cr_expect_not(reload.is_unwatched);
}
