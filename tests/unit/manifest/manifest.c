/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "manifest/tool.h"
#include "manifest_fixture.h"
#include "schema/schema.h"

TestSuite(manifest, .init = manifest_set_up, .fini = manifest_tear_down);

static void expect_definition(const char *manifest, const char *expected)
{
	const struct tool *tool = &read_good(manifest)->tools[0];

	cr_expect_str_eq(tool->definition, expected, "%s", tool->definition);
	cr_expect_eq(tool->definition_size, strlen(expected));
}

Test(manifest, makes_a_toolbox)
{
	const struct toolbox *box = read_good(
		"{'toolbox_id':'a-1','description':'Roots.','kind':'native','library':'libm.so.6',"
		"'risk':'write','limits':{'timeout_ms':5000,'workers':2,'queue':3,'memory_mb':16,"
		"'prestart':true,'idle_s':0},'tools':[{'name':'f','risk':'read','parallel':false,"
		"'cooldown_s':2,'timeout_ms':1e2,'triggers':['root of .*']," SQRT "},"
		"{'name':'g','description':'G'," SQRT "}]}");
	const struct tool *first = &box->tools[0];
	const struct tool *second = &box->tools[1];

	cr_expect_str_eq(box->id, "a-1");
	cr_expect_str_eq(box->description, "Roots.");
	cr_expect_eq(box->package->kind, KIND_NATIVE);
	cr_expect_str_eq(box->package->file, manifest_path("box.json"));
	cr_expect_eq(box->package->references, 1);
	cr_expect_eq(box->package->limits.timeout_ms, 5000);
	cr_expect_eq(box->package->limits.workers, 2);
	cr_expect_eq(box->package->limits.queue, 3);
	cr_expect_eq(box->package->limits.memory_mb, 16);
	cr_expect(box->package->limits.prestart && box->package->limits.has_idle_s &&
		  box->package->limits.idle_s == 0);
	cr_assert_eq(box->n_tools, 2);
	cr_expect_eq(first->toolbox, box);
	cr_expect_eq(first->index, 0);
	cr_expect_str_eq(first->name, "f");
	cr_expect_str_eq(first->description, "");
	cr_expect_eq(first->risk, TOOL_READ);
	cr_expect_eq(first->is_parallel, false);
	cr_expect_eq(first->timeout_ms, 100);
	cr_expect_eq(first->cooldown_s, 2);
	cr_expect_eq(second->index, 1);
	cr_expect_str_eq(second->description, "G");
	cr_expect_eq(second->risk, TOOL_WRITE, "the toolbox's risk is that of its tools");
	cr_expect_eq(second->is_parallel, true);
}

Test(manifest, takes_what_is_left_out_as_usual)
{
	const struct toolbox *box = read_good(TOOL(SQRT));

	cr_expect_str_eq(box->id, "box", "the file's stem");
	cr_expect_null(box->description);
	cr_expect_eq(box->package->limits.workers, 1);
	cr_expect(box->package->limits.timeout_ms == 0 && box->package->limits.queue == 0);
	cr_expect(!box->package->limits.prestart && !box->package->limits.has_idle_s);
	cr_expect_eq(box->tools[0].risk, TOOL_UNRATED);
	cr_expect(box->tools[0].timeout_ms == 0 && box->tools[0].cooldown_s == 0);
}

Test(manifest, starts_no_host_early_unless_it_asks_for_one)
{
	cr_expect_not(
		read_good("{'kind':'native','library':'libm.so.6','limits':{'prestart':false},"
			  "'tools':[{'name':'f'," SQRT "}]}")
			->package->limits.prestart);
}

Test(manifest, disables_a_toolbox_or_a_tool)
{
	struct toolbox *box = read_good(TOOL(SQRT ",'enabled':true"));

	cr_expect_null(box->tools[0].off);
	cr_expect_null(package->off);
	cr_expect_not(box->tools[0].is_experimental);
	cr_expect_eq(box->tools[0].result_max_chars, 0);
	box = read_good("{'kind':'native','enabled':false,'library':'libm.so.6','tools':["
			"{'name':'f','enabled':false,'experimental':true,"
			"'result_max_chars':1100000," SQRT "}]}");
	cr_expect_str_eq(package->off, "disabled by its manifest; toolboxctl enable box");
	cr_expect_str_eq(box->tools[0].off, "disabled by its manifest; toolboxctl enable box/f");
	cr_expect(box->tools[0].is_experimental);
	cr_expect_eq(box->tools[0].result_max_chars, 1100000);
}

Test(manifest, lets_a_plugin_have_several_calls_in_its_one_process)
{
	read_good("{'kind':'plugin','library':'./lib.so','concurrent':64,'limits':{'workers':1}}");
	cr_expect_eq(package->concurrent, 64);
	cr_expect_eq(package_capacity(package), 64);
	cr_expect(strstr(package->load, "\"kind\":\"concurrent\""), "%s", package->load);
	read_good("{'kind':'plugin','library':'./lib.so'}");
	cr_expect_eq(package_capacity(package), 1);
	expect_refused("{'kind':'plugin','library':'./lib.so','concurrent':2,\n"
		       "'limits':{'workers':2}}",
		1, "/concurrent", PACKAGE_ONE_PROCESS);
	expect_refused("{'kind':'command','concurrent':2,'tools':[]}", 1, "/concurrent",
		"\"concurrent\" is not a key of a toolbox of the kind \"command\"; leave it out");
}

/* A manifest of its author lets no call pass a person, whatever its kind. */
Test(manifest, refuses_the_keys_of_a_plugins_approval_to_other_kinds)
{
	static const char message[] = "is for tools of plugins, by toolbox.h; leave it out";

	expect_refused(TOOL(SQRT ",\n'asked_key':'x'"), 2, "/tools/0/asked_key", message);
	expect_refused(TOOL(SQRT ",\n'grant_key':'x'"), 2, "/tools/0/grant_key", message);
	expect_refused("{'kind':'bus','tools':[{'name':'off','risk':'execute',\n'asked_key':'z',"
		       "'bus':{'topic':'system.shutdown'}}]}",
		2, "/tools/0/asked_key", message);
	expect_refused("{'kind':'command','tools':[{'name':'f','command':{'argv':['true']},\n"
		       "'asked_key':'z'}]}",
		2, "/tools/0/asked_key", message);
}

Test(manifest, tells_a_host_what_to_load)
{
	const struct toolbox *box = read_good(BOX("{'name':'f'," SQRT "},{'name':'g','native':{"
						  "'symbol':'abort'}}"));

	cr_expect_str_eq(box->package->load,
		"{\"kind\":\"native\",\"toolbox_id\":\"box\",\"library\":\"libm.so.6\","
		"\"sandbox\":{\"class\":\"compute\"},\"memory_mb\":256,"
		"\"guard\":false,"
		"\"tools\":[{\"symbol\":\"sqrt\",\"parameters\":[{\"name\":\"x\",\"type\":\"f64\"}]"
		","
		"\"returns\":{\"type\":\"f64\",\"name\":\"result\",\"errors\":\"none\"}},"
		"{\"symbol\":\"abort\",\"parameters\":[],"
		"\"returns\":{\"type\":\"void\",\"errors\":\"none\"}}]}",
		"%s", box->package->load);
	cr_expect_eq(box->package->load_size, strlen(box->package->load));
}

Test(manifest, defines_a_tool_by_its_function)
{
	expect_definition(TOOL(SQRT),
		"{\"name\":\"f\",\"description\":\"\",\"argument_schema\":{\"type\":\"object\","
		"\"properties\":{\"x\":{\"type\":\"number\"}},\"required\":[\"x\"],"
		"\"additionalProperties\":false},\"output_schema\":{\"type\":\"object\","
		"\"properties\":{\"result\":{\"type\":\"number\"}},\"required\":[\"result\"]},"
		"\"toolbox_id\":\"box\",\"source\":{\"kind\":\"native\",\"toolbox\":\"box\"}}");
}

Test(manifest, defines_with_the_members_that_are_given_in_their_order)
{
	expect_definition("{'kind':'native','library':'l','risk':'execute','tools':[{"
			  "'examples':[ {'args': {'x': 4.0}, 'result': {'result': 2}} ],"
			  "'triggers':[ 'a', '\\u00e9' ],'parallel':true,'name':'f',"
			  "'output_schema':{'properties':{'result':{}}},"
			  "'argument_schema':{'properties':{'x':{}}},"
			  "'description':'\\u00e9 \\n'," SQRT "}]}",
		"{\"name\":\"f\",\"description\":\"\xc3\xa9 \\n\","
		"\"argument_schema\":{\"properties\":{\"x\":{}}},"
		"\"output_schema\":{\"properties\":{\"result\":{}}},\"toolbox_id\":\"box\","
		"\"source\":{\"kind\":\"native\",\"toolbox\":\"box\"},\"risk\":\"execute\","
		"\"parallel\":true,\"triggers\":[\"a\",\"\\u00e9\"],"
		"\"examples\":[{\"args\":{\"x\":4.0},\"result\":{\"result\":2}}]}");
}

Test(manifest, keeps_given_schemas_byte_for_byte)
{
	const struct tool *tool = &read_good(
		TOOL("'argument_schema': {'properties': {'x': {'maximum': 1e400, 'minimum': -1.10,"
		     " 'const': 9007199254740993, 'title': '\\u00e9\\/\xc3\xa9', '': {} }} "
		     "}," SQRT))
					   ->tools[0];

	cr_expect_str_eq(tool->argument_schema,
		"{\"properties\":{\"x\":{\"maximum\":1e400,\"minimum\":-1.10,"
		"\"const\":9007199254740993,\"title\":\"\\u00e9\\/\xc3\xa9\",\"\":{}}}}",
		"%s", tool->argument_schema);
	cr_expect(strstr(tool->definition, "\"maximum\":1e400,\"minimum\":-1.10"));
}

Test(manifest, hides_a_fixed_value_from_the_schema)
{
	expect_definition(TOOL("'argument_schema':{'properties':{}},'native':{'symbol':'f',"
			       "'parameters':[{'name':'x','type':'i32','value':1}]}"),
		"{\"name\":\"f\",\"description\":\"\",\"argument_schema\":{\"properties\":{}},"
		"\"output_schema\":{\"type\":\"object\",\"properties\":{}},\"toolbox_id\":"
		"\"box\",\"source\":{\"kind\":\"native\",\"toolbox\":\"box\"}}");
}

Test(manifest, finds_a_library_beside_the_real_file)
{
	manifest_write("real/box.json",
		"{'kind':'native','library':'./lib.so','tools':[{'name':'f'," SQRT "}]}");
	cr_assert_eq(symlink("real/box.json", manifest_path("link.json")), 0);
	cr_assert_eq(manifest_read_again("link.json"), 0);
	cr_expect_str_eq(toolbox->id, "link", "the id is that of the name it is registered by");
	cr_expect(strstr(toolbox->package->library.path, "/real/./lib.so"), "%s",
		toolbox->package->library.path);
}

Test(manifest, reads_ten_thousand_tools, .timeout = 60)
{
	cleanup(buffer_deinit) struct buffer manifest = {0};

	buffer_append_string(&manifest, "{'kind':'native','library':'libm.so.6','tools':[");
	for (int i = 0; i < 10000; i++)
		buffer_printf(&manifest, "%s{'name':'tool_%d','native':{'symbol':'f'}}",
			i > 0 ? "," : "", i);
	buffer_append_string(&manifest, "]}");
	cr_expect_eq(read_good(buffer_terminate(&manifest))->n_tools, 10000);
}

Test(manifest, tells_by_its_bytes_whether_a_file_has_changed)
{
	read_good(TOOL(SQRT));
	cr_expect(manifest_is_unchanged(package));
	manifest_write("box.json", TOOL(SQRT));
	cr_expect(manifest_is_unchanged(package), "written again, with the same bytes");
	manifest_write("box.json", TOOL(SQRT) " ");
	cr_expect_not(manifest_is_unchanged(package));
	cr_assert_eq(unlink(manifest_path("box.json")), 0);
	cr_expect_not(manifest_is_unchanged(package));
}

static void expect_id(const char *name, const char *expected)
{
	char id[MANIFEST_ID_BYTES];

	manifest_id(manifest_path(name), id);
	cr_expect_str_eq(id, expected);
}

Test(manifest, claims_an_id_even_when_it_cannot_be_used)
{
	char name[200];
	char id[MANIFEST_ID_BYTES];

	manifest_write("a.json", "{'toolbox_id':'other','kind':5}");
	expect_id("a.json", "other");
	manifest_write("b.json", "{'toolbox_id':'not an id'}");
	expect_id("b.json", "b");
	manifest_write("c.json", "{'toolbox_id':");
	expect_id("c.json", "c");
	expect_id("none.json", "none");
	cr_assert_eq(mkdir(manifest_path("folder"), 0700), 0);
	expect_id("folder", "folder");
	memset(name, 'a', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	manifest_id(name, id);
	cr_expect_eq(strlen(id), (size_t)TOOLBOX_ID_BYTES, "what is too long is cut");
}

Test(manifest, tells_the_line_of_a_pointer)
{
	manifest_write("box.json", "{'tools':[\n{'native':\n{'symbol':\n'f'}}]}");
	cr_expect_eq(manifest_line(manifest_path("box.json"), "/tools/0/native/symbol"), 4);
	cr_expect_eq(manifest_line(manifest_path("box.json"), "/tools/0/native/none"), 3,
		"of what is missing, that of the deepest place there is");
	cr_expect_eq(manifest_line(manifest_path("box.json"), "/tools/7"), 1);
	cr_expect_eq(manifest_line(manifest_path("none.json"), "/tools"), 0);
}

/* The reader takes its word for that. */
Test(manifest, has_a_schema_that_its_metaschema_accepts)
{
	extern const char manifest_schema_json[];
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(schema_error_deinit) struct schema_error error = {0};
	struct schema_options options = {.check_defaults = true};
	cleanup(schema_cleanup) struct schema *schema = NULL;

	cr_assert_eq(json_tape_read(&tape, manifest_schema_json, strlen(manifest_schema_json),
			     JSON_DEPTH_DEFAULT, NULL),
		0);
	cr_expect_eq(
		schema_compile(&tape, 0, &options, &schema, &error), 0, "%s", error.message.data);
}

Test(manifest, has_tools_with_names_of_64_characters_and_no_more)
{
	char name[TOOL_NAME_BYTES + 2];

	memset(name, 'a', sizeof(name));
	name[TOOL_NAME_BYTES] = '\0';
	cr_expect(manifest_is_tool_name(name, strlen(name)));
	name[TOOL_NAME_BYTES] = 'a';
	name[TOOL_NAME_BYTES + 1] = '\0';
	cr_expect_not(manifest_is_tool_name(name, strlen(name)));
}
