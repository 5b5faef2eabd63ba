/* SPDX-License-Identifier: Apache-2.0 */
#include "core/job/jobs.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "asking.h"
#include "boxes.h"
#include "config_fixture.h"
#include "core/history/call_summary.h"
#include "core/job/job_queries.h"
#include "json/reader.h"
#include "logged.h"
#include "quotes.h"
#include "scarce.h"
#include "served.h"
#include "util/file/file.h"
#include "util/file/stamp.h"

/* Jobs in a service whose background calls the test answers: their states, their files, and who is
 * shown what. */

#define BOX                                                                                        \
	"{'kind':'native','library':'" TEST_TOOLBOX_DIR "/libtest_misbehave.so','risk':'read',"    \
	"'limits':{'workers':2},'tools':[{'name':'hang','native':{'symbol':'hang'}}]}"
#define STATE  "home/.local/state/toolboxd"
#define FOLDER STATE "/jobs"

static char id[HEX_ID_CHARS + 1];

static void start(void)
{
	write_box("box.json", BOX);
	asking_start();
	ask_for("ovos.tools.list", "{}");
	service->jobs.serve = served_take;
}

static void tear_down(void)
{
	served_forget();
	asking_tear_down();
}

TestSuite(jobs, .init = asking_set_up, .fini = tear_down, .timeout = 300);

/* Send a request for a job with the further members @more. */
static void send_job(const char *more)
{
	char data[256];

	snprintf(data, sizeof(data), "{'name':'hang','background':true%s}", more);
	send_request(
		"ovos.tools.invoke", data, "{'source':'me','session':{'session_id':'s'},'mark':1}");
}

/* The same, with its response; its id goes to `id`. */
static const char *begin(const char *more)
{
	const char *response;
	const char *found;

	send_job(more);
	response = wait_for("ovos.tools.invoke.response");
	found = strstr(response, "\"job_id\":\"");
	cr_assert(found, "%s", response);
	snprintf(id, sizeof(id), "%s", found + strlen("\"job_id\":\""));
	return response;
}

/* The response to a request about the job `id`, with the further members @more. */
static const char *ask_about(const char *topic, const char *more)
{
	char data[128];
	char response[64];

	snprintf(data, sizeof(data), "{'job_id':'%s'%s}", id, more);
	snprintf(response, sizeof(response), "%s.response", topic);
	send_request(topic, data, "{'source':'me'}");
	return wait_for(response);
}

static const char *get(const char *more)
{
	return ask_about("ovos.tools.job.get", more);
}

static struct job *first_job(void)
{
	cr_assert_gt(service->jobs.n, 0);
	return container_of(service->jobs.all.next, struct job, link);
}

/* Serve until no change of a file is under way. */
static void settle(void)
{
	ask_for("ovos.tools.status", "{}");
	while (!jobs_are_kept(&service->jobs))
		asking_step();
}

static char *path_of(const char *job_id)
{
	static char path[160];

	snprintf(path, sizeof(path), "%s/%s.json", in_folder(FOLDER), job_id);
	return path;
}

/* The file of the job `id` has @part, JSON; NULL: there is no file. */
static void expect_file(const char *part)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	int r = file_read(path_of(id), 1 << 20, &text);

	cr_expect_eq(r, part ? 0 : -ENOENT);
	if (part && r == 0)
		expect_part(buffer_terminate(&text), part);
}

/* ── the beginning ───────────────────────────────────────────────────────────────────────────── */

Test(jobs, are_on_the_disk_before_their_calls_begin)
{
	struct stat status;

	start();
	expect_part(begin(",'call_id':'7'"), "{'name':'hang','call_id':'7','started':'");
	cr_expect_eq(n_served, 1);
	expect_file("'state':'running'");
	expect_file("'source':'me','session_id':'s'");
	cr_assert_eq(stat(path_of(id), &status), 0);
	cr_expect_eq(status.st_mode & 0777, 0600);
	expect_part(get(""), "'state':'running'");
	cr_expect_eq(n_unseen("ovos.tools.job.completed"), 0);
}

Test(jobs, that_are_refused_leave_nothing)
{
	start();
	served_code = ANSWER_DENIED;
	send_job(",'call_id':'7'");
	expect_part(wait_for("ovos.tools.invoke.response"),
		"{'name':'hang','call_id':'7','error':'RuntimeError: No','code':'denied'}");
	settle();
	cr_expect_eq(n_served, 1);
	cr_expect_eq(service->jobs.n, 0);
	cr_expect_eq(unlink(in_folder(FOLDER "/.lock")), 0, "the folder has no more than its lock");
	cr_expect_eq(rmdir(in_folder(FOLDER)), 0);
	cr_expect_eq(n_unseen("ovos.tools.job.completed"), 0);
}

Test(jobs, are_refused_when_their_calls_have_no_memory)
{
	start();
	served_status = -ENOMEM;
	send_job("");
	expect_part(wait_for("ovos.tools.invoke.response"),
		"'error':'RuntimeError: The service is unavailable: out of memory','code':"
		"'unavailable'");
	settle();
	cr_expect_eq(service->jobs.n, 0);
}

Test(jobs, charge_their_callers_only_until_their_calls_begin)
{
	struct account *account;

	start();
	send_job("");
	while (service->jobs.n == 0)
		asking_step();
	account = account_ref(first_job()->account);
	wait_for("ovos.tools.invoke.response");
	cr_expect_null(first_job()->account);
	cr_expect_eq(first_job()->held_bytes, 0);
	if (account)
		cr_expect_eq(account->held, 0);
	account_unref(account);
}

/* Ask for a job with the allocation @n failing. Return whether it failed. */
static bool begin_scarcely(size_t n)
{
	struct request_scope scope = {0};
	struct asked asked = {0};
	uint32_t n_before = service->jobs.n;
	const char *response;
	bool is_begun;
	bool has_failed;

	ask(&asked, "'name':'hang','call_id':'7'");
	scope.envelope = asked.envelope;
	scope.request = asked.request;
	scope.text.message = TEXT_VIEW(asked.frame);
	scope.caller = (struct policy_caller){
		.source = TEXT_VIEW("me"), .account = bus_sender(service->bus)};
	scarce_once_after(n);
	is_begun = jobs_begin(
		&service->jobs, &scope, catalogue_tool(service->offer.catalogue, 0), &asked.answer);
	has_failed = scarce_has_failed();
	cr_expect(is_begun || has_failed);
	cr_expect_eq(service->jobs.n, n_before + is_begun, "allocation %zu", n);
	cr_expect_neq(answer_is_open(&asked.answer), is_begun);
	cr_expect_neq(answer_is_error(&asked.answer), is_begun);
	asked_deinit(&asked);
	if (!is_begun)
		return has_failed;
	response = wait_for("t.response");
	settle();
	expect_part(response,
		service->jobs.n > n_before ? "'state':'running'" : "'code':'unavailable'");
	cr_expect(has_failed || service->jobs.n > n_before);
	return has_failed;
}

Test(jobs, begin_whole_or_not_at_all_when_memory_is_short)
{
	size_t n = 0;

	start();
	while (begin_scarcely(n))
		n++;
	cr_expect_gt(n, 5);
	cr_expect_eq(service->jobs.n, n_served);
}

/* ── the end ─────────────────────────────────────────────────────────────────────────────────── */

Test(jobs, show_their_ends_when_these_are_on_the_disk)
{
	struct buffer members = {0};

	start();
	begin("");
	served_answer(0, "{'n':1.10}");
	cr_assert_eq(first_job()->phase, JOB_ENDING);
	job_write_members(first_job(), true, &members);
	expect_part(buffer_terminate(&members), "'state':'running'");
	cr_expect_null(strstr(members.data, "result"));
	buffer_deinit(&members);
	expect_part(wait_for("ovos.tools.job.completed"), "'state':'done'");
	expect_file("'end':{'result':{'n':1.10}}");
	expect_part(get(""), "'result':{'n':1.10}}");
	settle();
	cr_expect_eq(n_unseen("ovos.tools.job.completed"), 0, "an end is announced once");
}

Test(jobs, end_as_their_answers_say)
{
	static const struct {
		enum answer_code code;
		const char *part;
	} rows[] = {
		{ANSWER_CANCELLED, "'state':'cancelled'"},
		{ANSWER_TIMEOUT, "'state':'failed'"},
		{ANSWER_DENIED, "'state':'failed'"},
		{ANSWER_TOOL_FAILED, "'state':'failed'"},
		{ANSWER_UNAVAILABLE, "'state':'failed'"},
	};

	start();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin("");
		served_refuse(i, rows[i].code);
		expect_part(wait_for("ovos.tools.job.completed"), rows[i].part);
		expect_file(rows[i].part);
		expect_part(get(""), "'error':'RuntimeError: No','code':'");
	}
}

Test(jobs, are_left_to_the_next_service_when_this_one_stops)
{
	char first[sizeof(id)];

	start();
	begin("");
	memcpy(first, id, sizeof(id));
	begin("");
	service->calls.is_stopping = true;
	served_refuse(0, ANSWER_UNAVAILABLE);
	cr_expect(jobs_are_kept(&service->jobs));
	served_answer(1, "1");
	cr_expect_not(jobs_are_kept(&service->jobs));
	wait_for("ovos.tools.job.completed");
	expect_file("'state':'done'");
	memcpy(id, first, sizeof(id));
	expect_file("'state':'running'");
}

Test(jobs, whose_ends_cannot_be_written_are_shown_until_a_restart)
{
	char command[300];
	const char *log;

	start();
	begin("");
	snprintf(command, sizeof(command), "rm -r %s && touch %s", in_folder(FOLDER),
		in_folder(FOLDER));
	cr_assert_eq(system(command), 0);
	logged_begin();
	served_answer(0, "5");
	expect_part(wait_for("ovos.tools.job.completed"), "'state':'done'");
	log = logged_end();
	cr_expect(strstr(log, "cannot be written, and will be lost with a restart"), "%s", log);
	expect_part(get(""), "'result':5}");
	send_job("");
	expect_part(wait_for("ovos.tools.invoke.response"),
		"'error':'RuntimeError: The job cannot be kept: Not a directory','code':"
		"'unavailable'");
	cr_expect_eq(n_served, 1);
}

Test(jobs, whose_ends_could_not_be_written_are_written_later)
{
	char command[600];

	start();
	begin("");
	snprintf(command, sizeof(command), "mv %s %s.away && touch %s", in_folder(FOLDER),
		in_folder(FOLDER), in_folder(FOLDER));
	cr_assert_eq(system(command), 0);
	served_answer(0, "5");
	expect_part(wait_for("ovos.tools.job.completed"), "'state':'done'");
	cr_expect(first_job()->is_unwritten);
	cr_expect(loop_timer_is_armed(&service->jobs.rewrite));
	snprintf(command, sizeof(command), "rm %s && mv %s.away %s", in_folder(FOLDER),
		in_folder(FOLDER), in_folder(FOLDER));
	cr_assert_eq(system(command), 0);
	expect_file("'state':'running'");
	loop_timer_arm(&service->jobs.rewrite, 0);
	while (first_job()->is_unwritten)
		asking_step();
	expect_file("'state':'done'");
	expect_file("'end':{'result':5}");
	cr_expect_eq(n_unseen("ovos.tools.job.completed"), 0, "an end is announced once");
}

/* ── beside the foreground ───────────────────────────────────────────────────────────────────── */

Test(jobs, in_the_waiting_room_have_their_worker)
{
	struct waiting_request request = {0};

	start();
	begin("");
	cr_assert_eq(n_served, 1);
	request.address = &first_job()->address;
	list_append(&service->waiting.places, &request.place);
	begin("");
	cr_expect_eq(n_served, 1, "of two workers jobs may have one");
	expect_part(get(""), "'state':'running'");
	list_remove(&request.place);
	served_refuse(0, ANSWER_BUSY);
	wait_for("ovos.tools.job.completed");
	while (n_served == 1)
		asking_step();
	cr_expect_eq(n_served, 2);
}

/* ── progress ────────────────────────────────────────────────────────────────────────────────── */

Test(jobs, keep_the_beginning_of_a_text_of_progress)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(buffer_deinit) struct buffer report = {0};

	start();
	begin("");
	expect_part(get(""), "'ttl_ms':864");
	buffer_append_string(&report, "{\"progress\":0.5,\"text\":\"");
	for (size_t i = 0; i < 10000; i++)
		buffer_append_string(&report, "\xc3\xa4");
	buffer_append_string(&report, "\"}");
	cr_assert_eq(json_tape_read(&tape, report.data, report.size, 4, NULL), 0);
	address_progress(&first_job()->address, &tape);
	cr_expect_eq(first_job()->progress_text.size, 2 * SUMMARY_TEXT_BYTES + 2);
	expect_part(get(""), "'progress':0.5,'text':'");
	expect_part(get(""), "'updated':'");
}

/* ── results together ────────────────────────────────────────────────────────────────────────── */

/* Begin a job, and end it with a result of @size bytes. */
static const char *end_with(size_t size)
{
	char *result = malloc(size + 1);

	memset(result, '1', size);
	result[size] = '\0';
	begin("");
	served_answer(n_served - 1, result);
	free(result);
	return wait_for("ovos.tools.job.completed");
}

Test(jobs, lose_the_result_that_came_first_beyond_16_mib)
{
	char first[sizeof(id)];

	start();
	end_with(6 << 20);
	memcpy(first, id, sizeof(id));
	first_job()->ended_ms--;
	end_with(6 << 20);
	cr_expect_eq(first_job()->state, JOB_DONE);
	end_with(6 << 20);
	settle();
	cr_expect_leq(service->jobs.result_bytes, JOBS_RESULTS_BYTES);
	cr_expect_eq(first_job()->state, JOB_FAILED);
	cr_expect_str_eq(first_job()->change.id, first);
	memcpy(id, first, sizeof(id));
	expect_part(get(""), "all results of jobs have 16 MiB','code':'too_large'");
	expect_file("'state':'failed'");
}

Test(jobs, have_no_result_that_is_too_large_alone)
{
	start();
	end_with(17 << 20);
	cr_expect_eq(first_job()->state, JOB_FAILED);
	expect_part(get(""), "'state':'failed'");
	expect_part(get(""), "'code':'too_large'");
	cr_expect_lt(service->jobs.result_bytes, 1000);
}

/* ── who is shown what ───────────────────────────────────────────────────────────────────────── */

Test(jobs, are_shown_to_their_source_and_session)
{
	static const struct {
		const char *context;
		bool is_shown;
	} rows[] = {
		{"{'source':'me'}", true},
		{"{'source':'\\u006de'}", true},
		{"{'source':'me','session':{'session_id':'s'}}", true},
		{"{'source':'me','session':{'session_id':'other'}}", false},
		{"{'source':'other','session':{'session_id':'s'}}", false},
		{"{'source':5}", false},
		{"{}", false},
	};
	char data[64];

	start();
	begin("");
	snprintf(data, sizeof(data), "{'job_id':'%s'}", id);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		send_request("ovos.tools.job.list", "{}", rows[i].context);
		expect_part(wait_for("ovos.tools.job.list.response"),
			rows[i].is_shown ? "{'jobs':[{'job_id':'" : "{'jobs':[]}");
		send_request("ovos.tools.job.get", data, rows[i].context);
		expect_part(wait_for("ovos.tools.job.get.response"),
			rows[i].is_shown ? "'state':'running'" : "'code':'unknown_job'");
		if (rows[i].is_shown)
			continue;
		send_request("ovos.tools.job.cancel", data, rows[i].context);
		expect_part(wait_for("ovos.tools.job.cancel.response"), "'code':'unknown_job'");
	}
}

Test(jobs, are_found_by_their_whole_ids)
{
	static const char *const ids[] = {
		"", "0", "0123456789abcdef0123456789abcdef", "../../../etc/passwd", "\\u0000"};
	char data[128];

	start();
	begin("");
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		snprintf(data, sizeof(data), "{'job_id':'%s'}", ids[i]);
		send_request("ovos.tools.job.get", data, "{'source':'me'}");
		expect_part(wait_for("ovos.tools.job.get.response"), "'error':'");
	}
	snprintf(data, sizeof(data), "{'job_id':'%.31s'}", id);
	send_request("ovos.tools.job.get", data, "{'source':'me'}");
	expect_part(wait_for("ovos.tools.job.get.response"), "'code':'unknown_job'");
}

Test(jobs, show_their_progress_while_they_run)
{
	static const struct {
		const char *progress;
		const char *part;
	} rows[] = {
		{"{'progress':0.5,'text':'half'}", ",'progress':0.5,'text':'half'}"},
		{"{'progress':0.75}", ",'progress':0.75}"},
		{"{'text':'more'}", ",'progress':0.75,'text':'more'}"},
		{"{'progress':'1','text':5}", ",'progress':0.75}"},
		{"{'progress':null,'text':{}}", ",'progress':0.75}"},
		{"{'progress':1e999}", "'state':'running','started':"},
	};

	start();
	begin("");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		served_progress(0, rows[i].progress);
		expect_part(get(""), rows[i].part);
	}
	cr_expect_null(strstr(get(""), "\"progress\""), "no number is so large");
	served_progress(0, rows[0].progress);
	served_answer(0, "1");
	wait_for("ovos.tools.job.completed");
	cr_expect_null(strstr(get(""), "\"progress\""));
}

/* ── waits ───────────────────────────────────────────────────────────────────────────────────── */

Test(jobs, answer_those_that_wait_when_they_end)
{
	char data[128];

	start();
	begin("");
	snprintf(data, sizeof(data), "{'job_id':'%s','wait_ms':30000}", id);
	/* One connection has half of the places. */
	for (int i = 0; i <= JOB_WAITERS_MAX / 2; i++)
		send_request("ovos.tools.job.get", data, "{'source':'me'}");
	expect_part(wait_for("ovos.tools.job.get.response"), "'state':'running'");
	settle();
	cr_expect_eq(n_unseen("ovos.tools.job.get.response"), 0);
	cr_expect_eq(service->jobs.n_waiters, JOB_WAITERS_MAX / 2);
	served_answer(0, "3");
	for (int i = 0; i < JOB_WAITERS_MAX / 2; i++)
		expect_part(wait_for("ovos.tools.job.get.response"), "'result':3");
	cr_expect_eq(service->jobs.n_waiters, 0);
	expect_part(get(",'wait_ms':30000"), "'result':3");
}

Test(jobs, answer_those_whose_time_is_over)
{
	start();
	begin("");
	send_request("ovos.tools.job.list", "{}", "{'source':'me'}");
	expect_part(get(",'wait_ms':1"), "'state':'running'");
	cr_expect_eq(service->jobs.n_waiters, 0);
	expect_part(get(",'wait_ms':-1"), "'error':'");
	expect_part(get(",'wait_ms':'x'"), "'error':'");
}

Test(jobs, let_nobody_wait_in_a_service_that_stops)
{
	char data[128];

	start();
	begin("");
	snprintf(data, sizeof(data), "{'job_id':'%s','wait_ms':30000}", id);
	service->calls.is_stopping = true;
	send_request("ovos.tools.job.get", data, "{'source':'me'}");
	settle();
	cr_expect_eq(n_unseen("ovos.tools.job.get.response"), 1);
	service->calls.is_stopping = false;
}

/* ── beside the foreground ───────────────────────────────────────────────────────────────────── */

/* Take both workers of the toolbox by calls in the foreground, and begin a job. */
static void begin_without_room(const char *more)
{
	start();
	send_request("ovos.tools.invoke", "{'name':'hang','call_id':'1'}", "{'source':'f'}");
	send_request("ovos.tools.invoke", "{'name':'hang','call_id':'2'}", "{'source':'f'}");
	settle();
	begin(more);
	cr_assert_eq(n_served, 0);
	cr_assert_eq(first_job()->phase, JOB_WAITING);
}

Test(jobs, begin_when_the_foreground_leaves_room)
{
	begin_without_room("");
	send_request("ovos.tools.cancel", "{'call_id':'1'}", "{'source':'f'}");
	expect_part(wait_for("ovos.tools.invoke.response"), "'code':'cancelled'");
	for (int i = 0; n_served == 0 && i < 10000; i++)
		asking_step();
	cr_assert_eq(n_served, 1);
	cr_expect_eq(first_job()->phase, JOB_CALLING);
	cr_expect_eq(n_unseen("ovos.tools.invoke.response"), 0, "it was answered before");
}

Test(jobs, that_find_no_room_in_time_have_failed)
{
	begin_without_room(",'timeout_ms':30");
	expect_part(wait_for("ovos.tools.job.completed"),
		"(it has waited for its turn)','code':'timeout','timeout_ms':30}");
	cr_expect_eq(n_served, 0);
	expect_file("'state':'failed'");
}

Test(jobs, that_wait_can_be_cancelled)
{
	begin_without_room("");
	expect_part(ask_about("ovos.tools.job.cancel", ""), "'cancelled':true");
	expect_part(ask_about("ovos.tools.job.cancel", ""), "'cancelled':false");
	expect_part(wait_for("ovos.tools.job.completed"), "'state':'cancelled'");
	cr_expect_eq(n_served, 0);
}

/* ── what an earlier service has left ────────────────────────────────────────────────────────── */

/* Write the file of the job @number, which began at @started_ms, with the further members @more. */
static void write_record(unsigned int number, int started_ms, const char *more)
{
	char name[96];
	char text[512];

	snprintf(name, sizeof(name), FOLDER "/%032x.json", number);
	snprintf(text, sizeof(text),
		"{'door':'bus','name':'hang','toolbox_id':'box','source':'me','started_ms':%d%s}",
		started_ms, more);
	swap_quotes(text);
	write_file(name, text);
}

/* Members of a job that has ended now. */
static const char *ended_now(void)
{
	static char text[128];

	snprintf(text, sizeof(text), ",'state':'done','ended_ms':%lld,'end':{'result':1}",
		(long long)(stamp_now_ns() / 1000000));
	return text;
}

static const char *list(void)
{
	send_request("ovos.tools.job.list", "{}", "{'source':'me'}");
	return wait_for("ovos.tools.job.list.response");
}

Test(jobs, of_an_earlier_service_are_there_in_the_order_of_their_beginnings)
{
	const char *last;

	write_record(1, 300, ended_now());
	write_record(2, 100, ended_now());
	write_record(3, 200, ",'state':'running'");
	start();
	list();
	settle();
	last = list();
	for (unsigned int i = 0; i < 3; i++) {
		static const unsigned int numbers[] = {2, 3, 1};
		char job_id[64];

		snprintf(job_id, sizeof(job_id), "\"job_id\":\"%032x\"", numbers[i]);
		last = strstr(last, job_id);
		cr_assert(last, "%s", job_id);
	}
	snprintf(id, sizeof(id), "%032x", 3);
	expect_part(get(""),
		"'error':'RuntimeError: The job has failed: the service was restarted',"
		"'code':'unavailable'}");
	expect_file("'state':'failed'");
	cr_expect_eq(n_served, 0, "no job runs twice");
}

Test(jobs, that_were_kept_long_enough_are_gone)
{
	write_record(1, 1, ",'state':'done','ended_ms':2,'end':{'result':1}");
	write_record(2, 1, ended_now());
	start();
	list();
	settle();
	cr_expect_eq(service->jobs.n, 1);
	snprintf(id, sizeof(id), "%032x", 1);
	expect_file(NULL);
	snprintf(id, sizeof(id), "%032x", 2);
	expect_file("'result':1");
}

Test(jobs, that_cannot_be_read_are_left_alone)
{
	const char *log;
	int lock = -1;

	write_record(1, 1, ",'state':'nonsense'");
	write_record(2, 1, ",'state':'running'},");
	write_record(3, 1, ",'state':'done','ended_ms':1,'end':7");
	write_record(4, 1, ended_now());
	/* The service can read them later. */
	cr_assert_eq(file_lock(in_folder(FOLDER), 0, &lock), 0);
	start();
	close(lock);
	log_setup(LOG_LEVEL_WARNING, LOG_FORMAT_PLAIN);
	logged_begin();
	expect_part(list(), "{'jobs':[{'job_id':'00000000000000000000000000000004'");
	log = logged_end();
	for (unsigned int i = 1; i <= 3; i++) {
		char words[128];

		snprintf(words, sizeof(words),
			"%032x.json cannot be read: it is no record of a job", i);
		cr_expect(strstr(log, words), "%s is not in %s", words, log);
		snprintf(id, sizeof(id), "%032x", i);
		expect_file("'door':'bus'");
	}
	cr_expect_eq(service->jobs.n, 1);
}

Test(jobs, with_an_end_in_what_is_no_record_are_left_alone)
{
	write_record(1, 1, ",'state':'done','end':{'result':1}");
	start();
	cr_expect_eq(service->jobs.n, 0);
	cr_expect_eq(service->jobs.result_bytes, 0);
}

Test(jobs, of_another_service_are_left_to_it)
{
	int lock = -1;

	write_record(1, 1, ",'state':'running'");
	cr_assert_eq(file_lock(in_folder(FOLDER), 0, &lock), 0);
	start();
	expect_part(list(), "{'jobs':[]}");
	send_job("");
	expect_part(wait_for("ovos.tools.invoke.response"),
		"'error':'RuntimeError: The job cannot be kept: another toolboxd has the folder of "
		"jobs','code':'unavailable'}");
	snprintf(id, sizeof(id), "%032x", 1);
	expect_file("'state':'running'");
	close(lock);
	expect_part(list(), "'job_id':'00000000000000000000000000000001'");
}

Test(jobs, that_have_ended_give_way_to_new_ones)
{
	for (unsigned int i = 1; i <= JOBS_MAX; i++)
		write_record(i, 1, ended_now());
	write_record(77, 1, ",'state':'done','ended_ms':2000000000000,'end':{'result':1}");
	write_record(78, 1, ended_now());
	start();
	list();
	settle();
	cr_assert_eq(service->jobs.n, JOBS_MAX);
	list_for_each(link, &service->jobs.all) {
		struct job *job = container_of(link, struct job, link);

		if (strcmp(job->change.id + HEX_ID_CHARS - 2, "37") == 0)
			job->ended_ms = 5;
	}
	begin("");
	settle();
	cr_expect_eq(service->jobs.n, JOBS_MAX);
	snprintf(id, sizeof(id), "%032x", 0x37);
	expect_file(NULL);
	snprintf(id, sizeof(id), "%032x", 78);
	expect_file("'result':1");
}

Test(jobs, that_run_give_way_to_none)
{
	start();
	for (int i = 0; i < JOBS_MAX; i++)
		begin("");
	send_job("");
	expect_part(wait_for("ovos.tools.invoke.response"),
		"'error':'RuntimeError: Too many jobs: 256 are running, the most that there may "
		"be','code':'busy'");
	cr_expect_eq(n_served, JOBS_MAX);
	served_answer(9, "1");
	wait_for("ovos.tools.job.completed");
	begin("");
	cr_expect_eq(n_served, JOBS_MAX + 1);
}
