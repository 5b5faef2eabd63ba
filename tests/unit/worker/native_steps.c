/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "counting.h"

/* Running programs over a library that counts what it gives. */

#define LIMIT 120

/* One program, with `'` for `"`, and what comes of it. */
struct run {
	const char *object;
	const char *arguments;
	const char *answer;
	bool is_failure;
};

static char *quoted(const char *text)
{
	char *copy = strdup(text);

	for (char *at = copy; (at = strchr(at, '\''));)
		*at = '"';
	return copy;
}

/* Run the program once; nothing is open or lent after it. */
static void expect_run(const struct run *run)
{
	struct native_steps steps = {0};
	struct native_frames frames = {0};
	cleanup(diagnostics_deinit) struct diagnostics problems = {0};
	cleanup(buffer_deinit) struct buffer out = {0};
	struct counting counts;
	cleanup_free char *object = quoted(run->object);
	cleanup_free char *arguments = quoted(run->arguments);
	cleanup_free char *answer =
		run->answer[0] == '{' ? quoted(run->answer) : strdup(run->answer);
	int r = counting_load(object, NULL, NULL, &steps, &frames, &problems);

	cr_assert_eq(r, 0, "%s: %s %s", object, problems.n_items ? problems.items[0].pointer : "?",
		problems.n_items ? problems.items[0].text : "no such function");
	counting_reset();
	r = native_steps_run(&steps, &frames, arguments, strlen(arguments), 1000, &out);
	cr_expect_eq(r != 0, run->is_failure, "%s: %d", object, r);
	cr_expect_str_eq(buffer_terminate(&out), answer, "%s %s: %s", object, arguments, out.data);
	counts = counting_now();
	cr_expect(counts.n_things == 0 && counts.n_texts == 0 && counts.n_memory == 0 &&
			  counts.n_locks == 0,
		"%s: %u things, %u texts, %u memories", object, counts.n_things, counts.n_texts,
		counts.n_memory);
	native_steps_deinit(&steps);
	native_frames_deinit(&frames);
}

#define EXPECT_RUNS(rows)                                                                          \
	for (size_t row = 0; row < sizeof(rows) / sizeof(*(rows)); row++)                          \
	expect_run(&(rows)[row])

#define KIND "'parameters':[{'name':'kind','type':'i32'}]"
#define OPEN                                                                                       \
	"{'call':'thing_open','args':['$kind'],'returns':{'name':'t','type':'handle'},"            \
	"'finally':{'call':'thing_close','args':['$t']}}"
#define STEPS(steps)       "{" KIND ",'steps':[" OPEN "," steps "]}"
#define GET(symbol, value) "{'call':'" symbol "','args':['$t'],'returns':{'name':'" value "',"

Test(native_steps, pass_handles_on_and_end_them, .timeout = LIMIT)
{
	static const struct run rows[] = {
		{STEPS(GET("thing_kind", "n") "'type':'i32'}}"), "{'kind':3}", "{'n':3}", false},
		{STEPS(GET("thing_kind", "n") "'type':'i32','errors':'nonzero'}}"), "{'kind':3}",
			"thing_kind returned 3", true},
		{STEPS(GET("thing_kind", "n") "'type':'i32'}}"), "{'kind':-1}",
			"thing_open returned NULL", true},
		{STEPS("{'call':'thing_child','args':['$t'],'returns':{'name':'c','type':'handle'},"
		       "'finally':{'call':'thing_close','args':['$c']}},"
		       "{'call':'lock','args':['$c'],'finally':{'call':'unlock','args':['$c']}},"
		       "{'call':'thing_kind','args':['$c'],'returns':{'name':'n','type':'i32'}}"),
			"{'kind':2}", "{'n':2}", false},
	};

	EXPECT_RUNS(rows);
}

Test(native_steps, end_a_failed_step_only_when_told, .timeout = LIMIT)
{
#define TRY(finally)                                                                               \
	"{" KIND ",'steps':[{'call':'thing_try','args':['$kind',{'out':{'name':'t',"               \
	"'type':'handle','nullable':true}}],'returns':{'type':'i32','errors':'nonzero',"           \
	"'message':{'call':'thing_error','args':['$t']}}," finally "}]}"
	static const struct run rows[] = {
		{TRY("'finally':{'call':'thing_close','args':['$t'],'always':true}"), "{'kind':0}",
			"{}", false},
		{TRY("'finally':{'call':'thing_close','args':['$t'],'always':true}"), "{'kind':4}",
			"thing_try: thing 4 is broken", true},
	};
	static const struct run without_words[] = {
		{"{" KIND ",'steps':[{'call':'thing_try','args':['$kind',{'out':{'name':'t',"
		 "'type':'handle'}}],'returns':{'type':'i32','errors':'nonzero'},'finally':{'call':"
		 "'thing_close','args':['$t'],'always':true}}]}",
			"{'kind':7}", "thing_try returned 7", true},
	};

	EXPECT_RUNS(rows);
	EXPECT_RUNS(without_words);
}

Test(native_steps, give_no_freed_text_to_a_finally, .timeout = LIMIT)
{
	static const struct run rows[] = {
		{"{" KIND
		 ",'steps':[{'call':'thing_break','args':['$kind',{'out':{'name':'t','type':"
		 "'handle'}}],'returns':{'name':'s','type':'str','transfer':'full','free':"
		 "'text_free','errors':'errno'},'finally':{'call':'thing_end','args':['$t','$s'],"
		 "'always':true}}]}",
			"{'kind':5}", "thing_break returned a text: EIO (Input/output error)",
			true},
	};

	EXPECT_RUNS(rows);
}

#define NEST_5(value)  "[[[[[" value "]]]]]"
#define NEST_25(value) NEST_5(NEST_5(NEST_5(NEST_5(NEST_5(value)))))

/* The whole result is 128 deep at most. */
Test(native_steps, refuse_a_json_too_deep_for_its_place, .timeout = LIMIT)
{
#define DEEP(result)                                                                               \
	"{'parameters':[{'name':'text','type':'str'}],'steps':[{'call':'echo','args':['$text'],"   \
	"'returns':{'name':'j','type':'json'}}],'result':{'a':" result "}}"
#define DEEP_100 NEST_25(NEST_25(NEST_25(NEST_25(""))))
	static const struct run rows[] = {
		{DEEP(NEST_25("'$j'")), "{'text':'" DEEP_100 "'}", "{'a':" NEST_25(DEEP_100) "}",
			false},
		{DEEP(NEST_25("'$j'")), "{'text':'[[" DEEP_100 "]]'}",
			"{'a':" NEST_25("[[" DEEP_100 "]]") "}", false},
		{DEEP(NEST_25("'$j'")), "{'text':'[[[" DEEP_100 "]]]'}",
			"echo returned text that is not JSON (byte 102: expected fewer nested "
			"arrays and objects, found one level too many)",
			true},
		{DEEP("'$j'"), "{'text':'[[[" DEEP_100 "]]]'}", "{'a':[[[" DEEP_100 "]]]}", false},
	};

	EXPECT_RUNS(rows);
}

Test(native_steps, copy_what_a_library_lends, .timeout = LIMIT)
{
	static const struct run rows[] = {
		{STEPS(GET("thing_name", "a") "'type':'str'}}," GET(
			 "thing_name", "b") "'type':'str'"
					    "}}"),
			"{'kind':3}", "{'a':'name 0','b':'name 1'}", false},
		{STEPS(GET("thing_text", "a") "'type':'str','transfer':'full','free':'text_free'}},"
					      "{'call':'first','args':['$a'],'returns':{'name':"
					      "'n','type':'i32'}}"),
			"{'kind':3}", "{'a':'text','n':116}", false},
		{STEPS(GET(
			 "thing_text", "a") "'type':'str','transfer':'full','free':'text_free'}}"),
			"{'kind':9}", "thing_text returned text that is not UTF-8", true},
		{STEPS("{'call':'thing_fill','args':['$t',{'out':{'name':'x','type':'str',"
		       "'capacity':16}},{'inout':{'name':'n','type':'usize','length_of':'$x'}}],"
		       "'returns':{'type':'i32','errors':'negative'}}"),
			"{'kind':3}", "{'x':'filled','n':6}", false},
		{STEPS("{'call':'thing_fill','args':['$t',{'out':{'name':'x','type':'str',"
		       "'capacity':'$kind'}},{'inout':{'name':'n','type':'usize','length_of':'$x'}}"
		       "],'returns':{'type':'i32','errors':'negative'}},"
		       "{'call':'first','args':['$x'],'returns':{'name':'f','type':'i32'}}"),
			"{'kind':6}", "{'x':'filled','n':6,'f':102}", false},
		{STEPS("{'call':'thing_fill','args':['$t',{'out':{'name':'x','type':'str',"
		       "'capacity':'$kind'}},{'inout':{'name':'n','type':'usize','length_of':'$x'}}"
		       "],'returns':{'type':'i32','errors':'negative'}}"),
			"{'kind':0}",
			"thing_fill is not called: 'kind' must be from 1 to 8388608, the size of a "
			"buffer",
			true},
	};

	EXPECT_RUNS(rows);
}

Test(native_steps, copy_and_free_what_a_library_hands_over, .timeout = LIMIT)
{
#define GIVE                                                                                       \
	"{'call':'thing_give','args':['$t',{'out':{'name':'w','type':'str','transfer':'full',"     \
	"'free':'text_free','nullable':true}}],'returns':{'type':'i32'"
	static const struct run rows[] = {
		{STEPS(GIVE
			 "}},{'call':'first','args':['$w'],'returns':{'name':'f','type':'i32'}}"),
			"{'kind':3}", "{'w':'given 3','f':103}", false},
		{STEPS(GIVE
			 "}},{'call':'first','args':['$w'],'returns':{'name':'f','type':'i32'}}"),
			"{'kind':0}", "{'w':null,'f':-1}", false},
		{STEPS(GIVE ",'errors':'nonzero','message':'$w'}}"), "{'kind':3}",
			"thing_give: given 3", true},
		{STEPS(GIVE "}},{'call':'status','args':['$kind'],'returns':{'type':'i32','errors':"
			    "'nonzero'}}"),
			"{'kind':2}", "status returned 2", true},
		{STEPS("{'call':'thing_list','args':['$t'],'returns':{'name':'l','type':'strv'}},"
		       "{'call':'second','args':['$l'],'returns':{'name':'s','type':'str'}}"),
			"{'kind':3}", "{'l':['name 0','list'],'s':'list'}", false},
	};

	EXPECT_RUNS(rows);
}

Test(native_steps, begin_a_buffer_of_a_given_size_with_a_value, .timeout = LIMIT)
{
#define FILL(value)                                                                                \
	STEPS("{'call':'thing_name','args':['$t'],'returns':{'name':'s','type':'str'}},"           \
	      "{'call':'thing_fill','args':['$t',{'inout':{'name':'x','type':'str','capacity':"    \
	      "'$kind','value':'" value "'}},{'inout':{'name':'n','type':'usize','length_of':"     \
	      "'$x'}}],'returns':{'type':'i32','errors':'negative'}}")
#define NARROW                                                                                     \
	"{" KIND ",'steps':[{'call':'sum','args':[{'out':{'name':'x','type':'bytes','capacity':"   \
	"'$kind'}},{'length_of':'$x','type':'u8'}],'returns':{'name':'n','type':'u64'}}],"         \
	"'result':{'n':'$n'}}"
#define WIDE                                                                                       \
	"{" KIND ",'steps':[{'call':'sum','args':[{'out':{'name':'x','type':'bytes','capacity':"   \
	"'$kind'}},{'length_of':'$x','type':'u32'}],'returns':{'name':'n','type':'u64'}}],"        \
	"'result':{'n':'$n'}}"
	static const struct run rows[] = {
		{FILL("abc"), "{'kind':64}", "{'s':'name 0','x':'filled','n':6}", false},
		{FILL("$s"), "{'kind':7}", "{'s':'name 0','x':'filled','n':6}", false},
		{FILL("abc"), "{'kind':3}",
			"thing_fill is not called: 'x' has room for 3, and its value needs 4",
			true},
		{FILL("$s"), "{'kind':6}",
			"thing_fill is not called: 'x' has room for 6, and its value needs 7",
			true},
		{NARROW, "{'kind':255}", "{'n':0}", false},
		{NARROW, "{'kind':1}", "{'n':0}", false},
		{NARROW, "{'kind':256}",
			"sum is not called: 'kind' must be from 1 to 255, the size of a buffer",
			true},
		{NARROW, "{'kind':0}",
			"sum is not called: 'kind' must be from 1 to 255, the size of a buffer",
			true},
		{NARROW, "{'kind':-1}",
			"sum is not called: 'kind' must be from 1 to 255, the size of a buffer",
			true},
		{WIDE, "{'kind':8388608}", "{'n':0}", false},
		{WIDE, "{'kind':8388609}",
			"sum is not called: 'kind' must be from 1 to 8388608, the size of a buffer",
			true},
	};

	EXPECT_RUNS(rows);
}

Test(native_steps, keep_structs_as_they_were, .timeout = LIMIT)
{
#define PAIRS(steps)                                                                               \
	"{" KIND ",'structs':{'pair':{'fields':[{'name':'number','type':'i32'},{'name':'text',"    \
	"'type':'str'}]}},'steps':[" OPEN "," steps "]}"
#define PAIR                                                                                       \
	"{'call':'thing_pair','args':['$t',{'out':{'name':'p','type':'struct','struct':'pair'}}]}"
	static const struct run rows[] = {
		{PAIRS(PAIR "," GET("thing_name", "s") "'type':'str'}}"), "{'kind':3}",
			"{'p':{'number':3,'text':'name 0'},'s':'name 1'}", false},
		{PAIRS(PAIR
			 ",{'call':'pair_number','args':['$p'],'returns':{'name':'n','type':'i32'"
			 "}}"),
			"{'kind':3}", "{'p':{'number':3,'text':'name 0'},'n':9}", false},
		{PAIRS(GET("thing_lent", "p") "'type':'struct','struct':'pair'}}," GET(
			 "thing_name", "s") "'type':'str'}}"),
			"{'kind':3}", "{'p':{'number':3,'text':'name 0'},'s':'name 1'}", false},
		{PAIRS(GET(
			 "thing_lent", "h") "'type':'handle'}},{'read':'$h','struct':'pair','name'"
					    ":'p'}"),
			"{'kind':4}", "{'p':{'number':4,'text':'name 0'}}", false},
	};

	EXPECT_RUNS(rows);
}

Test(native_steps, use_fields_of_a_struct, .timeout = LIMIT)
{
#define NODE(steps, result)                                                                        \
	"{" KIND ",'structs':{'pair':{'fields':[{'name':'number','type':'i32'},{'name':'text',"    \
	"'type':'str'}]},'node':{'fields':[{'name':'number','type':'i32'},{'name':'tag','type':"   \
	"'str','count':4},{'name':'places','type':'i16','count':2},{'name':'inner','type':"        \
	"'struct','struct':'pair'},{'name':'next','type':'handle'},{'name':'raw','type':'bytes',"  \
	"'count':2},{'name':'flags','type':'bool','count':2}]}},'steps':[" OPEN                    \
	"," GET("thing_node", "h") "'type':'handle'}},{'read':'$h','struct':'node','name':'q'}"    \
				   "," steps "],'result':" result "}"
#define NAMED       "{'call':'thing_name','args':['$t'],'returns':{'type':'str'}}"
#define FIRST(name) "{'call':'first','args':['" name "'],'returns':{'name':'n','type':'i32'}}"
	static const struct run rows[] = {
		/* Copied at once: the next name of the thing does not change them. */
		{NODE(NAMED, "{'a':'$q.number','b':'$q.tag','c':'$q.places','d':'$q.inner','e':"
			     "'$q.inner.text','f':'$q.raw'}"),
			"{'kind':3}",
			"{'a':3,'b':'abc','c':[-1,2],'d':{'number':7,'text':'name 0'},'e':"
			"'name 0','f':'AQI='}",
			false},
		{NODE("{'call':'thing_kind','args':['$q.next'],'returns':{'name':'k','type':'i32'}"
		      "}",
			 "{'k':'$k'}"),
			"{'kind':3}", "{'k':3}", false},
		{NODE("{'call':'thing_kind','args':['$q.next'],'returns':{'name':'k','type':'i32'}"
		      "}",
			 "{'k':'$k'}"),
			"{'kind':0}", "thing_kind is not called: 'q.next' is NULL", true},
		{NODE("{'call':'thing_kind','when':'$q.next','args':['$q.next'],'returns':{'name':"
		      "'k','type':'i32','nullable':true}}",
			 "{'k':'$k'}"),
			"{'kind':0}", "{'k':null}", false},
		/* The elements of arrays: of numbers, of bools, and of pointers. */
		{NODE(NAMED, "{'a':'$q.places.0','b':'$q.places.1','c':'$q.flags.0'}"),
			"{'kind':3}", "{'a':-1,'b':2,'c':true}", false},
		{"{" KIND ",'structs':{'node':{'fields':[{'name':'head','type':'i16','count':6},"
		 "{'name':'all','type':'handle','count':3,'nullable':true}]}},'steps':[" OPEN
		 "," GET("thing_node", "h") "'type':'handle'}},{'read':'$h','struct':'node','name':"
					    "'q'},{'call':'thing_kind','when':'$q.all.2','args':["
					    "'$q.all.2'],'returns':{'name':'k','type':'i32',"
					    "'nullable':true}}],'result':{'k':'$k'}}",
			"{'kind':3}", "{'k':3}", false},
		/* An inout struct begins with all of another one, its handles too. */
		{NODE("{'call':'first','args':[{'inout':{'name':'p','type':'struct','struct':"
		      "'node','value':'$q'}}],'returns':{'name':'n','type':'i32'}},{'call':"
		      "'thing_kind','args':['$p.next'],'returns':{'name':'k','type':'i32'}}",
			 "{'n':'$n','k':'$k','p':'$p.number'}"),
			"{'kind':3}", "{'n':3,'k':3,'p':3}", false},
		{NODE(FIRST("$q.tag"), "{'n':'$n'}"), "{'kind':3}", "{'n':97}", false},
		{NODE(FIRST("$q.inner.text"), "{'n':'$n'}"), "{'kind':3}", "{'n':110}", false},
		{NODE(FIRST("$q.tag"), "{'n':'$n'}"), "{'kind':9}",
			"first is not called: 'q.tag' has no NUL", true},
		{NODE("{'call':'pair_number','args':['$q.inner'],'returns':{'name':'n','type':"
		      "'i32'}}",
			 "{'n':'$n','again':'$q.inner.number'}"),
			"{'kind':3}", "{'n':13,'again':7}", false},
		{NODE("{'call':'sum','args':['$q.raw',{'length_of':'$q.raw','type':'u32'}],"
		      "'returns':{'name':'n','type':'u64'}}",
			 "{'n':'$n'}"),
			"{'kind':3}", "{'n':3}", false},
		{NODE("{'call':'thing_data','args':['$t'],'returns':{'name':'d','type':'bytes',"
		      "'size':['$q.number','$q.number']}}",
			 "{'d':'$d'}"),
			"{'kind':2}", "{'d':'AAECAw=='}", false},
		{NODE("{'call':'thing_data','args':['$t'],'returns':{'name':'d','type':'bytes',"
		      "'size':['$q.number','$q.number']}}",
			 "{'d':'$d'}"),
			"{'kind':3000}", "thing_data returned more than 8388608 elements", true},
		{NODE("{'call':'count','args':[{'size_of':'$q'}],'returns':{'name':'n','type':"
		      "'usize'}}",
			 "{'n':'$n'}"),
			"{'kind':3}", "{'n':48}", false},
	};
	/* A call passes the fields of an argument, and of a step that has failed. */
	static const struct run others[] = {
		{"{'structs':{'pair':{'fields':[{'name':'number','type':'i32'},{'name':'text',"
		 "'type':'str','required':true}]}},'parameters':[{'name':'p','type':'struct',"
		 "'struct':'pair'}],'steps':[" FIRST("$p.text") "],'result':{'n':'$n','number':"
								"'$p.number'}}",
			"{'p':{'text':'xyz'}}", "{'n':120,'number':0}", false},
		{PAIRS("{'call':'thing_lent','args':['$t'],'returns':{'name':'p','type':'struct',"
		       "'struct':'pair','errors':'null'}},{'call':'status','args':['$p.number'],"
		       "'returns':{'type':'i32','errors':'nonzero','message':'$p.text'}}"),
			"{'kind':3}", "status: name 0", true},
	};

	EXPECT_RUNS(rows);
	EXPECT_RUNS(others);
}

Test(native_steps, name_a_failure_by_a_table_or_by_words, .timeout = LIMIT)
{
#define TABLE                                                                                      \
	"{" KIND ",'enums':{'codes':{'E_FULL':-28,'E_LOST':5}},'steps':[{'call':'status','args':"  \
	"['$kind'],'returns':{'type':'i32','errors':'nonzero','message':{'table':'codes'}}}]}"
	static const struct run rows[] = {
		{TABLE, "{'kind':0}", "{}", false},
		{TABLE, "{'kind':5}", "status: E_LOST", true},
		{TABLE, "{'kind':-28}", "status: E_FULL", true},
		{TABLE, "{'kind':6}", "status returned 6", true},
		{"{" KIND ",'steps':[{'call':'status','args':['$kind'],'returns':{'type':'i32',"
		 "'errors':'nonzero','message':'it is full'}}]}",
			"{'kind':6}", "status: it is full", true},
	};

	EXPECT_RUNS(rows);
}

Test(native_steps, convert_and_measure, .timeout = LIMIT)
{
#define TEXTS                                                                                      \
	"'parameters':[{'name':'text','type':'str','nullable':true},{'name':'data','type':'bytes'" \
	",'default':'AAEC'},{'name':'n','type':'i64','default':5}]"
	static const struct run rows[] = {
		{"{" TEXTS
		 ",'steps':[{'call':'sum','args':['$data',{'length_of':'$data','type':'u32'"
		 "}],'returns':{'name':'r','type':'u64'}}]}",
			"{'data':'AQID'}", "{'r':6}", false},
		{"{" TEXTS
		 ",'steps':[{'call':'sum','args':['$data',{'length_of':'$data','type':'u32'"
		 "}],'returns':{'name':'r','type':'u64'}}]}",
			"{}", "{'r':3}", false},
		{"{" TEXTS ",'steps':[{'call':'count','args':[{'size_of':'$data'}],"
		 "'returns':{'name':'r','type':'usize'}},{'call':'count','args':[{'size_of':'$n'}],"
		 "'returns':{'name':'w','type':'usize'}}]}",
			"{}", "{'r':3,'w':8}", false},
		{"{'structs':{'s':{'fields':[{'name':'a','type':'i64'},{'name':'b','type':'i32'}]}}"
		 ",'parameters':[{'name':'x','type':'struct','struct':'s'}],'steps':[{'call':"
		 "'count','args':[{'size_of':'$x'}],'returns':{'name':'r','type':'usize'}},"
		 "{'call':'count','args':[{'size_of':'$y'},{'out':{'name':'y','type':'struct',"
		 "'struct':'s'}}],'returns':{'name':'w','type':'usize'}},{'call':'count','args':"
		 "[{'size_of':'$y'}],'returns':{'name':'v','type':'usize'}}],'result':{'r':'$r',"
		 "'w':'$w','v':'$v'}}",
			"{'x':{'a':1,'b':2}}", "{'r':16,'w':16,'v':16}", false},
		{"{" TEXTS ",'steps':[{'call':'status','args':[{'as':'i32','value':'$n'}],"
		 "'returns':{'name':'r','type':'i32'}}]}",
			"{'n':-7}", "{'r':-7}", false},
		{"{" TEXTS ",'steps':[{'call':'status','args':[{'as':'i32','value':'$n'}],"
		 "'returns':{'name':'r','type':'i32'}}]}",
			"{'n':2147483648}", "status is not called: 'n' does not fit i32", true},
		{"{" TEXTS ",'steps':[{'call':'status','args':[{'i32':-3}],'returns':{'name':'s',"
		 "'type':'i32'}},{'call':'total','variadic':1,'args':[{'i32':3},{'i8':-7},'$s',{"
		 "'as':'i16','value':'$n'}],'returns':{'name':'r','type':'i64'}}]}",
			"{'n':100}", "{'s':-3,'r':90}", false},
		{"{" TEXTS ",'steps':[{'call':'first','args':['$text'],"
		 "'returns':{'name':'r','type':'i32'}}]}",
			"{'text':'A'}", "{'r':65}", false},
		{"{" TEXTS ",'steps':[{'call':'first','args':['$text'],"
		 "'returns':{'name':'r','type':'i32'}}]}",
			"{}", "{'r':-1}", false},
		{"{" TEXTS ",'steps':[{'call':'status','args':[{'i32':4}],'when':'$text',"
		 "'returns':{'name':'r','type':'i32','nullable':true}},"
		 "{'call':'status','args':['$r'],'when':'$text',"
		 "'returns':{'name':'s','type':'i32','nullable':true}},"
		 "{'call':'status','args':[{'i32':6}],'unless':'$text',"
		 "'returns':{'name':'u','type':'i32','nullable':true}}]}",
			"{'text':'A'}", "{'r':4,'s':4,'u':null}", false},
		{"{" TEXTS ",'steps':[{'call':'status','args':[{'i32':4}],'when':'$text',"
		 "'returns':{'name':'r','type':'i32','nullable':true}},"
		 "{'call':'status','args':[{'i32':6}],'unless':'$text',"
		 "'returns':{'name':'u','type':'i32','nullable':true}}],"
		 "'result':{'deep':[{'r':'$r'},'$u',true],'money':'$$5'}}",
			"{'text':''}", "{'deep':[{'r':null},6,true],'money':'$5'}", false},
	};

	EXPECT_RUNS(rows);
}

Test(native_steps, pass_a_number_as_another_type_only_where_it_fits, .timeout = LIMIT)
{
#define PASS(from, symbol, to)                                                                     \
	"{'parameters':[{'name':'x','type':'" from "'}],'steps':[{'call':'" symbol                 \
	"','args':[{'as':'" to "','value':'$x'}],'returns':{'name':'r','type':'" to "'}}]}"
	static const struct run rows[] = {
		{PASS("f64", "wide", "i64"), "{'x':-3}", "{'r':-3}", false},
		{PASS("f64", "wide", "i64"), "{'x':2.5}",
			"wide is not called: 'x' does not fit i64", true},
		{PASS("f64", "wide", "i64"), "{'x':-9223372036854775808}",
			"{'r':-9223372036854775808}", false},
		{PASS("f64", "wide", "i64"), "{'x':-9223372036854777856}",
			"wide is not called: 'x' does not fit i64", true},
		{PASS("f64", "wide", "i64"), "{'x':9223372036854775808}",
			"wide is not called: 'x' does not fit i64", true},
		{PASS("f64", "count", "usize"), "{'x':18446744073709549568}",
			"{'r':18446744073709549568}", false},
		{PASS("f64", "count", "usize"), "{'x':18446744073709551616}",
			"count is not called: 'x' does not fit usize", true},
		{PASS("f32", "count", "usize"), "{'x':-1}",
			"count is not called: 'x' does not fit usize", true},
		{PASS("i64", "real", "f64"), "{'x':-7}", "{'r':-7.0}", false},
		{PASS("u64", "real", "f64"), "{'x':9223372036854775808}",
			"{'r':9.223372036854776e+18}", false},
		{PASS("f64", "single", "f32"), "{'x':0.5}", "{'r':0.5}", false},
		{PASS("f64", "single", "f32"), "{'x':1e39}",
			"single is not called: 'x' does not fit f32", true},
	};

	EXPECT_RUNS(rows);
}

/* Pass @x, of the type @from, as @to: @fits, or not. */
static void expect_passed(const char *from, const char *to, const char *x, bool fits)
{
	char object[512], arguments[64], answer[128];

	snprintf(object, sizeof(object),
		"{'parameters':[{'name':'x','type':'%s'}],'steps':[{'call':'total','variadic':1,"
		"'args':[{'i32':1},{'as':'%s','value':'$x'}],'returns':{'name':'r','type':'i64'}}]"
		"}",
		from, to);
	snprintf(arguments, sizeof(arguments), "{'x':%s}", x);
	if (fits)
		snprintf(answer, sizeof(answer), "{'r':%s}", x);
	else
		snprintf(answer, sizeof(answer), "total is not called: 'x' does not fit %s", to);
	expect_run(&(struct run){object, arguments, answer, !fits});
}

Test(native_steps, pass_a_number_up_to_the_limits_of_its_type, .timeout = LIMIT)
{
	static const struct {
		const char *type;
		const char *below, *least, *most, *above;
	} rows[] = {
		{"i8", "-129", "-128", "127", "128"},
		{"u8", "-1", "0", "255", "256"},
		{"i16", "-32769", "-32768", "32767", "32768"},
		{"u16", "-1", "0", "65535", "65536"},
		{"i32", "-2147483649", "-2147483648", "2147483647", "2147483648"},
	};
	static const char *const from[] = {"i64", "f64"};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		for (size_t k = 0; k < 2; k++) {
			expect_passed(from[k], rows[i].type, rows[i].below, false);
			expect_passed(from[k], rows[i].type, rows[i].least, true);
			expect_passed(from[k], rows[i].type, rows[i].most, true);
			expect_passed(from[k], rows[i].type, rows[i].above, false);
		}
	expect_passed("i8", "i32", "-5", true);
	expect_passed("u8", "i32", "200", true);
	expect_passed("i16", "i32", "-300", true);
	expect_passed("i32", "i16", "-300", true);
	expect_passed("u64", "i32", "18446744073709551615", false);
	expect_passed("f32", "i8", "-0.5", false);
}

Test(native_steps, pass_numbers_of_64_bits, .timeout = LIMIT)
{
	static const struct run rows[] = {
		{PASS("u64", "wide", "i64"), "{'x':9223372036854775807}",
			"{'r':9223372036854775807}", false},
		{PASS("u64", "wide", "i64"), "{'x':9223372036854775808}",
			"wide is not called: 'x' does not fit i64", true},
		{PASS("i64", "count", "usize"), "{'x':-1}",
			"count is not called: 'x' does not fit usize", true},
		{PASS("i8", "wide", "i64"), "{'x':-128}", "{'r':-128}", false},
		{PASS("bool", "wide", "i64"), "{'x':true}", "{'r':1}", false},
		{PASS("i32", "wide", "i64"), "{'x':-2147483648}", "{'r':-2147483648}", false},
		{PASS("u32", "wide", "i64"), "{'x':4294967295}", "{'r':4294967295}", false},
		{PASS("i64", "single", "f32"), "{'x':-3}", "{'r':-3.0}", false},
		{PASS("f32", "real", "f64"), "{'x':-0.5}", "{'r':-0.5}", false},
		{PASS("f64", "single", "f32"), "{'x':-1e39}",
			"single is not called: 'x' does not fit f32", true},
		{PASS("f64", "wide", "i64"), "{'x':-0.5}",
			"wide is not called: 'x' does not fit i64", true},
	};

	EXPECT_RUNS(rows);
}

Test(native_steps, repeat_while_the_value_fits, .timeout = LIMIT)
{
#define REPEAT(more, body)                                                                         \
	STEPS("{'repeat':{'call':'thing_next','args':['$t'],'returns':{'type':'i32'},"             \
	      "'while':{'equals':1}}," more ",'steps':[" body "]}")
#define CHILD                                                                                      \
	"{'call':'thing_child','args':['$t'],'returns':{'name':'c','type':'handle'},"              \
	"'finally':{'call':'thing_close','args':['$c']}},"                                         \
	"{'call':'thing_kind','args':['$c'],'returns':{'name':'k','type':'i32'}}"
	static const struct run rows[] = {
		{REPEAT("'collect':{'name':'all','of':{'k':'$k','x':1}}", CHILD), "{'kind':3}",
			"{'all':[{'k':3,'x':1},{'k':3,'x':1},{'k':3,'x':1}]}", false},
		{REPEAT("'collect':{'name':'all','of':'$k'}", CHILD), "{'kind':0}", "{'all':[]}",
			false},
		{REPEAT("'max':2,'collect':{'name':'all','of':'$k'}", CHILD), "{'kind':2}",
			"{'all':[2,2]}", false},
		{REPEAT("'max':2,'collect':{'name':'all','of':'$k'}", CHILD), "{'kind':3}",
			"{'code':'too_large','values':2}", true},
		{REPEAT("'max':2,'cut':true,'collect':{'name':'all','of':'$k'}", CHILD),
			"{'kind':3}", "{'all':[3,3],'truncated':true}", false},
		{REPEAT("'max':2,'cut':true,'collect':{'name':'all','of':'$k'}", CHILD),
			"{'kind':2}", "{'all':[2,2]}", false},
		{REPEAT("'max':2,'cut':true", CHILD), "{'kind':3}", "{'truncated':true}", false},
		{REPEAT("'max':2", CHILD ",{'call':'status','args':['$k'],'returns':{'type':'i32',"
					 "'errors':'nonzero','message':{'call':'thing_error',"
					 "'args':['$c']}}}"),
			"{'kind':2}", "status: thing 2 is broken", true},
		{REPEAT("'collect':{'name':'all','of':{'o':'$o'}}",
			 GET("thing_odd", "o") "'type':'str'}}"),
			"{'kind':3}", "thing_odd returned text that is not UTF-8", true},
		{REPEAT("'max':999,'collect':{'name':'all','of':{'a text of some length':'$k'}}",
			 CHILD),
			"{'kind':99}", "{'code':'too_large','actual':1014,'max':1000}", true},
	};

	EXPECT_RUNS(rows);
}

Test(native_steps, read_what_a_handle_points_at, .timeout = LIMIT)
{
	static const struct run rows[] = {
		{STEPS(GET("thing_data", "d") "'type':'handle'}},{'read':'$d','type':'u32','name':"
					      "'n'}"),
			"{'kind':4}", "{'n':50462976}", false},
		{STEPS(GET("thing_name", "d") "'type':'handle'}},{'read':'$d','type':'str','name':"
					      "'s'}"),
			"{'kind':4}", "{'s':'name 0'}", false},
		{STEPS(GET("thing_data", "d") "'type':'bytes','size':'$kind'}}"), "{'kind':3}",
			"{'d':'AAEC'}", false},
		{STEPS(GET("thing_data", "d") "'type':'handle'}}," GET("thing_size",
			 "n") "'type':'usize'}},{'read':'$d','type':'bytes','size':['$n',1,1],"
			      "'name':'x'},{'read':'$d','type':'array','items':'u16','size':2,"
			      "'name':'y'}"),
			"{'kind':4}", "{'n':4,'x':'AAECAw==','y':[256,770]}", false},
		{"{" KIND
		 ",'steps':[{'call':'words','returns':{'name':'h','type':'handle','nullable':"
		 "true}},{'read':'$h','type':'str','name':'s','nullable':true},{'call':'first',"
		 "'args':['$s'],'returns':{'name':'f','type':'i32'}}]}",
			"{'kind':1}", "{'s':null,'f':-1}", false},
		{"{" KIND
		 ",'steps':[{'call':'words','returns':{'name':'h','type':'handle','nullable':"
		 "true}},{'read':'$h','type':'str','name':'s'}]}",
			"{'kind':1}", "read returned NULL", true},
		{STEPS(GET("thing_data", "d") "'type':'bytes','size':['$kind','$kind']}}"),
			"{'kind':3000}", "thing_data returned more than 8388608 elements", true},
		{STEPS(GET("thing_data", "d") "'type':'bytes','size':['$kind']}}"), "{'kind':0}",
			"{'d':''}", false},
	};

	EXPECT_RUNS(rows);
}

Test(native_steps, give_memory_that_lives_until_the_end, .timeout = LIMIT)
{
	static const struct run rows[] = {
		{"{" KIND ",'steps':[{'call':'memory_prepare','args':[{'out':{'name':'m',"
		 "'type':'handle','size':8,'c':'struct memory'}},'$kind'],"
		 "'finally':{'call':'memory_release','args':['$m']}},"
		 "{'call':'memory_kind','args':['$m'],'returns':{'name':'n','type':'i32'}},"
		 "{'call':'status','args':['$n'],'returns':{'type':'i32','errors':'negative'}}]}",
			"{'kind':5}", "{'n':5}", false},
		{"{" KIND ",'steps':[{'call':'memory_prepare','args':[{'out':{'name':'m',"
		 "'type':'handle','size':4,'c':'struct memory'}},'$kind'],"
		 "'finally':{'call':'memory_release','args':['$m'],'always':true}}]}",
			"{'kind':5}",
			"memory_prepare wrote past the end of 'm', which has room for 4", true},
	};

	EXPECT_RUNS(rows);
}

Test(native_steps, keep_the_values_of_init_for_every_call, .timeout = LIMIT)
{
	struct native_steps init = {0};
	struct native_steps steps = {0};
	struct native_frames init_frames = {0};
	struct native_frames frames = {0};
	struct diagnostics problems = {0};
	cleanup(buffer_deinit) struct buffer out = {0};
	cleanup_free char *first =
		quoted("[{'call':'thing_open','args':[{'i32':6}],'returns':{'name':'db',"
		       "'type':'handle'},'finally':{'call':'thing_close','args':['$db']}}]");
	cleanup_free char *tool =
		quoted("{'steps':[{'call':'thing_kind','args':['$$db'],'returns':{'name':'n',"
		       "'type':'i32'}}]}");

	counting_reset();
	cr_assert_eq(counting_load(first, NULL, NULL, &init, &init_frames, &problems), 0);
	cr_assert_eq(counting_load(tool, &init, &init_frames, &steps, &frames, &problems), 0, "%s",
		problems.n_items ? problems.items[0].text : "");
	cr_assert_eq(native_steps_begin(&init, &init_frames, &out), 0);
	for (int i = 0; i < 3; i++) {
		buffer_reset(&out);
		cr_expect_eq(native_steps_run(&steps, &frames, "{}", 2, 1000, &out), 0);
		cr_expect_str_eq(buffer_terminate(&out), "{\"n\":6}");
	}
	cr_expect_eq(counting_now().n_things, 1);
	native_steps_end(&init, &init_frames);
	cr_expect_eq(counting_now().n_things, 0);
	native_steps_deinit(&steps);
	native_steps_deinit(&init);
	native_frames_deinit(&frames);
	native_frames_deinit(&init_frames);
}

Test(native_steps, tell_too_many_rounds_of_init_in_words, .timeout = LIMIT)
{
	struct native_steps init = {0};
	struct native_frames frames = {0};
	struct diagnostics problems = {0};
	cleanup(buffer_deinit) struct buffer out = {0};
	char *text =
		quoted("[{'repeat':{'call':'status','args':[{'i32':1}],'returns':{'type':'i32'},"
		       "'while':{'equals':1}},'max':3}]");

	cr_assert_eq(counting_load(text, NULL, NULL, &init, &frames, &problems), 0);
	cr_expect_eq(native_steps_begin(&init, &frames, &out), NATIVE_STEPS_E_FAILED);
	cr_expect_str_eq(buffer_terminate(&out), "status began more than 3 rounds");
	native_steps_deinit(&init);
	native_frames_deinit(&frames);
	free(text);
}

/* Each text is allowed. */
Test(native_steps, keep_a_limited_size_of_what_one_call_leaves, .timeout = LIMIT)
{
#define LENT(name) "{'out':{'name':'" name "','type':'str','transfer':'none'}}"
	static const struct run rows[] = {
		{"{'steps':[{'call':'long_texts','args':[" LENT("a") "," LENT("b") "," LENT(
			 "c") "]"
			      "}],'result':{}}",
			"{}", "long_texts left more than 134217728 bytes", true},
	};

	EXPECT_RUNS(rows);
}
