/* SPDX-License-Identifier: Apache-2.0 */

/*
 * files: text files below the folders of an operator. toolbox.h is the manual of plugins; the idea
 * of each tool is in its own file.
 *
 *   read.c   lines.c indentation.c     list.c     grep.c   walk.c ignore.c glob.c
 *   write.c                            edit.c     diff.c   patch_tool.c patch_parse.c patch_apply.c
 *        └──────────── change.c: files are replaced whole, or not at all ─┘
 *   fence.c: which paths          common/: text that grows, answers
 */

#include "files.h"

#include <string.h>

#include "schema_text.h"
#include "stringify.h"

const char *read_path(
	struct toolbox_call call, const char *key, const char *fallback, struct text *why)
{
	const char *path = fallback;
	size_t size = strlen(fallback);

	if (toolbox_get_string(call, key, &path, &size) == TOOLBOX_E_MEMORY)
		text_put(why, "out of memory");
	else if (strlen(path) != size)
		text_put(why, "a path has the character U+0000");
	else
		return path;
	return NULL;
}

/* ── the table ───────────────────────────────────────────────────────────────────────────────── */

static const char read_schema[] = OBJECT("\"file_path\"",
	STRING("file_path", "Absolute path of the file.") "," NUMBER(
		"offset", "1", ",\"default\":1", "The line to begin with.") "," NUMBER("limit", "1",
		",\"default\":" STRINGIFY(READ_LINES),
		"The most lines.") ","
				   "\"mode\":{\"enum\":[\"slice\",\"indentation\"],"
				   "\"default\":\"slice\",\"description\":"
				   "\"slice: lines from offset on. indentation: "
				   "the block of code around a line.\"},"
				   "\"indentation\":" OBJECT(
					   "", NUMBER("anchor_line", "1", "",
						       "A line of the block. "
						       "Default: offset.") "," NUMBER("max_levels",
						       "0", ",\"default\":0",
						       "How many levels of "
						       "indentation to go up; 0: "
						       "all.") "," FLAG("include_"
									"siblings",
						       "true",
						       "Other blocks of the lowest "
						       "level, too.") "," FLAG("inc"
									       "lud"
									       "e_"
									       "hea"
									       "de"
									       "r",
						       "true",
						       "Comments above the block, "
						       "too.") "," NUMBER("max_"
									  "lines",
						       "1", "",
						       "The most lines. Default: "
						       "limit.")));

static const char list_schema[] = OBJECT("\"dir_path\"",
	STRING("dir_path", "Absolute path of the folder.") "," NUMBER("offset", "1",
		",\"default\":1", "The entry to begin with.") "," NUMBER("limit", "1",
		",\"default\":" STRINGIFY(LIST_ENTRIES), "The most entries.") "," NUMBER("depth",
		"1", ",\"default\":" STRINGIFY(LIST_DEPTH), "How many levels of folders to list."));

static const char grep_schema[] = OBJECT("\"pattern\"",
	STRING("pattern", "Regular expression (PCRE2) that a line of the "
			  "file matches.") "," STRING("include",
		"Only files whose path matches this glob, such as "
		"*.{c,h}.") "," STRING("path",
		"Absolute path of the folder or file to search. Default: the "
		"first root.") ","
			       "\"limit\":{\"type\":\"integer\",\"minimum\":"
			       "1,\"maximum\":" STRINGIFY(GREP_PATHS_MAX) ",\"default\":" STRINGIFY(
				       GREP_PATHS) ","
						   "\"description\":\"The most paths.\"}");

static const char write_schema[] = OBJECT("\"path\",\"content\"",
	STRING("path",
		"Absolute path of the file.") ","
					      "\"content\":{\"type\":\"string\",\"description\":"
					      "\"The whole text of the file.\"}");

static const char edit_schema[] = OBJECT("\"path\",\"edits\"",
	STRING("path", "Absolute path of the file.") ","
						     "\"edits\":{\"type\":\"array\",\"minItems\":1,"
						     "\"maxItems\":1000,\"items\":" OBJECT(
							     "\"oldText\",\"newText\"",
							     "\"oldText\":{\"type\":\"string\","
							     "\"description\":"
							     "\"Text that is in the file exactly "
							     "once.\"},"
							     "\"newText\":{\"type\":\"string\","
							     "\"description\":\"The text in its "
							     "place.\"}") "}," FLAG("dryRun",
							     "false", "Only show the change."));

static const char patch_schema[] = OBJECT("\"input\"",
	"\"input\":{\"type\":\"string\",\"description\":\"The patch, from *** Begin Patch to "
	"*** End Patch.\"}");

static const char patch_description[] =
	"Change text files by a patch. Its grammar:\n"
	"Patch := Begin { FileOp } End\n"
	"Begin := \"*** Begin Patch\" NEWLINE\n"
	"End := \"*** End Patch\" NEWLINE\n"
	"FileOp := AddFile | DeleteFile | UpdateFile\n"
	"AddFile := \"*** Add File: \" path NEWLINE { \"+\" line NEWLINE }\n"
	"DeleteFile := \"*** Delete File: \" path NEWLINE\n"
	"UpdateFile := \"*** Update File: \" path NEWLINE [ MoveTo ] { Hunk }\n"
	"MoveTo := \"*** Move to: \" newPath NEWLINE\n"
	"Hunk := \"@@\" [ header ] NEWLINE { HunkLine } [ \"*** End of File\" NEWLINE ]\n"
	"HunkLine := (\" \" | \"-\" | \"+\") text NEWLINE\n"
	"Give about three lines of context around each change; where they are not unique, a header "
	"(@@ class or function) goes to a line before them. A relative path is below the first "
	"writable folder. All files are changed, or none.";

static const struct toolbox_tool tools[] = {
	{
		.name = "read_file",
		.title = "Read a file",
		.description =
			"Read lines of a text file, numbered as L1: TEXT. Use offset and limit for "
			"parts of a large file, or mode indentation for the block around a line.",
		.argument_schema = read_schema,
		.risk = TOOLBOX_READ,
		.timeout_ms = 30000,
		.result_max_chars = RESULT_CHARS_MAX,
		.handler = read_file,
	},
	{
		.name = "list_dir",
		.title = "List a folder",
		.description =
			"List a folder and its subfolders, level by level, with paths relative to "
			"it. A path ends with / for a folder, @ for a link, ? for anything else "
			"that is no file.",
		.argument_schema = list_schema,
		.risk = TOOLBOX_READ,
		.timeout_ms = 30000,
		.result_max_chars = RESULT_CHARS_MAX,
		.handler = list_dir,
	},
	{
		.name = "grep_files",
		.title = "Search files",
		.description =
			"Find the files that have a line matching a regular expression, newest "
			"first. Hidden files, binary files and what ignore files name are left "
			"out.",
		.argument_schema = grep_schema,
		.risk = TOOLBOX_READ,
		.timeout_ms = 35000,
		.result_max_chars = RESULT_CHARS_MAX,
		.handler = grep_files,
	},
	{
		.name = "write_file",
		.title = "Write a file",
		.description =
			"Write a text file as a whole: a new one, or in place of an old one.",
		.argument_schema = write_schema,
		.risk = TOOLBOX_WRITE,
		.flags = TOOLBOX_IDEMPOTENT,
		.timeout_ms = 30000,
		.examples =
			"[{\"args\":{\"path\":\"/home/ada/todo.txt\",\"content\":\"milk\\n\"}}]",
		.handler = write_file,
	},
	{
		.name = "edit_file",
		.title = "Edit a file",
		.description =
			"Replace texts of a file, one after the other, and show the change as a "
			"unified diff. Each oldText has to be in the file exactly once.",
		.argument_schema = edit_schema,
		.risk = TOOLBOX_WRITE,
		.timeout_ms = 30000,
		.result_max_chars = RESULT_CHARS_MAX,
		.examples =
			"[{\"args\":{\"path\":\"/home/ada/"
			"todo.txt\",\"edits\":[{\"oldText\":\"milk\",\"newText\":\"bread\"}]}}]",
		.handler = edit_file,
	},
	{
		.name = "apply_patch",
		.title = "Apply a patch",
		.description = patch_description,
		.argument_schema = patch_schema,
		.risk = TOOLBOX_WRITE,
		.timeout_ms = 30000,
		.examples = "[{\"args\":{\"input\":\"*** Begin Patch\\n*** Update File: "
			    "todo.txt\\n@@\\n milk\\n-bread\\n+rolls\\n*** End Patch\"}}]",
		.handler = apply_patch,
	},
};

static const struct fence_settings settings = {
	.roots = "roots", .writable = "writable", .exceptions = "allow_secrets"};

static int init(
	struct toolbox_call call, const struct toolbox_tool **ret_tools, uint32_t *ret_n_tools)
{
	(void)ret_tools;
	(void)ret_n_tools;
	return fence_init(call, &settings);
}

TOOLBOX_PLUGIN(tools, init, NULL);
