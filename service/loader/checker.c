/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/checker.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/host.h"
#include "json/reader.h"
#include "util/environment.h"

/* Hosts at the same time. */
#define CHECKER_HOSTS_MAX 4

#define TEXT_BYTES    512
#define POINTER_BYTES 256

struct candidate {
	struct toolbox *toolbox;
	void *item;
};

/* Candidates that are looked at together: a run of checker->candidates. */
struct lot {
	size_t first;
	size_t n;
};

/* A host that looks at a lot. */
struct check {
	struct checker *checker;
	struct host *host; /* NULL: free for the next one */
	struct lot lot;
};

struct checker {
	const char *host_program;
	const struct config *config;
	struct loop *loop;
	struct candidate *candidates;
	size_t n_candidates;
	struct lot *lots; /* that wait; they never overlap, so there is room for all */
	size_t n_lots;
	struct check checks[CHECKER_HOSTS_MAX];
	struct loop_timer work;
	checker_refused_function refused;
	checker_told_function told;
	checker_done_function done;
	void *data;
};

static int compare_candidates(const void *a, const void *b)
{
	const struct candidate *left = a;
	const struct candidate *right = b;

	int order = toolbox_compare_loads(left->toolbox, right->toolbox);

	return order != 0 ? order
			  : environment_compare(
				    left->toolbox->environment, right->toolbox->environment);
}

static void refuse(struct checker *checker, struct lot lot, const char *pointer, const char *text)
{
	for (size_t i = 0; i < lot.n; i++)
		checker->refused(checker->candidates[lot.first + i].item, pointer, text);
}

static void end_check(struct check *check)
{
	host_free(take_ptr(check->host));
	loop_timer_arm(&check->checker->work, 0);
}

/* What goes wrong at the end is no reason against a toolbox; once it has run calls, it is logged.
 */
static void host_has_left(void *data, const struct host_exit *end)
{
	(void)end;
	end_check(data);
}

/* Everybody in the lot knows the library as its first one does. */
static void share_library(struct checker *checker, struct lot lot)
{
	struct candidate *first = &checker->candidates[lot.first];

	toolbox_library_look(&first->toolbox->library);
	for (size_t i = 1; i < lot.n; i++)
		if (toolbox_library_look_like(
			    &first[i].toolbox->library, &first->toolbox->library) < 0)
			checker->refused(first[i].item, "/library", strerror(ENOMEM));
}

/* The text @key of what a host has told, which the caller frees; NULL: none, or no memory. */
static char *dup_member(const struct json_tape *tape, const char *key)
{
	uint32_t token = json_find(tape, 0, key);

	if (token == JSON_NONE || json_type_at(tape, token) != JSON_STRING)
		return NULL;
	return json_string_dup(tape, token, NULL);
}

/* What the host could not do for the sandbox, and whether the library is a sealed copy. */
void checker_note(struct toolbox *toolbox, const struct json_tape *told)
{
	uint32_t sealed = json_find(told, 0, "sealed");
	cleanup_free char *missing = dup_member(told, "missing");

	toolbox->is_sealed = sealed != JSON_NONE && json_is_true(told, sealed);
	free(toolbox->not_enforced);
	toolbox->not_enforced = missing && *missing ? take_ptr(missing) : NULL;
}

/* The host has told where the dynamic linker found the library. */
static void lot_is_good(void *data, const char *loaded, size_t size)
{
	struct check *check = data;
	struct checker *checker = check->checker;
	struct toolbox_library *library = &checker->candidates[check->lot.first].toolbox->library;
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup_free char *file = NULL;

	if (json_tape_read(&tape, loaded, size, JSON_DEPTH_DEFAULT, NULL) == 0) {
		file = dup_member(&tape, "library");
		for (size_t i = 0; i < check->lot.n; i++)
			checker_note(checker->candidates[check->lot.first + i].toolbox, &tape);
	}
	if (file && !library->file)
		toolbox_library_set_file(library, file);
	if (library->path)
		share_library(checker, check->lot);
	if (!kind_facts(checker->candidates[check->lot.first].toolbox->kind)->tells_tools) {
		end_check(check);
		return;
	}
	checker->told(checker->candidates[check->lot.first].item, loaded, size);
	/* What its init() has begun, its deinit() may end. */
	host_dismiss(check->host, host_has_left, check);
}

/* "/tools/3/symbol" of the LOAD frame is "/tools/3/native/symbol" of the manifest. */
static void manifest_pointer(const char *pointer, char *ret, size_t size)
{
	static const char tools[] = "/tools/";
	const char *rest = strncmp(pointer, tools, strlen(tools)) == 0
				   ? strchr(pointer + strlen(tools), '/')
				   : NULL;

	if (rest)
		snprintf(ret, size, "%.*s/native%s", (int)(rest - pointer), pointer, rest);
	else
		snprintf(ret, size, "%s", pointer);
}

static void refuse_for(struct checker *checker, struct lot lot, const struct host_exit *end)
{
	const struct toolbox *toolbox = checker->candidates[lot.first].toolbox;
	char pointer[POINTER_BYTES] = "";
	char text[TEXT_BYTES];

	if (end->reason == HOST_REFUSED) {
		manifest_pointer(end->pointer, pointer, sizeof(pointer));
		snprintf(text, sizeof(text), "%s", end->message);
	} else {
		int length = snprintf(text, sizeof(text), "%s failed: ",
			toolbox->library.path ? "loading the library" : "asking for its tools");

		if (toolbox->library.path)
			snprintf(pointer, sizeof(pointer), "/library");
		host_describe_exit(end, text + length, sizeof(text) - (size_t)length);
	}
	refuse(checker, lot, pointer, text);
}

static bool is_everybodys(const struct host_exit *end)
{
	return end->reason == HOST_TOO_SLOW ||
	       (end->reason == HOST_REFUSED &&
		       (strcmp(end->pointer, "/library") == 0 ||
			       strncmp(end->pointer, "/sandbox/", strlen("/sandbox/")) == 0));
}

static void lot_is_bad(void *data, const struct host_exit *end)
{
	struct check *check = data;
	struct checker *checker = check->checker;
	struct lot lot = check->lot;
	size_t half = lot.n / 2;

	if (lot.n == 1 || is_everybodys(end)) {
		refuse_for(checker, lot, end);
	} else {
		checker->lots[checker->n_lots++] = (struct lot){lot.first, half};
		checker->lots[checker->n_lots++] = (struct lot){lot.first + half, lot.n - half};
	}
	end_check(check);
}

static int write_load(const struct checker *checker, struct lot lot, struct buffer *load)
{
	cleanup_free struct toolbox **toolboxes = calloc(lot.n, sizeof(*toolboxes));

	if (!toolboxes)
		return -ENOMEM;
	for (size_t i = 0; i < lot.n; i++)
		toolboxes[i] = checker->candidates[lot.first + i].toolbox;
	toolbox_write_load(toolboxes, lot.n, load);
	return buffer_status(load);
}

/* What is only asked for its tools has no say on the bus. */
static void hear_nothing(void *data, const struct json_tape *object, const char *text, size_t size)
{
	(void)data, (void)object, (void)text, (void)size;
}

static int spawn(struct check *check)
{
	static const struct host_handler handler = {
		.loaded = lot_is_good,
		.bus_message = hear_nothing,
		.ended = lot_is_bad,
	};
	const struct toolbox *toolbox = check->checker->candidates[check->lot.first].toolbox;
	struct checker *checker = check->checker;
	const struct config *config = checker->config;
	cleanup(buffer_deinit) struct buffer load = {0};
	int r = write_load(checker, check->lot, &load);
	struct host_options options = {
		.program = checker->host_program,
		.toolbox_id = toolbox->id,
		.environment = toolbox->environment,
		.load = load.data,
		.load_size = load.size,
		.output_max = config->limits.host_output_bytes,
		.stderr_max = config->limits.stderr_bytes,
		.start_timeout_ms = config->start_timeout_ms,
		.has_guard = toolbox_has_guard(toolbox),
		.has_bus = kind_facts(toolbox->kind)->has_bus,
	};

	return r < 0 ? r : host_spawn(checker->loop, &options, &handler, check, &check->host);
}

static void begin_check(struct check *check, struct lot lot)
{
	char text[TEXT_BYTES];
	int r;

	check->lot = lot;
	r = spawn(check);
	if (r == 0)
		return;
	snprintf(text, sizeof(text), "the host program %s cannot be started: %s",
		check->checker->host_program, strerror(-r));
	refuse(check->checker, lot, "", text);
}

/* Keep the hosts busy; tell when nothing is left. */
static void work(void *data)
{
	struct checker *checker = data;
	bool is_busy = false;

	for (size_t i = 0; i < CHECKER_HOSTS_MAX; i++) {
		struct check *check = &checker->checks[i];

		while (!check->host && checker->n_lots > 0)
			begin_check(check, checker->lots[--checker->n_lots]);
		is_busy = is_busy || check->host;
	}
	if (!is_busy)
		checker->done(checker->data);
}

/* ── for the owner ───────────────────────────────────────────────────────────────────────────── */

int checker_new(struct loop *loop, const char *host_program, const struct config *config,
	size_t n_max, struct checker **ret_checker)
{
	cleanup(checker_cleanup) struct checker *checker = calloc(1, sizeof(*checker));

	if (!checker)
		return -ENOMEM;
	checker->loop = loop;
	checker->host_program = host_program;
	checker->config = config;
	for (size_t i = 0; i < CHECKER_HOSTS_MAX; i++)
		checker->checks[i].checker = checker;
	checker->candidates = calloc(n_max + 1, sizeof(*checker->candidates));
	checker->lots = calloc(n_max + 1, sizeof(*checker->lots));
	if (!checker->candidates || !checker->lots ||
		loop_timer_init(&checker->work, loop, work, checker) < 0)
		return -ENOMEM;
	*ret_checker = take_ptr(checker);
	return 0;
}

void checker_free(struct checker *checker)
{
	if (!checker)
		return;
	for (size_t i = 0; i < CHECKER_HOSTS_MAX; i++)
		host_free(checker->checks[i].host);
	loop_timer_deinit(&checker->work);
	free(checker->candidates);
	free(checker->lots);
	free(checker);
}

void checker_add(struct checker *checker, struct toolbox *toolbox, void *item)
{
	checker->candidates[checker->n_candidates++] = (struct candidate){toolbox, item};
}

void checker_start(struct checker *checker, checker_refused_function refused,
	checker_told_function told, checker_done_function done, void *data)
{
	checker->refused = refused;
	checker->told = told;
	checker->done = done;
	checker->data = data;
	qsort(checker->candidates, checker->n_candidates, sizeof(*checker->candidates),
		compare_candidates);
	for (size_t i = 0; i < checker->n_candidates; i++) {
		if (i == 0 || compare_candidates(
				      &checker->candidates[i - 1], &checker->candidates[i]) != 0)
			checker->lots[checker->n_lots++] = (struct lot){i, 0};
		checker->lots[checker->n_lots - 1].n++;
	}
	loop_timer_arm(&checker->work, 0);
}
