/* SPDX-License-Identifier: Apache-2.0 */
#include "offer/reload.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config_fixture.h"
#include "logged.h"
#include "util/log.h"

#define WAIT_MS 60000
#define STEP_MS 5

static struct loop *loop;
static struct offer offer;
static struct disposal disposal;
static struct reload reload;
static struct paths paths;
static struct config_flags flags = {.log_level = "error"};
static char *folder;
static unsigned int n_ready;
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

static void announce_nothing(void *data, const struct buffer *members)
{
	(void)data;
	(void)members;
}

static void list_no_guests(void *data, struct guest_set *ret_set)
{
	(void)data;
	(void)ret_set;
}

static void take_no_guests(
	void *data, const struct guest_set *set, bool is_taken, uint64_t spent_ms)
{
	(void)data;
	(void)is_taken;
	(void)spent_ms;
	cr_expect_eq(set->n_items, 0);
}

static void ignore_end(void *data, struct runner_call *call, const struct call_result *result)
{
	(void)data;
	(void)call;
	(void)result;
}

static void set_up(void)
{
	static const struct runner_handler runner_handler = {.done = ignore_end};
	static const struct reload_handler handler = {
		.begun = begin_without_requests,
		.changed = announce_nothing,
		.done = begin_nothing,
		.ready = begin_another,
		.reloaded = begin_nothing,
		.configured = begin_nothing,
		.list_guests = list_no_guests,
		.take_guests = take_no_guests,
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
