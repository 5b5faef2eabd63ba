/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "catalogue/package.h"
#include "manifest_fixture.h"

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
