/* SPDX-License-Identifier: Apache-2.0 */
#include "bus/entry.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bus/entry_state.h"
#include "util/assert.h"
#include "util/cleanup.h"
#include "util/list.h"
#include "util/network.h"

/* Bytes of one read. A usual request is smaller. */
#define READ_BYTES 4096

/* After a refusal: the time and the bytes of further reading. A socket closed with unread
 * bytes resets the connection, and the peer may lose the response (RFC 9112 §9.6). */
#define LINGER_MS    1000
#define LINGER_BYTES (64u << 10)

struct entries {
	struct loop *loop;
	struct http_limits limits;
	struct entry_handler handler;
	void *data;
	struct list waiting; /* struct entry, the longest wait first */
	unsigned int count;
	unsigned int n_far; /* entries with peers on other devices */
};

struct entry {
	struct entries *entries;
	struct list link;
	int fd;
	struct loop_source *source;
	struct loop_timer timer;
	struct http_reader reader;
	bool is_near;
	enum entry_state state;
	size_t discarded; /* bytes read since the refusal */
};

/* Change the state, only here. */
static void entry_move(struct entry *entry, enum entry_state to)
{
	entry->state = entry_state_move(entry->state, to);
}

/* Free @entry. Its descriptor is closed unless it was taken. */
static void free_entry(struct entry *entry)
{
	check((entry->fd < 0) == (entry->state == ENTRY_TAKEN));
	check(entry->entries->count > 0);
	list_remove(&entry->link);
	entry->entries->count--;
	check(entry->is_near || entry->entries->n_far > 0);
	entry->entries->n_far -= !entry->is_near;
	loop_source_free(entry->source);
	loop_timer_deinit(&entry->timer);
	http_reader_deinit(&entry->reader);
	if (entry->fd >= 0)
		close(entry->fd);
	free(entry);
}

static void on_late(void *data)
{
	free_entry(data);
}

/* The response fits into the empty buffer of a new socket. If not, the peer gets no response. */
static void send_refusal(struct entry *entry, const struct http_refusal *refusal)
{
	cleanup(buffer_deinit) struct buffer response = {0};

	http_write_refusal(&response, refusal);
	if (buffer_status(&response) < 0 ||
		send(entry->fd, response.data, response.size, MSG_NOSIGNAL) < 0 ||
		shutdown(entry->fd, SHUT_WR) < 0) {
		free_entry(entry);
		return;
	}
	entry_move(entry, ENTRY_REFUSED);
	loop_timer_arm(&entry->timer, LINGER_MS);
}

static void finish_request(struct entry *entry, const char *rest, size_t size)
{
	struct entries *entries = entry->entries;
	struct http_refusal refusal = {.fields = ""};

	if (entry->reader.state == HTTP_REFUSED) {
		refusal.status = entry->reader.status;
		refusal.reason = entry->reader.reason;
		send_refusal(entry, &refusal);
	} else if (!entries->handler.judge(
			   entries->data, &entry->reader, entry->is_near, &refusal)) {
		send_refusal(entry, &refusal);
	} else {
		entry_move(entry, ENTRY_TAKEN);
		/* The new owner may watch the descriptor at once. */
		loop_source_free(take_ptr(entry->source));
		entries->handler.take(
			entries->data, take_fd(entry->fd), &entry->reader, rest, size);
		free_entry(entry);
	}
}

static void read_entry_on(struct entry *entry)
{
	char bytes[READ_BYTES];
	ssize_t size = recv(entry->fd, bytes, sizeof(bytes), 0);
	size_t used;

	if (size < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (size > 0 && entry->state == ENTRY_REFUSED)
		entry->discarded += (size_t)size;
	if (size <= 0 || entry->discarded > LINGER_BYTES) {
		free_entry(entry);
		return;
	}
	if (entry->state == ENTRY_REFUSED)
		return;
	used = http_reader_feed(&entry->reader, bytes, (size_t)size);
	if (http_reader_is_over(&entry->reader))
		finish_request(entry, bytes + used, (size_t)size - used);
}

static void on_entry_readable(void *data, uint32_t events)
{
	(void)events;
	read_entry_on(data);
}

/* Close the connection with the longest wait; with @is_far, the first of a peer on another
 * device. */
static void close_longest(struct entries *entries, bool is_far)
{
	list_for_each(link, &entries->waiting) {
		struct entry *entry = container_of(link, struct entry, link);

		if (is_far && entry->is_near)
			continue;
		free_entry(entry);
		return;
	}
}

static void make_place(struct entries *entries, bool is_newcomer_near)
{
	if (!is_newcomer_near && entries->n_far >= ENTRIES_MAX - ENTRIES_NEAR)
		close_longest(entries, true);
	else if (entries->count >= ENTRIES_MAX)
		close_longest(entries, entries->n_far > 0);
}

static int begin_reading(struct entry *entry)
{
	struct loop *loop = entry->entries->loop;
	int r = loop_timer_init(&entry->timer, loop, on_late, entry);

	if (r == 0)
		r = loop_add_fd(loop, entry->fd, EPOLLIN, on_entry_readable, entry, &entry->source);
	if (r == 0)
		loop_timer_arm(&entry->timer, ENTRY_WAIT_MS);
	return r;
}

void entries_accept(struct entries *entries, int fd)
{
	struct entry *entry;
	bool is_peer_near = network_peer_is_local(fd);

	make_place(entries, is_peer_near);
	entry = calloc(1, sizeof(*entry));
	if (!entry) {
		close(fd);
		return;
	}
	entry->entries = entries;
	entry->fd = fd;
	entry->is_near = is_peer_near;
	list_init(&entry->link);
	list_append(&entries->waiting, &entry->link);
	entries->count++;
	entries->n_far += !is_peer_near;
	http_reader_begin(&entry->reader, &entries->limits);
	if (begin_reading(entry) < 0)
		free_entry(entry);
	else
		read_entry_on(entry); /* its request is often there already */
}

unsigned int entries_count(const struct entries *entries)
{
	return entries->count;
}

int entries_new(struct loop *loop, const struct http_limits *limits,
	const struct entry_handler *handler, void *data, struct entries **ret_entries)
{
	struct entries *entries = calloc(1, sizeof(*entries));

	check(handler->judge && handler->take);
	if (!entries)
		return -ENOMEM;
	*entries = (struct entries){
		.loop = loop, .limits = *limits, .handler = *handler, .data = data};
	list_init(&entries->waiting);
	*ret_entries = entries;
	return 0;
}

void entries_free(struct entries *entries)
{
	if (!entries)
		return;
	while (!list_is_empty(&entries->waiting))
		free_entry(container_of(entries->waiting.next, struct entry, link));
	free(entries);
}
