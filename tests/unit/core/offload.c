/* SPDX-License-Identifier: Apache-2.0 */
#include "core/request/offload.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "asking.h"
#include "bus/account.h"
#include "catalogue/tool_schemas.h"
#include "config_fixture.h"
#include "util/clock.h"

/*
 * Requests that are read and checked beside the loop, in a whole service:
 *
 *   request ─▶ thread ─▶ the gate ─▶ read, check ─▶ served again
 *                        ▲ closed: the request is seen while it waits
 */

#define MANY_VALUES 200000
#define STEPS_MAX   60000 /* a minute */
#define OWED_NS     UINT64_C(600000000000)
#define LONG_VALUES 70000 /* just enough to be read beside the loop, in little time */

#define BOX       BOX_OF("read")
#define RISKY_BOX BOX_OF("write")
#define BOX_OF(risk)                                                                               \
	"{'kind':'native','library':'libm.so.6','risk':'" risk "','coerce':true,'tools':["         \
	"{'name':'root','native':{'symbol':'sqrt','parameters':[{'name':'x','type':'f64'}],"       \
	"'returns':{'type':'f64'}}}]}"

static char *many;

/* ── the gate ────────────────────────────────────────────────────────────────────────────────── */

#ifdef TEST_ASIDE
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER; /* locked: it is closed */
static bool is_closed;
static aside_function run_work;

int __real_aside_start(struct loop *loop, aside_function run, aside_function done, void *data,
	struct aside **ret_aside);
int __wrap_aside_start(struct loop *loop, aside_function run, aside_function done, void *data,
	struct aside **ret_aside);

static void run_after_gate(void *data)
{
	pthread_mutex_lock(&gate);
	pthread_mutex_unlock(&gate);
	run_work(data);
}

int __wrap_aside_start(struct loop *loop, aside_function run, aside_function done, void *data,
	struct aside **ret_aside)
{
	bool is_offload = service && data == &service->offload.work;

	if (is_offload)
		run_work = run;
	return __real_aside_start(loop, is_offload ? run_after_gate : run, done, data, ret_aside);
}

static void close_gate(void)
{
	pthread_mutex_lock(&gate);
	is_closed = true;
}

static void open_gate(void)
{
	if (is_closed)
		pthread_mutex_unlock(&gate);
	is_closed = false;
}
#else
static void open_gate(void)
{
}
#endif

/* ── the service ─────────────────────────────────────────────────────────────────────────────── */

static void set_up(void)
{
	size_t size = 2 * (size_t)MANY_VALUES;

	asking_set_up();
	write_box("box.json", BOX);
	many = malloc(size);
	for (size_t i = 0; i < size; i += 2)
		memcpy(many + i, "0,", 2);
	many[size - 1] = '\0';
}

static void tear_down(void)
{
	free(many);
	open_gate();
	asking_tear_down();
}

TestSuite(offload, .init = set_up, .fini = tear_down, .timeout = 120);

/* Send a request with @n_values zeros beside @members. */
static void send_long(const char *topic, const char *members, const char *context, size_t n_values)
{
	size_t size = 2 * n_values + strlen(members) + 32;
	cleanup_free char *data = malloc(size);

	snprintf(data, size, "{%s,'odd':[%.*s]}", members, (int)(2 * n_values - 1), many);
	send_request(topic, data, context);
}

#ifdef TEST_ASIDE
/* Serve until @n requests wait, with the request of the thread. */
static void wait_for_waiting(size_t n)
{
	for (int step = 0; service->waiting.queues[WAITING_CHECK].n != n; step++) {
		cr_assert_lt(step, STEPS_MAX);
		asking_step();
	}
}
#endif

static struct tool_schema *schema_of_root(void)
{
	const struct tool *tool;

	cr_assert_eq(catalogue_find(service->offer.catalogue, "root", 4, NULL, 0, false, &tool), 0);
	return &tool->schemas->arguments;
}

/* Have the next checks for `root` made beside the loop. */
static void make_costly(void)
{
	ask_for("ovos.tools.status", "{}");
	schema_of_root()->was_costly = true;
}

#ifdef TEST_ASIDE
Test(offload, reads_a_request_with_many_values_while_others_are_served)
{
	asking_start();
	ask_for("ovos.tools.status", "{}");
	close_gate();
	send_long("ovos.tools.invoke", "'name':'root','args':{'x':9}", "{}", LONG_VALUES);
	send_request("ovos.tools.validate", "{'name':'root','args':{'x':1}}", "{}");
	expect_part(wait_for("ovos.tools.validate.response"), "'valid':true");
	cr_expect_eq(service->waiting.queues[WAITING_CHECK].n, 1);
	cr_expect_eq(n_unseen("ovos.tools.invoke.response"), 0);
	open_gate();
	expect_part(wait_for("ovos.tools.invoke.response"), "'result':{'result':3.0}");
	cr_expect_eq(service->waiting.queues[WAITING_CHECK].n, 0);
}

Test(offload, counts_the_tokens_of_a_request_as_memory_of_peers)
{
	const struct account_book *book;

	asking_start();
	ask_for("ovos.tools.status", "{}");
	book = bus_sender(service->bus)->book;
	close_gate();
	send_long("ovos.tools.invoke", "'name':'root','args':{'x':9}", "{}", LONG_VALUES);
	ask_for("ovos.tools.status", "{}");
	cr_expect_geq(book->reading, LONG_VALUES * sizeof(struct json_token));
	cr_expect_leq(book->reading, 2 * LONG_VALUES * sizeof(struct json_token));
	open_gate();
	wait_for("ovos.tools.invoke.response");
	cr_expect_eq(book->reading, 0);
}
#endif

Test(offload, checks_for_a_tool_whose_checks_took_long)
{
	asking_start();
	make_costly();
	expect_part(ask_for("ovos.tools.invoke", "{'name':'root','args':{'x':'4'}}"),
		"'result':{'result':2.0}");
	/* It has the memory of the check that was made beside the loop, and the loop's is there. */
	cr_expect_not_null(service->scope.arguments.coerced.data);
	cr_expect_null(service->offload.work.arguments.coerced.data);
	expect_part(ask_for("ovos.tools.validate", "{'name':'root','args':{'x':[]}}"),
		"'valid':false,'violations':[{'path':'/x',");
	expect_part(ask_for("ovos.tools.invoke", "{'name':'root','args':{}}"),
		"'code':'invalid_arguments'");
	expect_part(ask_for("ovos.tools.invoke", "{'name':'rooot','args':{}}"),
		"'code':'unknown_tool'");
}

Test(offload, answers_in_turn_and_each_once)
{
	asking_start();
	make_costly();
	for (int i = 0; i < 20; i++)
		send_request("ovos.tools.validate", "{'name':'root','args':{'x':1}}", "{}");
	for (int i = 0; i < 20; i++)
		expect_part(wait_for("ovos.tools.validate.response"), "'valid':true");
	ask_for("ovos.tools.status", "{}");
	cr_expect_eq(n_unseen("ovos.tools.validate.response"), 0);
}

Test(offload, refuses_what_is_no_good_request_as_ever)
{
	asking_start();
	ask_for("ovos.tools.status", "{}");
	send_long(
		"ovos.tools.invoke", "'name':'root','args':{'x':9},'call_id':3", "{}", LONG_VALUES);
	expect_part(wait_for("ovos.tools.invoke.response"), "'code':'bad_request'");
	send_long("ovos.tools.invoke", "'name':'root','odd':1,'args':{'x':9}", "{}", LONG_VALUES);
	expect_part(wait_for("ovos.tools.invoke.response"), "an object without duplicate keys");
	send_long("ovos.tools.invoke", "'name':'rooot'", "{}", LONG_VALUES);
	expect_part(wait_for("ovos.tools.invoke.response"), "'code':'unknown_tool'");
}

#ifdef TEST_ASIDE
Test(offload, cancels_a_request_that_waits)
{
	asking_start();
	ask_for("ovos.tools.status", "{}");
	close_gate();
	send_long("ovos.tools.invoke", "'name':'root','args':{'x':9},'call_id':'c'",
		"{'source':'s'}", LONG_VALUES);
	wait_for_waiting(1);
	send_request("ovos.tools.cancel", "{'call_id':'c'}", "{'source':'s'}");
	expect_part(wait_for("ovos.tools.cancel.response"), "'cancelled':true");
	expect_part(wait_for("ovos.tools.invoke.response"), "'code':'cancelled'");
	open_gate();
	expect_part(ask_for("ovos.tools.invoke", "{'name':'root','args':{'x':9}}"), "'result':3.0");
	cr_expect_eq(n_unseen("ovos.tools.invoke.response"), 0);
}

Test(offload, refuses_a_request_whose_sender_owes_when_its_turn_comes)
{
	static const char members[] = "'name':'root','args':{'x':9}";
	const struct waiting_request *request;

	asking_start();
	ask_for("ovos.tools.status", "{}");
	close_gate();
	send_long("ovos.tools.match", "'utterance':'u'", "{'source':'t'}", LONG_VALUES);
	wait_for_waiting(1);
	send_long("ovos.tools.validate", members, "{'source':'s'}", LONG_VALUES);
	wait_for_waiting(2);
	request = container_of(
		service->waiting.queues[WAITING_CHECK].list.previous, struct waiting_request, link);
	request->account->share.sources[0] = (struct time_source){
		.key = request->source_key, .debt.paid_ns = clock_now_ns() + OWED_NS};
	open_gate();
	expect_part(wait_for("ovos.tools.match.response"), "'name':null");
	expect_part(wait_for("ovos.tools.validate.response"), "'code':'busy'");
}

Test(offload, refuses_a_request_for_which_there_is_no_room)
{
	static const char members[] = "'name':'root','args':{'x':9}";

	write_user_file("{\"toolboxd\":{\"limits\":{\"peer_bytes\":1677721}}}");
	asking_start();
	ask_for("ovos.tools.status", "{}");
	close_gate();
	send_long("ovos.tools.validate", members, "{}", MANY_VALUES);
	wait_for_waiting(1);
	send_long("ovos.tools.validate", members, "{}", MANY_VALUES);
	expect_part(wait_for("ovos.tools.validate.response"), "'code':'busy'");
	cr_expect_eq(service->waiting.queues[WAITING_CHECK].n, 1);
}
#endif

Test(offload, counts_a_call_once_for_the_limits_of_its_caller)
{
	write_user_file("{\"toolboxd\":{\"callers\":[{\"match\":{},\"per_minute\":1,"
			"\"burst\":2,\"in_flight\":9}]}}");
	asking_start();
	make_costly();
	send_long("ovos.tools.invoke", "'name':'root','args':{'x':9}", "{}", LONG_VALUES);
	expect_part(wait_for("ovos.tools.invoke.response"), "'result':3.0");
	expect_part(ask_for("ovos.tools.invoke", "{'name':'root','args':{'x':9}}"), "'result':3.0");
	expect_part(
		ask_for("ovos.tools.invoke", "{'name':'root','args':{'x':9}}"), "'code':'busy'");
}

/* It is read twice, and its sender owes for the first time by then. */
Test(offload, reads_a_request_again_after_its_line)
{
	char configuration[512];

	snprintf(configuration, sizeof(configuration),
		"{\"toolboxd\":{\"audit\":{\"file\":\"%s\",\"required\":true}}}",
		in_folder("audit.log"));
	write_user_file(configuration);
	write_box("box.json", RISKY_BOX);
	asking_start();
	ask_for("ovos.tools.status", "{}");
	send_long("ovos.tools.invoke", "'name':'root','args':{'x':9}", "{}", MANY_VALUES);
	expect_part(wait_for("ovos.tools.invoke.response"), "'result':{'result':3.0}");
}

#ifdef TEST_ASIDE
Test(offload, ends_with_a_service_that_ends)
{
	asking_start();
	ask_for("ovos.tools.status", "{}");
	close_gate();
	for (int i = 0; i < 2; i++)
		send_long("ovos.tools.invoke", "'name':'root','args':{'x':9}", "{}", MANY_VALUES);
	wait_for_waiting(2);
}

Test(offload, forgets_the_requests_of_a_peer_that_has_gone)
{
	asking_start();
	ask_for("ovos.tools.status", "{}");
	close_gate();
	for (int i = 0; i < 2; i++)
		send_long("ovos.tools.invoke", "'name':'root','args':{'x':9}", "{}", LONG_VALUES);
	wait_for_waiting(2);
	asking_leave();
	wait_for_waiting(0);
	cr_assert_not_null(service->offload.work.request);
	open_gate();
	for (int step = 0; service->offload.work.request; step++) {
		cr_assert_lt(step, STEPS_MAX);
		asking_step();
	}
}
#endif
