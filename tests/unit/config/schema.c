/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <libgen.h>
#include <limits.h>

#include "config_fixture.h"
#include "schema/schema.h"
#include "util/file/file.h"

/* The published schema and the code that reads a configuration agree: a text taken by either
 * without a message is taken by the other. */
TestSuite(config_schema, .init = config_set_up, .fini = config_tear_down, .timeout = 20);

#define SCHEMA_BYTES_MAX (1u << 20)

/* The letter before a case is the verdict of both. */
static const char *const cases[] = {
	"y {}",
	"y {\"other\": 1, \"toolboxd\": null, \"websocket\": null}",
	"n {\"toolboxd\": []}",
	"n {\"toolboxd\": {\"unknown\": 1}}",
	"y {\"toolboxd\": {\"toolbox_dirs\": [\"/a\", \"\"]}}",
	"y {\"toolboxd\": {\"toolbox_dirs\": []}}",
	"n {\"toolboxd\": {\"toolbox_dirs\": \"/a\"}}",
	"n {\"toolboxd\": {\"toolbox_dirs\": [null]}}",
	"y {\"toolboxd\": {\"tools_enabled\": [\"a\"], \"tools_disabled\": null}}",
	"n {\"toolboxd\": {\"tools_disabled\": [1]}}",
	"y {\"toolboxd\": {\"duplicate_names\": \"last\"}}",
	"n {\"toolboxd\": {\"duplicate_names\": \"Last\"}}",
	"y {\"toolboxd\": {\"profiles\": {}, \"access\": []}}",
	"y {\"toolboxd\": {\"profiles\": null, \"access\": null}}",
	"n {\"toolboxd\": {\"profiles\": []}}",
	"y {\"toolboxd\": {\"profiles\": {\"a\": null, \"b\": {}}}}",
	"y {\"toolboxd\": {\"profiles\": {\"a\": {\"tool_names\": null}}}}",
	"y {\"toolboxd\": {\"profiles\": {\"a\": {\"tool_names\": [\"all\", \"b/*\"]}}}}",
	"n {\"toolboxd\": {\"profiles\": {\"a\": {\"tool_names\": [1]}}}}",
	"n {\"toolboxd\": {\"profiles\": {\"a\": {\"tool_names\": \"all\"}}}}",
	"n {\"toolboxd\": {\"profiles\": {\"a\": {\"tools\": []}}}}",
	"n {\"toolboxd\": {\"profiles\": {\"a\": []}}}",
	"y {\"toolboxd\": {\"access\": [{\"match\": {}, \"profile\": \"a\"}]}}",
	"y {\"toolboxd\": {\"access\": [{\"match\": {\"source\": \"a*\", \"session_id\": \"\","
	" \"site_id\": \"*\"}, \"profile\": \"\"}]}}",
	"n {\"toolboxd\": {\"access\": [{\"match\": {}}]}}",
	"n {\"toolboxd\": {\"access\": [{\"profile\": \"a\"}]}}",
	"n {\"toolboxd\": {\"access\": [{\"match\": null, \"profile\": \"a\"}]}}",
	"n {\"toolboxd\": {\"access\": [{\"match\": {}, \"profile\": null}]}}",
	"n {\"toolboxd\": {\"access\": [{\"match\": {}, \"profile\": \"a\", \"c\": 1}]}}",
	"n {\"toolboxd\": {\"access\": [{\"match\": {\"source\": null}, \"profile\": \"a\"}]}}",
	"n {\"toolboxd\": {\"access\": [{\"match\": {\"user\": \"a\"}, \"profile\": \"a\"}]}}",
	"n {\"toolboxd\": {\"access\": {}}}",
	"n {\"toolboxd\": {\"access\": [1]}}",
	"y {\"toolboxd\": {\"approval\": {\"mode\": \"off\", \"allow\": [\"a/*\"],"
	" \"timeout_ms\": 86400000, \"answer_sources\": null}}}",
	"n {\"toolboxd\": {\"approval\": {\"mode\": \"never\"}}}",
	"y {\"toolboxd\": {\"listen\": false}}",
	"y {\"toolboxd\": {\"listen\": \"fallback\"}}",
	"y {\"toolboxd\": {\"listen\": {\"as\": null, \"priority\": 101}}}",
	"n {\"toolboxd\": {\"listen\": true}}",
	"n {\"toolboxd\": {\"listen\": \"always\"}}",
	"n {\"toolboxd\": {\"listen\": {\"priority\": 0}}}",
	"n {\"toolboxd\": {\"listen\": {\"as\": \"fallback\", \"other\": 1}}}",
	"n {\"toolboxd\": {\"approval\": {\"allow\": \"a\"}}}",
	"n {\"toolboxd\": {\"approval\": {\"timeout_ms\": 86400001}}}",
	"y {\"toolboxd\": {\"approval\": {\"answer_sources\": []}}}",
	"n {\"toolboxd\": {\"approval\": {\"answer_sources\": \"a\"}}}",
	"n {\"toolboxd\": {\"approval\": {\"mdoe\": \"off\"}}}",
	"n {\"toolboxd\": {\"approval\": \"off\"}}",
	"y {\"toolboxd\": {\"enabled\": true}}",
	"y {\"toolboxd\": {\"enabled\": false}}",
	"n {\"toolboxd\": {\"enabled\": 0}}",
	"y {\"toolboxd\": {\"callers\": [], \"guests\": {}, \"http\": null,"
	" \"approval\": {\"key_file\": null}, \"audit\": {\"required\": false}}}",
	"n {\"toolboxd\": {\"callers\": [{}]}}",
	"y {\"toolboxd\": {\"callers\": [{\"match\": {}, \"in_flight\": 1}, {\"match\": "
	"{\"source\":"
	" \"a*\"}, \"per_minute\": 1000000, \"burst\": 1}]}}",
	"n {\"toolboxd\": {\"callers\": [{\"match\": {}}]}}",
	"n {\"toolboxd\": {\"callers\": [{\"match\": {}, \"in_flight\": 1, \"burst\": 1}]}}",
	"n {\"toolboxd\": {\"callers\": [{\"match\": {}, \"per_minute\": 0}]}}",
	"n {\"toolboxd\": {\"callers\": [{\"match\": {}, \"per_minute\": 1000001}]}}",
	"n {\"toolboxd\": {\"callers\": [{\"in_flight\": 1}]}}",
	"n {\"toolboxd\": {\"callers\": {}}}",
	"y {\"toolboxd\": {\"guests\": {\"enabled\": true, \"max\": 1, \"tools\": 1,"
	" \"risk\": \"read\"}}}",
	"n {\"toolboxd\": {\"guests\": {\"enabled\": 1}}}",
	"n {\"toolboxd\": {\"guests\": {\"max\": 0}}}",
	"n {\"toolboxd\": {\"guests\": {\"risk\": \"unrated\"}}}",
	"n {\"toolboxd\": {\"guests\": {\"lease_s\": 5}}}",
	"y {\"toolboxd\": {\"http\": {\"listen\": []}}}",
	"y {\"toolboxd\": {\"http\": {\"listen\": [\"127.0.0.1:0\"], \"tls\": {},"
	" \"limits\": {\"connections\": 1, \"body_bytes\": 1024}, \"allowed_hosts\": []}}}",
	"n {\"toolboxd\": {\"http\": {\"listen\": \"127.0.0.1:0\"}}}",
	"n {\"toolboxd\": {\"http\": {\"listen\": [8090]}}}",
	"n {\"toolboxd\": {\"http\": {\"lisen\": []}}}",
	"n {\"toolboxd\": {\"http\": []}}",
	"n {\"toolboxd\": {\"http\": {\"profile\": 1}}}",
	"n {\"toolboxd\": {\"http\": {\"insecure\": \"yes\"}}}",
	"y {\"toolboxd\": {\"http\": {\"tls\": {\"cert\": \"/c\", \"key\": \"/k\"}}}}",
	"y {\"toolboxd\": {\"http\": {\"tls\": {\"cert\": null, \"key\": null}}}}",
	"n {\"toolboxd\": {\"http\": {\"tls\": {\"cert\": \"c\", \"key\": \"/k\"}}}}",
	"n {\"toolboxd\": {\"http\": {\"tls\": {\"cert\": \"/c\", \"key\": \"/k\", \"ca\": "
	"\"/a\"}}}}",
	"n {\"toolboxd\": {\"http\": {\"limits\": {\"connections\": 0}}}}",
	"n {\"toolboxd\": {\"http\": {\"limits\": {\"conections\": 1}}}}",
	"n {\"toolboxd\": {\"http\": {\"limits\": {\"idle_s\": 86401}}}}",
	"n {\"toolboxd\": {\"http\": {\"tokens\": [{\"name\": \"a\"}]}}}",
	"n {\"toolboxd\": {\"http\": {\"tokens\": [{\"name\": \"a\", \"token_sha256\": \"00\"}]}}}",
	"n {\"toolboxd\": {\"http\": {\"tokens\": [{\"name\": \"a\", \"token\": \"x\"}]}}}",
	"n {\"toolboxd\": {\"http\": {\"tokens\": {}}}}",
	"y {\"toolboxd\": {\"http\": {\"public_url\": \"https://a/b\", \"trusted_proxies\": []}}}",
	"y {\"toolboxd\": {\"http\": {\"public_url\": null, \"trusted_proxies\": "
	"[\"10.0.0.0/8\"]}}}",
	"n {\"toolboxd\": {\"http\": {\"public_url\": 1}}}",
	"n {\"toolboxd\": {\"http\": {\"trusted_proxies\": \"127.0.0.1\"}}}",
	"n {\"toolboxd\": {\"approval\": {\"key_file\": 1}}}",
	"n {\"toolboxd\": {\"audit\": {\"required\": \"yes\"}}}",
	"y {\"toolboxd\": {\"toolboxes\": {\"a\": {\"tools\": {}}}}}",
	"y {\"toolboxd\": {\"toolboxes\": {\"a\": {\"tools\": {\"b\": {}, \"c\": null}}}}}",
	"y {\"toolboxd\": {\"toolboxes\": {\"a\": {\"tools\": {\"b\": {\"risk\": \"read\","
	" \"enabled\": false, \"timeout_ms\": 86400000, \"cooldown_s\": 0, \"parallel\": true,"
	" \"description\": \"\", \"triggers\": [\"a\"]}}}}}}",
	"n {\"toolboxd\": {\"toolboxes\": {\"a\": {\"tools\": {\"b\": {\"rsik\": 1}}}}}}",
	"n {\"toolboxd\": {\"toolboxes\": {\"a\": {\"tools\": {\"b\": {\"risk\": \"\"}}}}}}",
	"n {\"toolboxd\": {\"toolboxes\": {\"a\": {\"tools\": {\"b\": {\"timeout_ms\": 0}}}}}}",
	"n {\"toolboxd\": {\"toolboxes\": {\"a\": {\"tools\": {\"b\": {\"cooldown_s\": 1.5}}}}}}",
	"n {\"toolboxd\": {\"toolboxes\": {\"a\": {\"tools\": {\"b\": {\"triggers\": [1]}}}}}}",
	"n {\"toolboxd\": {\"toolboxes\": {\"a\": {\"tools\": {\"b\": 1}}}}}",
	"y {\"toolboxd\": {\"result_max_chars\": 1}}",
	"n {\"toolboxd\": {\"result_max_chars\": 0}}",
	"n {\"toolboxd\": {\"result_max_chars\": \"1\"}}",
	"y {\"toolboxd\": {\"sandbox_max\": \"none\"}}",
	"y {\"toolboxd\": {\"sandbox_max\": \"compute\"}}",
	"n {\"toolboxd\": {\"sandbox_max\": \"all\"}}",
	"y {\"toolboxd\": {\"timeout_ms\": 1, \"start_timeout_ms\": 1, \"idle_s\": 0,"
	" \"drain_ms\": 0, \"crash_limit\": 0, \"crash_window_s\": 1}}",
	"y {\"toolboxd\": {\"timeout_ms\": 1e3, \"idle_s\": 2.0}}",
	"n {\"toolboxd\": {\"timeout_ms\": 0}}",
	"n {\"toolboxd\": {\"start_timeout_ms\": 1.5}}",
	"n {\"toolboxd\": {\"idle_s\": 86401}}",
	"n {\"toolboxd\": {\"drain_ms\": -1}}",
	"n {\"toolboxd\": {\"crash_limit\": 1000001}}",
	"n {\"toolboxd\": {\"crash_window_s\": 0}}",
	"n {\"toolboxd\": {\"timeout_ms\": 1e400}}",
	"y {\"toolboxd\": {\"limits\": {\"frame_bytes\": 1073741824, \"args_bytes\": 1073741824,"
	" \"depth\": 512, \"in_flight\": 1000000, \"queue\": 65536, \"output_queue_bytes\": "
	"1073741824, \"host_output_bytes\": 1073741824, \"stderr_bytes\": 1048576,"
	" \"pending_approvals\": 65536, \"tools\": 1000000, \"toolboxes\": 100000,"
	" \"pattern_steps\": 1000000000, \"check_ms\": 60000}}}",
	"n {\"toolboxd\": {\"limits\": {\"frame_bytes\": 1023}}}",
	"n {\"toolboxd\": {\"limits\": {\"frame_bytes\": 1073741825}}}",
	"n {\"toolboxd\": {\"limits\": {\"args_bytes\": 1}}}",
	"n {\"toolboxd\": {\"limits\": {\"depth\": 513}}}",
	"n {\"toolboxd\": {\"limits\": {\"in_flight\": 0}}}",
	"n {\"toolboxd\": {\"limits\": {\"queue\": 65537}}}",
	"n {\"toolboxd\": {\"limits\": {\"output_queue_bytes\": 1023}}}",
	"n {\"toolboxd\": {\"limits\": {\"host_output_bytes\": 1023}}}",
	"n {\"toolboxd\": {\"limits\": {\"stderr_bytes\": 1048577}}}",
	"n {\"toolboxd\": {\"limits\": {\"pending_approvals\": 0}}}",
	"n {\"toolboxd\": {\"limits\": {\"tools\": 0}}}",
	"n {\"toolboxd\": {\"limits\": {\"toolboxes\": 100001}}}",
	"n {\"toolboxd\": {\"limits\": {\"pattern_steps\": 0}}}",
	"n {\"toolboxd\": {\"limits\": {\"check_ms\": 0}}}",
	"n {\"toolboxd\": {\"limits\": {\"check_ms\": 60001}}}",
	"n {\"toolboxd\": {\"limits\": {\"unknown\": 1}}}",
	"y {\"toolboxd\": {\"events\": {\"calls\": true, \"results\": null}}}",
	"n {\"toolboxd\": {\"events\": {\"calls\": 1}}}",
	"y {\"toolboxd\": {\"audit\": {\"file\": \"/x\", \"max_bytes\": 4096, \"arguments\": "
	"true, \"required\": true}}}",
	"n {\"toolboxd\": {\"audit\": {\"file\": \"x\"}}}",
	"n {\"toolboxd\": {\"audit\": {\"max_bytes\": 4095}}}",
	"n {\"toolboxd\": {\"audit\": {\"max_bytes\": 1073741825}}}",
	"n {\"toolboxd\": {\"audit\": {\"arguments\": 1}}}",
	"y {\"toolboxd\": {\"log\": {\"level\": \"error\", \"format\": \"text\"}}}",
	"n {\"toolboxd\": {\"log\": {\"level\": \"fatal\"}}}",
	"n {\"toolboxd\": {\"log\": {\"format\": \"xml\"}}}",
	"y {\"toolboxd\": {\"toolboxes\": {\"a\": null, \"b\": {}, \"c\": {\"enabled\": false,"
	" \"own\": 1, \"sandbox\": null}}}}",
	"n {\"toolboxd\": {\"toolboxes\": []}}",
	"n {\"toolboxd\": {\"toolboxes\": {\"a\": true}}}",
	"n {\"toolboxd\": {\"toolboxes\": {\"a\": {\"enabled\": 1}}}}",
	"y {\"toolboxd\": {\"toolboxes\": {\"a\": {\"sandbox\": {\"class\": \"net\", \"read\":"
	" [\"/x\"], \"write\": null}}}}}",
	"y {\"toolboxd\": {\"toolboxes\": {\"a\": {\"sandbox\": {\"read\": [\"$r\", "
	"\"$b.r_2\"]}}}}}",
	"n {\"toolboxd\": {\"toolboxes\": {\"a\": {\"sandbox\": {\"read\": [\"$r/x\"]}}}}}",
	"n {\"toolboxd\": {\"toolboxes\": {\"a\": {\"sandbox\": {\"read\": [\"$r.\"]}}}}}",
	"n {\"toolboxd\": {\"toolboxes\": {\"a\": {\"sandbox\": {\"class\": \"all\"}}}}}",
	"n {\"toolboxd\": {\"toolboxes\": {\"a\": {\"sandbox\": {\"read\": [\"x\"]}}}}}",
	"n {\"toolboxd\": {\"toolboxes\": {\"a\": {\"sandbox\": {\"memory_mb\": 1}}}}}",
#define LIMITS(members) "{\"toolboxd\": {\"toolboxes\": {\"a\": {\"limits\": {" members "}}}}}"
#define ENV(members)    "{\"toolboxd\": {\"toolboxes\": {\"a\": {\"env\": {" members "}}}}}"
	"n {\"toolboxd\": {\"toolboxes\": {\"a\": {\"limits\": 1}}}}",
	"y " LIMITS(""),
	"y " LIMITS("\"timeout_ms\": 1, \"workers\": 1, \"queue\": 1, \"memory_mb\": 16,"
		    " \"prestart\": false, \"idle_s\": 0"),
	"y " LIMITS("\"timeout_ms\": 86400000, \"workers\": 64, \"queue\": 65536,"
		    " \"memory_mb\": 1048576, \"prestart\": true, \"idle_s\": 86400"),
	"y " LIMITS("\"timeout_ms\": null, \"workers\": null, \"queue\": null, \"memory_mb\": null,"
		    " \"prestart\": null, \"idle_s\": null"),
	"n " LIMITS("\"timeout_ms\": 0"),
	"n " LIMITS("\"timeout_ms\": 86400001"),
	"y " LIMITS("\"max_ms\": 86400000"),
	"n " LIMITS("\"max_ms\": 0"),
	"n " LIMITS("\"workers\": 0"),
	"n " LIMITS("\"workers\": 65"),
	"n " LIMITS("\"queue\": 0"),
	"n " LIMITS("\"queue\": 65537"),
	"n " LIMITS("\"memory_mb\": 15"),
	"n " LIMITS("\"memory_mb\": 1048577"),
	"n " LIMITS("\"prestart\": 1"),
	"n " LIMITS("\"idle_s\": -1"),
	"n " LIMITS("\"idle_s\": 86401"),
	"n " LIMITS("\"worker\": 1"),
	"n {\"toolboxd\": {\"toolboxes\": {\"a\": {\"env\": [\"A=b\"]}}}}",
	"y {\"toolboxd\": {\"toolboxes\": {\"a\": {\"env\": null, \"limits\": null}}}}",
	"y " ENV(""),
	"y " ENV("\"A\": \"\", \"_b_9\": \"x=\u00e9\\n\", \"PATH\": null, \"LD\": \"x\""),
	"n " ENV("\"9A\": \"x\""),
	"n " ENV("\"\": \"x\""),
	"n " ENV("\"A=B\": \"x\""),
	"n " ENV("\"A\": 1"),
	"n " ENV("\"A\": \"x\\u0000\""),
	"n " ENV("\"LD_PRELOAD\": \"x\""),
#undef LIMITS
#undef ENV
	"y {\"websocket\": {\"host\": \"h\", \"port\": 65535, \"route\": \"/\", \"ssl\": false,"
	" \"max_msg_size\": 25, \"secret_key\": \"\"}}",
	"y {\"websocket\": {\"host\": null, \"port\": 0, \"route\": \"\", \"ssl\": null,"
	" \"secret_key\": null}}",
	"n {\"websocket\": {\"host\": 1}}",
	"n {\"websocket\": {\"port\": 65536}}",
	"n {\"websocket\": {\"port\": \"8181\"}}",
	"n {\"websocket\": {\"route\": []}}",
	"n {\"websocket\": {\"ssl\": 1}}",
	"n {\"websocket\": {\"secret_key\": \"x\"}}",
	"n {\"websocket\": [1]}",
};

/* Read the schema, which is beside the tests' folder. */
static struct schema *compile(void)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup(schema_error_deinit) struct schema_error error = {0};
	char folder[] = __FILE__;
	char path[PATH_MAX];
	struct schema *schema = NULL;

	snprintf(path, sizeof(path), "%s/../../../schemas/configuration.schema.json",
		dirname(folder));
	cr_assert_eq(file_read(path, SCHEMA_BYTES_MAX, &text), 0, "%s", path);
	cr_assert_eq(json_tape_read(&tape, text.data, text.size, JSON_DEPTH_DEFAULT, NULL), 0);
	cr_assert_eq(schema_compile(&tape, 0, NULL, &schema, &error), 0, "%s", error.message.data);
	return schema;
}

static bool schema_takes(const struct schema *schema, const char *text)
{
	cleanup(schema_context_cleanup) struct schema_context *context = schema_context_new();
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	int r;

	cr_assert_eq(json_tape_read(&tape, text, strlen(text), JSON_DEPTH_DEFAULT, NULL), 0);
	r = schema_validate(schema, context, &tape, 0);
	cr_assert(r == 0 || r == SCHEMA_E_INVALID);
	return r == 0;
}

static bool code_takes(const char *text)
{
	write_user_file(text);
	return read_with(&(struct config_flags){0}) == 0 && told.size == 0;
}

Test(config_schema, accepts_what_the_code_takes_without_a_word_and_nothing_else)
{
	cleanup(schema_cleanup) struct schema *schema = compile();

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *text = cases[i] + 2;
		bool is_good = cases[i][0] == 'y';

		cr_expect_eq(schema_takes(schema, text), is_good, "schema: %s", cases[i]);
		cr_expect_eq(code_takes(text), is_good, "code: %s: %s", cases[i], told.data);
	}
}
