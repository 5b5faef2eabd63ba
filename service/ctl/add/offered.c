/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/add/offered.h"

#include <stdio.h>
#include <string.h>

#include "ctl/command.h"
#include "ctl/request.h"
#include "ctl/response.h"
#include "ctl/session.h"
#include "ctl/status/ask.h"
#include "ctl/terminal.h"
#include "json/member.h"
#include "manifest/manifest.h"
#include "util/cleanup.h"

struct offered {
	const struct ctl_options *options;
	const struct added *added;
	struct ctl_session *session;
	struct ctl_response reload;
	struct ctl_response status;
};

/* ── entries ─────────────────────────────────────────────────────────────────────────────────── */

static bool is_of_toolbox(const struct ctl_response *response, uint32_t entry, const char *id)
{
	return json_member_is(&response->tape, entry, "toolbox_id", id);
}

/* Return whether the file of @entry is @path, or in the folder @path. */
static bool is_file_of(const struct ctl_response *response, uint32_t entry, const char *path)
{
	cleanup_free char *file = json_find_dup(&response->tape, entry, "file");
	size_t size = strlen(path);

	return file && strncmp(file, path, size) == 0 && (!file[size] || file[size] == '/');
}

/* Return the list @key of @response, or JSON_NONE. */
static uint32_t find_array(const struct ctl_response *response, const char *key)
{
	return ctl_response_find(response, 0, key, JSON_ARRAY);
}

/* ── one registration ────────────────────────────────────────────────────────────────────────── */

/* Print `ID: 2 tools: a, b` for the toolbox of @entry. Return 0 or an enum ctl_status after a
 * complaint. */
static int print_offered_tools(const struct offered *offered, const char *id)
{
	cleanup(ctl_response_deinit) struct ctl_response response = {0};
	cleanup(buffer_deinit) struct buffer data = {0};
	cleanup(buffer_deinit) struct buffer line = {0};
	uint32_t tools;
	uint32_t n_tools;
	int r;

	ctl_request_member(&data, "toolbox_id", id);
	r = ctl_session_ask(offered->session, "ovos.tools.list", &data, &response);
	tools = r == 0 ? find_array(&response, "tools") : JSON_NONE;
	if (tools == JSON_NONE)
		return r ? r : CTL_ERROR;
	n_tools = json_count(&response.tape, tools);
	buffer_printf(&line, "%s: %u tool%s", id, n_tools, n_tools == 1 ? "" : "s");
	json_each(at, &response.tape, tools) {
		buffer_append_string(&line, at == json_first(&response.tape, tools) ? ": " : ", ");
		terminal_append_member(&line, &response.tape, at, "name");
	}
	if (!offered->options->json)
		terminal_print_paragraph(&line, 0, 2);
	return 0;
}

/* Print the toolboxes of the registration @path. Return how many there are, or a negative enum
 * ctl_status. */
static int print_toolboxes(const struct offered *offered, const char *path)
{
	const struct ctl_response *status = &offered->status;
	uint32_t list = find_array(status, "toolboxes");
	int n_found = 0;

	json_each_found(entry, &status->tape, list) {
		cleanup_free char *id = json_find_dup(&status->tape, entry, "toolbox_id");
		int r;

		if (!id || !is_file_of(status, entry, path))
			continue;
		r = print_offered_tools(offered, id);
		if (r != 0)
			return -r;
		n_found++;
	}
	return n_found;
}

/* Complain about each failure of the registration @path. Return how many there are. */
static int complain_failures(const struct offered *offered, const char *path)
{
	const struct ctl_response *status = &offered->status;
	uint32_t list = find_array(status, "failed");
	int n_found = 0;

	json_each_found(entry, &status->tape, list) {
		cleanup_free char *error = json_find_dup(&status->tape, entry, "error");

		if (!is_file_of(status, entry, path))
			continue;
		terminal_complain("%s", error ? error : path);
		n_found++;
	}
	return n_found;
}

/* Return whether the toolbox @id has a server that the reload still asks for its tools, which is
 * printed. */
static bool print_asked(const struct offered *offered, const char *id)
{
	const struct ctl_response *reload = &offered->reload;
	uint32_t list = find_array(reload, "asked");

	json_each_found(entry, &reload->tape, list) {
		if (!json_is_text(&reload->tape, entry, id))
			continue;
		if (!offered->options->json)
			printf("%s: its server is still asked for its tools, which are offered as "
			       "it answers\n",
				id);
		return true;
	}
	return false;
}

/* Complain why nothing of the toolbox @id is offered. Return whether the service knows it. */
static bool complain_skipped(const struct offered *offered, const char *id)
{
	const struct ctl_response *status = &offered->status;
	uint32_t list = find_array(status, "not_offered");

	json_each_found(entry, &status->tape, list) {
		cleanup_free char *why = json_find_dup(&status->tape, entry, "why");

		if (!is_of_toolbox(status, entry, id))
			continue;
		terminal_complain("%s is not offered: %s", id, why ? why : "");
		return true;
	}
	return false;
}

/* Report the registration @name. Return an enum ctl_status. */
static int report_name(const struct offered *offered, const char *name)
{
	cleanup_free char *path = added_path(offered->added, name);
	size_t size;
	const char *stem = manifest_stem(name, &size);
	cleanup_free char *id = strndup(stem, size);
	int n_found;

	if (!path || !id)
		return CTL_ERROR;
	n_found = print_toolboxes(offered, path);
	if (n_found < 0)
		return -n_found;
	if (complain_failures(offered, path) > 0)
		return CTL_ERROR;
	if (n_found > 0 || print_asked(offered, id))
		return CTL_DONE;
	if (!complain_skipped(offered, id))
		terminal_complain("%s is there, but the service does not look in %s: it is another "
				  "user's, or has other folders (toolbox_dirs); for all users of "
				  "the device, put it into /etc/toolboxd/toolbox.d",
			path, offered->added->folder);
	return CTL_ERROR;
}

/* ── the service ─────────────────────────────────────────────────────────────────────────────── */

/* Have the service reload, and ask for its status. Return 0 or an enum ctl_status after a
 * complaint. */
static int ask_reloaded(struct offered *offered)
{
	int r = ctl_session_open(offered->options, &offered->session);

	r = r ? r : ctl_session_ask_reload(offered->session, offered->options, &offered->reload);
	r = r ? r : ctl_response_status(&offered->reload);
	if (r == 0 && ctl_response_complain_mistakes(&offered->reload, offered->options->json) > 0)
		r = CTL_ERROR;
	else if (r != 0 && offered->reload.text.size > 0)
		ctl_response_complain(&offered->reload);
	return r ? r : status_ask(offered->session, NULL, &offered->status);
}

static void offered_deinit(struct offered *offered)
{
	ctl_session_close(offered->session);
	ctl_response_deinit(&offered->reload);
	ctl_response_deinit(&offered->status);
}

int offered_report(
	const struct ctl_options *options, const struct added *added, const struct text_list *names)
{
	cleanup(offered_deinit) struct offered offered = {.options = options, .added = added};
	int r = ask_reloaded(&offered);
	int status = r;

	if (r == CTL_NO_BUS)
		terminal_complain("it is in %s, and will be offered once a service runs that looks "
				  "there",
			added->folder);
	if (r != 0)
		return r;
	if (options->json)
		ctl_response_print(&offered.reload);
	for (size_t i = 0; i < names->n_items; i++) {
		r = report_name(&offered, names->items[i]);
		status = status ? status : r;
	}
	return status;
}

int offered_report_rest(const struct ctl_options *options, const char *id)
{
	cleanup(offered_deinit) struct offered offered = {.options = options};
	int r = ask_reloaded(&offered);
	uint32_t list = r == 0 ? find_array(&offered.status, "toolboxes") : JSON_NONE;

	if (r == 0 && options->json)
		ctl_response_print(&offered.reload);
	json_each_found(entry, &offered.status.tape, list) {
		cleanup_free char *file = json_find_dup(&offered.status.tape, entry, "file");

		if (file && is_of_toolbox(&offered.status, entry, id))
			terminal_complain("%s is offered from %s now", id, file);
	}
	return r;
}
