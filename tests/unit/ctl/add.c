/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "../scratch.h"
#include "answering.h"
#include "ctl/add/added.h"
#include "ctl/add/stage.h"
#include "util/file/file.h"

/* The registrations that `add` puts into the user's folder, and `remove` takes out. JSON is written
 * with ' in place of ". */

#define FOLDER "data/toolboxd/toolbox.d"
#define RECORD "state/added.json"

static void set_up(void)
{
	scratch_set_up();
	setenv("XDG_DATA_HOME", scratch_path("data"), 1);
	setenv("STATE_DIRECTORY", scratch_path("state"), 1);
}

static void tear_down(void)
{
	answering_stop();
	scratch_tear_down();
}

TestSuite(ctl_add, .init = set_up, .fini = tear_down, .timeout = 60);

/* Return the text of the file @name, "" without one. */
static const char *text_of(const char *name)
{
	static struct buffer bytes;

	buffer_reset(&bytes);
	(void)file_read(scratch_path(name), 1 << 20, &bytes);
	return buffer_terminate(&bytes);
}

static bool is_there(const char *name)
{
	struct stat status;

	return lstat(scratch_path(name), &status) == 0;
}

/* Copy the files @names, up to NULL, and put them if @puts. Return the first status that is no
 * success. */
static int add_files(const char *const *names, bool puts)
{
	struct added added;
	struct stage stage;
	int r = added_open(true, &added);

	cr_assert_eq(r, 0);
	r = stage_open(&added, &stage);
	for (; r == 0 && *names; names++)
		r = stage_copy(&stage, scratch_path(*names));
	if (r == 0 && puts)
		r = stage_put(&stage);
	stage_close(&stage);
	added_close(&added);
	return r;
}

/* The same for one file. */
static int add_file(const char *name)
{
	const char *const names[] = {name, NULL};
	int r;

	capture_begin();
	r = add_files(names, true);
	capture_end();
	return r;
}

Test(ctl_add, puts_a_copy_and_notes_its_path)
{
	char record[512];

	scratch_write_json("words.json", "{'kind':'command'}");
	cr_expect_eq(add_file("words.json"), CTL_DONE);
	cr_expect_str_eq(text_of(FOLDER "/words.json"), "{\"kind\":\"command\"}");
	snprintf(record, sizeof(record), "[\"%s\"]\n", scratch_path(FOLDER "/words.json"));
	cr_expect_str_eq(text_of(RECORD), record);
}

Test(ctl_add, names_a_copy_by_its_id)
{
	scratch_write_json("manifest.json", "{'toolbox_id':'words'}");
	cr_expect_eq(add_file("manifest.json"), CTL_DONE);
	cr_expect(is_there(FOLDER "/words.json") && !is_there(FOLDER "/manifest.json"));
}

Test(ctl_add, leaves_nothing_where_it_only_copies)
{
	const char *const names[] = {"words.json", NULL};

	scratch_write_json("words.json", "{}");
	cr_expect_eq(add_files(names, false), CTL_DONE);
	cr_expect_not(is_there(FOLDER "/words.json"));
	cr_expect_eq(rmdir(scratch_path(FOLDER)), 0, "nothing is left in it");
}

Test(ctl_add, replaces_what_it_has_put_and_nothing_else)
{
	scratch_write("words.json", "1");
	cr_expect_eq(add_file("words.json"), CTL_DONE);
	scratch_write("words.json", "2");
	cr_expect_eq(add_file("words.json"), CTL_DONE);
	cr_expect_str_eq(text_of(FOLDER "/words.json"), "2");
	scratch_write(FOLDER "/own.json", "own");
	scratch_write("own.json", "3");
	cr_expect_eq(add_file("own.json"), CTL_ERROR);
	expect_complaint("own.json is there, and `toolboxctl add` has not put it there");
	cr_expect_str_eq(text_of(FOLDER "/own.json"), "own");
}

Test(ctl_add, puts_all_or_none)
{
	const char *const names[] = {"a.json", "b.json", NULL};
	char beside[64];
	int r;

	scratch_write("a.json", "1");
	cr_expect_eq(add_file("a.json"), CTL_DONE);
	scratch_write("a.json", "2");
	scratch_write("b.json", "2");
	/* The new record has the name of a folder beside it for a moment. */
	snprintf(beside, sizeof(beside), "state/.added.json.%d/in", (int)getpid());
	scratch_write(beside, "");
	capture_begin();
	r = add_files(names, true);
	capture_end();
	cr_expect_eq(r, CTL_ERROR);
	cr_expect_str_eq(text_of(FOLDER "/a.json"), "1");
	cr_expect_not(is_there(FOLDER "/b.json"));
}

Test(ctl_add, lets_a_folder_take_the_place_of_its_file)
{
	scratch_write("words.json", "{}");
	scratch_write("words/say", "#!/bin/sh\n");
	cr_expect_eq(add_file("words.json"), CTL_DONE);
	cr_expect_eq(add_file("words"), CTL_DONE);
	cr_expect(is_there(FOLDER "/words/say") && !is_there(FOLDER "/words.json"));
	cr_expect_null(strstr(text_of(RECORD), "words.json"));
}

Test(ctl_add, refuses_two_of_one_name)
{
	const char *const names[] = {"a/words.json", "b/words.json", NULL};
	int r;

	scratch_write("a/words.json", "{}");
	scratch_write("b/words.json", "{}");
	capture_begin();
	r = add_files(names, true);
	capture_end();
	cr_expect_eq(r, CTL_USAGE);
	expect_complaint("would both be words.json");
}

Test(ctl_add, refuses_names_that_no_service_looks_at)
{
	scratch_write("words.txt", "{}");
	cr_expect_eq(add_file("words.txt"), CTL_USAGE);
	expect_complaint("must be a manifest NAME.json, or a folder");
	scratch_write("_words.json", "{}");
	cr_expect_eq(add_file("_words.json"), CTL_USAGE);
	expect_complaint("the id '_words' must be 1 to 128 letters");
	cr_expect_eq(add_file("absent.json"), CTL_USAGE);
	expect_complaint("absent.json cannot be copied: No such file or directory");
}

/* Start a service that has loaded nothing. */
static void start(void)
{
	static const struct prepared messages[] = {
		{"ovos.tools.reload", "{'loaded':[],'total_tools':0,'failed':[]}", NULL},
		{"ovos.tools.status", "{'toolboxes':[],'failed':[],'not_offered':[]}", NULL},
		{0},
	};

	answering_start(messages);
}

Test(ctl_add, removes_what_it_has_put)
{
	start();
	scratch_write("words.json", "{}");
	cr_expect_eq(add_file("words.json"), CTL_DONE);
	cr_expect_eq(command_run(ctl_remove, "remove words"), CTL_DONE, "%s", command_complaints);
	expect_output("/words.json is removed\n");
	cr_expect_not(is_there(FOLDER "/words.json"));
	cr_expect_str_eq(text_of(RECORD), "[]\n");
	cr_expect_not_null(strstr(answering_requests(), "ovos.tools.reload"));
}

Test(ctl_add, removes_nothing_else)
{
	start();
	scratch_write(FOLDER "/own.json", "{}");
	cr_expect_eq(command_run(ctl_remove, "remove own"), CTL_ERROR);
	expect_complaint("has put no 'own' into");
	cr_expect(is_there(FOLDER "/own.json"));
	cr_expect_eq(command_run(ctl_remove, "remove ../own"), CTL_USAGE);
	cr_expect_str_eq(answering_requests(), "");
}

Test(ctl_add, touches_nothing_with_a_record_that_is_no_list)
{
	static const char *const records[] = {"{}", "[1]", "[", "\"text\""};

	scratch_write("words.json", "{}");
	for (size_t i = 0; i < 4; i++) {
		struct added added;

		scratch_write(RECORD, records[i]);
		capture_begin();
		cr_expect_eq(added_open(true, &added), CTL_ERROR, "%s", records[i]);
		capture_end();
		expect_complaint("must be an array of paths");
		added_close(&added);
	}
}

Test(ctl_add, knows_the_ids_of_its_own_folder)
{
	static const char *const ids[] = {"words", NULL, NULL, "home"};
	char record[2048];
	struct added added;

	snprintf(record, sizeof(record),
		"[\"%s/words.json\", \"/other/words.json\", \"%s/below/x.json\", \"%s/home\"]",
		scratch_path(FOLDER), scratch_path(FOLDER), scratch_path(FOLDER));
	scratch_write(RECORD, record);
	cr_assert_eq(added_open(false, &added), CTL_DONE);
	cr_assert_eq(added.paths.n_items, 4);
	for (size_t i = 0; i < 4; i++) {
		char *id = added_id(&added, i);

		cr_expect(ids[i] ? id && strcmp(id, ids[i]) == 0 : !id, "%zu", i);
		free(id);
	}
	cr_expect(added_has(&added, "home") && !added_has(&added, "other"));
	added_forget(&added, "home");
	cr_expect_not(added_has(&added, "home"));
	cr_expect_eq(added_note(&added, "home"), CTL_DONE);
	cr_expect_eq(added_note(&added, "home"), CTL_DONE);
	cr_expect_eq(added.paths.n_items, 4);
	added_close(&added);
}

/* The manifest of a folder of programs has no tools, and lies beside the folder. */
Test(ctl_add, keeps_a_manifest_and_its_folder_that_come_together)
{
	static const char *const orders[][3] = {
		{"words.json", "words", NULL}, {"words", "words.json", NULL}};

	start();
	scratch_write_json("words.json", "{'kind':'command'}");
	scratch_write("words/say", "#!/bin/sh\n");
	for (size_t i = 0; i < 2; i++) {
		cr_expect_eq(add_files(orders[i], true), CTL_DONE);
		cr_expect(is_there(FOLDER "/words.json") && is_there(FOLDER "/words/say"));
		cr_expect_not_null(strstr(text_of(RECORD), "/words.json\""));
		cr_expect_not_null(strstr(text_of(RECORD), "/words\""));
		cr_expect_eq(command_run(ctl_remove, "remove words"), CTL_DONE);
		cr_expect_eq(rmdir(scratch_path(FOLDER)), 0, "nothing is left in it");
	}
}
