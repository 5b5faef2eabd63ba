/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/members.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "json/member.h"
#include "json/writer.h"
#include "loader/described.h"
#include "loader/settings.h"
#include "loader/tool_settings.h"
#include "util/cleanup.h"
#include "util/file/stamp.h"

/* Whether the previous package was made of the same manifest and configuration. */
static bool is_same_package(const struct load_job *job)
{
	const struct package *previous = job->previous;

	return previous && kind_facts(previous->kind)->has_members && previous->described &&
	       previous->digest == job->package->digest &&
	       previous->settings == job->package->settings;
}

/* ── members
 * ───────────────────────────────────────────────────────────────────────────────────── */

/* Report the problems of a member with its name, since it is in no file. */
static void move_problems(const struct member_toolbox *member, struct load_job *job)
{
	for (size_t i = 0; i < member->problems.n_items; i++) {
		const struct diagnostic *problem = &member->problems.items[i];

		diagnostics_add(&job->problems, problem->severity, 0, "", "%s: %s%s%s",
			member->id ? member->id : "a ToolBox", problem->pointer,
			*problem->pointer ? ": " : "", problem->text);
	}
}

/* Report settings for the processes of a member, a toolbox without processes of its own. A member
 * with a sandbox in the configuration is refused, because the sandbox would not be enforced. */
static void check_settings(struct load_job *job, const struct load_job *owner)
{
	const struct config_toolbox *settings =
		config_toolbox_find(job->jobs->options.config, job->id);
	bool is_refused = settings && settings->has_sandbox;

	if (!job->toolbox || !settings || (!is_refused && !settings->has_process))
		return;
	diagnostics_add(&job->problems, is_refused ? DIAGNOSTIC_ERROR : DIAGNOSTIC_WARNING, 0, "",
		"%s: \"%s\" of toolboxes.%s in the configuration has no effect, because all "
		"ToolBoxes of this manifest share their processes; set it for toolboxes.%s, or "
		"give this one a manifest of its own (\"plugins\")",
		job->id, is_refused ? "sandbox" : "limits\" or \"env", job->id, owner->package->id);
	if (is_refused)
		job->toolbox = NULL;
}

static int add_member(struct load_job *owner, struct member_toolbox *member)
{
	struct load_job *job = load_jobs_add(owner->jobs, owner->path, false);

	if (!job)
		return -ENOMEM;
	job->id = strdup(member->id ? member->id : owner->package->id);
	if (!job->id)
		return -ENOMEM;
	move_problems(member, job);
	job->toolbox = member->toolbox;
	job->package = member->toolbox ? package_ref(member->toolbox->package) : NULL;
	check_settings(job, owner);
	job->skipped = member->skipped;
	member->skipped = (struct skipped_list){0};
	return 0;
}

static bool is_left_out(const void *data, const char *id, const char *entry_point)
{
	return settings_leave_out(data, id, entry_point);
}

/* Whether the same toolboxes have tools in both packages, with equal texts as descriptions. */
static bool have_same_tools(const struct package *left, const struct package *right)
{
	bool is_same = left->n_toolboxes == right->n_toolboxes;

	for (size_t i = 0; is_same && i < left->n_toolboxes; i++)
		is_same = left->toolboxes[i]->n_tools == right->toolboxes[i]->n_tools;
	return is_same;
}

/* Make the previous package, with its processes, the package of @job, and its toolboxes the
 * toolboxes of @members: both were made from the same text. */
static void reuse_previous(struct load_job *job, struct member_toolboxes *members)
{
	struct package *previous = job->previous;

	for (size_t i = 0; i < members->n_items; i++)
		if (members->items[i].toolbox)
			members->items[i].toolbox =
				previous->toolboxes[members->items[i].toolbox->index];
	previous->fingerprint = job->package->fingerprint;
	load_job_set_package(job, package_ref(previous));
}

/* Keep the text of the members. */
static int keep_described(struct package *package, const char *described, size_t size)
{
	package->described = malloc(size + 1);
	if (!package->described)
		return -ENOMEM;
	memcpy(package->described, described, size);
	package->described_size = size;
	return 0;
}

/* Make the members of a description. 0, MANIFEST_E_REFUSED, or -ENOMEM. */
static int take_described(
	struct load_job *job, const struct json_tape *tape, const char *described, size_t size)
{
	const struct package *previous = job->previous;
	const struct config *config = job->jobs->options.config;
	cleanup(member_toolboxes_deinit) struct member_toolboxes members = {
		.is_left_out = is_left_out, .data = config};
	int r = keep_described(job->package, described, size);

	free(take_ptr(job->package->python.left_out));
	checker_note(job->package, tape);
	r = r ? r
	      : manifest_take_members(
			job->jobs->reader, tape, job->package, &members, &job->problems);
	if (r)
		return r;
	if (is_same_package(job) && previous->described_size == size &&
		memcmp(previous->described, described, size) == 0 &&
		have_same_tools(previous, job->package) && tool_settings_hold_in(config, previous))
		reuse_previous(job, &members);
	for (size_t i = 0; r == 0 && i < members.n_items; i++)
		r = add_member(job, &members.items[i]);
	return r;
}

static int take_described_text(struct load_job *job, const char *described, size_t size)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	int r = json_tape_read(&tape, described, size, JSON_DEPTH_DEFAULT, NULL);

	return r ? r : take_described(job, &tape, described, size);
}

/* ── which hosts to ask
 * ───────────────────────────────────────────────────────────────────────── */

/* Whether the description of the previous package is still valid. */
static bool holds(const struct load_job *job)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	const struct package *previous = job->previous;

	if (!is_same_package(job) || previous->fingerprint == 0 ||
		json_tape_read(&tape, previous->described, previous->described_size,
			JSON_DEPTH_DEFAULT, NULL) != 0)
		return false;
	job->package->fingerprint = described_fingerprint(job->package, &tape, INT64_MAX);
	return job->package->fingerprint == previous->fingerprint;
}

/* Append the pair of an entry point not to load, and its toolbox id. */
static void write_pair(struct buffer *out, const char *entry_point, const char *id)
{
	buffer_append_string(out, out->size > 0 ? ",[" : "[");
	json_write_text(out, entry_point);
	buffer_append_char(out, ',');
	json_write_text(out, id);
	buffer_append_char(out, ']');
}

/* Look at the toolbox at @at of a description: append its pair to @left_out if it is left out, else
 * clear *is_whole if the description has no tools of it. 0 or -ENOMEM. */
static int look_at_member(const struct config *config, const struct json_tape *tape, uint32_t at,
	struct buffer *left_out, bool *is_whole)
{
	uint32_t id = json_find_typed_at(tape, at, "toolbox_id", JSON_STRING);
	uint32_t entry_point = json_find(tape, at, "entry_point");
	uint32_t tools = json_find_typed_at(tape, at, "tools", JSON_ARRAY);
	cleanup_free char *id_text = NULL;
	cleanup_free char *point_text = NULL;

	if (id == JSON_NONE || entry_point == JSON_NONE ||
		json_type_at(tape, entry_point) != JSON_STRING)
		return 0;
	id_text = json_string_dup(tape, id, NULL);
	point_text = json_string_dup(tape, entry_point, NULL);
	if (!id_text || !point_text)
		return -ENOMEM;
	if (is_left_out(config, id_text, point_text))
		write_pair(left_out, point_text, id_text);
	else if (tools == JSON_NONE)
		*is_whole = false;
	return 0;
}

/* Look at all toolboxes of the description of @size bytes at @text. *ret_is_whole: the description
 * has the tools of each, except for toolboxes left out. 0 or -ENOMEM. */
static int look_at_members(const struct load_job *job, const char *text, size_t size,
	struct buffer *left_out, bool *ret_is_whole)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	int r = json_tape_read(&tape, text, size, JSON_DEPTH_DEFAULT, NULL);
	uint32_t list = r == 0 ? json_find_typed_at(&tape, 0, "toolboxes", JSON_ARRAY) : JSON_NONE;

	*ret_is_whole = r == 0;
	if (list == JSON_NONE)
		return r < 0 ? r : 0;
	r = 0;
	json_each_while(r == 0, at, &tape, list)
		if (json_type_at(&tape, at) == JSON_OBJECT)
			r = look_at_member(
				job->jobs->options.config, &tape, at, left_out, ret_is_whole);
	return r;
}

/* Make the members of a known and valid description. 0, -ENOENT, or another negative errno. Append
 * to @left_out the pairs of the known descriptions, valid or not, left out by the configuration. */
static int recall(struct load_job *job, struct buffer *left_out)
{
	const struct package *previous = job->previous;
	bool asks_again = job->jobs->options.asks_again;
	cleanup(buffer_deinit) struct buffer described = {0};
	bool is_whole = false;
	int found;
	int r = 0;

	if (previous && previous->described)
		r = look_at_members(
			job, previous->described, previous->described_size, left_out, &is_whole);
	if (r == 0 && is_whole && !asks_again && holds(job))
		return take_described_text(job, previous->described, previous->described_size);
	found = described_load_cached_text(job->package, job->key, &described);
	if (r == 0 && described.size > 0)
		r = look_at_members(job, described.data, described.size, left_out, &is_whole);
	if (r == 0)
		r = found;
	if (r == 0 && (asks_again || !is_whole))
		r = -ENOENT;
	return r ? r : take_described_text(job, described.data, described.size);
}

/* Append the pairs of the entry points disabled by their own names in the configuration. */
static void write_disabled(const struct config *config, struct buffer *left_out)
{
	for (size_t i = 0; i < config->n_toolboxes; i++)
		if (!config->toolboxes[i].is_enabled)
			write_pair(left_out, config->toolboxes[i].toolbox_id,
				config->toolboxes[i].toolbox_id);
}

/* Give the host of @package, before it describes its members, the pairs of @left_out. 0 or
 * -ENOMEM. */
static int set_left_out(struct package *package, const struct buffer *left_out)
{
	cleanup(buffer_deinit) struct buffer out = {0};

	if (left_out->size == 0)
		return buffer_status(left_out);
	buffer_append_char(&out, '[');
	buffer_append_buffer(&out, left_out);
	buffer_append_char(&out, ']');
	package->python.left_out = buffer_take(&out, NULL);
	return package->python.left_out ? package_prepare(package) : -ENOMEM;
}

static int ask(struct load_job *job, const struct buffer *left_out)
{
	struct load_jobs *jobs = job->jobs;
	int r;

	if (jobs->options.defers) {
		jobs->has_deferred = true;
		return skipped_list_add(
			&job->skipped, NULL, "a Python interpreter is describing its tools");
	}
	describe_cache_key(job->package, job->key);
	job->asked_ns = stamp_now_ns();
	r = set_left_out(job->package, left_out);
	return r ? r : checker_add(jobs->checker, job->package, job);
}

int members_begin(struct load_job *job)
{
	cleanup(buffer_deinit) struct buffer left_out = {0};
	const char *refusal = settings_package_refusal(job->jobs->options.config, job->package);
	int r;

	if (refusal)
		return skipped_list_add(&job->skipped, NULL, refusal);
	write_disabled(job->jobs->options.config, &left_out);
	r = recall(job, &left_out);
	if (r == -ENOENT)
		r = ask(job, &left_out);
	return r < 0 ? r : 0;
}

int members_accept(struct load_job *job, const char *described, size_t size)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	int r = json_tape_read(&tape, described, size, JSON_DEPTH_DEFAULT, NULL);

	if (r == 0) {
		job->package->fingerprint =
			described_fingerprint(job->package, &tape, job->asked_ns);
		if (job->package->fingerprint)
			job->cache_error = describe_cache_write(
				job->key, described, size, job->package->fingerprint);
		r = take_described(job, &tape, described, size);
	}
	return r < 0 ? r : 0;
}

int members_keep(struct load_job *job)
{
	const struct catalogue *previous = job->jobs->options.previous;
	int r = 0;

	for (size_t i = 0; r == 0 && i < catalogue_n_toolboxes(previous); i++) {
		struct toolbox *toolbox = catalogue_toolbox(previous, i, NULL, NULL);
		struct member_toolbox member = {.id = toolbox->id, .toolbox = toolbox};

		if (toolbox->package != job->previous ||
			load_jobs_have_id(job->jobs, toolbox->id) ||
			!tool_settings_hold(job->jobs->options.config, toolbox))
			continue;
		r = add_member(job, &member);
	}
	return r;
}
