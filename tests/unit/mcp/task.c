/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/task.h"

#include "client.h"
#include "quotes.h"
#include "util/cleanup.h"

/* Jobs as tasks; texts have ' in place of ". */

static const struct mcp_server server = {.version = "1", .has_tasks = true};

#define ID  "0123456789abcdef0123456789abcdef"
#define JOB "'job_id':'" ID "','name':'n','started':'S','ttl_ms':7"
#define SERVER_META                                                                                \
	"'_meta':{'io.modelcontextprotocol/serverInfo':{'name':'toolboxd','version':'1'}}"
#define TASK(status, more, last)                                                                   \
	"'taskId':'" ID "','status':'" status "'," more "'createdAt':'S','lastUpdatedAt':'" last   \
	"','ttlMs':7,'pollIntervalMs':1000"

typedef void (*write_function)(struct buffer *out, const struct mcp_message *message,
	const struct mcp_server *of, const struct json_tape *data);

/* Check that @write makes the result @wanted for the job with @members. */
static void expect_result(write_function write, const char *members, const char *wanted)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(buffer_deinit) struct buffer out = {0};
	cleanup(buffer_deinit) struct buffer whole = {0};
	struct mcp_message message = {.era = MCP_MODERN, .id = TEXT_VIEW("1")};
	cleanup_free char *data = NULL;
	cleanup_free char *line = NULL;

	buffer_printf(&whole, "{%s}", members);
	data = quoted(buffer_terminate(&whole));
	cr_assert_eq(json_tape_read(&tape, data, strlen(data), 64, NULL), 0, "%s", data);
	write(&out, &message, &server, &tape);
	buffer_reset(&whole);
	buffer_printf(&whole, "{'jsonrpc':'2.0','id':1,'result':{%s," SERVER_META "}}", wanted);
	line = quoted(buffer_terminate(&whole));
	expect_line(&out, line);
}

Test(mcp_task, is_created_without_a_result)
{
	expect_result(mcp_write_created_task, JOB ",'state':'running'",
		TASK("working", "", "S") ",'resultType':'task'");
}

Test(mcp_task, works_while_its_job_runs)
{
	expect_result(mcp_write_task, JOB ",'state':'running'",
		TASK("working", "", "S") ",'resultType':'complete'");
	expect_result(mcp_write_task, JOB ",'state':'running','updated':'U','text':'half'",
		TASK("working", "'statusMessage':'half',", "U") ",'resultType':'complete'");
}

Test(mcp_task, is_completed_by_a_result_and_by_an_error_of_its_tool)
{
	expect_result(mcp_write_task, JOB ",'state':'done','ended':'E','result':{'n':1}",
		TASK("completed", "", "E") ",'result':{'content':[{'type':'text','text':"
					   "'{\\'n\\':1}'}],'structuredContent':{'n':1},"
					   "'isError':false,'resultType':'complete'},"
					   "'resultType':'complete'");
	expect_result(mcp_write_task,
		JOB ",'state':'done','ended':'E','content':true,'run_llm':false,'result':"
		    "{'content':[]}",
		TASK("completed", "", "E") ",'result':{'content':[],'isError':false,'_meta':"
					   "{'toolboxd/run_llm':false},'resultType':'complete'},"
					   "'resultType':'complete'");
	expect_result(mcp_write_task,
		JOB ",'state':'failed','ended':'E','error':'No','code':'tool_failed'",
		TASK("completed", "", "E") ",'result':{'content':[{'type':'text','text':'No'}],"
					   "'isError':true,'resultType':'complete'},"
					   "'resultType':'complete'");
}

Test(mcp_task, has_failed_when_no_tool_has_answered)
{
	expect_result(mcp_write_task,
		JOB ",'state':'failed','ended':'E','error':'Away','code':'unavailable'",
		TASK("failed", "'statusMessage':'Away',",
			"E") ",'error':{'code':-32603,'message':'Away'},'resultType':'complete'");
	expect_result(mcp_write_task,
		JOB ",'state':'failed','ended':'E','error':'None','code':'unknown_tool'",
		TASK("failed", "'statusMessage':'None',",
			"E") ",'error':{'code':-32602,'message':'None'},'resultType':'complete'");
}

Test(mcp_task, is_cancelled_with_the_words_of_its_job)
{
	expect_result(mcp_write_task,
		JOB ",'state':'cancelled','ended':'E','error':'Gone','code':'cancelled'",
		TASK("cancelled", "'statusMessage':'Gone',", "E") ",'resultType':'complete'");
}

Test(mcp_task, that_is_unknown_is_a_wrong_parameter)
{
	static const struct {
		const char *data;
		int code;
	} cases[] = {
		{"{\"error\":\"Why\",\"code\":\"unknown_job\"}", MCP_INVALID_PARAMS},
		{"{\"error\":\"Why\",\"code\":\"unavailable\"}", MCP_INTERNAL_ERROR},
		{"{\"error\":\"Why\",\"code\":\"too_large\"}", MCP_INTERNAL_ERROR},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		cleanup(json_tape_cleanup) struct json_tape tape = {0};
		cleanup(buffer_deinit) struct buffer text = {0};
		struct mcp_error error;

		cr_assert_eq(
			json_tape_read(&tape, cases[i].data, strlen(cases[i].data), 8, NULL), 0);
		cr_expect_eq(mcp_refuse_task(&tape, &text, &error), MCP_E_REFUSED);
		cr_expect_eq((int)error.code, cases[i].code);
		cr_expect_eq(error.message.size, 3);
		cr_expect_eq(memcmp(error.message.text, "Why", 3), 0);
	}
}
