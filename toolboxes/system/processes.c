/* SPDX-License-Identifier: Apache-2.0 */

/*
 * processes: the programs that use most of the processor or of the memory. The use of the processor
 * is measured between two looks; /proc itself has only sums since the start of each process.
 *
 *   look ──── SAMPLE_MS ──── look ─▶ sort ─▶ the first `limit`
 *
 * Command lines are left out: some programs have passwords there.
 */

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "fields.h"
#include "place.h"
#include "system.h"

/* The time between two looks. */
#define SAMPLE_MS 250

/* The most processes that are looked at. */
#define PROCESSES_MAX 32768

struct process {
	uint32_t pid;
	uint32_t uid;
	struct process_line line;
	double percent;
};

struct list {
	struct process *items;
	size_t n;
	size_t room;
};

static bool make_list_room(struct list *list)
{
	size_t room = list->room ? 2 * list->room : 256;
	struct process *items;

	if (list->n < list->room)
		return true;
	if (list->n >= PROCESSES_MAX)
		return false;
	items = realloc(list->items, room * sizeof(*items));
	if (!items)
		return false;
	list->items = items;
	list->room = room;
	return true;
}

static void look_at(struct list *list, uint32_t pid)
{
	PLACE_TEXT text = place_read("/proc/%u/stat", pid);
	struct process process = {.pid = pid};
	char path[PLACE_BYTES];
	struct stat status;

	/* It may have ended. */
	if (!text || !process_line_read(text, &process.line) || !make_list_room(list))
		return;
	if (place_path(path, "/proc/%u", pid) && stat(path, &status) == 0)
		process.uid = status.st_uid;
	list->items[list->n++] = process;
}

/* Add all processes to @list. Return whether /proc can be read. */
static bool look(struct list *list)
{
	PLACE_FOLDER folder = place_open_folder("/proc");
	const char *name;

	while (folder && (name = place_next(folder))) {
		char *end;
		unsigned long pid = strtoul(name, &end, 10);

		if (*end == '\0' && pid > 0 && pid <= UINT32_MAX)
			look_at(list, (uint32_t)pid);
	}
	return folder != NULL;
}

static int by_pid(const void *a, const void *b)
{
	const struct process *left = a;
	const struct process *right = b;

	return left->pid < right->pid ? -1 : left->pid > right->pid;
}

static int by_processor(const void *a, const void *b)
{
	const struct process *left = a;
	const struct process *right = b;

	if (left->percent != right->percent)
		return left->percent > right->percent ? -1 : 1;
	return left->line.pages > right->line.pages ? -1 : left->line.pages < right->line.pages;
}

static int by_memory(const void *a, const void *b)
{
	const struct process *left = a;
	const struct process *right = b;

	if (left->line.pages != right->line.pages)
		return left->line.pages > right->line.pages ? -1 : 1;
	return by_pid(a, b);
}

/* Set the use of the processor since the look @before, @seconds ago. */
static void set_percent(struct list *now, struct list *before, double seconds)
{
	double ticks = (double)sysconf(_SC_CLK_TCK) * seconds;

	qsort(before->items, before->n, sizeof(*before->items), by_pid);
	for (size_t i = 0; i < now->n && ticks > 0; i++) {
		struct process *process = &now->items[i];
		const struct process *old =
			bsearch(process, before->items, before->n, sizeof(*before->items), by_pid);

		if (old && old->line.ticks <= process->line.ticks)
			process->percent =
				100.0 * (double)(process->line.ticks - old->line.ticks) / ticks;
	}
}

static double seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Look twice. */
static bool measure(struct list *ret_list)
{
	struct list before = {0};
	double start = seconds_now();
	bool is_good = look(&before);

	nanosleep(&(struct timespec){.tv_nsec = SAMPLE_MS * 1000000L}, NULL);
	is_good = is_good && look(ret_list);
	if (is_good && before.n > 0)
		set_percent(ret_list, &before, seconds_now() - start);
	free(before.items);
	return is_good;
}

static void put_process(struct toolbox_call call, const struct process *process)
{
	char state[2] = {process->line.state, '\0'};

	toolbox_open_object(call, NULL);
	toolbox_put_u64(call, "pid", process->pid);
	put_lossy(call, "name", process->line.name);
	toolbox_put_u64(call, "uid", process->uid);
	put_lossy(call, "state", state);
	put_tenths(call, "cpu_percent", process->percent);
	toolbox_put_u64(
		call, "memory_bytes", process->line.pages * (uint64_t)sysconf(_SC_PAGESIZE));
	toolbox_close(call);
}

void processes(struct toolbox_call call, void *data)
{
	struct list list = {0};
	const char *by = "cpu";
	uint64_t limit = PROCESSES_SHOWN;

	(void)data;
	toolbox_get_u64(call, "limit", &limit);
	toolbox_get_string(call, "by", &by, NULL);
	if (!measure(&list) || list.n == 0) {
		fail(call, "/proc has no processes: is it mounted?");
		free(list.items);
		return;
	}
	qsort(list.items, list.n, sizeof(*list.items),
		strcmp(by, "memory") == 0 ? by_memory : by_processor);
	toolbox_put_u64(call, "n_processes", list.n);
	put_lossy(call, "top", list.items[0].line.name);
	toolbox_open_array(call, "processes");
	for (size_t i = 0; i < list.n && i < limit; i++)
		put_process(call, &list.items[i]);
	toolbox_reply(call);
	free(list.items);
}
