/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "../scratch.h"
#include "answering.h"
#include "ctl/add/added.h"
#include "ctl/add/stage.h"
#include "manifest/manifest.h"
#include "scarce.h"
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
	setenv("HOME", scratch_path("home"), 1);
	setenv("XDG_CONFIG_HOME", scratch_path("configuration"), 1);
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
	struct stage stage = {0};
	int r = added_open(true, &added);

	r = r ? r : stage_open(&added, &stage);
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

/* Copy words.json, let somebody else put a file there, and put the copy. Return the status. */
static int add_late(void)
{
	struct added added;
	struct stage stage = {0};
	int r;

	scratch_write("words.json", "1");
	cr_assert_eq(added_open(true, &added), CTL_DONE);
	cr_assert_eq(stage_open(&added, &stage), CTL_DONE);
	cr_assert_eq(stage_copy(&stage, scratch_path("words.json")), CTL_DONE);
	scratch_write(FOLDER "/words.json", "own");
	capture_begin();
	r = stage_put(&stage);
	capture_end();
	stage_close(&stage);
	added_close(&added);
	return r;
}

Test(ctl_add, leaves_what_somebody_puts_there_while_it_checks)
{
	cr_expect_eq(add_late(), CTL_ERROR);
	expect_complaint("words.json is there, and `toolboxctl add` has not put it there");
	cr_expect_str_eq(text_of(FOLDER "/words.json"), "own");
	/* The same where its own file is gone. */
	cr_assert_eq(unlink(scratch_path(FOLDER "/words.json")), 0);
	cr_assert_eq(add_file("words.json"), CTL_DONE);
	cr_assert_eq(unlink(scratch_path(FOLDER "/words.json")), 0);
	cr_expect_eq(add_late(), CTL_ERROR);
	cr_expect_str_eq(text_of(FOLDER "/words.json"), "own");
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
		cleanup_free char *id = added_id(&added, i);

		cr_expect(ids[i] ? id && strcmp(id, ids[i]) == 0 : !id, "%zu", i);
	}
	cr_expect(added_has(&added, "home") && !added_has(&added, "other"));
	added_forget(&added, "home");
	cr_expect_not(added_has(&added, "home"));
	cr_expect_eq(added_note(&added, "home"), CTL_DONE);
	cr_expect_eq(added_note(&added, "home"), CTL_DONE);
	cr_expect_eq(added.paths.n_items, 4);
	added_close(&added);
}

/* ── what may be copied ──────────────────────────────────────────────────────────────────────── */

/* Add a manifest with this text from stdin. */
static int add_input(const char *text)
{
	const char *const source[] = {"-"};
	struct added added;
	struct stage stage = {0};
	int r;

	scratch_write_json("input", text);
	cr_assert_not_null(freopen(scratch_path("input"), "r", stdin));
	capture_begin();
	r = added_open(true, &added);
	r = r ? r : stage_open(&added, &stage);
	r = r ? r : stage_copy(&stage, source[0]);
	r = r ? r : stage_put(&stage);
	stage_close(&stage);
	added_close(&added);
	capture_end();
	return r;
}

Test(ctl_add, names_a_manifest_on_stdin_by_its_id_alone)
{
	static const struct {
		const char *text;
		const char *complaint;
	} cases[] = {
		{"", "the manifest on stdin must be JSON with a \"toolbox_id\""},
		{"{", "the manifest on stdin must be JSON with a \"toolbox_id\""},
		{"['words']", "the manifest on stdin must be JSON with a \"toolbox_id\""},
		{"{'toolbox_id':5}", "the manifest on stdin must be JSON with a \"toolbox_id\""},
		{"{'toolbox_id':'../up'}", "the manifest on stdin must be JSON with a "},
		{"{'toolbox_id':'a/b'}", "the manifest on stdin must be JSON with a "},
		{"{'toolbox_id':''}", "the manifest on stdin must be JSON with a "},
		{"{'toolbox_id':'_words'}", "-: the id '_words' must be 1 to 128 letters"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		cr_expect_eq(add_input(cases[i].text), CTL_USAGE, "%s", cases[i].text);
		expect_complaint(cases[i].complaint);
	}
	cr_expect_eq(rmdir(scratch_path(FOLDER)), 0, "nothing is left in it");
	cr_expect_eq(add_input("{'toolbox_id':'words'}"), CTL_DONE, "%s", command_complaints);
	cr_expect_str_eq(text_of(FOLDER "/words.json"), "{\"toolbox_id\":\"words\"}");
}

Test(ctl_add, copies_a_manifest_of_the_largest_size_and_no_larger)
{
	cleanup_free char *text = malloc(MANIFEST_BYTES_MAX + 2);
	struct stat status;

	memset(text, ' ', MANIFEST_BYTES_MAX + 1);
	text[MANIFEST_BYTES_MAX + 1] = '\0';
	memcpy(text, "{}", 2);
	scratch_write("words.json", text);
	cr_expect_eq(add_file("words.json"), CTL_USAGE);
	expect_complaint("words.json is too large to be added");
	cr_expect_not(is_there(FOLDER "/words.json"));
	cr_expect_eq(add_input(text), CTL_USAGE);
	expect_complaint("stdin is too large to be added");
	text[MANIFEST_BYTES_MAX] = '\0';
	scratch_write("words.json", text);
	cr_expect_eq(add_file("words.json"), CTL_DONE, "%s", command_complaints);
	cr_expect_eq(stat(scratch_path(FOLDER "/words.json"), &status), 0);
	cr_expect_eq(status.st_size, MANIFEST_BYTES_MAX);
}

Test(ctl_add, names_a_folder_as_it_is_called_and_not_as_it_was_typed)
{
	scratch_write("words/say", "#!/bin/sh\n");
	cr_assert_eq(symlink("words", scratch_path("link")), 0);
	cr_expect_eq(add_file("link"), CTL_DONE, "%s", command_complaints);
	cr_expect(is_there(FOLDER "/words/say") && !is_there(FOLDER "/link"));
	cr_expect_eq(add_file("words/."), CTL_DONE, "%s", command_complaints);
	cr_expect_eq(add_file("words/"), CTL_DONE, "%s", command_complaints);
	scratch_write("two words/say", "");
	cr_expect_eq(add_file("two words"), CTL_USAGE);
	expect_complaint("the id 'two words' must be");
}

Test(ctl_add, names_the_entry_at_which_a_folder_cannot_be_copied)
{
	char deep[128] = "words";

	for (int i = 0; i < 16; i++)
		strcat(deep, "/in");
	strcat(deep, "/note");
	scratch_write(deep, "");
	cr_expect_eq(add_file("words"), CTL_USAGE);
	expect_complaint("/words/in/in/in/in/in/in/in/in/in/in/in/in/in/in/in/in is too large");
	scratch_write("home/say", "");
	cr_assert_eq(symlink("absent", scratch_path("home/link")), 0);
	cr_expect_eq(add_file("home"), CTL_USAGE);
	expect_complaint("/home/link cannot be copied: No such file or directory");
	cr_expect_eq(rmdir(scratch_path(FOLDER)), 0, "nothing is left in it");
}

/* A dangling link belongs to somebody, too. */
Test(ctl_add, takes_no_place_that_a_link_has)
{
	scratch_write(FOLDER "/own.json", "own");
	cr_assert_eq(symlink("absent", scratch_path(FOLDER "/words.json")), 0);
	cr_assert_eq(symlink("own.json", scratch_path(FOLDER "/other.json")), 0);
	scratch_write("words.json", "{}");
	scratch_write("other.json", "{}");
	cr_expect_eq(add_file("words.json"), CTL_ERROR);
	expect_complaint("words.json is there, and `toolboxctl add` has not put it there");
	cr_expect_eq(add_file("other.json"), CTL_ERROR);
	cr_expect_str_eq(text_of(FOLDER "/own.json"), "own");
}

Test(ctl_add, lets_a_file_take_the_place_of_its_folder)
{
	scratch_write("words/say", "#!/bin/sh\n");
	scratch_write("words.json", "{}");
	cr_expect_eq(add_file("words"), CTL_DONE);
	cr_expect_eq(add_file("words.json"), CTL_DONE);
	cr_expect(is_there(FOLDER "/words.json") && !is_there(FOLDER "/words"));
	cr_expect_null(strstr(text_of(RECORD), "words\""));
}

/* A folder of the user's own is no other form of what `add` brings. */
Test(ctl_add, leaves_the_other_form_of_an_id_that_it_has_not_put)
{
	scratch_write(FOLDER "/words/own", "own");
	scratch_write("words.json", "{}");
	cr_expect_eq(add_file("words.json"), CTL_DONE);
	cr_expect_str_eq(text_of(FOLDER "/words/own"), "own");
	cr_expect(is_there(FOLDER "/words.json"));
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

/* ── the record ──────────────────────────────────────────────────────────────────────────────── */

Test(ctl_add, keeps_the_paths_of_other_folders_in_its_record)
{
	char record[1024];

	scratch_write(RECORD, "[\"/other/words.json\"]");
	scratch_write("words.json", "{}");
	cr_expect_eq(add_file("words.json"), CTL_DONE);
	snprintf(record, sizeof(record), "[\"/other/words.json\",\n \"%s\"]\n",
		scratch_path(FOLDER "/words.json"));
	cr_expect_str_eq(text_of(RECORD), record);
}

Test(ctl_add, reads_no_record_beyond_its_largest_size)
{
	static char record[(1 << 20) + 2];
	struct added added;

	memset(record, ' ', sizeof(record) - 1);
	memcpy(record, "[]", 2);
	scratch_write(RECORD, record);
	capture_begin();
	cr_expect_eq(added_open(true, &added), CTL_ERROR);
	capture_end();
	expect_complaint("added.json cannot be read: File too large");
	added_close(&added);
	record[1 << 20] = '\0';
	scratch_write(RECORD, record);
	cr_expect_eq(added_open(true, &added), CTL_DONE);
	added_close(&added);
}

Test(ctl_add, makes_no_folder_where_it_only_reads)
{
	struct added added;

	cr_expect_eq(added_open(false, &added), CTL_DONE);
	cr_expect_eq(added.lock, -1);
	cr_expect_eq(added.paths.n_items, 0);
	added_close(&added);
	cr_expect(!is_there("state") && !is_there("data"));
}

Test(ctl_add, tells_why_the_folder_cannot_be_written)
{
	scratch_write("data/toolboxd", "a file, and no folder");
	scratch_write("words.json", "{}");
	cr_expect_eq(add_file("words.json"), CTL_ERROR);
	expect_complaint(FOLDER " cannot be written: Not a directory");
	cr_expect_str_eq(text_of(RECORD), "");
}

Test(ctl_add, adds_nothing_to_a_configuration_that_is_closed)
{
	char line[512];

	scratch_write_json("configuration/mycroft/mycroft.conf",
		"{'toolboxd':{'profiles':{'quiet':{'allow':5}}}}");
	scratch_write_json("words.json", "{'kind':'command','tools':[{'name':'say','description':"
					 "'Says.','risk':'read','command':{'argv':['true']}}]}");
	snprintf(line, sizeof(line), "add %s", scratch_path("words.json"));
	cr_expect_eq(command_run(ctl_add, line), CTL_ERROR, "%s", command_complaints);
	expect_complaint("nothing was added, since nothing is offered by this configuration: ");
	cr_expect_not(is_there(FOLDER "/words.json"));
}

/* ── removing ────────────────────────────────────────────────────────────────────────────────── */

Test(ctl_add, names_what_it_has_put_when_the_id_is_another)
{
	start();
	scratch_write("words.json", "{}");
	scratch_write("home/say", "");
	cr_expect_eq(add_file("words.json"), CTL_DONE);
	cr_expect_eq(add_file("home"), CTL_DONE);
	cr_expect_eq(command_run(ctl_remove, "remove word"), CTL_ERROR);
	expect_complaint("; it has put there: words, home\n");
	cr_expect_str_eq(answering_requests(), "", "nothing has changed");
}

Test(ctl_add, forgets_what_has_gone_by_itself)
{
	start();
	scratch_write("words.json", "{}");
	cr_expect_eq(add_file("words.json"), CTL_DONE);
	cr_assert_eq(unlink(scratch_path(FOLDER "/words.json")), 0);
	cr_expect_eq(command_run(ctl_remove, "remove words"), CTL_DONE, "%s", command_complaints);
	cr_expect_str_eq(text_of(RECORD), "[]\n");
}

Test(ctl_add, leaves_what_takes_the_place_of_a_path_that_was_gone)
{
	scratch_write("words.json", "{}");
	scratch_write("home/say", "");
	cr_expect_eq(add_file("words.json"), CTL_DONE);
	cr_assert_eq(unlink(scratch_path(FOLDER "/words.json")), 0);
	cr_expect_eq(add_file("home"), CTL_DONE);
	cr_expect_null(strstr(text_of(RECORD), "words.json"));
	scratch_write(FOLDER "/words.json", "own");
	cr_expect_eq(add_file("words.json"), CTL_ERROR);
	expect_complaint("words.json is there, and `toolboxctl add` has not put it there");
	cr_expect_str_eq(text_of(FOLDER "/words.json"), "own");
}

Test(ctl_add, removes_a_folder_with_everything_in_it)
{
	start();
	scratch_write("home/say", "");
	scratch_write("home/below/deep", "");
	cr_expect_eq(add_file("home"), CTL_DONE);
	cr_expect_eq(command_run(ctl_remove, "remove home"), CTL_DONE, "%s", command_complaints);
	expect_output("/home is removed\n");
	cr_expect_eq(rmdir(scratch_path(FOLDER)), 0, "nothing is left in it");
}

/* ── memory that runs short ──────────────────────────────────────────────────────────────────── */

Test(ctl_add, puts_all_or_none_when_memory_runs_short)
{
	const char *const names[] = {"a.json", "b.json", NULL};

	scratch_write("a.json", "1");
	scratch_write("b.json", "2");
	cr_expect_eq(add_file("a.json"), CTL_DONE);
	for (size_t n = 0; scarce_once_after(n); n++) {
		bool has_failed, has_b;
		int r;

		scratch_write("a.json", "2");
		capture_begin();
		r = add_files(names, true);
		capture_end();
		has_failed = scarce_has_failed();
		has_b = is_there(FOLDER "/b.json");
		cr_expect(r == 0 || has_failed, "%zu", n);
		cr_expect(r != 0 || has_b, "%zu", n);
		cr_expect_str_eq(text_of(FOLDER "/a.json"), has_b ? "2" : "1", "%zu", n);
		cr_expect_eq(strstr(text_of(RECORD), "b.json") != NULL, has_b, "%zu", n);
		/* As before. */
		unlink(scratch_path(FOLDER "/b.json"));
		scratch_write("a.json", "1");
		unlink(scratch_path(RECORD));
		unlink(scratch_path(FOLDER "/a.json"));
		cr_assert_eq(add_file("a.json"), CTL_DONE);
	}
}
