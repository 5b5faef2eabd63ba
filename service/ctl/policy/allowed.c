/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/policy/allowed.h"

#include "ctl/command.h"
#include "ctl/policy/own_files.h"
#include "ctl/table.h"
#include "ctl/terminal.h"
#include "json/writer.h"
#include "util/array.h"

/* toolboxctl approvals --allowed: list the tools that never ask: from approval.allow in the
 * configuration of the service, and remembered by `toolboxctl allow`. */

/* Read the entries of all @folders, the lowest first. Return 0, or CTL_ERROR after a complaint. */
static int read_folders(const struct text_list *folders, struct config_remembered *entries)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < folders->n_items; i++)
		r = own_files_read(folders->items[i], REMEMBERED_ALLOW, entries);
	return r;
}

/* The name of the key, in the column of the users. */
#define CONFIGURED "approval.allow"

static void print_table(const struct text_list *configured, const struct config_remembered *entries)
{
	static const struct table_column columns[] = {
		{"TOOLS", false}, {"SINCE", false}, {"BY", false}};
	cleanup(table_deinit) struct table table = TABLE(columns);

	for (size_t i = 0; i < configured->n_items; i++) {
		table_add(&table, configured->items[i]);
		table_add(&table, "");
		table_add(&table, CONFIGURED);
	}
	for (size_t i = 0; i < entries->names.n_items; i++) {
		table_add(&table, entries->names.items[i]);
		table_add_time(&table, entries->since.items[i]);
		table_add(&table, entries->by.items[i]);
	}
	if (table_rows(&table) > 0)
		table_print(&table);
	else
		terminal_complain("no tool is allowed: all ask whose risk does (approval.mode)");
}

/* Append an element; @since and @by: NULL for a name of the configuration. */
static void write_entry(
	struct buffer *out, bool is_first, const char *name, const char *since, const char *by)
{
	buffer_append_string(out, is_first ? "{" : ",{");
	json_write_member_text(out, "name", name);
	json_write_member_text(out, "since", since);
	json_write_member_text(out, "by", by);
	buffer_append_char(out, '}');
}

static void print_allowed_json(
	const struct text_list *configured, const struct config_remembered *entries)
{
	cleanup(buffer_deinit) struct buffer out = {0};

	buffer_append_string(&out, "{\"allowed\":[");
	for (size_t i = 0; i < configured->n_items; i++)
		write_entry(&out, i == 0, configured->items[i], NULL, NULL);
	for (size_t i = 0; i < entries->names.n_items; i++)
		write_entry(&out, configured->n_items + i == 0, entries->names.items[i],
			entries->since.items[i], entries->by.items[i]);
	buffer_append_string(&out, "]}\n");
	terminal_print_json_text(&out);
}

int allowed_list(const struct ctl_options *options)
{
	cleanup(ctl_session_cleanup) struct ctl_session *session = NULL;
	cleanup(remembered_deinit) struct config_remembered entries = {0};
	cleanup(text_list_deinit) struct text_list configured = {0};
	cleanup(text_list_deinit) struct text_list folders = {0};
	int r = ctl_session_open(options, &session);

	if (r == 0)
		r = own_files_ask_allowed(session, &folders, &configured);
	if (r == 0)
		r = read_folders(&folders, &entries);
	if (r != 0)
		return r;
	if (options->json)
		print_allowed_json(&configured, &entries);
	else
		print_table(&configured, &entries);
	return CTL_DONE;
}
