/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/audit.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "policy/audit_file.h"
#include "util/assert.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/thread.h"

enum order_kind {
	ORDER_LINE,   /* append the text */
	ORDER_FILE,   /* write to the file named by the text from now on; "": to none */
	ORDER_REOPEN, /* open the file again */
};

/* An order to the thread. */
struct order {
	struct list link;
	enum order_kind kind;
	uint64_t number;    /* number of a line with a waiting caller; 0: no caller waits */
	uint64_t max_bytes; /* the size of a file */
	int status;         /* result of a line */
	size_t size;
	char text[]; /* @size bytes and a NUL */
};

/* The part shared by the loop and the thread, under the lock. The last owner frees it. */
struct audit_shared {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned int references;
	int finished_fd;      /* eventfd: there is news for the loop */
	struct list queue;    /* orders */
	size_t queued_bytes;  /* bytes in the queue and the order under way */
	struct list finished; /* lines with waiting callers */
	bool is_stopping;     /* the thread ends after the queue */
	bool is_stopped;
	struct audit_figures figures;
	uint64_t torn_bytes;    /* bytes cut off and not logged yet */
	bool is_replaced;       /* another file was begun; not logged yet */
	int rotation_error;     /* result of the last rotation */
	struct audit_file file; /* used by the thread alone */
};

struct audit {
	struct audit_shared *shared;
	struct loop_source *source;
	pthread_t thread;
	bool has_thread;
	char *path; /* NULL: off */
	uint64_t max_bytes;
	struct list waits; /* audit_wait.link, in the order of their numbers */
	uint64_t last_number;
	uint64_t lost;          /* lines lost without room */
	struct log_rate losses; /* lines of the log about them */
	int logged_error;
	int logged_rotation_error;
};

/* ── shared by the loop and the thread ───────────────────────────────────────────────────────── */

static void free_orders(struct list *list)
{
	struct list *link;

	while ((link = list_take_first(list)))
		free(container_of(link, struct order, link));
}

/* Unlock @shared and drop one of its references. */
static void unlock_and_unref(struct audit_shared *shared)
{
	bool is_last;

	check(shared->references > 0);
	is_last = --shared->references == 0;

	pthread_mutex_unlock(&shared->lock);
	if (!is_last)
		return;
	free_orders(&shared->queue);
	free_orders(&shared->finished);
	audit_file_deinit(&shared->file);
	if (shared->finished_fd >= 0)
		close(shared->finished_fd);
	pthread_cond_destroy(&shared->changed);
	pthread_mutex_destroy(&shared->lock);
	free(shared);
}

static struct audit_shared *make_shared(void)
{
	struct audit_shared *shared = calloc(1, sizeof(*shared));
	pthread_condattr_t attributes;

	if (!shared)
		return NULL;
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&shared->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	pthread_mutex_init(&shared->lock, NULL);
	list_init(&shared->queue);
	list_init(&shared->finished);
	shared->references = 1;
	shared->file.fd = -1;
	shared->finished_fd = -1;
	return shared;
}

/* ── the thread ──────────────────────────────────────────────────────────────────────────────── */

/* Execute @order, without the lock. Return 0 or a negative errno. */
static int obey(struct audit_file *file, const struct order *order)
{
	char *path;
	int r;

	switch (order->kind) {
	case ORDER_LINE:
		r = audit_file_append(file, order->text, order->size, order->number > 0);
		return r == 0 && order->number ? audit_file_sync(file) : r;
	case ORDER_FILE:
		path = order->size > 0 ? strdup(order->text) : NULL;
		if (order->size > 0 && !path)
			return -ENOMEM;
		audit_file_set(file, path, order->max_bytes);
		break;
	case ORDER_REOPEN:
		audit_file_close(file);
		break;
	}
	return file->path ? audit_file_open(file) : 0;
}

/* Note the result of @order, and report it to the loop if it is news; locked. */
static void finish_order(struct audit_shared *shared, struct order *order, int status)
{
	const uint64_t one = 1;
	struct audit_file *file = &shared->file;
	bool is_news = status != shared->figures.error || file->torn_bytes || order->number ||
		       file->is_replaced || file->rotation_error != shared->rotation_error;

	shared->queued_bytes -= order->size;
	shared->figures.error = status;
	if (order->kind == ORDER_LINE && status == 0)
		shared->figures.written++;
	else if (order->kind == ORDER_LINE)
		shared->figures.lost++;
	shared->torn_bytes += file->torn_bytes;
	file->torn_bytes = 0;
	shared->is_replaced |= file->is_replaced;
	file->is_replaced = false;
	shared->rotation_error = file->rotation_error;
	order->status = status;
	if (order->number)
		list_append(&shared->finished, &order->link);
	else
		free(order);
	/* A full counter has reported it, too. */
	if (is_news)
		check(write(shared->finished_fd, &one, sizeof(one)) > 0 || errno == EAGAIN);
}

static void *run_thread(void *data)
{
	struct audit_shared *shared = data;
	struct list *link;

	pthread_mutex_lock(&shared->lock);
	while ((link = list_take_first(&shared->queue)) || !shared->is_stopping) {
		struct order *order;
		int r;

		if (!link) {
			pthread_cond_wait(&shared->changed, &shared->lock);
			continue;
		}
		order = container_of(link, struct order, link);
		pthread_mutex_unlock(&shared->lock);
		r = obey(&shared->file, order);
		pthread_mutex_lock(&shared->lock);
		finish_order(shared, order, r);
	}
	shared->is_stopped = true;
	pthread_cond_broadcast(&shared->changed);
	unlock_and_unref(shared);
	return NULL;
}

/* ── the loop ────────────────────────────────────────────────────────────────────────────────── */

static void log_news(struct audit *audit, int error, int rotation_error, uint64_t torn_bytes)
{
	if (torn_bytes > 0)
		log_warning("The audit log %s ended within a line, whose %llu bytes were cut off",
			audit->path, (unsigned long long)torn_bytes);
	if (rotation_error < 0 && rotation_error != audit->logged_rotation_error)
		log_error("The audit log %s cannot be renamed, and grows: %s", audit->path,
			strerror(-rotation_error));
	audit->logged_rotation_error = rotation_error;
	if (error < 0 && error != audit->logged_error)
		log_error("The audit log %s cannot be written: %s", audit->path,
			audit_file_error_text(error));
	else if (error == 0 && audit->logged_error < 0)
		log_warning("The audit log %s is written again; lines are missing", audit->path);
	audit->logged_error = error;
}

/* Report @order as done to its waiting caller, unless the wait was forgotten. */
static void report(struct audit *audit, const struct order *order)
{
	list_each(struct audit_wait, wait, &audit->waits, link) {
		if (wait->number != order->number)
			continue;
		list_remove(&wait->link);
		wait->written(wait->data, order->status);
		return;
	}
}

/* A loop_fd_function. */
static void take_news(void *data, uint32_t events)
{
	struct audit *audit = data;
	struct audit_shared *shared = audit->shared;
	struct list finished;
	struct list *link;
	uint64_t count;
	uint64_t torn_bytes;
	bool is_replaced;
	int error;
	int rotation_error;

	(void)events;
	if (read(shared->finished_fd, &count, sizeof(count)) < 0)
		return;
	list_init(&finished);
	pthread_mutex_lock(&shared->lock);
	while ((link = list_take_first(&shared->finished)))
		list_append(&finished, link);
	torn_bytes = shared->torn_bytes;
	shared->torn_bytes = 0;
	is_replaced = shared->is_replaced;
	shared->is_replaced = false;
	error = shared->figures.error;
	rotation_error = shared->rotation_error;
	pthread_mutex_unlock(&shared->lock);
	if (audit->path && is_replaced)
		log_limited(&audit->losses, LOG_LEVEL_ERROR,
			"The audit log %s goes on in the file that is there now: %s", audit->path,
			audit_file_error_text(-ESTALE));
	if (audit->path)
		log_news(audit, error, rotation_error, torn_bytes);
	while ((link = list_take_first(&finished))) {
		struct order *order = container_of(link, struct order, link);

		report(audit, order);
		free(order);
	}
}

int audit_new(struct loop *loop, struct audit **ret_audit)
{
	cleanup(audit_cleanup) struct audit *audit = calloc(1, sizeof(*audit));
	int r;

	if (!audit)
		return -ENOMEM;
	list_init(&audit->waits);
	audit->shared = make_shared();
	if (!audit->shared)
		return -ENOMEM;
	audit->shared->finished_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (audit->shared->finished_fd < 0)
		return -errno;
	r = loop_add_fd(
		loop, audit->shared->finished_fd, EPOLLIN, take_news, audit, &audit->source);
	if (r < 0)
		return r;
	*ret_audit = take_ptr(audit);
	return 0;
}

/* Start the thread, unless it runs. Return 0 or a negative errno. */
static int start_thread(struct audit *audit)
{
	int r;

	if (audit->has_thread)
		return 0;
	audit->shared->references++;
	r = thread_start(&audit->thread, run_thread, audit->shared);
	if (r < 0)
		audit->shared->references--;
	audit->has_thread = r == 0;
	return r;
}

/* Return an order with a copy of @text, or NULL without memory. */
static struct order *make_order(enum order_kind kind, const char *text, size_t size)
{
	struct order *order = malloc(sizeof(*order) + size + 1);

	if (!order)
		return NULL;
	*order = (struct order){.kind = kind, .size = size};
	if (size > 0)
		memcpy(order->text, text, size);
	order->text[size] = '\0';
	return order;
}

/* Queue @order. Return false when there is no room for it. */
static bool queue_order(struct audit_shared *shared, struct order *order)
{
	bool has_room;

	pthread_mutex_lock(&shared->lock);
	has_room = order->kind != ORDER_LINE || shared->queued_bytes == 0 ||
		   shared->queued_bytes + order->size <= AUDIT_QUEUE_BYTES;
	if (has_room) {
		shared->queued_bytes += order->size;
		list_append(&shared->queue, &order->link);
		pthread_cond_signal(&shared->changed);
	}
	pthread_mutex_unlock(&shared->lock);
	return has_room;
}

int audit_set_file(struct audit *audit, const char *path, uint64_t max_bytes)
{
	bool is_same = path && audit->path ? strcmp(path, audit->path) == 0 : path == audit->path;
	cleanup_free char *copy = path ? strdup(path) : NULL;
	struct order *order;
	int r;

	if (is_same && max_bytes == audit->max_bytes)
		return 0;
	if (path && !copy)
		return -ENOMEM;
	r = start_thread(audit);
	if (r < 0)
		return r;
	order = make_order(ORDER_FILE, path, path ? strlen(path) : 0);
	if (!order)
		return -ENOMEM;
	order->max_bytes = max_bytes;
	queue_order(audit->shared, order);
	free(audit->path);
	audit->path = take_ptr(copy);
	audit->max_bytes = max_bytes;
	audit->logged_error = audit->logged_rotation_error = 0;
	return 0;
}

bool audit_is_on(const struct audit *audit)
{
	return audit->path != NULL;
}

void audit_reopen(struct audit *audit)
{
	struct order *order = audit->path ? make_order(ORDER_REOPEN, NULL, 0) : NULL;

	if (order)
		queue_order(audit->shared, order);
	else if (audit->path)
		log_error(
			"The audit log %s is not opened again: %s", audit->path, strerror(ENOMEM));
}

static void count_lost(struct audit *audit, const char *reason)
{
	audit->lost++;
	log_limited(&audit->losses, LOG_LEVEL_ERROR, "A line of the audit log %s is lost: %s",
		audit->path, reason);
}

int audit_append(struct audit *audit, struct buffer *line, struct audit_wait *wait)
{
	cleanup_free struct order *order = NULL;

	if (buffer_status(line) == 0)
		order = make_order(ORDER_LINE, line->data, line->size);
	buffer_deinit(line);
	if (!order) {
		count_lost(audit, strerror(ENOMEM));
		return -ENOMEM;
	}
	if (wait)
		order->number = wait->number = ++audit->last_number;
	if (!queue_order(audit->shared, order)) {
		count_lost(audit, "its disk is slower than the calls");
		return -ENOBUFS;
	}
	take_ptr(order);
	if (wait)
		list_append(&audit->waits, &wait->link);
	return 0;
}

void audit_forget(struct audit_wait *wait)
{
	if (wait->link.next)
		list_remove(&wait->link);
}

const char *audit_error_text(int error)
{
	return audit_file_error_text(error);
}

struct audit_figures audit_figures(const struct audit *audit)
{
	struct audit_figures figures;

	pthread_mutex_lock(&audit->shared->lock);
	figures = audit->shared->figures;
	pthread_mutex_unlock(&audit->shared->lock);
	figures.lost += audit->lost;
	return figures;
}

/* Wait until the thread has stopped, for at most AUDIT_FINISH_MS; locked. Return whether it has. */
static bool wait_for_thread(struct audit_shared *shared)
{
	struct timespec end;
	int r = 0;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += AUDIT_FINISH_MS / MS_PER_S;
	end.tv_nsec += AUDIT_FINISH_MS % MS_PER_S * NS_PER_MS;
	if (end.tv_nsec >= NS_PER_S) {
		end.tv_sec++;
		end.tv_nsec -= NS_PER_S;
	}
	while (!shared->is_stopped && r == 0)
		r = pthread_cond_timedwait(&shared->changed, &shared->lock, &end);
	return shared->is_stopped;
}

void audit_free(struct audit *audit)
{
	struct audit_shared *shared;
	bool has_stopped = true;

	if (!audit)
		return;
	shared = audit->shared;
	loop_source_free(audit->source);
	if (shared) {
		pthread_mutex_lock(&shared->lock);
		shared->is_stopping = true;
		pthread_cond_broadcast(&shared->changed);
		if (audit->has_thread)
			has_stopped = wait_for_thread(shared);
		unlock_and_unref(shared);
	}
	if (audit->has_thread && has_stopped)
		pthread_join(audit->thread, NULL);
	else if (audit->has_thread)
		pthread_detach(audit->thread);
	if (!has_stopped)
		log_error("The audit log %s hangs: its last lines are lost", audit->path);
	free(audit->path);
	free(audit);
}
