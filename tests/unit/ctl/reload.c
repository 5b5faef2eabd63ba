/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>

#include "answering.h"

TestSuite(ctl_reload, .fini = answering_stop, .timeout = 60);

#define RELOAD "ovos.tools.reload"

Test(ctl_reload, prints_what_there_is_and_what_has_changed)
{
	static const struct prepared messages[] = {
		{RELOAD, "{'added':['a/x','a/y'],'changed':[],'removed':['b/z']}",
			"ovos.tools.changed"},
		{RELOAD, "{'loaded':['a','c'],'total_tools':3,'failed':[]}", NULL},
		{0},
	};

	answering_start(messages);
	expect_command(ctl_reload, "reload", CTL_DONE,
		"3 tools of 2 toolboxes: a, c\n"
		"added    a/x, a/y\n"
		"removed  b/z\n",
		"");
}

Test(ctl_reload, counts_one_in_the_singular)
{
	static const struct prepared messages[] = {
		{RELOAD, "{'loaded':['a'],'total_tools':1}", NULL},
		{RELOAD, "{'loaded':[],'total_tools':0}", NULL},
		{0},
	};

	answering_start(messages);
	expect_command(ctl_reload, "reload", CTL_DONE, "1 tool of 1 toolbox: a\n", "");
	expect_command(ctl_reload, "reload", CTL_DONE, "0 tools of 0 toolboxes\n", "");
}

Test(ctl_reload, names_the_toolboxes_that_are_still_asked)
{
	static const struct prepared messages[] = {
		{RELOAD, "{'loaded':[],'total_tools':0,'asked':['m','n']}", NULL},
		{0},
	};

	answering_start(messages);
	expect_command(ctl_reload, "reload", CTL_DONE,
		"0 tools of 0 toolboxes\n"
		"still asked for their tools, which are offered as they answer: m, n\n",
		"");
}

Test(ctl_reload, fails_with_each_toolbox_and_each_mistake)
{
	static const struct prepared messages[] = {
		{RELOAD,
			"{'loaded':['a'],'total_tools':1,'failed':["
			"{'toolbox_id':'b','error':'no "
			"library'},{'error':'nameless'},{'toolbox_id':4}],"
			"'configuration':[{'file':'/etc/mycroft.conf','line':3,'path':'/toolboxd/"
			"x',"
			"'error':'is "
			"unknown'},{'file':'','line':null,'path':'--bus','error':'bad'},"
			"{'error':'somewhere'},{}]}",
			NULL},
		{0},
	};

	answering_start(messages);
	expect_command(ctl_reload, "reload", CTL_ERROR, "1 tool of 1 toolbox: a\n",
		"b failed: no library\n"
		" failed: nameless\n"
		" failed: \n"
		"/etc/mycroft.conf:3 /toolboxd/x: is unknown\n"
		"--bus: bad\n"
		"somewhere\n"
		"\n");
	expect_command(ctl_reload, "reload --json", CTL_ERROR,
		"{\"loaded\":[\"a\"],\"total_tools\":1,\"failed\":["
		"{\"toolbox_id\":\"b\",\"error\":\"no library\"},{\"error\":\"nameless\"},"
		"{\"toolbox_id\":4}],"
		"\"configuration\":[{\"file\":\"/etc/mycroft.conf\",\"line\":3,"
		"\"path\":\"/toolboxd/x\",\"error\":\"is unknown\"},{\"file\":\"\",\"line\":null,"
		"\"path\":\"--bus\",\"error\":\"bad\"},{\"error\":\"somewhere\"},{}]}\n",
		"");
}

Test(ctl_reload, has_the_status_of_an_error)
{
	static const struct prepared messages[] = {
		{RELOAD, "{'error':'not now','code':'busy'}", NULL},
		{RELOAD, "{'error':'too long','code':'timeout'}", NULL},
		{0},
	};

	answering_start(messages);
	expect_command(ctl_reload, "reload", CTL_ERROR, "", "not now\n");
	expect_command(ctl_reload, "reload", CTL_NO_ANSWER, "", "too long\n");
}

Test(ctl_reload, stands_changes_and_lists_of_another_type)
{
	static const struct prepared messages[] = {
		{RELOAD, "{'added':'a','changed':{},'removed':[[],null]}", "ovos.tools.changed"},
		{RELOAD, "{}", "ovos.tools.changed"},
		{RELOAD, "{'loaded':1,'total_tools':'3','failed':{},'asked':5,'configuration':[1]}",
			NULL},
		{0},
	};

	answering_start(messages);
	expect_command(ctl_reload, "reload", CTL_ERROR, "removed  [], \n", "\n");
}
