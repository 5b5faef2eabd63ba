/* SPDX-License-Identifier: Apache-2.0 */
#include "core/job/job_record.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "scarce.h"

/* Records of jobs, written and read: what comes back is the same, and what is broken is refused. */

static const char head[] = "{\"type\": \"ovos.tools.invoke.response\", \"context\": {\"source\": "
			   "\"me\"}, \"data\": ";

static void free_texts(struct job *job)
{
	buffer_deinit(&job->name);
	buffer_deinit(&job->toolbox_id);
	buffer_deinit(&job->call_id);
	buffer_deinit(&job->source);
	buffer_deinit(&job->session);
	buffer_deinit(&job->end);
	buffer_deinit(&job->response.message);
}

/* Fill in a job that runs. */
static void fill(struct job *job)
{
	*job = (struct job){.door = CALL_DOOR_HTTP, .started_ms = 1795696329944};
	buffer_append_string(&job->name, "\"backup\"");
	buffer_append_string(&job->toolbox_id, "\"disk_tools\"");
	buffer_append_string(&job->source, "\"http:kitch\\u00e9n\"");
	buffer_append_string(&job->response.message, head);
}

static void write_and_read(const struct job *job, struct job *ret_job)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	job_record_write(job, &text);
	cr_assert_eq(buffer_status(&text), 0);
	cr_assert_eq(job_record_read(ret_job, text.data, text.size), 0);
}

static void expect_text(const struct buffer *text, const char *expected)
{
	cr_expect(text->size == strlen(expected) &&
			  memcmp(text->data ? text->data : "", expected, text->size) == 0,
		"'%.*s', not '%s'", (int)text->size, text->data, expected);
}

Test(job_record, has_everything_of_a_job_that_runs)
{
	struct job job;
	struct job read = {0};

	fill(&job);
	write_and_read(&job, &read);
	cr_expect_eq(read.state, JOB_RUNNING);
	cr_expect_eq(read.door, CALL_DOOR_HTTP);
	cr_expect_eq(read.started_ms, 1795696329944);
	expect_text(&read.name, "\"backup\"");
	expect_text(&read.toolbox_id, "\"disk_tools\"");
	expect_text(&read.source, "\"http:kitch\\u00e9n\"");
	expect_text(&read.session, "");
	expect_text(&read.end, "");
	expect_text(&read.response.message, head);
	cr_expect_eq(read.response.opened, strlen(head) + 1);
	free_texts(&job);
	free_texts(&read);
}

Test(job_record, has_the_end_with_its_digits)
{
	static const char end[] = "{\"result\":{\"n\":1.10,\"big\":9007199254740993}}";
	struct job job;
	struct job read = {0};

	fill(&job);
	job.state = JOB_DONE;
	job.has_content = true;
	job.run_llm = RUN_LLM_NO;
	job.ended_ms = job.started_ms + 7;
	buffer_append_string(&job.end, end);
	write_and_read(&job, &read);
	cr_expect_eq(read.state, JOB_DONE);
	cr_expect(read.has_content);
	cr_expect_eq(read.run_llm, RUN_LLM_NO);
	cr_expect_eq(read.ended_ms, job.ended_ms);
	expect_text(&read.end, end);
	free_texts(&job);
	free_texts(&read);
}

Test(job_record, leaves_out_a_head_that_is_none)
{
	static const char *const heads[] = {"", "{}", "\", \\\"context\\\": ", "x"};

	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		struct job read = {0};
		char text[256];
		int size = snprintf(text, sizeof(text),
			"{\"door\":\"bus\",\"state\":\"running\",\"name\":\"a\",\"toolbox_id\":"
			"\"b\","
			"\"started_ms\":1,\"head\":\"%s\"}",
			i == 2 ? ", \\\"context\\\": " : heads[i]);

		cr_expect_eq(job_record_read(&read, text, (size_t)size), 0, "%s", text);
		cr_expect_eq(read.response.message.size, 0);
		free_texts(&read);
	}
}

Test(job_record, refuses_what_is_no_record)
{
	static const char *const texts[] = {
		"",
		"{",
		"[]",
		"{}",
		"{\"door\":\"window\",\"state\":\"running\",\"name\":\"a\",\"toolbox_id\":\"b\","
		"\"started_ms\":1}",
		"{\"door\":\"bus\",\"state\":\"lost\",\"name\":\"a\",\"toolbox_id\":\"b\","
		"\"started_ms\":1}",
		"{\"door\":\"bus\",\"state\":\"running\",\"name\":7,\"toolbox_id\":\"b\","
		"\"started_ms\":1}",
		"{\"door\":\"bus\",\"state\":\"running\",\"name\":\"a\",\"toolbox_id\":\"b\","
		"\"started_ms\":-1}",
		"{\"door\":\"bus\",\"state\":\"running\",\"name\":\"a\",\"toolbox_id\":\"b\","
		"\"started_ms\":1,\"ended_ms\":2,\"end\":{}}",
		"{\"door\":\"bus\",\"state\":\"done\",\"name\":\"a\",\"toolbox_id\":\"b\","
		"\"started_ms\":1,\"ended_ms\":2}",
		"{\"door\":\"bus\",\"state\":\"done\",\"name\":\"a\",\"toolbox_id\":\"b\","
		"\"started_ms\":1,\"end\":{\"result\":1}}",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct job read = {0};

		cr_expect_eq(job_record_read(&read, texts[i], strlen(texts[i])), -EINVAL, "%s",
			texts[i]);
		free_texts(&read);
	}
}

/* A record of which a part is lost would send an end to everybody, or show it to another one. */
Test(job_record, is_read_whole_or_not_at_all_when_memory_is_short)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	struct job job;

	fill(&job);
	job.state = JOB_FAILED;
	job.ended_ms = job.started_ms + 1;
	buffer_append_string(&job.call_id, "\"7\"");
	buffer_append_string(&job.session, "\"kitchen\"");
	buffer_append_string(&job.end, "{\"error\":\"No\",\"code\":\"tool_failed\"}");
	job_record_write(&job, &text);
	cr_assert_eq(buffer_status(&text), 0);
	for (size_t n = 0; scarce_once_after(n); n++) {
		struct job read = {0};

		if (job_record_read(&read, text.data, text.size) < 0) {
			cr_expect(scarce_has_failed());
		} else {
			cr_expect_not(scarce_has_failed(), "allocation %zu", n);
			expect_text(&read.response.message, head);
			expect_text(&read.session, "\"kitchen\"");
		}
		free_texts(&read);
	}
	free_texts(&job);
}

Test(job_record, is_not_written_in_part_when_memory_is_short)
{
	struct job job;

	fill(&job);
	for (size_t n = 0; scarce_once_after(n); n++) {
		cleanup(buffer_deinit) struct buffer text = {0};

		job_record_write(&job, &text);
		cr_expect_eq(buffer_status(&text), scarce_has_failed() ? -ENOMEM : 0);
	}
	free_texts(&job);
}
