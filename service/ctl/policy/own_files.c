/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/policy/own_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctl/command.h"
#include "ctl/response.h"
#include "ctl/terminal.h"
#include "json/member.h"
#include "util/cleanup.h"
#include "util/file/file.h"

/* Others may read the files: they hold names of tools, and the service may be another user. */
#define FILE_MODE   0644
#define SECRET_MODE 0600

/* How long another toolboxctl is waited for, each of which writes a small file. */
#define LOCK_WAIT_MS 30000

/* The name of every folder of these files. */
#define FOLDER_NAME "/toolboxd"

/* ── the folders ─────────────────────────────────────────────────────────────────────────────── */

/* Whether @path can be such a folder. Any client of the bus may answer in the place of the service,
 * and root may be about to write there. */
static bool is_folder_of_ours(const char *path)
{
	size_t size = strlen(path);
	size_t name = strlen(FOLDER_NAME);

	return *path == '/' && size > name && strcmp(path + size - name, FOLDER_NAME) == 0 &&
	       !strstr(path, "/../");
}

/* Ask for the status. Return 0 or an enum ctl_status after a complaint. */
static int ask_status(struct ctl_session *session, struct ctl_response *ret_response)
{
	if (ctl_session_is_http(session)) {
		terminal_complain(
			"files of the service are not reached over HTTP: use the bus (--bus)");
		return CTL_USAGE;
	}
	return ctl_session_ask(session, "ovos.tools.status", NULL, ret_response);
}

/* Add the folder at @token. Return 0, or CTL_ERROR after a complaint. */
static int take_folder(const struct json_tape *tape, uint32_t token, struct text_list *ret_folders)
{
	char *path = json_type_at(tape, token) == JSON_STRING ? json_string_dup(tape, token, NULL)
							      : NULL;

	if (path && is_folder_of_ours(path))
		return text_list_take(ret_folders, path) < 0 ? CTL_ERROR : 0;
	free(path);
	terminal_complain("the service has a folder that cannot be its own");
	return CTL_ERROR;
}

/* Add the folders of @response. Return 0, or CTL_ERROR after a complaint. */
static int take_folders(const struct ctl_response *response, struct text_list *ret_folders)
{
	const struct json_tape *tape = &response->tape;
	uint32_t folders = ctl_response_find(response, 0, "folders", JSON_ARRAY);
	int r = 0;

	json_each_found_while(r == 0, i, tape, folders)
		r = take_folder(tape, i, ret_folders);
	if (r != 0 || ret_folders->n_items > 0)
		return r;
	terminal_complain("the service has no folder for such files");
	return CTL_ERROR;
}

/* Add the names of approval.allow in @response. Return 0, or CTL_ERROR without memory. */
static int take_allowed(const struct ctl_response *response, struct text_list *ret_names)
{
	const struct json_tape *tape = &response->tape;
	uint32_t approval = ctl_response_find(response, 0, "approval", JSON_OBJECT);
	uint32_t names = json_find_typed(tape, approval, "allow", JSON_ARRAY);

	json_each_found(i, tape, names) {
		char *name = json_type_at(tape, i) == JSON_STRING ? json_string_dup(tape, i, NULL)
								  : NULL;

		if (name && text_list_take(ret_names, name) < 0)
			return CTL_ERROR;
	}
	return 0;
}

int own_files_ask(struct ctl_session *session, struct text_list *ret_folders)
{
	cleanup(ctl_response_deinit) struct ctl_response response = {0};
	int r = ask_status(session, &response);

	*ret_folders = (struct text_list){0};
	return r == 0 ? take_folders(&response, ret_folders) : r;
}

int own_files_ask_allowed(struct ctl_session *session, struct text_list *ret_folders,
	struct text_list *ret_configured)
{
	cleanup(ctl_response_deinit) struct ctl_response response = {0};
	int r = ask_status(session, &response);

	*ret_folders = *ret_configured = (struct text_list){0};
	if (r == 0)
		r = take_folders(&response, ret_folders);
	return r == 0 ? take_allowed(&response, ret_configured) : r;
}

int own_files_ask_state(struct ctl_session *session, struct text_list *ret_folders)
{
	cleanup(ctl_response_deinit) struct ctl_response response = {0};
	uint32_t state;
	int r = ask_status(session, &response);

	*ret_folders = (struct text_list){0};
	if (r != 0)
		return r;
	state = ctl_response_find(&response, 0, "state", JSON_STRING);
	if (state != JSON_NONE)
		return take_folder(&response.tape, state, ret_folders);
	terminal_complain("the service has no state folder");
	return CTL_ERROR;
}

/* ── reading ─────────────────────────────────────────────────────────────────────────────────── */

int own_files_read(const char *folder, const char *file, struct config_remembered *entries)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(buffer_deinit) struct buffer bytes = {0};
	cleanup_free char *path = NULL;
	struct config_mistake mistake = {.text = "it is not JSON"};
	int r;

	if (asprintf(&path, "%s/%s", folder, file) < 0)
		return CTL_ERROR;
	r = file_read(path, REMEMBERED_BYTES_MAX, &bytes);
	if (r == -ENOENT || r == -ENOTDIR)
		return 0;
	if (r < 0) {
		terminal_complain("%s cannot be read: %s", path, strerror(-r));
		return CTL_ERROR;
	}
	r = json_tape_read(&tape, buffer_text(&bytes), bytes.size, JSON_DEPTH_DEFAULT, NULL);
	r = r ? r : remembered_read_list(&tape, file, entries, &mistake);
	if (r == 0)
		return 0;
	terminal_complain("%s cannot be used: %s", path, r < 0 ? strerror(-r) : mistake.text);
	return CTL_ERROR;
}

/* ── writing ─────────────────────────────────────────────────────────────────────────────────── */

/* Find the owner of @path, or of the nearest folder above it that exists. */
static bool find_owner(const char *path, struct stat *ret_status)
{
	cleanup_free char *copy = strdup(path);
	char *slash;

	while (copy && *copy) {
		if (stat(copy, ret_status) == 0)
			return true;
		slash = strrchr(copy, '/');
		if (!slash)
			return false;
		*slash = '\0';
	}
	return false;
}

/* As root, become the owner of @folder: its files stay the user's own, and a link in it leads root
 * to nothing that this user could not write to. Return whether this has happened. */
static bool become_owner(const char *folder)
{
	struct stat status;

	return geteuid() == 0 && find_owner(folder, &status) && status.st_uid != 0 &&
	       setegid(status.st_gid) == 0 && seteuid(status.st_uid) == 0;
}

static void become_root(void)
{
	if (seteuid(0) < 0 || setegid(0) < 0)
		abort();
}

/* Append a blank and @word as a shell takes it. */
static void append_word(struct buffer *out, const char *word)
{
	buffer_append_char(out, ' ');
	terminal_append_shell_word(out, word, strlen(word));
}

/* Complain that @path cannot be written, with the command that root would type. */
static void complain(const struct ctl_options *options, const char *path, int error)
{
	cleanup(buffer_deinit) struct buffer command = {0};
	const char *bus = options->bus ? options->bus : getenv("TOOLBOXD_BUS");

	for (size_t i = 0; i < options->n_positional; i++)
		append_word(&command, options->positional[i]);
	if (bus && *bus) {
		buffer_append_string(&command, " --bus");
		append_word(&command, bus);
	}
	if (options->span) {
		buffer_append_string(&command, " --for");
		append_word(&command, options->span);
	}
	if (error == -EAGAIN)
		terminal_complain("%s cannot be written: another toolboxctl has been changing the "
				  "files of its folder for %d s",
			path, LOCK_WAIT_MS / 1000);
	else if ((error == -EACCES || error == -EPERM) && geteuid() != 0 &&
		 buffer_terminate(&command))
		terminal_complain("%s cannot be written: %s; type: sudo toolboxctl%s", path,
			strerror(-error), command.data);
	else
		terminal_complain("%s cannot be written: %s", path, strerror(-error));
}

/* End a change of @path with the status @r: become root again if @is_other. Return 0, or CTL_ERROR
 * after a complaint. */
static int end_change(const struct ctl_options *options, const char *path, bool is_other, int r)
{
	if (is_other)
		become_root();
	if (r == 0)
		return 0;
	complain(options, path, r);
	return CTL_ERROR;
}

int own_files_lock(const struct ctl_options *options, const struct text_list *folders,
	const char *name, int *ret_lock)
{
	const char *folder = folders->items[folders->n_items - 1];
	cleanup_free char *path = NULL;
	bool is_other;
	int r;

	if (asprintf(&path, "%s/%s", folder, name) < 0)
		return CTL_ERROR;
	is_other = become_owner(folder);
	r = file_lock(folder, LOCK_WAIT_MS, ret_lock);
	return end_change(options, path, is_other, r);
}

int own_files_write(const struct ctl_options *options, const struct text_list *folders,
	const char *below, const char *name, const struct buffer *text)
{
	const char *top = folders->items[folders->n_items - 1];
	cleanup_free char *folder = NULL;
	cleanup_free char *path = NULL;
	bool is_other;
	int r;

	if (asprintf(&folder, "%s%s%s", top, *below ? "/" : "", below) < 0 ||
		asprintf(&path, "%s/%s", folder, name) < 0)
		return CTL_ERROR;
	is_other = become_owner(folder);
	if (text)
		r = file_replace(folder, name, text->data, text->size,
			strcmp(name, REMEMBERED_TOKENS) == 0 ? SECRET_MODE : FILE_MODE);
	else
		r = unlink(path) < 0 ? -errno : 0;
	return end_change(options, path, is_other, r);
}

/* ── reading again ───────────────────────────────────────────────────────────────────────────── */

int own_files_reload(struct ctl_session *session, const struct ctl_options *options)
{
	cleanup(ctl_response_deinit) struct ctl_response response = {0};
	int r = ctl_session_ask_reload(session, options, &response);

	if (r != 0)
		return r;
	r = ctl_response_report(&response, options->json, NULL);
	if (ctl_response_complain_mistakes(&response, options->json) > 0)
		r = CTL_ERROR;
	return r;
}

int own_files_complain_lost(const char *what)
{
	terminal_complain(
		"%s: another program has changed that again since it was written; look at "
		"the file, and type this once more",
		what);
	return CTL_ERROR;
}
