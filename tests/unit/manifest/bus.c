/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "catalogue/package.h"
#include "manifest_fixture.h"
#include "util/array.h"

/* Toolboxes of kind bus, as the reader takes and refuses them. */

TestSuite(bus, .init = manifest_set_up, .fini = manifest_tear_down);

#define PROPERTIES                                                                                 \
	"'argument_schema':{'type':'object','properties':{'n':{'type':'integer'},"                 \
	"'s':{'type':'string'},'b':{'type':['boolean','null']},'o':{'type':'object'},'any':{}}}"
#define BUS_TOOL(bus) "{'name':'t',\n'bus':" bus "," PROPERTIES "}"
#define BUS_BOX(bus)  "{'kind':'bus','tools':[" BUS_TOOL(bus) "]}"

static const struct tool *read_tool(const char *text)
{
	return &read_good(text)->tools[0];
}

Test(bus, is_read)
{
	const struct tool *tool = read_tool(BUS_BOX(
		"{'topic':'a.b','data':{'x':'{s}','y':{'arg':'n','scale':0.01}},"
		"'context':{'k':'{b}'},'session':'default','unless':'b','unasked':true,"
		"'result':{'p':{'at':'/x~1y','scale':-1e2,'optional':true}},'error':'/e'}"));

	cr_expect_eq(tool->toolbox->package->kind, KIND_BUS);
	cr_expect_eq(tool->risk, TOOL_UNRATED);
	cr_expect_eq(tool->bus->n_messages, 1);
	cr_expect(tool->bus->has_own_session);
	cr_expect(tool->bus->is_unasked);
	cr_expect_str_eq(tool->bus->condition, "b");
	cr_expect_str_eq(tool->output_schema, "{\"type\":\"object\"}");
	cr_expect_str_eq(tool->description, "");
	cr_expect_null(package_sandbox_name(tool->toolbox->package));
}

Test(bus, without_a_reply_says_so)
{
	const struct tool *tool = read_tool("{'kind':'bus','destination':'gui','tools':["
					    "{'name':'t','description':'Stop.',"
					    "'bus':{'topic':'mycroft.stop','reply':false}}]}");

	cr_expect_str_eq(tool->description, "Stop. Nothing confirms that it was done.");
	cr_expect_not_null(strstr(tool->output_schema, "sent"));
	cr_expect_neq(tool->bus->destination, JSON_NONE);
	cr_expect_not_null(strstr(tool->definition, "Nothing confirms"));
}

Test(bus, leaves_a_topic_to_the_operator)
{
	const struct tool *tool = read_tool(BUS_BOX("{'topic':'$topics','data':{'x':'{s}'}}"));

	cr_expect_str_eq(tool->bus->setting, "topics");
	cr_expect_eq(tool->bus->replies.n_items, 0, "the operator names the reply");
	cr_expect_str_eq(tool->description, "", "there may be a reply");
	cr_expect_str_eq(tool->output_schema, "{\"type\":\"object\"}");
	expect_refused(BUS_BOX("{'topic':'$'}"), 2, "/tools/0/bus/topic",
		"must be '$' and the name of a setting of the toolbox, such as \"$topics\"");
	expect_refused(BUS_BOX("{'topic':'$a.b'}"), 2, "/tools/0/bus/topic",
		"must be '$' and the name of a setting of the toolbox, such as \"$topics\"");
	expect_refused(BUS_BOX("{'topic':'$topics','reply':false}"), 2, "/tools/0/bus/reply",
		"\"reply\" has no meaning beside a topic of the operator, who names the reply "
		"with it; leave it out");
	expect_refused(BUS_BOX("{'topic':'$topics','data':{'x':'{y}'}}"), 2, "/tools/0/bus/data/x",
		"'y' is not an argument (they are 'n', 's', 'b', 'o', 'any'); write '{{NAME}' for "
		"a brace that means itself");
	expect_refused(BUS_BOX("{'messages':[{'topic':'$topics'}]}"), 2,
		"/tools/0/bus/messages/0/topic",
		"must be a topic: letters, digits, '_' and '-', separated by '.' or ':', such as "
		"\"mycroft.volume.get\"; it is '$topics'");
}

Test(bus, gives_a_question_the_time_to_be_answered)
{
	cr_expect_eq(
		read_tool(BUS_BOX("{'ask':'{s}','when':'b','listen_ms':5000}"))->timeout_ms, 65000);
	cr_expect_eq(read_tool("{'kind':'bus','tools':[{'name':'t','timeout_ms':9000,"
			       "'bus':{'ask':'Yes?'}}]}")
			     ->timeout_ms,
		9000);
}

Test(bus, makes_a_dangerous_topic_execute)
{
	const struct tool *tool = read_tool(BUS_BOX("{'topic':'system.reboot','reply':false}"));

	cr_expect_eq(tool->risk, TOOL_EXECUTE);
	cr_expect(tool->bus->is_dangerous);
	cr_expect_not_null(strstr(tool->definition, "\"risk\":\"execute\""));
	expect_refused("{'kind':'bus','risk':'write','tools':[" BUS_TOOL(
			       "{'messages':[{'topic':'a'},{'topic':'ovos.session.sync'}]}") "]}",
		1, "/risk",
		"the topic 'ovos.session.sync' changes the machine, or speaks for a person, so the "
		"risk of the tool 't' must be \"execute\", not \"write\"");
	expect_refused("{'kind':'bus','risk':'execute','tools':[{'name':'t',\n'risk':'read',"
		       "'bus':{'topic':'system.reboot'}}]}",
		2, "/tools/0/risk",
		"the topic 'system.reboot' changes the machine, or speaks for a person, so the "
		"risk "
		"of the tool 't' must be \"execute\", not \"read\"");
}

/* Write into @text the manifest of a tool that sends @topic, with the risk @risk of its toolbox. */
static const char *box_with_topic(const char *topic, const char *risk)
{
	static char text[1024];

	snprintf(text, sizeof(text),
		"{'kind':'bus'%s%s%s,'tools':[{'name':'t','bus':{'topic':'%s','reply':'r'}}]}",
		risk ? ",'risk':'" : "", risk ? risk : "", risk ? "'" : "", topic);
	return text;
}

Test(bus, makes_every_dangerous_topic_execute_and_no_other_one)
{
	static const char *const dangerous[] = {"system.reboot", "system.shutdown",
		"system.factory.reset", "system.ssh.enable", "system.ssh.disable",
		"system.configure.language", "system.mycroft.service.restart", "ovos.pip.install",
		"ovos.pip.uninstall", "configuration.patch", "configuration.patch.clear",
		"skillmanager.list", "skillmanager.deactivate", "mycroft.skill.enable_intent",
		"mycroft.skill.disable_intent", "ovos.intent.enable", "ovos.intent.disable",
		"detach_intent", "ovos.intent.deregister", "detach_skill", "ovos.skill.deregister",
		"ovos.session.sync", "ovos.scheduler.schedule", "mycroft.scheduler.schedule_event",
		"recognizer_loop:utterance", "ovos.utterance.handle", "speak:b64_audio",
		"ovos.utterance.speak.b64", "skill-a.b:Start.intent", "a:b:c"};
	static const char *const harmless[] = {"system.ssh.status", "System.reboot",
		"system.reboot.x", "skillmanager", "xskillmanager.list", "speak",
		"recognizer_loop:sleep", "recognizer_loop:listen", "ovos.utterance.speak",
		"configuration.updated"};

	for (size_t i = 0; i < ARRAY_SIZE(dangerous); i++) {
		const struct tool *tool = read_tool(box_with_topic(dangerous[i], NULL));

		cr_expect_eq(tool->risk, TOOL_EXECUTE, "%s", dangerous[i]);
		cr_expect(tool->bus->is_dangerous, "%s", dangerous[i]);
		tool = read_tool(box_with_topic(dangerous[i], "execute"));
		cr_expect_eq(tool->risk, TOOL_EXECUTE, "%s", dangerous[i]);
		manifest_write("box.json", box_with_topic(dangerous[i], "destructive"));
		cr_expect_eq(
			manifest_read_again("box.json"), MANIFEST_E_REFUSED, "%s", dangerous[i]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(harmless); i++) {
		const struct tool *tool = read_tool(box_with_topic(harmless[i], "read"));

		cr_expect_eq(tool->risk, TOOL_READ, "%s", harmless[i]);
		cr_expect_not(tool->bus->is_dangerous, "%s", harmless[i]);
	}
}

Test(bus, judges_each_message_and_no_reply_by_its_danger)
{
	const struct tool *tool = read_tool(
		BUS_BOX("{'messages':[{'topic':'a'},{'topic':'system.reboot'},{'topic':'b'}]}"));

	cr_expect_eq(tool->risk, TOOL_EXECUTE);
	cr_expect_str_eq(tool->bus->messages[1].topic, "system.reboot");
	tool = read_tool(BUS_BOX("{'topic':'a','reply':'recognizer_loop:utterance',"
				 "'collect':{'topics':['system.reboot','speak']}}"));
	cr_expect_eq(tool->risk, TOOL_UNRATED);
	cr_expect_not(tool->bus->is_dangerous);
}

Test(bus, without_a_reply_unless_an_argument_says_so_can_still_be_confirmed)
{
	const struct tool *tool =
		read_tool("{'kind':'bus','tools':[{'name':'t','description':'Ask.',"
			  "'argument_schema':{'properties':{'w':{'type':'boolean'}}},"
			  "'bus':{'topic':'a','unless':'w'}}]}");

	cr_expect_str_eq(tool->description, "Ask.");
	cr_expect_str_eq(tool->output_schema, "{\"type\":\"object\"}");
	tool = read_tool("{'kind':'bus','tools':[{'name':'t','bus':{'ask':'Yes?'}}]}");
	cr_expect_str_eq(tool->description, "");
	cr_expect_eq(tool->timeout_ms, 80000);
}

Test(bus, keeps_the_output_schema_of_its_author)
{
	const struct tool *tool = read_tool("{'kind':'bus','tools':[{'name':'t',"
					    "'output_schema':{'type':'object','minProperties':2},"
					    "'bus':{'topic':'a','reply':false}}]}");

	cr_expect_not_null(strstr(tool->output_schema, "minProperties"));
	cr_expect_null(strstr(tool->output_schema, "sent"));
	cr_expect_str_eq(tool->description, "Nothing confirms that it was done.");
}

Test(bus, refuses_what_is_no_form)
{
	expect_refused(BUS_BOX("{}"), 2, "/tools/0/bus",
		"must have one of \"topic\" (a message to send), \"messages\" (several) and "
		"\"ask\" (a text to speak); it has none of them");
	expect_refused(BUS_BOX("{'topic':'a','ask':'b'}"), 2, "/tools/0/bus",
		"must have one of \"topic\" (a message to send), \"messages\" (several) and "
		"\"ask\" (a text to speak); it has more than one");
	expect_refused(BUS_BOX("{'ask':'b','reply':'c'}"), 2, "/tools/0/bus/reply",
		"\"reply\" has no meaning beside \"ask\"; leave it out");
	expect_refused(BUS_BOX("{'messages':[{'topic':'a'}],'data':{}}"), 2, "/tools/0/bus/data",
		"\"data\" has no meaning beside \"messages\"; leave it out");
	expect_refused(BUS_BOX("{'topic':'a','listen_ms':1000}"), 2, "/tools/0/bus/listen_ms",
		"\"listen_ms\" has no meaning beside \"topic\"; leave it out");
	expect_refused(BUS_BOX("{'topic':'a','reply':false,'collect':{'topics':'b'}}"), 2,
		"/tools/0/bus/collect",
		"\"collect\" has no meaning beside \"reply\": false; leave one of them out");
	expect_refused("{'kind':'bus','tools':[{'name':'t','bus':{'topic':'a'},\n"
		       "'command':{'argv':['ls']}}]}",
		2, "/tools/0/command",
		"\"command\" is not a key of a tool of the kind \"bus\"; leave it out");
}

Test(bus, refuses_topics)
{
	expect_refused(BUS_BOX("{'topic':'a b'}"), 2, "/tools/0/bus/topic",
		"must be a topic: letters, digits, '_' and '-', separated by '.' or ':', such as "
		"\"mycroft.volume.get\"; it is 'a b'");
	expect_refused(BUS_BOX("{'topic':'ovos.tools.invoke'}"), 2, "/tools/0/bus/topic",
		"the topic 'ovos.tools.invoke' is toolboxd's own; name the topic of another "
		"service");
	expect_refused(BUS_BOX("{'topic':'a','reply':['b','ovos.tools.x']}"), 2,
		"/tools/0/bus/reply/1",
		"the topic 'ovos.tools.x' is toolboxd's own; name the topic of another service");
	expect_refused(BUS_BOX("{'topic':'a','collect':{'topics':['mycroft.toolboxd.x']}}"), 2,
		"/tools/0/bus/collect/topics/0",
		"the topic 'mycroft.toolboxd.x' is toolboxd's own; name the topic of another "
		"service");
	expect_refused(BUS_BOX("{'topic':'recognizer_loop:sleep'}"), 2, "/tools/0/bus/topic",
		"the topic 'recognizer_loop:sleep' has no '.response'; write the topic of its "
		"reply as \"reply\", or \"reply\": false");
}

Test(bus, refuses_templates)
{
	expect_refused(BUS_BOX("{'topic':'a','data':{'x':['and {z}']}}"), 2,
		"/tools/0/bus/data/x/0",
		"'z' is not an argument (they are 'n', 's', 'b', 'o', 'any'); write '{{NAME}' for "
		"a brace that means itself");
	expect_refused("{'kind':'bus','tools':[{'name':'t',\n'bus':{'ask':'{z}'}}]}", 2,
		"/tools/0/bus/ask",
		"'z' is not an argument (the tool has none); write '{{NAME}' for a brace that "
		"means "
		"itself");
	expect_refused(BUS_BOX("{'topic':'a','data':{'x':{'arg':'s','scale':2}}}"), 2,
		"/tools/0/bus/data/x/arg",
		"the argument 's' is multiplied, so its schema must have the type \"number\" or "
		"\"integer\"");
	expect_refused(BUS_BOX("{'topic':'a','data':{'x':{'arg':7,'scale':2}}}"), 2,
		"/tools/0/bus/data/x/arg", "must be the name of an argument");
	expect_refused(BUS_BOX("{'topic':'a','data':{'x':{'arg':'n','scale':0.0}}}"), 2,
		"/tools/0/bus/data/x/scale",
		"must be a number other than 0 with at most 18 digits, such as 0.01; leave "
		"\"scale\" out for a value as it is");
	expect_refused(BUS_BOX("{'topic':'a','data':'{s}'}"), 2, "/tools/0/bus/data",
		"the argument 's' is the data of the message, so its schema must have the type "
		"\"object\"");
	expect_refused(BUS_BOX("{'topic':'a','data':'x {o}'}"), 2, "/tools/0/bus/data",
		"must be an object, or the name of one argument in braces, such as \"{fields}\"");
	expect_refused(BUS_BOX("{'topic':'a','context':{'source':'me'}}"), 2,
		"/tools/0/bus/context/source",
		"\"source\" cannot be a member of \"context\": toolboxd sets it");
}

Test(bus, refuses_what_means_nothing_in_a_reply)
{
	expect_refused(BUS_BOX("{'topic':'a','result':'x'}"), 2, "/tools/0/bus/result",
		"must be a JSON Pointer: \"\", or '/' before each key, such as \"/x\"; it is 'x'");
	expect_refused(BUS_BOX("{'topic':'a','result':{'p':{'at':'/~'}}}"), 2,
		"/tools/0/bus/result/p/at",
		"must be a JSON Pointer: \"\", or '/' before each key, such as \"/percent\"; it is "
		"'/~'");
	expect_refused(BUS_BOX("{'topic':'a','result':{'p':{'at':'/x','scale':0}}}"), 2,
		"/tools/0/bus/result/p/scale",
		"must be a number other than 0 with at most 18 digits, such as 0.01; leave "
		"\"scale\" out for a value as it is");
	expect_refused(BUS_BOX("{'topic':'a','unless':'s'}"), 2, "/tools/0/bus/unless",
		"the argument 's' decides whether a reply is awaited, so its schema must have the "
		"type \"boolean\"");
	expect_refused(BUS_BOX("{'topic':'a','unless':'z'}"), 2, "/tools/0/bus/unless",
		"'z' is not an argument (they are 'n', 's', 'b', 'o', 'any'); write '{{NAME}' for "
		"a brace that means itself");
}

Test(bus, refuses_what_concerns_processes)
{
	expect_refused(
		"{'kind':'bus','limits':{\n'idle_s':1},'tools':[" BUS_TOOL("{'topic':'a'}") "]}", 2,
		"/limits/idle_s",
		"\"idle_s\" is about processes, and a toolbox of the kind \"bus\" has none; leave "
		"it "
		"out");
	expect_refused("{'kind':'bus',\n'sandbox':{},'tools':[" BUS_TOOL("{'topic':'a'}") "]}", 2,
		"/sandbox",
		"a toolbox of the kind \"bus\" has no process to confine; leave it out");
}

Test(bus, refuses_every_key_that_another_form_has)
{
	static const struct {
		const char *bus;
		const char *key;
		const char *form;
	} cases[] = {
		{"{'messages':[{'topic':'a'}],'context':{}}", "context", "messages"},
		{"{'messages':[{'topic':'a'}],'when':'b'}", "when", "messages"},
		{"{'topic':'a','when':'b'}", "when", "topic"},
		{"{'ask':'x','data':{}}", "data", "ask"},
		{"{'ask':'x','context':{}}", "context", "ask"},
		{"{'ask':'x','destination':'d'}", "destination", "ask"},
		{"{'ask':'x','unasked':true}", "unasked", "ask"},
		{"{'ask':'x','unless':'b'}", "unless", "ask"},
		{"{'ask':'x','collect':{'topics':'a'}}", "collect", "ask"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char text[512];
		char pointer[64];
		char message[128];

		snprintf(text, sizeof(text),
			"{'kind':'bus','tools':[{'name':'t',\n'bus':%s," PROPERTIES "}]}",
			cases[i].bus);
		snprintf(pointer, sizeof(pointer), "/tools/0/bus/%s", cases[i].key);
		snprintf(message, sizeof(message),
			"\"%s\" has no meaning beside \"%s\"; leave it out", cases[i].key,
			cases[i].form);
		expect_refused(text, 2, pointer, message);
	}
}

Test(bus, refuses_every_key_about_a_reply_beside_no_reply)
{
	static const char *const cases[][2] = {{"unasked", "true"}, {"unless", "'b'"},
		{"result", "'/x'"}, {"as", "'x'"}, {"error", "'/x'"}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char text[512];
		char pointer[64];
		char message[128];

		snprintf(text, sizeof(text),
			"{'kind':'bus','tools':[{'name':'t',\n'bus':{'topic':'a','reply':false,"
			"'%s':%s}," PROPERTIES "}]}",
			cases[i][0], cases[i][1]);
		snprintf(pointer, sizeof(pointer), "/tools/0/bus/%s", cases[i][0]);
		snprintf(message, sizeof(message),
			"\"%s\" has no meaning beside \"reply\": false; leave one of them out",
			cases[i][0]);
		expect_refused(text, 2, pointer, message);
	}
}

Test(bus, names_every_mistake_of_a_tool_at_once)
{
	manifest_write("box.json",
		BUS_BOX("{'topic':'ovos.tools.x','data':{'{q}':'{z}','y':['{s}','{q}']},"
			"'context':{'session':{},'destination':'{n}'},'result':{'p':{'at':'x'}}}"));
	cr_assert_eq(manifest_read_again("box.json"), MANIFEST_E_REFUSED);
	cr_expect_eq(problems.n_errors, 6, "two arguments, two keys, a topic and a pointer");
	cr_expect_null(package);
}

Test(bus, multiplies_only_an_argument_that_is_a_number_in_any_case)
{
	static const struct {
		const char *type;
		bool is_good;
	} cases[] = {
		{"{'type':'number'}", true},
		{"{'type':'integer'}", true},
		{"{'type':['integer','number','null']}", true},
		{"{'type':['number','string']}", false},
		{"{'type':'string'}", false},
		{"{'minimum':1}", false},
		{"{'enum':[1,2]}", false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char text[512];

		snprintf(text, sizeof(text),
			"{'kind':'bus','tools':[{'name':'t','argument_schema':{'properties':"
			"{'a':%s}},'bus':{'topic':'x','data':{'v':{'arg':'a','scale':2}}}}]}",
			cases[i].type);
		manifest_write("box.json", text);
		cr_expect_eq(manifest_read_again("box.json"),
			cases[i].is_good ? 0 : MANIFEST_E_REFUSED, "%s", cases[i].type);
	}
}

Test(bus, takes_only_factors_that_it_can_multiply_by)
{
	static const char *const good[] = {
		"1", "-1", "0.01", "1e18", "123456789012345678", "1e-30"};
	static const char *const bad[] = {"0", "-0.0", "0e5", "1234567890123456789",
		"1.000000000000000001", "1e999", "'2'", "null", "true", "[2]"};
	char bus[256];

	for (size_t i = 0; i < ARRAY_SIZE(good) + ARRAY_SIZE(bad); i++) {
		bool is_good = i < ARRAY_SIZE(good);
		const char *factor = is_good ? good[i] : bad[i - ARRAY_SIZE(good)];

		snprintf(bus, sizeof(bus),
			"{'kind':'bus','tools':[{'name':'t','bus':{'topic':'x','data':{'v':"
			"{'arg':'a','scale':%s}}},'argument_schema':{'properties':{'a':"
			"{'type':'number'}}}}]}",
			factor);
		manifest_write("box.json", bus);
		cr_expect_eq(manifest_read_again("box.json"), is_good ? 0 : MANIFEST_E_REFUSED,
			"%s", factor);
	}
}

Test(bus, refuses_pointers_that_rfc_6901_does_not_have)
{
	static const char *const good[] = {"", "/", "/a", "/a/0", "/~0~1", "/a//b", "/ "};
	static const char *const bad[] = {"a", "a/b", "#/a", "/~", "/~2", "/a~", "~0", " /a"};
	/* Each member up to its pointer, and after it. */
	static const char *const members[][2] = {{"'result':'", "'"}, {"'error':'", "'"},
		{"'result':{'p':{'at':'", "'}}"}, {"'collect':{'topics':'b','at':'", "'}"}};

	for (size_t i = 0; i < ARRAY_SIZE(good) + ARRAY_SIZE(bad); i++) {
		bool is_good = i < ARRAY_SIZE(good);
		const char *at = is_good ? good[i] : bad[i - ARRAY_SIZE(good)];

		for (size_t j = 0; j < ARRAY_SIZE(members); j++) {
			char text[256];

			snprintf(text, sizeof(text),
				"{'kind':'bus','tools':[{'name':'t','bus':{'topic':'x',%s%s%s}}]}",
				members[j][0], at, members[j][1]);
			manifest_write("box.json", text);
			cr_expect_eq(manifest_read_again("box.json"),
				is_good ? 0 : MANIFEST_E_REFUSED, "%s", text);
		}
	}
}

/* Return the result of reading a tool whose bus object has @count items between its two parts,
 * each @item and its number in quotes. */
static int read_items(const char *before, const char *item, const char *after, size_t count)
{
	char text[2048];
	size_t used = (size_t)snprintf(
		text, sizeof(text), "{'kind':'bus','tools':[{'name':'t','bus':%s", before);

	for (size_t i = 0; i < count; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s'b%zu'%s",
			i > 0 ? "," : "", item, i, *item ? "}" : "");
	snprintf(text + used, sizeof(text) - used, "%s}]}", after);
	manifest_write("box.json", text);
	return manifest_read_again("box.json");
}

Test(bus, keeps_to_the_bounds_of_one_tool)
{
	static const struct {
		const char *before;
		const char *item;
		const char *after;
		size_t max;
	} lists[] = {
		{"{'messages':[", "{'topic':", "],'reply':'r'}", BUS_CALL_MESSAGES_MAX},
		{"{'topic':'a','reply':[", "", "]}", BUS_CALL_TOPICS_MAX},
		{"{'topic':'a','collect':{'topics':[", "", "]}}", BUS_CALL_TOPICS_MAX},
	};

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		cr_expect_eq(
			read_items(lists[i].before, lists[i].item, lists[i].after, lists[i].max), 0,
			"%s", lists[i].before);
		cr_expect_eq(read_items(lists[i].before, lists[i].item, lists[i].after,
				     lists[i].max + 1),
			MANIFEST_E_REFUSED, "%s", lists[i].before);
		cr_expect_eq(read_items(lists[i].before, lists[i].item, lists[i].after, 0),
			MANIFEST_E_REFUSED, "%s", lists[i].before);
	}
}

Test(bus, refuses_every_limit_of_processes_and_takes_the_others)
{
	static const char *const of_processes[] = {
		"workers", "memory_mb", "prestart", "idle_s", "max_ms"};

	for (size_t i = 0; i < ARRAY_SIZE(of_processes); i++) {
		char text[256];
		bool is_flag = strcmp(of_processes[i], "prestart") == 0;

		snprintf(text, sizeof(text),
			"{'kind':'bus','limits':{'%s':%s},'tools':[" BUS_TOOL("{'topic':'a'}") "]}",
			of_processes[i], is_flag ? "true" : "2000");
		manifest_write("box.json", text);
		cr_expect_eq(manifest_read_again("box.json"), MANIFEST_E_REFUSED, "%s", text);
	}
	read_good("{'kind':'bus','limits':{'queue':2},'tools':[" BUS_TOOL("{'topic':'a'}") "]}");
}
