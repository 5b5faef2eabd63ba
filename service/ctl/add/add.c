/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "config/config.h"
#include "ctl/add/added.h"
#include "ctl/add/offered.h"
#include "ctl/add/stage.h"
#include "ctl/check/advice.h"
#include "ctl/command.h"
#include "ctl/terminal.h"
#include "loader/offline.h"
#include "manifest/manifest.h"
#include "util/cleanup.h"

/*
 * toolboxctl add and remove: the user's own registrations, from a file or a text.
 *
 *   FILE… ─▶ copies (ctl/add/stage.h) ─▶ check, as `check` does ─▶ the user's toolbox.d
 *                                            │ an error: nothing has changed     │
 *                                            ▼                                   ▼
 *                                           exit 1          reload, and what is offered now
 */

/* ── the check ───────────────────────────────────────────────────────────────────────────────── */

struct checking {
	const struct stage *stage;
	struct diagnostic_counts counts;
	bool is_alone; /* a file names another file that was not, or may not be, copied with it */
};

/* Return the item whose copy is at the begin of @text, or NULL. */
static const struct staged *find_item(const struct stage *stage, const char *text)
{
	const struct staged *found = NULL;

	for (size_t i = 0; i < stage->n_items; i++) {
		const struct staged *item = &stage->items[i];

		if (strncmp(text, item->path, strlen(item->path)) == 0 &&
			(!found || strlen(item->path) > strlen(found->path)))
			found = item;
	}
	return found;
}

/* Append @text with the names of the command line in place of the paths of copies. */
static void write_sources(struct checking *checking, const char *text, struct buffer *out)
{
	const struct stage *stage = checking->stage;
	const char *at;

	while ((at = strstr(text, stage->path))) {
		const struct staged *item = find_item(stage, at);

		buffer_append(out, text, (size_t)(at - text));
		text = at + strlen(item ? item->path : stage->path);
		if (item) {
			buffer_append_string(
				out, strcmp(item->source, "-") == 0 ? "stdin" : item->source);
			continue;
		}
		/* A path beside a copied file. */
		checking->is_alone = true;
		buffer_append_char(out, '.');
	}
	buffer_append_string(out, text);
}

/* Return whether @finding is about the library of a file: a name without a path may be the name of
 * a library beside the file on the command line. */
static bool is_about_library(const struct stage *stage, const struct diagnostic *finding)
{
	const struct staged *item = finding->file ? find_item(stage, finding->file) : NULL;

	return item && !item->is_folder && finding->pointer &&
	       strncmp(finding->pointer, "/librar", strlen("/librar")) == 0;
}

/* A diagnostic_function. */
static void print_finding(void *data, const struct diagnostic *finding)
{
	struct checking *checking = data;
	cleanup(buffer_deinit) struct buffer file = {0};
	cleanup(buffer_deinit) struct buffer text = {0};
	struct diagnostic named = *finding;

	write_sources(checking, finding->file ? finding->file : "", &file);
	write_sources(checking, finding->text, &text);
	checking->is_alone |= is_about_library(checking->stage, finding);
	if (buffer_terminate(&file) && buffer_terminate(&text)) {
		named.file = finding->file ? file.data : NULL;
		named.text = text.data;
	}
	terminal_print_finding(&checking->counts, &named);
}

/* Return 0 or -ENOMEM. */
static int advise(struct checking *checking, const struct catalogue *catalogue)
{
	const struct diagnostic_sink sink = {print_finding, checking};
	int r = 0;

	for (size_t i = 0; r == 0 && i < catalogue_n_toolboxes(catalogue); i++)
		r = advice_give(catalogue_toolbox(catalogue, i, NULL, NULL), &sink);
	return r;
}

/* Load the copies by @config, and print what `check` would. Return 0 or a negative errno after a
 * complaint. */
static int load_copies(struct checking *checking, const struct config *config)
{
	cleanup(catalogue_cleanup) struct catalogue *catalogue = NULL;
	const struct stage *stage = checking->stage;
	cleanup_free const char **files = calloc(stage->n_items, sizeof(*files));
	char reason[OFFLINE_WHY_BYTES];
	int r;

	if (!files)
		return -ENOMEM;
	for (size_t i = 0; i < stage->n_items; i++)
		files[i] = stage->items[i].path;
	r = offline_load(config, files, stage->n_items, print_finding, checking, &catalogue,
		OFFLINE_ASKS_SERVERS, reason);
	if (r < 0) {
		terminal_complain("%s", reason);
		return r;
	}
	return advise(checking, catalogue);
}

/* Return 0, or CTL_ERROR after complaints about what is wrong with the copies. */
static int check_copies(const struct stage *stage)
{
	const struct config_flags flags = {0};
	cleanup(config_deinit) struct config config = {0};
	struct checking checking = {.stage = stage};
	int r = config_read(&flags, terminal_complain_error, NULL, &config);

	if (r == 0 && config.closed) {
		terminal_complain("nothing was added, since nothing is offered by this "
				  "configuration: %s",
			config.closed);
		return CTL_ERROR;
	}
	r = r ? r : load_copies(&checking, &config);
	if (checking.is_alone)
		terminal_complain("a file is copied alone: with what it names by relative paths it "
				  "is copied when both are in a folder, and the folder is added");
	if (r == 0 && checking.counts.n_errors == 0)
		return 0;
	terminal_complain("nothing was added");
	return CTL_ERROR;
}

/* ── the commands ────────────────────────────────────────────────────────────────────────────── */

/* Copy, check and put what the command line names. Return 0 with the names in the folder, or an
 * enum ctl_status after a complaint. */
static int put_all(
	const struct ctl_options *options, struct added *added, struct text_list *ret_names)
{
	cleanup(stage_close) struct stage stage = {0};
	int r = stage_open(added, &stage);

	for (size_t i = 1; r == 0 && i < options->n_positional; i++)
		r = stage_copy(&stage, options->positional[i]);
	r = r ? r : check_copies(&stage);
	r = r ? r : stage_put(&stage);
	for (size_t i = 0; r == 0 && i < stage.n_items; i++)
		r = text_list_add(ret_names, stage.items[i].name) < 0 ? CTL_ERROR : 0;
	return r;
}

int ctl_add(const struct ctl_options *options)
{
	cleanup(text_list_deinit) struct text_list names = {0};
	struct added added;
	int r = added_open(true, &added);

	r = r ? r : put_all(options, &added, &names);
	r = r ? r : offered_report(options, &added, &names);
	added_close(&added);
	return r;
}

/* Complain that `add` has not put @id into the folder, with what it has put there. */
static int complain_not_added(const struct added *added, const char *id)
{
	cleanup(buffer_deinit) struct buffer names = {0};

	for (size_t i = 0; i < added->paths.n_items; i++) {
		cleanup_free char *other = added_id(added, i);

		if (!other)
			continue;
		buffer_append_string(&names, names.size > 0 ? ", " : "; it has put there: ");
		buffer_append_string(&names, other);
	}
	terminal_complain("`toolboxctl add` has put no '%s' into %s%s", id, added->folder,
		buffer_terminate(&names) ? names.data : "");
	return CTL_ERROR;
}

/* Take the file and the folder of @id out. Return 0, or CTL_ERROR after a complaint. */
static int take_out(const struct ctl_options *options, struct added *added)
{
	const char *id = options->positional[1];
	char file[MANIFEST_ID_BYTES + sizeof(".json")];
	const char *const names[] = {file, id};
	cleanup(stage_close) struct stage stage = {0};
	int r;

	snprintf(file, sizeof(file), "%s.json", id);
	if (!added_has(added, file) && !added_has(added, id))
		return complain_not_added(added, id);
	r = stage_open(added, &stage);
	for (size_t i = 0; r == 0 && i < 2; i++) {
		if (!added_has(added, names[i]))
			continue;
		r = stage_take(&stage, names[i]);
		if (r == 0 && !options->json)
			printf("%s/%s is removed\n", added->folder, names[i]);
	}
	return r;
}

int ctl_remove(const struct ctl_options *options)
{
	const char *id = options->positional[1];
	struct added added;
	int r;

	if (!manifest_is_id(id)) {
		terminal_complain("'%s' is no id of a toolbox: letters, digits, '_' and '-'", id);
		return CTL_USAGE;
	}
	r = added_open(true, &added);
	r = r ? r : take_out(options, &added);
	r = r ? r : offered_report_rest(options, id);
	added_close(&added);
	return r;
}
