/* SPDX-License-Identifier: Apache-2.0 */
#include "core/job/job_store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/assert.h"
#include "util/cleanup.h"
#include "util/file/file.h"
#include "util/log.h"

#define SUFFIX     ".json"
#define NAME_BYTES (HEX_ID_CHARS + sizeof(SUFFIX))

static struct job_change *change_in(struct list *link)
{
	return container_of(link, struct job_change, link);
}

/* ── in the thread ───────────────────────────────────────────────────────────────────────────── */

/* Remove the file @name of @folder. A file that is not there is removed. */
static int remove_file(const char *folder, const char *name)
{
	cleanup_close int at = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (at < 0)
		return errno == ENOENT ? 0 : -errno;
	if (unlinkat(at, name, 0) < 0)
		return errno == ENOENT ? 0 : -errno;
	return fsync(at) < 0 ? -errno : 0;
}

static void make_change(const struct job_store *store, struct job_change *change)
{
	const struct buffer *text = &change->text;
	char name[NAME_BYTES];

	snprintf(name, sizeof(name), "%s" SUFFIX, change->id);
	if (!store->folder)
		change->status = -ENOENT;
	else if (buffer_status(text) < 0)
		change->status = buffer_status(text);
	else if (text->size > 0)
		change->status = file_replace(store->folder, name, text->data, text->size, 0600);
	else
		change->status = remove_file(store->folder, name);
}

static void make_changes(void *data)
{
	const struct job_store *store = data;

	list_each(struct job_change, change, &store->current, link)
		make_change(store, change);
}

/* ── in the loop ─────────────────────────────────────────────────────────────────────────────── */

static void start_writing(struct job_store *store);

/* Report the changes that are made. */
static void report_made(struct job_store *store)
{
	struct list made;
	struct list *link;

	/* A report may begin further changes. */
	list_init(&made);
	while ((link = list_take_first(&store->current)))
		list_append(&made, link);
	while ((link = list_take_first(&made))) {
		struct job_change *change = change_in(link);

		buffer_deinit(&change->text);
		change->written(change->data, change->status);
	}
}

static void finish_thread(void *data)
{
	struct job_store *store = data;

	store->aside = NULL;
	report_made(store);
	start_writing(store);
}

static void take_queue(struct job_store *store)
{
	struct list *link;

	while ((link = list_take_first(&store->queue)))
		list_append(&store->current, link);
}

static void report_no_thread(void *data)
{
	struct job_store *store = data;

	take_queue(store);
	list_each(struct job_change, change, &store->current, link)
		change->status = store->error;
	report_made(store);
}

static void start_writing(struct job_store *store)
{
	if (store->aside || !list_is_empty(&store->current) || list_is_empty(&store->queue))
		return;
	take_queue(store);
	store->error = aside_start(store->loop, make_changes, finish_thread, store, &store->aside);
	if (store->error < 0)
		loop_task_post(&store->fail);
}

void job_store_put(struct job_store *store, struct job_change *change)
{
	check(change->written);
	list_append(&store->queue, &change->link);
	start_writing(store);
}

bool job_store_is_idle(const struct job_store *store)
{
	return list_is_empty(&store->queue) && list_is_empty(&store->current);
}

int job_store_init(struct job_store *store, struct loop *loop, const char *state)
{
	*store = (struct job_store){.loop = loop};
	list_init(&store->queue);
	list_init(&store->current);
	loop_task_init(&store->fail, loop, report_no_thread, store);
	return state && asprintf(&store->folder, "%s/jobs", state) < 0 ? -ENOMEM : 0;
}

void job_store_deinit(struct job_store *store)
{
	bool is_made = store->aside;

	if (!store->loop)
		return;
	aside_free(take_ptr(store->aside));
	loop_task_cancel(&store->fail);
	/* The changes that a thread had are on the disk by now. */
	while (is_made && !list_is_empty(&store->current))
		list_remove(store->current.next);
	take_queue(store);
	make_changes(store);
	while (!list_is_empty(&store->current))
		list_remove(store->current.next);
	free(take_ptr(store->folder));
}

/* Return whether @name is the name of a file of a job, with its id in @ret_id. */
static bool read_file_name(const char *name, char ret_id[HEX_ID_CHARS + 1])
{
	if (strlen(name) != NAME_BYTES - 1 || strspn(name, "0123456789abcdef") != HEX_ID_CHARS ||
		strcmp(name + HEX_ID_CHARS, SUFFIX) != 0)
		return false;
	memcpy(ret_id, name, HEX_ID_CHARS);
	ret_id[HEX_ID_CHARS] = '\0';
	return true;
}

/* Read the file @name, and call @visit for its contents. */
static void visit_file(const struct job_store *store, const char *name, size_t size_max,
	void (*visit)(void *data, const char *id, struct buffer *text), void *data)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup_free char *path = NULL;
	char id[HEX_ID_CHARS + 1];
	int r;

	if (!read_file_name(name, id))
		return;
	r = asprintf(&path, "%s/%s", store->folder, name) < 0 ? -ENOMEM
							      : file_read(path, size_max, &text);
	if (r < 0)
		log_warning(
			"The job in %s/%s cannot be read: %s", store->folder, name, strerror(-r));
	else
		visit(data, id, &text);
}

int job_store_each(struct job_store *store, size_t size_max,
	void (*visit)(void *data, const char *id, struct buffer *text), void *data)
{
	const struct dirent *entry;
	DIR *folder = store->folder ? opendir(store->folder) : NULL;

	if (!folder)
		return store->folder && errno != ENOENT ? -errno : 0;
	while ((entry = readdir(folder))) {
		/* See file_replace(): its writer was killed. */
		if (entry->d_name[0] == '.' && strstr(entry->d_name, SUFFIX "."))
			unlinkat(dirfd(folder), entry->d_name, 0);
		else
			visit_file(store, entry->d_name, size_max, visit, data);
	}
	closedir(folder);
	return 0;
}
