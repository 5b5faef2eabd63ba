/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/checker.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/host.h"
#include "host/output_tail.h"
#include "json/member.h"
#include "json/reader.h"
#include "util/array.h"
#include "util/environment.h"

/* Hosts at the same time. */
#define CHECKER_HOSTS_MAX 4

/* The longest description of a server: of the largest list (mcp/client/pages.h), with what is added
 * to each tool. */
#define DESCRIPTION_BYTES_MAX (96u << 20)

#define TEXT_BYTES    1024
#define POINTER_BYTES 256

/* The bytes of the last lines of a server's log in the reason of its refusal, and the text between
 * two. */
#define LOGGED_BYTES 400
#define BETWEEN      " | "

struct check_target {
	struct package *package;
	void *item;
};

/* Targets checked together: a run of checker->targets. */
struct check_batch {
	size_t first;
	size_t n;
};

/* A host for the check of a batch. */
struct check_host {
	struct checker *checker;
	struct host *host; /* NULL: free for the next one */
	struct check_batch batch;
	struct output_tail output; /* for kind mcp: the last lines of its log */
};

struct checker {
	const char *host_program;
	const struct config *config;
	struct loop *loop;
	struct check_target *targets;
	size_t n_targets;
	struct check_batch
		*batches; /* waiting batches; they never overlap, so there is room for n_targets */
	size_t n_batches;
	struct check_host hosts[CHECKER_HOSTS_MAX];
	struct loop_timer work;
	checker_refused_function refused;
	checker_described_function described;
	checker_done_function done;
	void *data;
};

static int compare_targets(const void *a, const void *b)
{
	const struct check_target *left = a;
	const struct check_target *right = b;

	int order = package_compare_loads(left->package, right->package);

	return order != 0 ? order
			  : environment_compare(
				    left->package->environment, right->package->environment);
}

static void refuse_batch(
	struct checker *checker, struct check_batch batch, const char *pointer, const char *text)
{
	for (size_t i = 0; i < batch.n; i++)
		checker->refused(checker->targets[batch.first + i].item, pointer, text);
}

/* The host prints what is left into the tail when it is freed. */
static void free_host(struct check_host *check)
{
	host_free(take_ptr(check->host));
	output_tail_deinit(&check->output);
}

static void end_batch(struct check_host *check)
{
	free_host(check);
	loop_timer_arm(&check->checker->work, 0);
}

/* A failure at the end is no reason against a toolbox. It is logged once the toolbox has run calls.
 */
static void host_has_left(void *data, const struct host_exit *end)
{
	(void)end;
	end_batch(data);
}

/* Return the text at @token (or JSON_NONE) of a description, which the caller frees; NULL: none,
 * or no memory. */
static char *dup_described_text(const struct json_tape *tape, uint32_t token)
{
	if (token == JSON_NONE || json_type_at(tape, token) != JSON_STRING)
		return NULL;
	return json_string_dup(tape, token, NULL);
}

/* Return the library number @index of @package. */
static struct toolbox_library *library_at(struct package *package, uint32_t index)
{
	struct toolbox_library *library = &package->library;

	while (index-- > 0)
		library = library->next;
	return library;
}

/* Look at the file in which the linker has found the library number @index of the batch, by
 * @loaded. */
static void set_file(struct checker *checker, struct check_batch batch, uint32_t index,
	const struct json_tape *loaded)
{
	struct check_target *first = &checker->targets[batch.first];
	struct toolbox_library *library = library_at(first->package, index);
	cleanup_free char *file =
		dup_described_text(loaded, toolbox_library_find_loaded(loaded, index, "library"));

	if (library->file || !file)
		return;
	if (toolbox_library_set_file(library, file) == 0)
		toolbox_library_look(library);
	for (size_t i = 1; i < batch.n; i++)
		if (toolbox_library_look_like(library_at(first[i].package, index), library) < 0)
			checker->refused(first[i].item, package_library_place(first[i].package),
				strerror(ENOMEM));
}

void checker_note(struct package *package, const struct json_tape *described)
{
	cleanup_free char *missing =
		dup_described_text(described, json_find(described, 0, "missing"));
	uint32_t index = 0;

	free(package->not_enforced);
	package->not_enforced = missing && *missing ? take_ptr(missing) : NULL;
	/* A copy that a host cannot load here is given to none. */
	for (struct toolbox_library *library = &package->library; library;
		library = library->next, index++) {
		uint32_t sealed = toolbox_library_find_loaded(described, index, "sealed");

		if (sealed == JSON_NONE || !json_is_true(described, sealed))
			sealed_file_unref(take_ptr(library->copy));
	}
}

/* Store what the sandbox refused while the library, or a plugin, was loaded. */
static void note_refused(struct package *package, const char *refused)
{
	free(package->refused);
	package->refused = refused ? strdup(refused) : NULL;
}

static const char is_another[] = "the file was replaced while it was loaded";

/* The host has reported where the dynamic linker found the library. */
static void batch_is_good(void *data, const char *loaded, size_t size)
{
	struct check_host *check = data;
	struct checker *checker = check->checker;
	const struct package *package = checker->targets[check->batch.first].package;
	const struct toolbox_library *library = package->library.path ? &package->library : NULL;
	cleanup(json_tape_cleanup) struct json_tape tape = {0};

	if (json_tape_read(&tape, loaded, size, JSON_DEPTH_DEFAULT, NULL) == 0) {
		for (size_t i = 0; i < check->batch.n; i++)
			checker_note(checker->targets[check->batch.first + i].package, &tape);
		for (uint32_t i = 0; library; library = library->next)
			set_file(checker, check->batch, i++, &tape);
	}
	for (size_t i = 0; i < check->batch.n; i++)
		note_refused(checker->targets[check->batch.first + i].package,
			host_refused(check->host));
	if (!toolbox_library_is_current(&package->library)) {
		refuse_batch(checker, check->batch, package_library_place(package), is_another);
		end_batch(check);
		return;
	}
	if (!kind_facts(package->kind)->describes_tools) {
		end_batch(check);
		return;
	}
	checker->described(checker->targets[check->batch.first].item, loaded, size);
	/* Let deinit() end the work begun by init(). */
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

/* Return the first of the @n lines of @output in the reason of a refusal. A server started twice
 * often prints the same twice. */
static size_t find_logged(const struct output_tail *output, size_t n)
{
	size_t first = n;
	size_t size = 0;

	while (first > 0) {
		const struct output_tail_line *last = output_tail_line(output, n - 1);
		const struct output_tail_line *line = output_tail_line(output, first - 1);

		size += line->size + strlen(BETWEEN);
		if (size > LOGGED_BYTES || (line != last && line->size == last->size &&
						   memcmp(line->text, last->text, line->size) == 0))
			break;
		first--;
	}
	return first;
}

/* Append the last lines of @output, written by the server or its host. They often explain what a
 * foreign program lacks. */
static void append_logged(const struct output_tail *output, char *text, size_t room)
{
	const struct output_tail_line *line;
	size_t n = 0;
	size_t first;

	while (output_tail_line(output, n))
		n++;
	first = find_logged(output, n);
	for (size_t i = first; i < n; i++) {
		size_t length = strlen(text);

		line = output_tail_line(output, i);
		snprintf(text + length, room - length, "%s%.*s",
			i == first ? "; its log ends with: " : BETWEEN, (int)line->size,
			line->text);
	}
}

static void refuse_for(struct check_host *check, const struct host_exit *end)
{
	struct checker *checker = check->checker;
	struct check_batch batch = check->batch;
	const struct package *package = checker->targets[batch.first].package;
	char pointer[POINTER_BYTES] = "";
	char text[TEXT_BYTES];

	if (end->reason == HOST_REFUSED) {
		manifest_pointer(end->pointer, pointer, sizeof(pointer));
		int length = snprintf(text, sizeof(text), "%s", end->message);

		if (end->refused && (size_t)length < sizeof(text))
			snprintf(text + length, sizeof(text) - (size_t)length, HOST_REFUSED_FORMAT,
				end->refused);
		append_logged(&check->output, text, sizeof(text));
	} else {
		int length = snprintf(text, sizeof(text), "%s failed: ",
			!package->library.path              ? "describing its tools"
			: package->kind == KIND_PYTHON_FILE ? "loading the file"
							    : "loading the library");

		if (package->library.path)
			snprintf(pointer, sizeof(pointer), "%s", package_library_place(package));
		host_describe_exit(end, text + length, sizeof(text) - (size_t)length);
	}
	refuse_batch(checker, batch, pointer, text);
}

static bool is_everybodys(const struct host_exit *end)
{
	static const char *const places[] = {"/library", "/libraries/", "/sandbox/"};

	for (size_t i = 0; end->reason == HOST_REFUSED && i < ARRAY_SIZE(places); i++)
		if (strncmp(end->pointer, places[i], strlen(places[i])) == 0)
			return true;
	return end->reason == HOST_TOO_SLOW;
}

static void batch_is_bad(void *data, const struct host_exit *end)
{
	struct check_host *check = data;
	struct checker *checker = check->checker;
	struct check_batch batch = check->batch;
	size_t half = batch.n / 2;

	if (batch.n == 1 || is_everybodys(end)) {
		refuse_for(check, end);
	} else {
		checker->batches[checker->n_batches++] = (struct check_batch){batch.first, half};
		checker->batches[checker->n_batches++] =
			(struct check_batch){batch.first + half, batch.n - half};
	}
	end_batch(check);
}

static int write_load(const struct checker *checker, struct check_batch batch, struct buffer *load)
{
	cleanup_free struct package **packages = calloc(batch.n, sizeof(struct package *));

	if (!packages)
		return -ENOMEM;
	for (size_t i = 0; i < batch.n; i++)
		packages[i] = checker->targets[batch.first + i].package;
	package_write_load(packages, batch.n, load);
	return buffer_status(load);
}

/* A host asked only for its tools may not use the bus. */
static void ignore_bus_message(
	void *data, const struct json_tape *object, const char *text, size_t size)
{
	(void)data, (void)object, (void)text, (void)size;
}

/* Return how long a description of @package may be: results are bounded by the configuration, lists
 * of servers by what their host takes of them. */
static size_t output_max(const struct package *package, const struct config *config)
{
	size_t max = config->limits.host_output_bytes;

	return package->kind == KIND_MCP && max < DESCRIPTION_BYTES_MAX ? DESCRIPTION_BYTES_MAX
									: max;
}

static int spawn(struct check_host *check)
{
	static const struct host_handler handler = {
		.loaded = batch_is_good,
		.bus_message = ignore_bus_message,
		.ended = batch_is_bad,
	};
	const struct package *package = check->checker->targets[check->batch.first].package;
	struct checker *checker = check->checker;
	const struct config *config = checker->config;
	cleanup(buffer_deinit) struct buffer load = {0};
	int r = write_load(checker, check->batch, &load);
	struct host_options options = {
		.program = checker->host_program,
		.toolbox_id = package->id,
		.environment = package->environment,
		.load = load.data,
		.load_size = load.size,
		.output_max = output_max(package, config),
		.stderr_max = config->limits.stderr_bytes,
		.start_timeout_ms = package_start_ms(package, config->start_timeout_ms),
		.has_guard = package_has_guard(package),
		.yields = true,
		.has_bus = kind_facts(package->kind)->has_bus,
		.tail = package->kind == KIND_MCP ? &check->output : NULL,
	};

	toolbox_library_list_copies(&package->library, options.libraries, WIRE_LIBRARIES_MAX);
	return r < 0 ? r : host_spawn(checker->loop, &options, &handler, check, &check->host);
}

static void start_batch(struct check_host *check, struct check_batch batch)
{
	char text[TEXT_BYTES];
	int r;

	check->batch = batch;
	r = spawn(check);
	if (r == 0)
		return;
	snprintf(text, sizeof(text), "the host program %s cannot be started: %s",
		check->checker->host_program, strerror(-r));
	refuse_batch(check->checker, batch, "", text);
}

/* Keep the hosts busy; call done() when nothing is left. */
static void work(void *data)
{
	struct checker *checker = data;
	bool is_busy = false;

	for (size_t i = 0; i < CHECKER_HOSTS_MAX; i++) {
		struct check_host *check = &checker->hosts[i];

		while (!check->host && checker->n_batches > 0)
			start_batch(check, checker->batches[--checker->n_batches]);
		is_busy = is_busy || check->host;
	}
	if (!is_busy)
		checker->done(checker->data);
}

/* ── for the owner ───────────────────────────────────────────────────────────────────────────── */

int checker_new(struct loop *loop, const char *host_program, const struct config *config,
	struct checker **ret_checker)
{
	cleanup(checker_cleanup) struct checker *checker = calloc(1, sizeof(*checker));

	if (!checker)
		return -ENOMEM;
	checker->loop = loop;
	checker->host_program = host_program;
	checker->config = config;
	for (size_t i = 0; i < CHECKER_HOSTS_MAX; i++)
		checker->hosts[i].checker = checker;
	if (loop_timer_init(&checker->work, loop, work, checker) < 0)
		return -ENOMEM;
	*ret_checker = take_ptr(checker);
	return 0;
}

void checker_free(struct checker *checker)
{
	if (!checker)
		return;
	for (size_t i = 0; i < CHECKER_HOSTS_MAX; i++)
		free_host(&checker->hosts[i]);
	loop_timer_deinit(&checker->work);
	free(checker->targets);
	free(checker->batches);
	free(checker);
}

/* Look at @library, if it was found by path, unless that was done for it or for @last (may be
 * NULL). 0 or a negative errno. */
static int look_at_library(struct toolbox_library *library, const struct toolbox_library *last)
{
	if (!toolbox_library_is_path(library) || library->digest != 0)
		return 0;
	if (last && last->path && strcmp(last->path, library->path) == 0)
		return toolbox_library_look_like(library, last);
	return toolbox_library_look(library);
}

/* Look at the libraries of @package. Toolboxes in a row may have the same ones. 0 or -ENOMEM. */
static int look_at_libraries(const struct checker *checker, struct package *package)
{
	const struct toolbox_library *last =
		checker->n_targets > 0 ? &checker->targets[checker->n_targets - 1].package->library
				       : NULL;

	for (struct toolbox_library *library = &package->library; library;
		library = library->next) {
		if (look_at_library(library, last) == -ENOMEM)
			return -ENOMEM;
		last = last ? last->next : NULL;
	}
	return 0;
}

int checker_add(struct checker *checker, struct package *package, void *item)
{
	if (array_grow(checker->targets, checker->n_targets) < 0 ||
		array_grow(checker->batches, checker->n_targets) < 0)
		return -ENOMEM;
	if (look_at_libraries(checker, package) < 0)
		return -ENOMEM;
	checker->targets[checker->n_targets++] = (struct check_target){package, item};
	return 0;
}

void checker_start(struct checker *checker, checker_refused_function refused,
	checker_described_function described, checker_done_function done, void *data)
{
	checker->refused = refused;
	checker->described = described;
	checker->done = done;
	checker->data = data;
	if (checker->n_targets > 0)
		qsort(checker->targets, checker->n_targets, sizeof(*checker->targets),
			compare_targets);
	for (size_t i = 0; i < checker->n_targets; i++) {
		if (i == 0 || compare_targets(&checker->targets[i - 1], &checker->targets[i]) != 0)
			checker->batches[checker->n_batches++] = (struct check_batch){i, 0};
		checker->batches[checker->n_batches - 1].n++;
	}
	loop_timer_arm(&checker->work, 0);
}
