/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "call/native/program.h"
#include "native_object.h"

/* The refusals of steps when they are read. */

/* Replace each `'` by `"`. */
static char *quoted(const char *text)
{
	char *copy = strdup(text);

	for (char *at = copy; (at = strchr(at, '\''));)
		*at = '"';
	return copy;
}

struct refusal {
	const char *object;  /* with `'` for `"` */
	const char *pointer; /* the place of the mistake */
	const char *message;
};

static void expect_refused(const struct refusal *refusal, const struct native_program *process)
{
	struct native_function function = {0};
	struct native_program *program = NULL;
	cleanup(diagnostics_deinit) struct diagnostics problems = {0};
	cleanup(native_object_release) struct native_object object = {0};
	cleanup_free char *text = quoted(refusal->object);
	int r = native_object_read(&object, text, &problems);

	if (r == 0)
		r = native_program_read(
			&object.tape, 0, object.types, process, &function, &program, &problems);
	cr_expect_eq(r, NATIVE_E_REFUSED, "%s is not refused", text);
	cr_assert_eq(problems.n_items, 1, "%s: %zu", text, problems.n_items);
	cr_expect_str_eq(
		problems.items[0].text, refusal->message, "%s: %s", text, problems.items[0].text);
	cr_expect_str_eq(problems.items[0].pointer, refusal->pointer, "%s: %s", text,
		problems.items[0].pointer);
}

static struct native_program *read_good(const char *object, const struct native_program *process)
{
	struct native_function function = {0};
	struct native_program *program = NULL;
	struct diagnostics problems = {0};
	cleanup(native_object_release) struct native_object read = {0};
	cleanup_free char *text = quoted(object);
	int r = native_object_read(&read, text, &problems);

	if (r == 0)
		r = native_program_read(
			&read.tape, 0, read.types, process, &function, &program, &problems);
	cr_assert_eq(r, 0, "%s: %s", text, problems.n_items ? problems.items[0].text : "");
	native_function_deinit(&function);
	return program;
}

#define EXPECT_REFUSALS(rows)                                                                      \
	for (size_t row = 0; row < sizeof(rows) / sizeof(*(rows)); row++)                          \
	expect_refused(&(rows)[row], NULL)

#define STEPS(steps) "{'parameters':[{'name':'p','type':'i32'}],'steps':[" steps "]}"
#define OPEN         "{'call':'open','returns':{'name':'h','type':'handle'},"
#define OPENED       OPEN "'finally':{'call':'close','args':['$h']}}"

Test(native_steps_read, a_name_is_set_once_and_before_its_use)
{
	static const struct refusal rows[] = {
		{STEPS("{'call':'f','args':['$x']}"), "/steps/0/args/0",
			"no parameter and no earlier step sets 'x'"},
		{STEPS("{'call':'f','args':['$q']},{'call':'g','returns':{'name':'q','type':'i32'}"
		       "}"),
			"/steps/0/args/0",
			"a later step sets 'q': a step uses only what earlier steps have set, so "
			"change their order"},
		{STEPS("{'call':'g','returns':{'name':'length','type':'i32'}},{'call':'f','args':["
		       "'$lenght']}"),
			"/steps/1/args/0",
			"no parameter and no earlier step sets 'lenght'; did you mean '$length'?"},
		{STEPS("{'call':'g','returns':{'name':'p','type':'i32'}}"), "/steps/0/returns/name",
			"'p' is set twice: a name is set once"},
		{STEPS("{'call':'g','args':[{'out':{'name':'a','type':'i32'}}]},{'call':'g',"
		       "'args':[{'out':{'name':'a','type':'i32'}}]}"),
			"/steps/1/args/0/out/name", "'a' is set twice: a name is set once"},
		{STEPS("{'call':'f','args':['x']}"), "/steps/0/args/0",
			"must be the name of a value, as \"$name\" (\"$$name\" for one of 'init'), "
			"not \"x\""},
		/* A word is a name whose dollar was forgotten; words have a blank. */
		{STEPS("{'call':'f','returns':{'type':'i32','message':'why'}}"),
			"/steps/0/returns/message",
			"must be a call, words with a blank, or the name of a str, as \"$name\", "
			"not \"why\""},
		{STEPS("{'call':'f','returns':{'type':'i32','message':'no \\u0000 such'}}"),
			"/steps/0/returns/message",
			"must be a call, words with a blank, or the name of a str, as \"$name\", "
			"without U+0000"},
		{STEPS("{'call':'f','args':['$$db']}"), "/steps/0/args/0",
			"no step of 'init' sets 'db'"},
		{STEPS("{'call':'f','when':'$p','returns':{'name':'c','type':'i32'}},"
		       "{'call':'g','args':['$c']}"),
			"/steps/1/args/0",
			"'c' is set only under a condition: give this step the same 'when'"},
		{STEPS("{'call':'f','when':'$p','returns':{'name':'c','type':'i32'}},"
		       "{'call':'g','unless':'$p','args':['$c']}"),
			"/steps/1/args/0",
			"'c' is set only under a condition: give this step the same 'when'"},
		{STEPS("{'call':'f','unless':'$p','returns':{'name':'c','type':'i32'}}"), "",
			"'c' is set only under a condition: say that it may be null, by "
			"\"nullable\":"
			" true where it is set, or write a 'result' without it"},
		{"{'steps':[{'call':'f','returns':{'name':'a','type':'i32'}},{'call':'f','when':"
		 "'$a','returns':{'name':'c','type':'i32'}}],'result':{'deep':['$c']}}",
			"/result/deep/0",
			"'c' is set only under a condition: say that it may be null, by "
			"\"nullable\":"
			" true where it is set"},
		{STEPS("{'call':'f','when':'$p','unless':'$p'}"), "/steps/0/unless",
			"a step has 'when' or 'unless', not both"},
	};

	EXPECT_REFUSALS(rows);
}

Test(native_steps_read, a_handle_stays_inside_and_ends_once)
{
	static const struct refusal rows[] = {
		{"{'steps':[" OPENED "],'result':{'h':'$h'}}", "/result/h",
			"'h' is a handle, and a handle never leaves a tool"},
		{STEPS(OPENED ",{'call':'close','args':['$h']}"), "/steps/1",
			"the 'finally' of step 0 makes the same call: what it frees would be freed "
			"twice, so leave one of them out"},
		{STEPS(OPENED ",{'call':'f','finally':{'call':'close','args':['$h']}}"),
			"/steps/1/finally",
			"the 'finally' of step 0 makes the same call: what it frees would be freed "
			"twice, so leave one of them out"},
		{STEPS("{'call':'f','returns':{'name':'n','type':'i32'},'finally':{'call':'g',"
		       "'args':['$n'],'always':true}}"),
			"/steps/0/finally/always",
			"only a step that sets a handle can end it after its own failure"},
		{STEPS("{'call':'f','args':[{'handle':5}]}"), "/steps/0/args/0",
			"a handle has no constant: write null for NULL, not an object"},
		{"{'parameters':[{'name':'h','type':'handle'}],'steps':[{'call':'f'}]}",
			"/parameters/0/type",
			"a handle never leaves a tool: write the functions that use it as 'steps' "
			"of "
			"one tool"},
		{STEPS(OPENED ",{'call':'f','args':[{'length_of':'$h','type':'u32'}]}"),
			"/steps/1/args/0/length_of",
			"must be the name of a str, bytes, json or array: nothing else has a "
			"length, "
			"not \"$h\""},
		{STEPS(OPENED ",{'call':'f','args':[{'as':'u32','value':'$h'}]}"),
			"/steps/1/args/0/value", "must be the name of a number, not \"$h\""},
	};

	EXPECT_REFUSALS(rows);
}

Test(native_steps_read, a_handle_of_init_is_not_ended_by_a_tool)
{
	struct native_program *process =
		read_good("[{'call':'open','returns':{'name':'db','type':'handle'}}]", NULL);
	static const struct refusal row = {
		STEPS("{'call':'f','finally':{'call':'close','args':['$$db']}}"),
		"/steps/0/finally",
		"a 'finally' that ends 'db' of 'init' would end it for every later call: if it "
		"does "
		"not, write \"frees\": false"};

	expect_refused(&row, process);
	native_program_free(read_good(STEPS("{'call':'f','finally':{'call':'unlock',"
					    "'args':['$$db'],'frees':false}}"),
		process));
	native_program_free(process);
}

#define REPEAT(more)                                                                               \
	"{'repeat':{'call':'next','returns':{'name':'n','type':'i32'},'while':{'equals':1}}" more  \
	"}"

Test(native_steps_read, a_round_is_a_block_of_its_own)
{
	static const struct refusal rows[] = {
		{STEPS(REPEAT("") ",{'call':'f','args':['$n']}"), "/steps/1/args/0",
			"'n' ends with each round of its 'repeat': use what 'collect' has "
			"collected"},
		{"{'steps':[" REPEAT("") "],'result':{'n':'$n'}}", "/result/n",
			"'n' ends with each round of its 'repeat': use what 'collect' has "
			"collected"},
		{STEPS(REPEAT(",'steps':[" REPEAT("") "]")), "/steps/0/steps/0",
			"a repeat within a repeat is not possible: write two tools, or one in C"},
		{STEPS("{'repeat':{'call':'next','returns':{'type':'i32'}}}"), "/steps/0/repeat",
			"'while' is missing: the values with which another round begins: "
			"\"not_null\", {\"equals\": NUMBER} or {\"not_equals\": NUMBER}"},
		{STEPS("{'repeat':{'call':'next','returns':{'type':'i32'},'while':'not_null'}}"),
			"/steps/0/repeat/while",
			"'not_null' needs a handle, str or json, and the function returns i32"},
		{STEPS(REPEAT(",'max':0")), "/steps/0/max",
			"must be an integer from 1 to 1000000, not 0"},
		{STEPS(REPEAT(",'max':1000001")), "/steps/0/max",
			"must be an integer from 1 to 1000000, not 1000001"},
		{STEPS(REPEAT(",'collect':{'name':'all'}")), "/steps/0/collect",
			"'of' is missing: what each round adds to the list"},
		{STEPS(REPEAT(
			 ",'collect':{'name':'all','of':'$n'}") ",{'call':'f','args':['$all']}"),
			"/steps/1/args/0", "what a 'repeat' has collected is only for the result"},
		{"{'steps':[" REPEAT(",'cut':true") "],'result':{'truncated':1}}",
			"/result/truncated",
			"'truncated' is added when a repeat with \"cut\" had more"},
	};

	EXPECT_REFUSALS(rows);
}

Test(native_steps_read, an_argument_has_one_form)
{
	static const struct refusal rows[] = {
		{STEPS("{'call':'f','args':[5]}"), "/steps/0/args/0",
			"must be \"$name\", null, {\"TYPE\": CONSTANT}, or an object with 'out', "
			"'inout', 'length_of', 'size_of' or 'as', not 5"},
		{STEPS("{'call':'f','args':[{'i32':1,'u8':1}]}"), "/steps/0/args/0",
			"an argument is one of \"$name\", null, {\"TYPE\": CONSTANT}, 'out', "
			"'inout', 'length_of', 'size_of' and 'as': this has several keys"},
		{STEPS("{'call':'f','args':[{'out':{'name':'b','type':'bytes'}}]}"),
			"/steps/0/args/0",
			"'capacity' is missing: how many bytes the function may write to 'b', a "
			"number or the name of an integer parameter; or 'transfer', if it sets a "
			"pointer to memory of its own"},
		{STEPS("{'call':'f','args':[{'out':{'type':'i32'}}]}"), "/steps/0/args/0/out",
			"'name' is missing: how later steps and the result call it"},
		{STEPS("{'call':'f','args':[{'length_of':'$p','type':'u32'}]}"),
			"/steps/0/args/0/length_of",
			"must be the name of a str, bytes, json or array: nothing else has a "
			"length, "
			"not \"$p\""},
		{STEPS("{'call':'f','args':[{'u8':256}]}"), "/steps/0/args/0",
			"must be an integer from 0 to 255, not 256"},
		{STEPS("{'call':'f','args':[{'length_of':'$p'}]}"), "/steps/0/args/0",
			"'type' is missing: the integer type of the length"},
		{STEPS("{'call':'f','args':[{'as':'i32'}]}"), "/steps/0/args/0",
			"'value' is missing: the name of the number, as \"$name\""},
		{STEPS("{'call':'f','args':[{'out':7}]}"), "/steps/0/args/0/out",
			"must be an object with 'name' and 'type', not 7"},
		{STEPS("{'call':'f','returns':{'name':'s','type':'str'}},{'call':'f','args':[{'out'"
		       ":{'name':'b','type':'bytes','capacity':'$s'}}]}"),
			"/steps/1/args/0/out/capacity",
			"must be a number or the name of an integer, not \"$s\""},
		{STEPS("{'call':'f','args':[{'out':{'name':'b','type':'bytes','transfer':'none',"
		       "'size':[2,'$p']}}]}"),
			"/steps/0/args/0/out/size/1",
			"must be a number or the name of an \"out\" or \"inout\" of the same call, "
			"as "
			"\"$name\", not \"$p\""},
		{STEPS("{'call':'f','args':[{'out':{'name':'b','type':'bytes','capacity':8}},"
		       "{'inout':{'name':'n','type':'u32','length_of':'$p'}}]}"),
			"/steps/0/args/1/inout/length_of",
			"must be the name of an \"out\" or \"inout\" of the same call, as "
			"\"$name\", "
			"not \"$p\""},
		{"{'parameters':[{'name':'p','type':'i32','dir':'out'}],'steps':[{'call':'f'}]}",
			"/parameters/0/dir",
			"in a tool with 'steps' the parameters are what callers give: 'dir' "
			"belongs "
			"to the arguments of a step"},
		{STEPS("{'read':'$p','type':'i32','name':'x'}"), "/steps/0/read",
			"must be the name of a handle, not \"$p\""},
		{STEPS("{'calls':'f'}"), "/steps/0",
			"must be an object with 'call', 'read' or 'repeat', not an object"},
		{STEPS("{'call':'f','variadic':2,'args':['$p']}"), "/steps/0/variadic",
			"must be the number of fixed parameters, from 1 to the 1 that are listed"},
		{STEPS("{'call':'f','variadic':1,'args':[{'str':'%d%n'},'$p']}"), "/steps/0/args/0",
			"a format must not have %n, which writes to memory"},
		{STEPS("{'call':'f','finaly':{'call':'g'}}"), "/steps/0/finaly",
			"unknown key 'finaly'; did you mean 'finally'?"},
	};

	EXPECT_REFUSALS(rows);
}

Test(native_steps_read, an_inout_begins_with_its_own_type)
{
#define BEGIN(type, value)                                                                         \
	STEPS(OPEN "'finally':{'call':'close','args':['$h']}},"                                    \
		   "{'call':'f','args':[{'out':{'name':'s','type':'str','capacity':9}},"           \
		   "{'out':{'name':'m','type':'handle','size':8,'c':'m'}},"                        \
		   "{'out':{'name':'a','type':'array','items':'u8','capacity':2}}]},"              \
		   "{'call':'g','args':[{'inout':{'name':'n'," type ",'value':'" value "'}}]}")
#define REFUSED(is, from)                                                                          \
	"/steps/2/args/0/inout/value",                                                             \
		"'n' begins with a value of its own type, " is                                     \
		", or with a number if it is one: '" from "' is another type"
	static const struct refusal rows[] = {
		{BEGIN("'type':'u64'", "$h"), REFUSED("u64", "h")},
		{BEGIN("'type':'handle'", "$p"), REFUSED("handle", "p")},
		{BEGIN("'type':'bytes'", "$m"), REFUSED("bytes", "m")},
		{BEGIN("'type':'str'", "$h"), REFUSED("str", "h")},
		{BEGIN("'type':'handle'", "$s"), REFUSED("handle", "s")},
		{BEGIN("'type':'i32'", "$s"), REFUSED("i32", "s")},
		{BEGIN("'type':'array','items':'u16'", "$a"), REFUSED("array", "a")},
	};
	static const char *const good[] = {
		BEGIN("'type':'u64'", "$p"),
		BEGIN("'type':'handle'", "$h"),
		BEGIN("'type':'handle'", "$m"),
		BEGIN("'type':'str'", "$s"),
		BEGIN("'type':'array','items':'u8'", "$a"),
	};

	EXPECT_REFUSALS(rows);
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		native_program_free(read_good(good[i], NULL));
}

Test(native_steps_read, a_field_is_of_a_struct_and_lives_as_long)
{
#define NODES(steps)                                                                               \
	"{'structs':{'leaf':{'fields':[{'name':'n','type':'i32'}]},'node':{'fields':[{'name':"     \
	"'next','type':'handle'},{'name':'n','type':'i32'},{'name':'on','type':'bool','count':2}," \
	"{'name':'leaves','type':'struct','struct':'leaf','count':2},{'name':'kin','type':'handle" \
	"','count':3}]}},'parameters':[{'name':'p','type':'i32'}],'steps':[" OPENED "," steps "]}"
#define READ "{'read':'$h','struct':'node','name':'q'}"
	static const struct refusal rows[] = {
		{NODES(READ ",{'call':'f','args':['$q.m']}"), "/steps/2/args/0",
			"'node' has no field 'm'"},
		{NODES(READ ",{'call':'f','args':['$q.']}"), "/steps/2/args/0",
			"'node' has no field ''"},
		{NODES("{'call':'f','args':['$h.next']}"), "/steps/1/args/0",
			"only a struct has fields: read one from the handle, by {\"read\": "
			"\"$handle\", \"struct\": …}"},
		{NODES("{'call':'f','args':['$p.n']}"), "/steps/1/args/0",
			"only a struct has fields: read one from the handle, by {\"read\": "
			"\"$handle\", \"struct\": …}"},
		{NODES("{'call':'f','args':['$q.n']}," READ), "/steps/1/args/0",
			"a later step sets 'q': a step uses only what earlier steps have set, so "
			"change their order"},
		{NODES("{'call':'f','args':['$x.n']}"), "/steps/1/args/0",
			"no parameter and no earlier step sets 'x'"},
		{NODES("{'call':'f','args':['$$q.n']}"), "/steps/1/args/0",
			"no step of 'init' sets 'q'"},
		{NODES(READ ",{'call':'f','args':['$q.on']}"), "/steps/2/args/0",
			"'on' is an array of bool: only an array of numbers is a value of its "
			"own, so name an element, as \"on.0\""},
		{NODES(READ ",{'call':'f','args':['$q.leaves']}"), "/steps/2/args/0",
			"'leaves' is an array of struct: only an array of numbers is a value of "
			"its own, so name an element, as \"leaves.0\""},
		{NODES(READ ",{'call':'f','args':['$q.kin']}"), "/steps/2/args/0",
			"'kin' is an array of handle: only an array of numbers is a value of its "
			"own, so name an element, as \"kin.0\""},
		{NODES(READ ",{'call':'f','args':['$q.leaves.n']}"), "/steps/2/args/0",
			"'leaves' has the elements 0 to 1, not 'n'"},
		{NODES(READ ",{'call':'f','args':['$q.kin.3']}"), "/steps/2/args/0",
			"'kin' has the elements 0 to 2, not '3'"},
		{NODES(READ ",{'call':'f','args':['$q.kin.18446744073709551616']}"),
			"/steps/2/args/0",
			"'kin' has the elements 0 to 2, not '18446744073709551616'"},
		{NODES(READ ",{'call':'f','args':['$q.kin..1']}"), "/steps/2/args/0",
			"'kin' has the elements 0 to 2, not ''"},
		{NODES(READ ",{'call':'f','args':['$q.kin.02']}"), "/steps/2/args/0",
			"'kin' has the elements 0 to 2, not '02'"},
		{NODES(READ ",{'call':'f','args':['$q.kin.00']}"), "/steps/2/args/0",
			"'kin' has the elements 0 to 2, not '00'"},
		{NODES(READ ",{'call':'f','args':['$q.kin.2.']}"), "/steps/2/args/0",
			"must not end with a dot"},
		{NODES(READ ",{'call':'f','args':['$q.next.']}"), "/steps/2/args/0",
			"must not end with a dot"},
		{NODES(READ ",{'call':'f','args':['$q.leaves.1.m']}"), "/steps/2/args/0",
			"'leaf' has no field 'm'"},
		{NODES(READ ",{'call':'f','args':['$q.on.1.n']}"), "/steps/2/args/0",
			"only a struct has fields: read one from the handle, by {\"read\": "
			"\"$handle\", \"struct\": …}"},
		{NODES(READ ",{'read':'$q.n','type':'i32','name':'r'}"), "/steps/2/read",
			"must be the name of a handle, not \"$q.n\""},
		{NODES(READ ",{'call':'f','returns':{'name':'b','type':'bytes','size':['$q.next']"
			    "}}"),
			"/steps/2/returns/size/0",
			"must be the name of an integer, not \"$q.next\""},
		/* The library's memory is gone, or belongs to a round. */
		{NODES("{'call':'f','returns':{'name':'q','type':'struct','struct':'node',"
		       "'transfer':'full','free':'g'}},{'call':'f','args':['$q.next']}"),
			"/steps/2/args/0",
			"'q.next' would outlive its struct, which \"transfer\": \"full\" frees "
			"at once: let the call return a handle, with a 'finally', and read the "
			"struct from it"},
		{NODES("{'repeat':{'call':'f','returns':{'type':'i32'},'while':{'equals':1}},"
		       "'steps':[" READ "]},{'call':'f','args':['$q.next']}"),
			"/steps/2/args/0",
			"'q.next' ends with each round of its 'repeat': use what 'collect' has "
			"collected"},
		{NODES("{'read':'$h','struct':'node','name':'q','when':'$p'},{'call':'f','args':["
		       "'$q.next']}"),
			"/steps/2/args/0",
			"'q.next' is set only under a condition: give this step the same 'when'"},
		{NODES(READ ",{'call':'f','args':[{'i32':1}],'finally':{'call':'close','args':["
			    "'$q.next']}},{'call':'close','args':['$q.next']}"),
			"/steps/3",
			"the 'finally' of step 2 makes the same call: what it frees would be "
			"freed twice, so leave one of them out"},
		{NODES(READ ",{'call':'f','finally':{'call':'close','args':['$q.kin.2']}},{'call':"
			    "'f','finally':{'call':'close','args':['$q.kin.2']}}"),
			"/steps/3/finally",
			"the 'finally' of step 2 makes the same call: what it frees would be "
			"freed twice, so leave one of them out"},
		{NODES(READ ",{'call':'f','finally':{'call':'g','args':['$q.n'],'always':true}}"),
			"/steps/2/finally/always",
			"only a step that sets a handle can end it after its own failure"},
		{"{'structs':{'node':{'fields':[{'name':'next','type':'handle'}]}},'steps':[" OPENED
		 "," READ "],'result':{'r':['$q.next']}}",
			"/result/r/0", "'q.next' is a handle, and a handle never leaves a tool"},
	};

	EXPECT_REFUSALS(rows);
	native_program_free(read_good(
		NODES(READ
			",{'call':'f','args':['$q.kin.0','$q.kin.2','$q.leaves.1.n','$q.on.1']}"),
		NULL));
}

Test(native_steps_read, a_copy_is_within_the_memory_of_the_tool)
{
#define COPY(type)                                                                                 \
	STEPS("{'call':'f','args':[{'out':{'name':'m','type':'handle','size':8,'c':'m'}}]},"       \
	      "{'read':'$m','name':'x'," type "}")
#define OVER "'m' has 8 bytes, and the copy would have more"
	static const struct refusal rows[] = {
		{COPY("'type':'bytes','size':9"), "/steps/1", OVER},
		{COPY("'type':'array','items':'u32','size':[8388608,8388608,8388608,8388608]"),
			"/steps/1", OVER},
		{COPY("'type':'array','items':'u32','size':3"), "/steps/1", OVER},
	};
	static const char *const good[] = {
		COPY("'type':'bytes','size':8"),
		COPY("'type':'array','items':'u32','size':2"),
		COPY("'type':'bytes','size':['$p',16]"),
		COPY("'type':'u64'"),
		COPY("'type':'str'"),
	};

	EXPECT_REFUSALS(rows);
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		native_program_free(read_good(good[i], NULL));
}

Test(native_steps_read, init_collects_nothing)
{
	static const struct refusal rows[] = {
		{"[" REPEAT(",'collect':{'name':'all','of':'$n'}") "]", "/0/collect",
			"what a 'repeat' has collected is only for the result, and 'init' has "
			"none"},
	};

	EXPECT_REFUSALS(rows);
}

Test(native_steps_read, a_size_is_known_before_the_call)
{
	static const struct refusal rows[] = {
		{STEPS("{'call':'f','args':[{'out':{'name':'b','type':'bytes','size':4,'transfer':'"
		       "none'}},"
		       "{'size_of':'$b'}]}"),
			"/steps/0/args/1/size_of",
			"'b' has no size before the call: the function makes its memory"},
		{STEPS("{'call':'f','returns':{'name':'l','type':'strv'}},"
		       "{'call':'g','args':[{'size_of':'$l'}]}"),
			"/steps/1/args/0/size_of",
			"must not be a strv: it has no one size, not \"$l\""},
	};

	EXPECT_REFUSALS(rows);
}

#define NEST_8(value)  "[[[[[[[[" value "]]]]]]]]"
#define NEST_30(value) NEST_8(NEST_8(NEST_8("[[[[[[" value "]]]]]]")))
#define NEST_31(value) NEST_30("[" value "]")

/* With what a repeat collects; a schema of it has a part for each object and array. */
Test(native_steps_read, a_result_is_32_deep_at_most)
{
#define TOO_DEEP                                                                                   \
	"is nested too deep: at most 32 objects and arrays in one another, with what a 'repeat' "  \
	"collects"
#define LIST(of, result)                                                                           \
	"{'steps':[" REPEAT(",'collect':{'name':'all','of':" of "}") "],'result':" result "}"
	static const struct refusal rows[] = {
		{"{'steps':[{'call':'f'}],'result':{'a':" NEST_31("[1]") "}}",
			"/result/a/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0",
			TOO_DEEP},
		{LIST(NEST_31("'$n'"), "{'a':'$all'}"), "/result", TOO_DEEP},
		{LIST("[" NEST_8("1") "]", "{'a':" NEST_8(NEST_8("[[[[[['$all']]]]]]")) "}"),
			"/result", TOO_DEEP},
		{STEPS(REPEAT(",'collect':{'name':'all','of':" NEST_31("'$n'") "}")), "", TOO_DEEP},
	};
	static const char *const good[] = {
		"{'steps':[{'call':'f'}],'result':{'a':" NEST_31("1") "}}",
		STEPS(REPEAT(",'collect':{'name':'all','of':" NEST_30("'$n'") "}")),
		LIST(NEST_8("1"), "{'a':" NEST_8(NEST_8("[[[[[['$all']]]]]]")) "}"),
	};

	EXPECT_REFUSALS(rows);
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		native_program_free(read_good(good[i], NULL));
}

Test(native_steps_read, a_cut_list_has_truncated_to_itself)
{
	static const struct refusal rows[] = {
		{STEPS("{'call':'f','returns':{'name':'truncated','type':'i32'}}," REPEAT(
			 ",'cut':true")),
			"",
			"'truncated' is added when a repeat with \"cut\" had more: give the value "
			"another name"},
	};

	EXPECT_REFUSALS(rows);
}

Test(native_steps_read, takes_64_steps_and_no_more)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	struct refusal row = {.pointer = "/steps/64",
		.message = "must be one of at most 64 steps, with the steps of rounds"};

	for (int n = 64; n <= 65; n++) {
		buffer_reset(&text);
		buffer_append_string(&text, "{'steps':[");
		for (int i = 0; i < n; i++)
			buffer_append_string(&text, i > 0 ? ",{'call':'f'}" : "{'call':'f'}");
		buffer_append_string(&text, "]}");
		row.object = buffer_terminate(&text);
		if (n == 64)
			native_program_free(read_good(row.object, NULL));
		else
			expect_refused(&row, NULL);
	}
}

Test(native_steps_read, make_the_schema_of_the_result)
{
	static const char *const rows[][2] = {
		{STEPS("{'call':'f','returns':{'name':'n','type':'u8'}}"),
			"{'type':'object','properties':{'n':{'type':'integer','minimum':0,'maximum'"
			":255}},'required':['n']}"},
		{STEPS(REPEAT(",'cut':true,'collect':{'name':'all','of':{'n':'$n','k':'x'}}")),
			"{'type':'object','properties':{'truncated':{'type':'boolean'},'all':{'"
			"type'"
			":'array','items':{'type':'object','properties':{'n':{'type':'integer',"
			"'minimum':-2147483648,'maximum':2147483647},'k':{'const':'x'}},'required':"
			"['n','k']}}},'required':['all']}"},
		{"{'steps':[{'call':'f','returns':{'name':'s','type':'str','nullable':true}}],"
		 "'result':{'a':{'s':'$s'},'b':['$s'],'c':'$$s'}}",
			"{'type':'object','properties':{'a':{'type':'object','properties':{'s':{"
			"'type':['string','null']}},'required':['s']},'b':{'type':'array'},'c':{"
			"'type':'string'}},'required':['a','b','c']}"},
		{"{'structs':{'s':{'fields':[{'name':'a','type':'u8'},{'name':'b','type':'str',"
		 "'nullable':true}]}},'steps':[" OPEN "'args':[]},"
		 "{'read':'$h','struct':'s','name':'q'}],'result':{'a':'$q.a','b':'$q.b'}}",
			"{'type':'object','properties':{'a':{'type':'integer','minimum':0,"
			"'maximum':255},'b':{'type':['string','null']}},'required':['a','b']}"},
		{STEPS("{'call':'f'}"), "{'type':'object','properties':{}}"},
		{STEPS("{'call':'f','returns':{'name':'j','type':'json'}}"),
			"{'type':'object','properties':{'j':{}},'required':['j']}"},
		{STEPS(REPEAT(",'when':'$p','collect':{'name':'all','of':true}")),
			"{'type':'object','properties':{'all':{'type':'array','items':{'const':"
			"true}}},'required':['all']}"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct native_program *program = read_good(rows[i][0], NULL);
		cleanup_free char *schema = quoted(rows[i][1]);

		cr_expect_str_eq(program->schema, schema, "%s", program->schema);
		native_program_free(program);
	}
}

/* Append @count arguments. */
static void append_numbers(struct buffer *text, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		buffer_append_string(text, i > 0 ? ",{'i32':1}" : "{'i32':1}");
}

Test(native_steps_read, a_call_of_a_step_has_a_limited_number_of_arguments)
{
	static const struct {
		const char *before;
		const char *after;
		const char *pointer;
	} rows[] = {
		{"{'steps':[{'call':'f','args':[", "]}]}", "/steps/0/args"},
		{"{'steps':[{'repeat':{'call':'f','while':{'equals':0},'returns':{'type':'i32'},"
		 "'args':[",
			"]}}]}", "/steps/0/repeat/args"},
		{"{'steps':[{'call':'f','finally':{'call':'g','args':[", "]}}]}",
			"/steps/0/finally/args"},
		{"{'steps':[{'call':'f','returns':{'type':'i32','errors':'nonzero','message':{"
		 "'call':'g','args':[",
			"]}}}]}", "/steps/0/returns/message/args"},
		{"[{'call':'f','args':[", "]}]", "/0/args"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		cleanup(buffer_deinit) struct buffer text = {0};
		struct refusal refusal = {
			NULL, rows[i].pointer, "must have at most 64 arguments, not 65"};

		buffer_append_string(&text, rows[i].before);
		append_numbers(&text, NATIVE_PARAMETERS_MAX + 1);
		buffer_append_string(&text, rows[i].after);
		refusal.object = buffer_terminate(&text);
		expect_refused(&refusal, NULL);
	}
}

Test(native_steps_read, a_size_of_an_out_has_a_limited_number_of_factors)
{
	static const struct refusal row = {
		"{'steps':[{'call':'f','args':[{'out':{'name':'b','type':'bytes','size':[1,2,1,2,1]"
		"}}]}]}",
		"/steps/0/args/0/out/size", "must have 1 to 4 factors"};

	expect_refused(&row, NULL);
}

/* ── each key of a step ──────────────────────────────────────────────────────────────────────── */

Test(native_steps_read, each_key_of_a_call_has_its_form)
{
	static const struct refusal rows[] = {
		{"{'steps':{}}", "/steps", "must be an array of at least one step, not an object"},
		{"{'steps':[]}", "/steps", "must be an array of at least one step, not an array"},
		{STEPS("5"), "/steps/0",
			"must be an object with 'call', 'read' or 'repeat', not 5"},
		{STEPS("{'call':'f','args':{}}"), "/steps/0/args",
			"must be an array of arguments, not an object"},
		{STEPS("{'call':'f','returns':'i32'}"), "/steps/0/returns",
			"must be an object that describes the return value, not \"i32\""},
		{STEPS("{'call':''}"), "/steps/0", "'symbol' must not be empty"},
		{STEPS("{'call':'f','finally':{'args':[]}}"), "/steps/0/finally",
			"'call' is missing: the function's name in the library"},
		{STEPS("{'call':'f','finally':'g'}"), "/steps/0/finally",
			"must be a call, not \"g\""},
		{STEPS("{'call':'f','finally':{'call':'g','always':1}}"), "/steps/0/finally/always",
			"must be true or false, not 1"},
		{STEPS("{'call':'f','finally':{'call':'g','frees':true}}"),
			"/steps/0/finally/frees",
			"must be false: the call leaves a handle of 'init' as it is, not true"},
		{STEPS("{'call':'f','args':[{'keeps':true}]}"), "/steps/0/args/0",
			"an argument is one of \"$name\", null, {\"TYPE\": CONSTANT}, 'out', "
			"'inout', 'length_of', 'size_of' and 'as': this has 'keeps' alone"},
		{STEPS("{'call':'f','args':[{}]}"), "/steps/0/args/0",
			"must be \"$name\", null, {\"TYPE\": CONSTANT}, or an object with 'out', "
			"'inout', 'length_of', 'size_of' or 'as', not an object"},
		{STEPS("{'call':'f','args':[{'value':'$p'}]}"), "/steps/0/args/0",
			"an argument that is a value is \"$name\" itself: 'value' comes only with "
			"\"keeps\": true"},
		{STEPS("{'call':'f','args':[{'value':'$p','keeps':false}]}"), "/steps/0/args/0",
			"an argument that is a value is \"$name\" itself: 'value' comes only with "
			"\"keeps\": true"},
		{STEPS("{'call':'f','args':[{'value':'$p','keeps':true}]}"),
			"/steps/0/args/0/keeps",
			"the memory of a tool ends with its call, so no function can keep it: let "
			"a step of 'init' make this call"},
		{STEPS("{'call':'f','args':[{'out':{'name':'a','type':'i32'},'keeps':true}]}"),
			"/steps/0/args/0/keeps",
			"the 'keeps' of an output is a key of its 'out', beside 'name'"},
		{STEPS("{'call':'f','args':[{'inout':{'name':'a','type':'i32'},'keeps':true}]}"),
			"/steps/0/args/0/keeps",
			"the 'keeps' of an output is a key of its 'inout', beside 'name'"},
		{STEPS("{'call':'f','args':[{'size_of':'$p','type':'u8'}]}"),
			"/steps/0/args/0/type", "unknown key 'type'"},
		{STEPS("{'call':'f','args':[{'as':'u8','value':'$p','x':1}]}"), "/steps/0/args/0/x",
			"unknown key 'x'"},
		{STEPS("{'call':'f','returns':{'name':'n','type':'u32','length_of':'$p'}}"),
			"/steps/0/returns/length_of",
			"must be the name of an \"out\" or \"inout\" of the same call, as "
			"\"$name\", not \"$p\""},
		{STEPS("{'call':'f','returns':{'type':'i32','message':{'call':'g','x':1}}}"),
			"/steps/0/returns/message/x", "unknown key 'x'"},
		{STEPS("{'call':'f','returns':{'type':'i32','message':'$p'}}"),
			"/steps/0/returns/message",
			"must be a call, words with a blank, or the name of a str, as \"$name\", "
			"not \"$p\""},
		{STEPS("{'call':'f','returns':{'type':'i32','message':{'table':'t','x':1}}}"),
			"/steps/0/returns/message/x", "unknown key 'x'"},
		{STEPS("{'call':'f','returns':{'type':'i32','message':{'table':'t'}}}"),
			"/steps/0/returns/message/table",
			"must be the name of a table in 'enums', not \"t\""},
		{STEPS("{'call':'f','returns':{'type':'str','message':{'table':'t'}}}"),
			"/steps/0/returns/message/table",
			"a table names integers, and the function returns str"},
	};

	EXPECT_REFUSALS(rows);
}

Test(native_steps_read, a_size_is_a_number_or_the_name_of_an_integer)
{
#define SIZED(size) STEPS("{'call':'f','returns':{'name':'b','type':'bytes'," size "}}")
#define NO_SIZE(unit, name)                                                                        \
	"'size' is missing: how many " unit " '" name "' has, a number, the name of an integer, "  \
	"as \"$name\", or a list of both"
#define FACTOR "must be a number of at most 8388608, the name of an integer, or a list of both"
	static const struct refusal rows[] = {
		{SIZED("'nullable':true"), "/steps/0/returns", NO_SIZE("bytes", "b")},
		{STEPS("{'call':'f','returns':{'name':'b','type':'array','items':'u8'}}"),
			"/steps/0/returns", NO_SIZE("elements", "b")},
		{STEPS("{'call':'f','args':[{'out':{'name':'b','type':'bytes','transfer':'none'}}]"
		       "}"),
			"/steps/0/args/0", NO_SIZE("bytes", "b")},
		{STEPS("{'call':'f','returns':{'name':'b','type':'i32','size':1}}"),
			"/steps/0/returns/size",
			"only bytes and an array in memory of the function have a 'size'"},
		{SIZED("'size':8388609"), "/steps/0/returns/size", FACTOR ", not 8388609"},
		{SIZED("'size':-1"), "/steps/0/returns/size", FACTOR ", not -1"},
		{SIZED("'size':1.5"), "/steps/0/returns/size", FACTOR ", not 1.5"},
		{SIZED("'size':true"), "/steps/0/returns/size", FACTOR ", not true"},
		{SIZED("'size':[]"), "/steps/0/returns/size", "must have 1 to 4 factors"},
		{SIZED("'size':[1,1,1,1,1]"), "/steps/0/returns/size", "must have 1 to 4 factors"},
		{SIZED("'size':[1,null]"), "/steps/0/returns/size/1", FACTOR ", not null"},
		{SIZED("'size':'$x'"), "/steps/0/returns/size",
			"no parameter and no earlier step sets 'x'"},
	};
	static const char *const good[] = {
		SIZED("'size':8388608"),
		SIZED("'size':0"),
		SIZED("'size':[1,'$p',3,4]"),
		SIZED("'size':'$p'"),
	};

	EXPECT_REFUSALS(rows);
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		native_program_free(read_good(good[i], NULL));
}

Test(native_steps_read, each_key_of_a_read_has_its_form)
{
	static const struct refusal rows[] = {
		{STEPS(OPENED ",{'read':'$h','type':'i32'}"), "/steps/1",
			"'name' is missing: how later steps and the result call the copy"},
		{STEPS(OPENED ",{'read':'$h','type':'bytes','name':'x'}"), "/steps/1",
			NO_SIZE("bytes", "x")},
		{STEPS(OPENED ",{'read':'$h','type':'i32','name':'x','size':1}"), "/steps/1/size",
			"only bytes and an array in memory of the function have a 'size'"},
		{STEPS(OPENED ",{'read':'$y','type':'i32','name':'x'}"), "/steps/1/read",
			"no parameter and no earlier step sets 'y'"},
		{STEPS(OPENED ",{'read':'$h','type':'i32','name':'x','args':[]}"), "/steps/1/args",
			"unknown key 'args'"},
	};

	EXPECT_REFUSALS(rows);
}

Test(native_steps_read, each_key_of_a_repeat_has_its_form)
{
#define WHILE "must be \"not_null\", {\"equals\": NUMBER} or {\"not_equals\": NUMBER}"
	static const struct refusal rows[] = {
		{STEPS("{'repeat':5}"), "/steps/0/repeat", "must be a call with 'while', not 5"},
		{STEPS("{'repeat':{'call':'f','returns':{'type':'i32'},'while':5}}"),
			"/steps/0/repeat/while", WHILE ", not 5"},
		{STEPS("{'repeat':{'call':'f','returns':{'type':'i32'},'while':'null'}}"),
			"/steps/0/repeat/while", WHILE ", not \"null\""},
		{STEPS(REPEAT(",'max':1.5")), "/steps/0/max",
			"must be an integer from 1 to 1000000, not 1.5"},
		{STEPS(REPEAT(",'cut':1")), "/steps/0/cut", "must be true or false, not 1"},
		{STEPS(REPEAT(",'steps':[]")), "/steps/0/steps",
			"must be an array of at least one step, not an array"},
		{STEPS(REPEAT(",'collect':5")), "/steps/0/collect",
			"must be an object with 'name' and 'of', not 5"},
		{STEPS(REPEAT(",'collect':{'of':'$n'}")), "/steps/0/collect",
			"'name' is missing: how the result calls the list"},
		{STEPS(REPEAT(",'collect':{'name':'p','of':'$n'}")), "/steps/0/collect/name",
			"'p' is set twice: a name is set once"},
		{STEPS(REPEAT(",'finally':{'call':'g'}")), "/steps/0/finally",
			"unknown key 'finally'"},
	};
	static const char *const good[] = {STEPS(REPEAT(",'max':1")),
		STEPS(REPEAT(",'max':1000000")),
		STEPS("{'repeat':{'call':'f','returns':{'type':'i32'},'while':{'not_equals':1}}}"),
		STEPS("{'repeat':{'call':'f','returns':{'type':'handle'},'while':'not_null'}}")};

	EXPECT_REFUSALS(rows);
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		native_program_free(read_good(good[i], NULL));
}

Test(native_steps_read, has_10000_rounds_unless_it_has_a_max)
{
	struct native_program *program = read_good(STEPS(REPEAT("")), NULL);

	cr_expect_eq(program->steps[0].max, 10000);
	native_program_free(program);
	program = read_good(STEPS(REPEAT(",'max':7")), NULL);
	cr_expect_eq(program->steps[0].max, 7);
	native_program_free(program);
}

Test(native_steps_read, a_parameter_is_what_callers_give)
{
#define CALLERS(members)                                                                           \
	"{'parameters':[{'name':'a','type':'i32'},{'name':'p'," members "}],'steps':[{'call':'f'}" \
	"]}"
#define OF_STEPS(key)                                                                              \
	"in a tool with 'steps' the parameters are what callers give: '" key                       \
	"' belongs to the arguments of a step"
	static const struct refusal rows[] = {
		{CALLERS("'type':'i32','value':1"), "/parameters/1/value", OF_STEPS("value")},
		{CALLERS("'type':'u32','length_of':'a'"), "/parameters/1/length_of",
			OF_STEPS("length_of")},
		{CALLERS("'type':'bytes','capacity':1"), "/parameters/1/capacity",
			OF_STEPS("capacity")},
		{CALLERS("'type':'i32','default':'x'"), "/parameters/1/default",
			"must be an integer from -2147483648 to 2147483647, not \"x\""},
		{CALLERS("'type':'i33'"), "/parameters/1/type",
			"must be one of bool, i8, i16, i32, i64, u8, u16, u32, u64, isize, usize, "
			"f32, f64, str, bytes, json, array, strv, struct, enum, flags, not "
			"\"i33\""},
		{"{'parameters':[{'name':'a','type':'i32'},{'type':'i32'}],'steps':[{'call':'f'}]}",
			"/parameters/1", "'name' is missing: the argument's key"},
		{"{'parameters':{},'steps':[{'call':'f'}]}", "/parameters",
			"must be an array of parameters, not an object"},
		{"{'parameters':[],'steps':[{'call':'f'}],'result':5}", "/result",
			"must be an object of constants and \"$name\"s, not 5"},
		{"{'parameters':[],'steps':[{'call':'f'}],'x':5}", "/x", "unknown key 'x'"},
	};

	EXPECT_REFUSALS(rows);
}

Test(native_steps_read, init_keeps_only_memory_of_its_own_steps)
{
	static const struct refusal rows[] = {
		{"[{'call':'f','args':[{'i32':1,'keeps':true}]}]", "/0/args/0/keeps",
			"only memory is kept, and this argument is none: a number is passed as a "
			"copy, and a handle belongs to the library"},
		{"[{'call':'f','finally':{'call':'g','args':[{'str':'x','keeps':true}]}}]",
			"/0/finally/args/0/keeps",
			"only the call of a step itself can keep an argument, not its 'finally' or "
			"'message'"},
		{"[{'repeat':{'call':'f','returns':{'type':'i32'},'while':{'equals':1}},'steps':["
		 "{'call':'g','args':[{'str':'x','keeps':true}]}]}]",
			"/0/steps/0/args/0/keeps",
			"each round of a 'repeat' uses its memory again: what a function keeps "
			"belongs to a step of its own"},
		{"[{'call':'f','args':[{'str':'x','keeps':1}]}]", "/0/args/0/keeps",
			"must be true or false, not 1"},
	};
	static const struct {
		const char *object;
		bool keeps;
	} good[] = {
		{"[{'call':'f','args':[{'str':'x','keeps':true}]}]", true},
		{"[{'call':'f','args':[{'str':'x','keeps':false}]}]", false},
		{"[{'call':'f','args':[{'i32':1,'keeps':false}]}]", false},
		{"[{'call':'f','args':[{'out':{'name':'a','type':'i32','keeps':true}}]}]", true},
		{"[{'call':'f','args':[{'str':'x'}]}]", false},
	};

	EXPECT_REFUSALS(rows);
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		struct native_program *program = read_good(good[i].object, NULL);

		cr_expect_eq(program->keeps, good[i].keeps, "%s", good[i].object);
		native_program_free(program);
	}
}

Test(native_steps_read, a_format_writes_to_no_memory)
{
#define FORMAT(text) STEPS("{'call':'f','variadic':1,'args':[{'str':'" text "'},'$p']}")
#define WRITES       "/steps/0/args/0", "a format must not have %n, which writes to memory"
	static const struct refusal rows[] = {
		{FORMAT("%n"), WRITES},
		{FORMAT("%%%n"), WRITES},
		{FORMAT("%d %5$hhn"), WRITES},
		{FORMAT("% -+#0.*lln"), WRITES},
		{FORMAT("%d%%%d%Ln"), WRITES},
	};
	static const char *const good[] = {
		FORMAT("100%%n %d"), FORMAT("%dn"), FORMAT("n %d"), FORMAT("%d %"), FORMAT("%s%%")};

	EXPECT_REFUSALS(rows);
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		native_program_free(read_good(good[i], NULL));
}
