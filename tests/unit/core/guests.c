/* SPDX-License-Identifier: Apache-2.0 */
#include "core/guest/guests.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "asking.h"
#include "config_fixture.h"
#include "logged.h"
#include "scarce.h"
#include "util/clock.h"

/*
 * The registry of guests, with a whole service around it. Tests hold loads back, and play the
 * loader themselves:
 *
 *   register ──▶ registry ── guests_list ──▶ set ── an outcome ──▶ guests_taken ──▶ responses
 */

#define REGISTER   "ovos.tools.register"
#define UNREGISTER "ovos.tools.unregister"
#define TOOL       "{'name':'say'}"
#define LATER                                                                                      \
	"'error':'RuntimeError: A later registration of the guest has come before this one was "   \
	"taken in','code':'busy'"

#define HOUR_MS 3600000

TestSuite(core_guests, .init = asking_set_up, .fini = asking_tear_down, .timeout = 120);

static struct guests *guests;

/* From now on no load for guests begins by itself. */
static void hold_loads(void)
{
	guests->rested_ms = clock_now_ms() + HOUR_MS;
}

static void start_with(void (*how)(void))
{
	write_user_file("{\"toolboxd\":{\"guests\":{\"enabled\":true}}}");
	write_box("libm.json",
		"{'kind':'native','library':'libm.so.6','tools':[{'name':'root','native':{"
		"'symbol':'sqrt','parameters':[{'name':'x','type':'f64'}],'returns':{'type':"
		"'f64'}}}]}");
	write_box("broken.json", "{");
	logged_begin();
	how();
	ask_for("ovos.tools.status", "{}");
	cr_expect_not_null(strstr(logged_end(), "broken.json"));
	guests = &service->guests;
	hold_loads();
}

static void start(void)
{
	start_with(asking_start);
}

/* Serve until all that was sent before has been answered, or waits. */
static void settle(void)
{
	ask_for("mycroft.toolboxd.is_alive", "{}");
}

static void send_from(const char *source, const char *topic, const char *data)
{
	char context[128];

	snprintf(context, sizeof(context), "{'source':'%s'}", source);
	send_request(topic, data, context);
}

/* Register the toolbox @id with @tools for @source, without waiting. */
static void register_tools(const char *source, const char *id, const char *tools)
{
	char data[512];

	snprintf(data, sizeof(data), "{'toolbox_id':'%s','tools':[%s]}", id, tools);
	send_from(source, REGISTER, data);
}

static struct guest *find(const char *id)
{
	return guests_find_id(guests, &(struct text_view){id, strlen(id)});
}

/* Register the tools, and expect that the answer waits for a load. */
static struct guest *register_waiting(const char *source, const char *id, const char *tools)
{
	register_tools(source, id, tools);
	settle();
	cr_assert_eq(n_unseen(REGISTER ".response"), 0, "%s", id);
	cr_assert_not_null(find(id), "%s", id);
	return find(id);
}

/* Register the tools, and let a load take the guest in. */
static struct guest *register_offered(const char *source, const char *id, const char *tools)
{
	guests->rested_ms = 0;
	register_tools(source, id, tools);
	expect_part(wait_for(REGISTER ".response"), "'registered':true");
	hold_loads();
	cr_assert_not_null(find(id), "%s", id);
	return find(id);
}

static void expect_registered(const char *part)
{
	expect_part(wait_for(REGISTER ".response"), part);
}

/* Expect @words, with ' as it is, in @response. */
static void expect_words(const char *response, const char *words)
{
	cr_expect(strstr(response, words), "%s\nis not in %s", words, response);
}

static size_t n_guests(void)
{
	size_t n = 0;

	list_for_each(link, &guests->items)
		n += !container_of(link, struct guest, link)->gone;
	return n;
}

/* ── the fields ──────────────────────────────────────────────────────────────────────────────── */

Test(core_guests, are_none_after_a_registration_with_a_bad_field)
{
	static const struct {
		const char *data;
		const char *field;
		const char *expected;
	} cases[] = {
		{"{'tools':[" TOOL "]}", "toolbox_id", "1 to 128 letters, digits, '_' or '-'"},
		{"{'toolbox_id':'a.b','tools':[" TOOL "]}", "toolbox_id", "1 to 128 letters"},
		{"{'toolbox_id':'a\\u0000','tools':[" TOOL "]}", "toolbox_id", "1 to 128 letters"},
		{"{'toolbox_id':'a','tools':[" TOOL "],'lease_s':4}", "lease_s",
			"an integer of seconds from 5 to 600"},
		{"{'toolbox_id':'a','tools':[" TOOL "],'lease_s':601}", "lease_s", "an integer"},
		{"{'toolbox_id':'a','tools':[" TOOL "],'lease_s':-5}", "lease_s", "an integer"},
		{"{'toolbox_id':'a','tools':[" TOOL "],'lease_s':5.5}", "lease_s", "an integer"},
		{"{'toolbox_id':'a','tools':[" TOOL "],'lease_s':18446744073709551621}", "lease_s",
			"an integer"},
		{"{'toolbox_id':'a','tools':[" TOOL "],'description':['x']}", "description",
			"a string"},
		{"{'toolbox_id':'a'}", "tools", "an array of at least one tool"},
		{"{'toolbox_id':'a','tools':[]}", "tools", "an array of at least one tool"},
		{"{'toolbox_id':'a','tools':" TOOL "}", "tools", "an array of at least one tool"},
	};

	start();
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char part[128];
		const char *response;

		send_from("one", REGISTER, cases[i].data);
		response = wait_for(REGISTER ".response");
		snprintf(part, sizeof(part), "'code':'bad_request','field':'%s'", cases[i].field);
		expect_part(response, part);
		cr_expect_not_null(strstr(response, cases[i].expected), "%s", response);
		cr_expect(list_is_empty(&guests->items), "%s", cases[i].data);
	}
}

Test(core_guests, take_the_least_and_the_most_of_each_field)
{
	static const struct {
		const char *more;
		uint64_t lease_s;
	} cases[] = {{"", 60}, {",'lease_s':5", 5}, {",'lease_s':600", 600},
		{",'description':''", 60}, {",'description':'x','lease_s':6", 6},
		{",'description':null,'lease_s':null", 60}};
	char data[512];

	start();
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char id[129];
		uint64_t left_ms;

		snprintf(id, sizeof(id), "%0128zu", i);
		snprintf(data, sizeof(data), "{'toolbox_id':'%s','tools':[" TOOL "]%s}", id,
			cases[i].more);
		send_from("one", REGISTER, data);
		settle();
		cr_assert_not_null(find(id), "%s", data);
		cr_expect_eq(find(id)->lease_s, cases[i].lease_s);
		left_ms = (find(id)->lease.due_ns - clock_now_ns()) / NS_PER_MS;
		cr_expect(left_ms <= cases[i].lease_s * 1000 &&
				  left_ms > cases[i].lease_s * 1000 - 4000,
			"%s: %zu ms", data, (size_t)left_ms);
	}
	cr_expect_eq(n_unseen(REGISTER ".response"), 0);
}

Test(core_guests, have_a_source_by_which_they_are_known)
{
	static const char *const contexts[] = {"{}", "{'source':''}", "{'source':null}",
		"{'source':['one']}", "{'source':'a\\u0000b'}"};

	start();
	for (size_t i = 0; i < sizeof(contexts) / sizeof(*contexts); i++) {
		send_request(REGISTER, "{'toolbox_id':'a','tools':[" TOOL "]}", contexts[i]);
		expect_registered("'code':'bad_request','field':'context'");
		send_request(UNREGISTER, "{'toolbox_id':'a'}", contexts[i]);
		expect_part(
			wait_for(UNREGISTER ".response"), "'code':'bad_request','field':'context'");
		cr_expect(list_is_empty(&guests->items), "%s", contexts[i]);
	}
}

Test(core_guests, have_a_source_of_so_many_bytes_and_no_more)
{
	static const char data[] = "{'toolbox_id':'a','tools':[" TOOL "]}";
	char source[GUEST_SOURCE_BYTES + 2] = "";
	char context[GUEST_SOURCE_BYTES + 32];

	start();
	memset(source, 's', GUEST_SOURCE_BYTES + 1);
	snprintf(context, sizeof(context), "{'source':'%s'}", source);
	send_request(REGISTER, data, context);
	expect_registered("'code':'bad_request','field':'context'");
	cr_expect(list_is_empty(&guests->items));
	snprintf(context, sizeof(context), "{'source':'%s'}", source + 1);
	send_request(REGISTER, data, context);
	settle();
	cr_expect_not_null(find("a"));
}

/* The bound counts the manifest, without the white space of the message. */
Test(core_guests, have_a_text_of_the_largest_size_and_no_larger)
{
	static const char before[] = "{'toolbox_id':'words','tools':[{'name':'say','description':'";
	size_t size = GUEST_BYTES_MAX - strlen(before) - strlen("'}]}");
	cleanup(buffer_deinit) struct buffer data = {0};

	start();
	for (size_t more = 0; more < 2; more++) {
		buffer_reset(&data);
		buffer_append_string(&data, "   ");
		buffer_append_string(&data, before);
		for (size_t i = 0; i < size + 1 - more; i++)
			buffer_append_char(&data, 'x');
		buffer_append_string(&data, "'}  ] }");
		send_from("one", REGISTER, buffer_terminate(&data));
		if (more == 0) {
			const char *response = wait_for(REGISTER ".response");

			expect_words(response, "RuntimeError: Too large a registration of 'words': "
					       "1048577 bytes, 1048576 are allowed");
			expect_part(response, "'code':'too_large','actual':1048577,'max':1048576");
			cr_expect(list_is_empty(&guests->items));
		}
	}
	while (!find("words"))
		asking_step();
	cr_expect_eq(find("words")->next->size, GUEST_BYTES_MAX);
}

/* ── who may ─────────────────────────────────────────────────────────────────────────────────── */

Test(core_guests, keep_their_id_from_others)
{
	static const struct {
		const char *source, *topic, *id, *code, *words;
	} cases[] = {
		{"other", REGISTER, "words", "'code':'denied'",
			"PermissionError: The toolbox id 'words' is taken by another guest"},
		{"on", REGISTER, "words", "'code':'denied'", "is taken by another guest"},
		{"onee", REGISTER, "words", "'code':'denied'", "is taken by another guest"},
		{"other", UNREGISTER, "words", "'code':'denied'",
			"PermissionError: The toolbox id 'words' is another guest's"},
		{"one", REGISTER, "libm", "'code':'denied'", "is taken by an installed toolbox"},
		{"one", REGISTER, "broken", "'code':'denied'", "is taken by an installed toolbox"},
		{"one", UNREGISTER, "libm", "'unregistered':false", "libm"},
		{"one", UNREGISTER, "word", "'unregistered':false", "word"},
	};
	struct guest *guest;

	start();
	guest = register_waiting("one", "words", TOOL);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *answer;
		char response[64];
		char data[128];

		snprintf(data, sizeof(data), "{'toolbox_id':'%s','tools':[" TOOL "]}", cases[i].id);
		snprintf(response, sizeof(response), "%s.response", cases[i].topic);
		send_from(cases[i].source, cases[i].topic, data);
		answer = wait_for(response);
		expect_part(answer, cases[i].code);
		expect_words(answer, cases[i].words);
		cr_expect_eq(n_guests(), 1, "%zu", i);
		cr_expect(find("words") == guest && answer_is_open(&guest->answer), "%zu", i);
		cr_expect_str_eq(guest->owner.source, "one");
	}
}

Test(core_guests, share_the_room_that_the_operator_gives)
{
	static const char busy[] = "'error':'RuntimeError: There is room for 2 guests and 3 tools "
				   "of guests (guests.max, guests.tools)','code':'busy'";

	start();
	service->config.guests.max = 2;
	service->config.guests.tools = 3;
	register_waiting("one", "words", TOOL);
	register_waiting("one", "more", "{'name':'a'},{'name':'b'}");
	register_tools("two", "third", TOOL);
	expect_registered(busy);
	register_tools("one", "words", "{'name':'a'},{'name':'b'}");
	expect_registered(busy);
	cr_expect_eq(find("words")->n_tools, 1);
	/* Another text counts in place of the guest's own. */
	register_tools("one", "words", "{'name':'tell'}");
	expect_registered(LATER);
	settle();
	cr_expect_eq(n_unseen(REGISTER ".response"), 0);
	guest_leave(find("more"), "of a test");
	expect_registered("'code':'unavailable'");
	register_waiting("two", "third", "{'name':'a'},{'name':'b'}");
}

Test(core_guests, are_owned_by_a_source_on_its_connection)
{
	struct account account = {.number = 7};
	struct account other = {.number = 8};
	const struct guest_owner anywhere = {.source = (char *)"one"};
	const struct guest_owner here = {.source = (char *)"one", .connection = 7};
	const struct {
		const struct guest_owner *owner;
		const char *source;
		struct account *account;
		bool is_owner;
	} cases[] = {
		{&anywhere, "one", NULL, true},
		{&anywhere, "one", &other, true},
		{&anywhere, "on", NULL, false},
		{&anywhere, "one, and more", NULL, false},
		{&anywhere, "", NULL, false},
		{&anywhere, NULL, NULL, false},
		{&here, "one", &account, true},
		{&here, "one", &other, false},
		{&here, "one", NULL, false},
		{&here, "two", &account, false},
		{NULL, "one", &account, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *source = cases[i].source;
		const struct policy_caller caller = {
			.source = {source, source ? strlen(source) : 0},
			.account = cases[i].account};

		cr_expect_eq(guest_owner_is(cases[i].owner, &caller), cases[i].is_owner, "%zu", i);
	}
}

/* ── registrations that wait ─────────────────────────────────────────────────────────────────── */

Test(core_guests, answer_each_of_many_registrations_once)
{
	struct guest *guest;
	struct account_book *book;
	size_t held;

	start();
	guest = register_waiting("one", "words", TOOL);
	book = guest->payer->book;
	held = book->held - guest->held;
	register_tools("one", "words", "{'name':'tell'}");
	expect_registered(LATER);
	/* The same text again is another request that waits. */
	register_tools("one", "words", "{'name':'tell'}");
	expect_registered(LATER);
	settle();
	cr_expect_eq(n_unseen(REGISTER ".response"), 0);
	cr_expect_eq(book->held, held + guest->held);
	guests->rested_ms = 0;
	guests_act(guests);
	expect_registered("{'toolbox_id':'words','registered':true,'lease_s':60}");
	settle();
	cr_expect_eq(n_unseen(REGISTER ".response"), 0);
	cr_expect_null(guest->next);
	cr_expect_not_null(strstr(guest->text->bytes, "tell"));
	cr_expect_eq(book->held, held);
}

Test(core_guests, drop_the_text_that_waits_when_the_text_in_force_comes_again)
{
	struct guest *guest;

	start();
	guest = register_offered("one", "words", TOOL);
	register_waiting("one", "words", "{'name':'a'},{'name':'b'}");
	cr_expect_eq(guest->n_tools, 2);
	send_from("one", REGISTER, "{'toolbox_id':'words','tools':[" TOOL "],'lease_s':5}");
	expect_registered(LATER);
	expect_registered("{'toolbox_id':'words','registered':true,'lease_s':5}");
	cr_expect_null(guest->next);
	cr_expect_eq(guest->n_tools, 1);
	cr_expect_eq(guest->lease_s, 5);
	cr_expect_null(guest->payer);
}

Test(core_guests, are_not_kept_when_their_client_holds_too_much)
{
	static const char full[] = "'error':'RuntimeError: The requests of this client that wait "
				   "hold as much memory as they may','code':'busy'";
	struct guest *guest;
	struct account_book *book;
	size_t taken;

	start();
	guest = register_waiting("one", "words", TOOL);
	book = guest->payer->book;
	taken = book->bytes_max / ACCOUNT_HELD_SHARE;
	book->held += taken;
	register_tools("one", "more", TOOL);
	expect_registered(full);
	cr_expect_null(find("more"));
	/* A guest goes on with what it has. */
	register_tools("one", "words", "{'name':'tell'}");
	expect_registered(full);
	cr_expect_eq(find("words"), guest);
	cr_expect(guest->next && strstr(guest->next->bytes, "say"));
	cr_expect(answer_is_open(&guest->answer));
	book->held -= taken;
}

Test(core_guests, that_leave_and_come_again_are_taken_in_no_more_often)
{
	struct guest *guest;

	start();
	guest = register_waiting("one", "words", TOOL);
	guest->taken_ms = 12345;
	send_from("one", UNREGISTER, "{'toolbox_id':'words'}");
	expect_part(wait_for(UNREGISTER ".response"), "'unregistered':true");
	expect_registered("'error':'RuntimeError: The registration is void: the guest has left',"
			  "'code':'unavailable'");
	cr_expect_eq(register_waiting("one", "words", TOOL)->taken_ms, 12345);
	cr_expect_neq(find("words"), guest);
	cr_expect_eq(register_waiting("one", "more", TOOL)->taken_ms, 0);
}

/* ── outcomes of a load ──────────────────────────────────────────────────────────────────────── */

/* The entry of @guest in @set. */
static struct guest_entry *entry_of(const struct guest_set *set, const struct guest *guest)
{
	for (size_t i = 0; i < set->n_items; i++)
		if (set->items[i].number == guest->number)
			return &set->items[i];
	return NULL;
}

/* Give back what was listed, with the outcomes in @set. */
static void take(struct guest_set *set, bool is_taken)
{
	guests_taken(guests, set, is_taken, 0);
	hold_loads();
	guest_set_deinit(set);
}

#define BAD_TOOLS                                                                                  \
	"must be the tools of a manifest: /tools/0: is bad','code':'bad_request','field':'tools'," \
	"'violations':[{'path':'/tools/0','message':'is bad'},"                                    \
	"{'path':'','message':'\xef\xbf\xbd'}]"

Test(core_guests, take_each_outcome_of_a_load)
{
	static const struct {
		enum guest_outcome outcome;
		bool has_text; /* an earlier text is in force */
		bool is_lost;  /* the load has failed */
		const char *answer;
		const char *gone;
		bool keeps_next;
	} cases[] = {
		{GUEST_OFFERED, false, false, "'registered':true", NULL, false},
		{GUEST_OFFERED, true, false, "'registered':true", NULL, false},
		{GUEST_LATER, false, false, NULL, NULL, true},
		{GUEST_LATER, true, false, NULL, NULL, true},
		{GUEST_REFUSED, false, false, BAD_TOOLS, "its tools are not good", false},
		{GUEST_REFUSED, true, false, BAD_TOOLS, NULL, false},
		{GUEST_DISPLACED, false, false,
			"'error':'PermissionError: The toolbox id is taken by a file','code':"
			"'denied'",
			"a file has its toolbox id", false},
		{GUEST_DISPLACED, true, false, "'code':'denied'", "a file has its toolbox id",
			false},
		{GUEST_NO_ROOM, false, false,
			"'error':'RuntimeError: There is no room for another toolbox "
			"(limits.toolboxes, limits.tools)','code':'busy'",
			"there is no room for it (limits.toolboxes, limits.tools)", false},
		{GUEST_NO_ROOM, true, false, "'code':'busy'",
			"there is no room for it (limits.toolboxes, limits.tools)", false},
		{GUEST_OFFERED, false, true,
			"'error':'RuntimeError: The toolboxes could not be loaded','code':"
			"'unavailable'",
			"it could not be loaded", false},
		{GUEST_OFFERED, true, true, "'code':'unavailable'", NULL, false},
	};

	start();
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct guest_set set = {0};
		struct guest_entry *entry;
		struct guest *guest;
		char id[16];

		snprintf(id, sizeof(id), "box%zu", i);
		guest = register_waiting("one", id, TOOL);
		if (cases[i].has_text)
			guest->text = guest_text_new("{}", 2);
		guests_list(guests, &set);
		entry = entry_of(&set, guest);
		cr_assert(entry && entry->is_new && entry->text == guest->next);
		entry->outcome = cases[i].outcome;
		entry->package = cases[i].has_text ? package_new() : NULL;
		diagnostics_add(&entry->problems, DIAGNOSTIC_ERROR, 0, "/tools/0", "is bad");
		diagnostics_add(&entry->problems, DIAGNOSTIC_WARNING, 0, "/tools", "is odd");
		diagnostics_add(&entry->problems, DIAGNOSTIC_ERROR, 0, "", "\xff");
		take(&set, !cases[i].is_lost);
		if (cases[i].answer)
			expect_registered(cases[i].answer);
		cr_expect_eq(answer_is_open(&guest->answer), !cases[i].answer, "%zu", i);
		cr_expect_eq(guest->next != NULL, cases[i].keeps_next, "%zu", i);
		cr_expect_eq(guest->taken_ms > 0, cases[i].outcome != GUEST_LATER, "%zu", i);
		if (cases[i].gone && guest->gone)
			cr_expect_str_eq(guest->gone, cases[i].gone, "%zu", i);
		cr_expect_eq(guest->gone != NULL, cases[i].gone != NULL, "%zu", i);
		guest_leave(guest, "of a test");
		settle();
		cr_expect_eq(n_unseen(REGISTER ".response"), cases[i].answer ? 0 : 1, "%zu", i);
		if (!cases[i].answer)
			expect_registered("'code':'unavailable'");
	}
}

Test(core_guests, keep_a_text_that_came_during_the_load)
{
	uint64_t n_offered, n_waiting;
	struct guest_set set = {0};
	struct guest *guest;

	start();
	guest = register_waiting("one", "words", TOOL);
	guests_list(guests, &set);
	register_tools("one", "words", "{'name':'tell'}");
	expect_registered(LATER);
	entry_of(&set, guest)->outcome = GUEST_REFUSED;
	take(&set, true);
	settle();
	cr_expect_eq(n_unseen(REGISTER ".response"), 0, "it is not the refused one");
	cr_expect_null(guest->gone);
	cr_expect_gt(guest->taken_ms, 0, "the next load for it waits its second");
	cr_assert_not_null(guest->next);
	cr_expect_not_null(strstr(guest->next->bytes, "tell"));
	guests_count(&service->guests, &n_offered, &n_waiting);
	cr_expect_eq(n_offered, guest->text != NULL);
	cr_expect_eq(n_waiting, 1);
}

Test(core_guests, that_a_load_has_left_out_get_another_load)
{
	struct guest_set set = {0};

	start();
	for (int is_listed = 0; is_listed < 2; is_listed++) {
		struct guest *guest = register_offered("one", "words", TOOL);

		if (is_listed) {
			guests_list(guests, &set);
			entry_of(&set, guest)->outcome = GUEST_LATER;
		}
		guests_taken(guests, &set, true, 0);
		guest_set_deinit(&set);
		cr_assert(guest->is_left_out);
		while (find("words")->is_left_out)
			asking_step();
		expect_part(ask_for("ovos.tools.list", "{}"), "'toolbox_id':'words'");
	}
}

/* A load that has listed a guest offers it once more, so one load more has to be without it. */
Test(core_guests, that_leave_are_kept_until_a_load_is_without_them)
{
	struct guest_set set = {0};

	start();
	register_offered("one", "words", TOOL);
	guests_list(guests, &set);
	cr_expect_eq(set.n_items, 1);
	guest_leave(find("words"), "of a test");
	cr_expect_null(find("words"));
	take(&set, true);
	cr_expect(!list_is_empty(&guests->items));
	guests_list(guests, &set);
	cr_expect_eq(set.n_items, 0);
	take(&set, false);
	cr_expect(!list_is_empty(&guests->items), "the load has failed");
	guests_list(guests, &set);
	take(&set, true);
	cr_expect(list_is_empty(&guests->items));
}

Test(core_guests, are_taken_in_once_in_a_pause)
{
	struct guest_set set = {0};
	struct guest *offered, *waiting;

	start();
	offered = register_offered("one", "words", TOOL);
	register_waiting("one", "words", "{'name':'tell'}");
	waiting = register_waiting("one", "more", TOOL);
	offered->taken_ms = waiting->taken_ms = clock_now_ms() + HOUR_MS;
	guests_list(guests, &set);
	cr_assert_eq(set.n_items, 1);
	cr_expect(set.items[0].text == offered->text && !set.items[0].is_new);
	cr_expect_eq(set.items[0].package, offered->package);
	take(&set, true);
	cr_expect(offered->next && waiting->next);
	offered->taken_ms = waiting->taken_ms = clock_now_ms() - GUEST_PAUSE_MS;
	guests_list(guests, &set);
	cr_assert_eq(set.n_items, 2);
	cr_expect(set.items[0].text == offered->next && set.items[0].is_new);
	cr_expect(set.items[1].text == waiting->next && set.items[1].is_new);
	cr_expect_str_eq(set.items[1].source, "one");
	take(&set, false);
}

Test(core_guests, rest_four_times_as_long_as_their_load_took)
{
	static const uint64_t cases[][2] = {
		{0, GUEST_LOAD_PAUSE_MS}, {5, GUEST_LOAD_PAUSE_MS}, {6, 24}, {60000, 240000}};

	const struct guest_set none = {0};
	uint64_t held_ms;

	start();
	held_ms = guests->rested_ms;
	guests_taken(guests, &none, true, 60000);
	cr_expect_eq(guests->rested_ms, held_ms, "the load was no guest's");
	register_waiting("one", "words", TOOL);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t before_ms = clock_now_ms();

		guests_taken(guests, &none, true, cases[i][0]);
		cr_expect_geq(guests->rested_ms, before_ms + cases[i][1]);
		cr_expect_leq(guests->rested_ms, clock_now_ms() + cases[i][1]);
	}
}

/* ── leaving ─────────────────────────────────────────────────────────────────────────────────── */

Test(core_guests, leave_once_and_for_the_first_reason)
{
	struct guest *guest;

	start();
	guest = register_offered("one", "words", TOOL);
	guest_leave(guest, "the first");
	guest_leave(guest, "the second");
	cr_expect_str_eq(guest->gone, "the first");
	cr_expect_eq(guest->lease.position, 0, "its lease cannot end any more");
	cr_expect_null(find("words"));
	cr_expect_eq(n_guests(), 0);
}

Test(core_guests, leave_by_the_end_of_their_lease)
{
	struct guest *guest;

	start();
	guest = register_offered("one", "words", TOOL);
	guest->lease.function(guest->lease.data);
	cr_expect_str_eq(guest->gone, "its lease is over");
	settle();
	cr_expect_not(guest->has_calls);
}

Test(core_guests, leave_with_their_connection_and_no_other)
{
	struct account stranger = {0};
	struct guest *guest;

	start();
	guest = register_offered("one", "words", TOOL);
	cr_assert_gt(guest->owner.connection, 0);
	stranger.number = guest->owner.connection + 1;
	guests_forget_peer(guests, &stranger);
	cr_expect_null(guest->gone);
	/* The owner of a guest without a connection is known by its source alone. */
	stranger.number = guest->owner.connection;
	guest->owner.connection = 0;
	guests_forget_peer(guests, &stranger);
	cr_expect_null(guest->gone);
	guest->owner.connection = stranger.number;
	asking_leave();
	while (!guest->gone)
		asking_step();
	cr_expect_str_eq(guest->gone, "its connection has ended");
}

Test(core_guests, have_no_connection_on_a_bus_of_others)
{
	start_with(asking_start_as_client);
	cr_expect_eq(register_offered("one", "words", TOOL)->owner.connection, 0);
}

Test(core_guests, leave_when_the_operator_takes_none_any_more)
{
	struct guest *guest;

	start();
	guest = register_offered("one", "words", TOOL);
	guests_configure(guests);
	cr_expect_null(guest->gone);
	service->config.guests.is_enabled = false;
	guests_configure(guests);
	cr_expect_str_eq(guest->gone, "guests.enabled is false");
	register_tools("one", "more", TOOL);
	expect_registered("'error':'PermissionError: This service takes no guests: its operator "
			  "has to set guests.enabled','code':'denied'");
	send_from("one", UNREGISTER, "{'toolbox_id':'words'}");
	expect_part(wait_for(UNREGISTER ".response"), "'code':'denied'");
}

/* ── memory that runs short ──────────────────────────────────────────────────────────────────── */

Test(core_guests, are_made_whole_or_not_at_all)
{
	const struct text_view source = {"one, and what follows", 3};

	start();
	for (size_t n = 0; scarce_once_after(n); n++) {
		struct guest *guest = guest_new(guests, "words", &source);

		cr_expect_eq(guest == NULL, scarce_has_failed(), "%zu", n);
		cr_expect_eq(n_guests(), guest ? 1 : 0);
		if (guest)
			cr_expect_str_eq(guest->owner.source, "one");
	}
}

Test(core_guests, are_not_listed_without_memory_and_listed_by_the_next_load)
{
	struct guest *guest;

	start();
	guest = register_offered("one", "words", TOOL);
	for (size_t n = 0; scarce_once_after(n); n++) {
		struct guest_set set = {0};

		guests_list(guests, &set);
		cr_expect_eq(set.n_items, scarce_has_failed() ? 0 : 1, "%zu", n);
		cr_expect_eq(guest->is_listed, set.n_items == 1, "%zu", n);
		take(&set, true);
		cr_expect_null(guest->gone);
	}
}
