/* SPDX-License-Identifier: Apache-2.0 */
#include "offer/reload.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config_fixture.h"
#include "loader/guest/guests.h"
#include "logged.h"
#include "scarce.h"
#include "util/clock.h"
#include "util/log.h"

#define WAIT_MS 60000
#define STEP_MS 5

static struct loop *loop;
static struct offer offer;
static struct disposal disposal;
static struct reload reload;
static struct executor executor; /* Guests need one, and are not called here. */
static struct paths paths;
static struct config_flags flags = {.log_level = "error"};
static char *folder;
static struct guest_text *guest; /* that has registered, or NULL */
static unsigned int n_ready;
static unsigned int n_done;
static unsigned int n_started_again;
static unsigned int n_changes;
static unsigned int n_taken;
static bool begins_another = true;

/* A request that has waited for the first load asks for another one; or the loop stops. */
static void begin_another(void *data)
{
	(void)data;
	n_ready++;
	if (begins_another)
		reload_begin(&reload);
	else
		loop_stop(loop);
}

static void begin_nothing(void *data)
{
	(void)data;
}

static bool begin_without_requests(void *data)
{
	(void)data;
	return false;
}

static void count_done(void *data)
{
	(void)data;
	n_done++;
}

static void count_start(void *data)
{
	(void)data;
	n_started_again++;
}

static void count_change(void *data, const struct buffer *members)
{
	(void)data;
	cr_expect_gt(members->size, 0);
	n_changes++;
}

static void list_guests(void *data, struct guest_set *ret_set)
{
	struct guest_entry entry = {
		.number = 1, .source = (char *)"skill", .text = guest, .is_new = true};

	(void)data;
	if (guest)
		cr_assert_eq(guest_set_add(ret_set, &entry), 0);
}

static void take_guests(void *data, const struct guest_set *set, bool is_taken, uint64_t spent_ms)
{
	(void)data;
	(void)spent_ms;
	cr_expect(is_taken);
	cr_expect_eq(set->n_items, guest != NULL);
	n_taken++;
}

static void ignore_end(void *data, struct runner_call *call, const struct call_result *result)
{
	(void)data;
	(void)call;
	(void)result;
}

static void drop_drained(void *data, struct runner *runner)
{
	(void)data;
	offer_drop_retired(&offer, runner);
}

static void set_up(void)
{
	static const struct runner_handler runner_handler = {
		.done = ignore_end, .drained = drop_drained};
	static const struct reload_handler handler = {
		.begun = begin_without_requests,
		.changed = count_change,
		.done = count_done,
		.ready = begin_another,
		.reloaded = begin_nothing,
		.start_again = count_start,
		.configured = begin_nothing,
		.list_guests = list_guests,
		.take_guests = take_guests,
	};
	struct reload_parts parts = {.config = &config, .offer = &offer};
	struct mistakes mistakes = {0};

	config_set_up();
	folder = strdup(in_folder("box.d"));
	flags.toolbox_dirs = (const char *const *)&folder;
	flags.n_toolbox_dirs = 1;
	write_file("box.d/ovos.json", "{\"kind\":\"python\",\"python\":\"/bin/false\"}");
	cr_assert_eq(read_with(&flags), 0);
	snprintf(paths.host_program, sizeof(paths.host_program), "%s", TEST_HOST_PROGRAM);
	cr_assert_eq(loop_new(&loop), 0);
	cr_assert_eq(offer_init(&offer, loop, paths.host_program, &runner_handler, NULL), 0);
	offer.executors[KIND_GUEST] = &executor;
	parts.loop = loop;
	parts.disposal = &disposal;
	cr_assert_eq(disposal_init(&disposal, loop), 0);
	cr_assert_eq(reload_init(&reload, &parts, &flags, &paths, &mistakes, &handler, NULL), 0);
}

static void tear_down(void)
{
	reload_deinit(&reload);
	offer_deinit(&offer);
	disposal_deinit(&disposal);
	loop_free(loop);
	guest_text_unref(guest);
	free(folder);
	config_tear_down();
}

TestSuite(reload, .init = set_up, .fini = tear_down, .timeout = 300);

/* The first load leaves out the tools without a cached description, so another load follows. */
Test(reload, follows_the_first_load_once_when_it_is_also_asked_for)
{
	reload_begin(&reload);
	for (int waited_ms = 0; reload.loader && waited_ms < WAIT_MS; waited_ms += STEP_MS)
		loop_run(loop, STEP_MS);
	cr_expect(reload.is_ready);
	cr_expect_null(reload.loader);
	cr_expect_eq(n_ready, 1);
	cr_expect_eq(reload.generation, 2);
	cr_expect_eq(catalogue_n_failures(offer.catalogue), 1, "it has asked /bin/false");
}

/* The end of a load and the beginning of the next one do not hold the loop together. */
Test(reload, begins_the_next_load_in_a_turn_of_its_own)
{
	begins_another = false;
	reload_begin(&reload);
	reload_begin(&reload);
	cr_assert_eq(loop_run(loop, WAIT_MS), 0);
	cr_expect_eq(n_ready, 1);
	cr_expect_eq(reload.generation, 1);
	cr_expect_null(reload.loader);
	cr_expect(reload_is_pending(&reload));
	for (int waited_ms = 0; reload_is_pending(&reload) && waited_ms < WAIT_MS;
		waited_ms += STEP_MS)
		loop_run(loop, STEP_MS);
	cr_expect_eq(reload.generation, 2);
	cr_expect_null(reload.loader);
}

/* The load that follows the first one waits for servers; the load of a change does not. */
Test(reload, does_not_wait_for_servers_when_a_change_comes_between_two_loads)
{
	begins_another = false;
	reload_begin(&reload);
	cr_assert_eq(loop_run(loop, WAIT_MS), 0);
	cr_expect(reload.is_background_next);
	reload_begin(&reload);
	cr_expect(reload.loader);
	cr_expect_not(reload.is_background);
	for (int waited_ms = 0; reload_is_pending(&reload) && waited_ms < WAIT_MS;
		waited_ms += STEP_MS)
		loop_run(loop, STEP_MS);
	cr_expect_eq(reload.generation, 2);
}

static atomic_uint n_lists;

/* In place of the C library's, for the whole of the service. */
DIR *opendir(const char *path)
{
	DIR *(*real)(const char *) = (DIR * (*)(const char *)) dlsym(RTLD_NEXT, "opendir");

	n_lists += folder && strcmp(path, folder) == 0;
	return real(path);
}

/* Three lists of one folder may differ from one another. */
Test(reload, lists_a_folder_once_for_what_it_loads_and_watches)
{
	begins_another = false;
	flags.log_level = "error";
	write_file("box.d/ovos.json", "{\"kind\":\"command\",\"tools\":[]}");
	reload_begin(&reload);
	cr_assert_eq(loop_run(loop, WAIT_MS), 0);
	cr_assert(reload.is_unwatched);
	for (int waited_ms = 0; reload.is_unwatched && waited_ms < WAIT_MS; waited_ms += STEP_MS)
		loop_run(loop, STEP_MS);
	cr_expect_eq(n_lists, 1, "%u", n_lists);
	cr_expect_not(reload.is_listed, "it is not kept");
}

/* Return what the first load logs. */
static const char *log_of_the_first_load(void)
{
	begins_another = false;
	log_setup(LOG_LEVEL_INFO, LOG_FORMAT_TEXT);
	logged_begin();
	reload_begin(&reload);
	cr_assert_eq(loop_run(loop, WAIT_MS), 0);
	return logged_end();
}

#define BOX_LIBC(name)                                                                             \
	"{\"kind\":\"native\",\"library\":\"libc.so.6\",\"tools\":[{\"name\":\"" name              \
	"\",\"native\":{\"symbol\":\"abs\"}}]}"

Test(reload, logs_the_one_tool_that_it_offers)
{
	const char *log;

	write_file("box.d/a.json", BOX_LIBC("f"));
	write_file("box.d/bad.json", "{}");
	log = log_of_the_first_load();
	cr_expect_not_null(
		strstr(log, "INFO  1 tool in 1 toolbox is offered, 1 toolbox has failed\n"), "%s",
		log);
}

Test(reload, logs_how_many_tools_it_offers)
{
	const char *log;

	write_file("box.d/a.json", BOX_LIBC("f"));
	write_file("box.d/b.json", BOX_LIBC("g"));
	write_file("box.d/bad.json", "{}");
	write_file("box.d/worse.json", "[");
	log = log_of_the_first_load();
	cr_expect_not_null(
		strstr(log, "INFO  2 tools in 2 toolboxes are offered, 2 toolboxes have failed\n"),
		"%s", log);
}

/* ── guests ──────────────────────────────────────────────────────────────────────────────────── */

static void wait_until_loaded(void)
{
	for (int waited_ms = 0; reload_is_pending(&reload) && waited_ms < WAIT_MS;
		waited_ms += STEP_MS)
		loop_run(loop, STEP_MS);
	cr_assert_null(reload.loader);
}

/* Load the toolboxes for the first time. */
static void load(void)
{
	begins_another = false;
	reload_begin(&reload);
	cr_assert_eq(loop_run(loop, WAIT_MS), 0);
	wait_until_loaded();
}

static bool has_toolbox(const char *id)
{
	return catalogue_find_toolbox(offer.catalogue, id, strlen(id)) >= 0;
}

#define GUEST                                                                                      \
	"{\"toolbox_id\":\"visitor\",\"tools\":[{\"name\":\"knock\",\"description\":\"Knock.\"}]}"

Test(reload, takes_guests_in_without_a_load_of_anything_else)
{
	uint64_t generation;
	const char *log;

	load();
	generation = reload.generation;
	write_file("box.d/late.json", BOX_LIBC("f"));
	guest = guest_text_new(GUEST, strlen(GUEST));
	n_taken = n_changes = 0;
	log_setup(LOG_LEVEL_INFO, LOG_FORMAT_TEXT);
	logged_begin();
	reload_guests(&reload);
	cr_assert(reload.loader);
	reload_guests(&reload);
	while (reload.loader)
		loop_run(loop, STEP_MS);
	log = logged_end();
	cr_expect_not_null(strstr(log, "INFO  Guests: "), "%s", log);
	cr_expect_eq(reload.generation, generation + 1);
	cr_expect(has_toolbox("visitor"));
	cr_expect_not(has_toolbox("late"), "not one of files");
	cr_expect_eq(n_taken, 1);
	cr_expect_eq(n_changes, 1);
	/* The same guests change nothing. */
	reload_guests(&reload);
	while (reload.loader)
		loop_run(loop, STEP_MS);
	cr_expect_eq(n_taken, 2);
	cr_expect_eq(n_changes, 1);
}

Test(reload, leaves_guests_to_a_load_that_comes_anyway)
{
	reload_guests(&reload);
	cr_expect_null(reload.loader, "the first load takes them in");
	load();
	config.closed = strdup("a mistake");
	reload_guests(&reload);
	cr_expect_null(reload.loader, "nothing is offered");
	free(config.closed);
	config.closed = NULL;
}

/* A change that comes while guests are taken in. */
Test(reload, follows_a_load_of_guests)
{
	load();
	write_file("box.d/late.json", BOX_LIBC("f"));
	reload_guests(&reload);
	reload_begin(&reload);
	cr_expect(reload.is_wanted);
	wait_until_loaded();
	cr_expect(has_toolbox("late"));
}

/* ── when the next load begins ───────────────────────────────────────────────────────────────── */

/* The milliseconds until @timer is due. */
static uint64_t due_ms(const struct loop_timer *timer)
{
	cr_assert(loop_timer_is_armed(timer));
	return (timer->due_ns - clock_now_ns()) / NS_PER_MS;
}

static void fire(struct loop_timer *timer)
{
	loop_timer_disarm(timer);
	timer->function(timer->data);
}

Test(reload, asks_interpreters_again_once_in_ten_seconds)
{
	load();
	for (int i = 0; i < 2; i++) {
		uint64_t generation = reload.generation;

		reload_refresh(&reload);
		cr_expect(reload.loader);
		wait_until_loaded();
		cr_expect_eq(reload.generation, generation + 1);
		reload_refresh(&reload);
		cr_expect_null(reload.loader);
		cr_expect_leq(reload.refresh_after_ms, clock_now_ms() + 10000);
		cr_expect_gt(reload.refresh_after_ms, clock_now_ms() + 5000);
		reload.refresh_after_ms = clock_now_ms();
	}
}

/* Each time after a longer delay, of which a quarter is left to chance. */
Test(reload, reads_a_list_that_changes_all_the_time_less_and_less_often)
{
	static const uint64_t delays_ms[] = {1000, 2000, 4000, 8000, 16000, 32000, 60000, 60000};

	reload_list_again(&reload);
	cr_expect_leq(due_ms(&reload.relisting), 200);
	for (size_t i = 0; i < sizeof(delays_ms) / sizeof(*delays_ms); i++) {
		uint64_t wait_ms;

		loop_timer_disarm(&reload.relisting);
		reload.relisted_ms = clock_now_ms() - 119000;
		reload_list_again(&reload);
		wait_ms = due_ms(&reload.relisting);
		cr_expect_leq(wait_ms, delays_ms[i]);
		cr_expect_geq(wait_ms, delays_ms[i] / 4 * 3 - 500, "%zu: %zu", i, (size_t)wait_ms);
		reload_list_again(&reload);
		cr_expect_eq(reload.n_relistings, i + 2, "armed already");
	}
	loop_timer_disarm(&reload.relisting);
	reload.relisted_ms = clock_now_ms() - 121000;
	reload_list_again(&reload);
	cr_expect_leq(due_ms(&reload.relisting), 200, "after a rest");
}

Test(reload, asks_servers_after_the_load_that_is_under_way)
{
	reload_begin(&reload);
	fire(&reload.relisting);
	cr_expect_leq(due_ms(&reload.relisting), 1000);
	cr_expect_gt(due_ms(&reload.relisting), 500);
	cr_expect_not(reload.is_background_next);
	fire(&reload.arrival);
	cr_expect_not(reload.takes_answers, "the load takes them");
}

Test(reload, asks_servers_in_the_background)
{
	load();
	fire(&reload.retry);
	cr_expect(reload.loader);
	cr_expect(reload.is_background);
	wait_until_loaded();
	fire(&reload.arrival);
	cr_expect(reload.loader);
	cr_expect(reload.is_background);
	cr_expect_not(reload.takes_answers, "the load has taken them");
	wait_until_loaded();
}

#define STUCK                                                                                      \
	"{\"kind\":\"native\",\"library\":\"" TEST_STUCK_LIBRARY "\",\"tools\":[{\"name\":"        \
	"\"nothing\",\"native\":{\"symbol\":\"nothing\",\"returns\":{\"type\":\"i32\"}}}]}"

/* A load that waits for a host, in the background or not, while somebody asks for one. */
Test(reload, in_the_background_gives_way_to_one_that_somebody_waits_for)
{
	for (int is_background = 0; is_background < 2; is_background++) {
		uint64_t generation;

		if (!is_background)
			load();
		write_file("box.d/stuck.json", STUCK);
		if (is_background)
			fire(&reload.retry);
		else
			reload_begin(&reload);
		while (!loader_is_asking(reload.loader))
			loop_run(loop, STEP_MS);
		generation = reload.generation;
		reload_ask_again(&reload);
		cr_assert(reload.loader);
		cr_expect_eq(reload.is_asked, is_background);
		cr_expect_eq(reload.is_wanted, !is_background);
		cr_expect_eq(reload.generation, generation + (is_background ? 1 : 0));
		cr_expect_not(reload.is_background);
		/* The next round begins with no load. */
		cr_assert_eq(unlink(in_folder("box.d/stuck.json")), 0);
		loader_free(reload.loader);
		reload.loader = NULL;
		prepared_reload_deinit(&reload.next);
		guest_set_deinit(&reload.guests);
		reload.is_wanted = reload.is_asked_next = false;
	}
}

/* ── the configuration ───────────────────────────────────────────────────────────────────────── */

Test(reload, loads_nothing_while_the_configuration_is_closed)
{
	const char *log;

	write_user_file("{\"toolboxd\":{\"approval\":{\"mode\":5}}}");
	cr_assert_eq(read_with(&flags), 0);
	cr_assert(config.closed);
	logged_begin();
	reload_begin(&reload);
	log = logged_end();
	cr_expect_null(strstr(log, "Nothing is offered"), "%s", log);
	cr_expect_null(reload.loader);
	cr_expect_not(reload.is_ready);
	cr_expect_eq(reload.outcomes[RELOAD_FAILED], 1);
	cr_expect_eq(n_done, 1);
	logged_begin();
	reload_ask_again(&reload);
	log = logged_end();
	cr_expect_not_null(strstr(log, "ERROR Nothing is offered: "), "%s", log);
	cr_expect_eq(reload.outcomes[RELOAD_FAILED], 2);
	/* Mended, it is read. */
	write_user_file("{\"toolboxd\":{\"approval\":{\"mode\":\"off\"}}}");
	reload_begin(&reload);
	cr_expect(reload.loader);
	cr_expect_null(config.closed);
	cr_expect_null(offer.closed);
	cr_expect_eq(n_started_again, 0);
}

/* The limits are read by a start alone. */
Test(reload, starts_again_for_what_only_a_start_reads)
{
	write_user_file("{\"toolboxd\":{\"approval\":{\"mode\":5}}}");
	cr_assert_eq(read_with(&flags), 0);
	cr_assert(config.closed);
	write_user_file("{\"toolboxd\":{\"limits\":{\"in_flight\":3}}}");
	reload_begin(&reload);
	cr_expect_eq(n_started_again, 1);
	cr_expect_null(reload.loader);
}

Test(reload, keeps_an_open_configuration_in_place_of_a_closed_one)
{
	load();
	write_file("box.d/late.json", BOX_LIBC("f"));
	write_user_file("{\"toolboxd\":{\"approval\":{\"mode\":5}}}");
	reload_begin(&reload);
	cr_expect_null(config.closed);
	wait_until_loaded();
	cr_expect(has_toolbox("late"));
	cr_expect_eq(n_started_again, 0);
}

/* ── the log ─────────────────────────────────────────────────────────────────────────────────── */

Test(reload, logs_a_reload_without_a_change_only_for_those_who_asked)
{
	uint64_t n_before;
	const char *log;

	flags.log_level = "info";
	load();
	cr_expect_eq(n_changes, 0, "the first catalogue is no change");
	n_before = reload.outcomes[RELOAD_UNCHANGED];
	logged_begin();
	reload_begin(&reload);
	wait_until_loaded();
	log = logged_end();
	cr_expect_null(strstr(log, "Reloaded"), "%s", log);
	logged_begin();
	reload_ask_again(&reload);
	wait_until_loaded();
	log = logged_end();
	cr_expect_not_null(strstr(log, "INFO  Reloaded in "), "%s", log);
	cr_expect_not_null(strstr(log, " ms: nothing changed"), "%s", log);
	cr_expect_eq(n_changes, 0);
	cr_expect_eq(reload.outcomes[RELOAD_UNCHANGED], n_before + 2);
	write_file("box.d/late.json", BOX_LIBC("f"));
	logged_begin();
	reload_begin(&reload);
	wait_until_loaded();
	log = logged_end();
	cr_expect_not_null(strstr(log, "INFO  Reloaded in "), "%s", log);
	cr_expect_eq(n_changes, 1);
	cr_expect_gt(reload.outcomes[RELOAD_CHANGED], 0);
}

Test(reload, loads_and_watches_again_where_memory_is_short)
{
	char *link = strdup(in_folder("box.d/home/link"));

	write_file("box.d/home/tool", "#!/bin/sh\n");
	cr_assert_eq(symlink("tool", link), 0);
	free(link);
	setenv("XDG_CONFIG_HOME", "/nowhere", 1);
	flags.config = "configuration.conf";
	for (size_t n = 0; scarce_once_after(n); n++) {
		reload_watch(&reload, false);
		cr_expect_eq(loop_timer_is_armed(&reload.rewatch), scarce_has_failed(), "%zu", n);
		loop_timer_disarm(&reload.rewatch);
	}
	flags.config = NULL;
}
