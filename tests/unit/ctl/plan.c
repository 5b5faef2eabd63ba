/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/header/plan_write.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/header/comment.h"
#include "json/reader.h"
#include "util/array.h"
#include "util/cleanup.h"

TestSuite(ctl_plan, .timeout = 20);

static bool is_there(void *data, const struct c_function *function)
{
	(void)data;
	return strncmp(function->name, "absent", 6) != 0;
}

static struct header read_header(const char *text)
{
	struct header header = {0};

	buffer_append_string(&header.text, text);
	cr_assert(buffer_terminate(&header.text));
	cr_assert_eq(header_read_text(&header), 0);
	cr_assert_eq(comment_place(&header), 0);
	cr_assert_eq(header.declarations.n_skipped, 0, "%s", text);
	return header;
}

/* Plan the function @name of the header @text. Return the tool without newlines and without the
 * blanks after them, or the reason; the caller frees it. */
static char *plan(const char *text, const char *name)
{
	cleanup(header_deinit) struct header header = read_header(text);
	struct planner planner = {.header = &header, .is_there = is_there};
	cleanup(buffer_deinit) struct buffer tool = {0};
	cleanup(buffer_deinit) struct buffer names = {0};
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	struct buffer out = {0};
	struct plan made;

	if (!plan_make(&planner, c_find_function(&header.declarations, name), &made))
		return strdup(made.reason);
	plan_write_enums(&made, &names, &out);
	plan_write_tool(&header, &made, &tool);
	cr_assert(buffer_terminate(&tool));
	cr_assert_eq(json_tape_read(&tape, tool.data, tool.size, JSON_DEPTH_DEFAULT, NULL), 0, "%s",
		tool.data);
	for (const char *at = tool.data; *at; at++) {
		if (*at != '\n')
			buffer_append_char(&out, *at);
		else
			at += strspn(at + 1, " ");
	}
	return buffer_take(&out, NULL);
}

/* Expect that the tool has the text @part, with ' in place of ". */
static void expect(const char *text, const char *name, const char *part)
{
	cleanup_free char *tool = plan(text, name);
	cleanup_free char *wanted = strdup(part);

	for (char *at = wanted; (at = strchr(at, '\''));)
		*at = '"';
	cr_expect(strstr(tool, wanted), "not %s in\n%s", wanted, tool);
}

static void expect_reason(const char *text, const char *name, const char *reason)
{
	cleanup_free char *found = plan(text, name);

	cr_expect_str_eq(found, reason);
}

Test(ctl_plan, passes_numbers_and_texts)
{
	expect("double f(long a, const char *text, _Bool b, unsigned char);", "f",
		"{'symbol': 'f','parameters': [{'name': 'a', 'type': 'i64'},"
		"{'name': 'text', 'type': 'str'},{'name': 'b', 'type': 'bool'},"
		"{'name': 'argument4', 'type': 'u8'}],"
		"'returns': {'name': 'result', 'type': 'f64'}}");
	expect("void f(void);", "f", "'native': {'symbol': 'f'}");
	expect("typedef unsigned long size_t; size_t f(void);", "f", "'type': 'usize'");
	expect("const char *f(void);", "f", "'type': 'str', 'nullable': true}");
}

Test(ctl_plan, finds_the_length_of_a_buffer)
{
	expect("int f(const void *data, unsigned n);", "f",
		"{'name': 'data', 'type': 'bytes'},"
		"{'name': 'n', 'type': 'u32', 'length_of': 'data'}]");
	expect("int f(long size, const unsigned char *bytes);", "f",
		"{'name': 'size', 'type': 'i64', 'length_of': 'bytes'}");
	expect("int f(const unsigned char *m, int flag, unsigned long mlen);", "f",
		"{'name': 'mlen', 'type': 'u64', 'length_of': 'm'}");
	expect("int f(const float *values, int count);", "f",
		"{'name': 'values', 'type': 'array', 'items': 'f32'},"
		"{'name': 'count', 'type': 'i32', 'length_of': 'values'}");
	expect("int f(const void *data, int flag);", "f", "'question': 'how many bytes does");
	expect("int f(char *__s, int __n);", "f", "{'name': 'n', 'type': 'i32', 'length_of': 's'}");
	/* A number after a text is its length only by its name. */
	expect("int f(const char *text, int times);", "f", "{'name': 'times', 'type': 'i32'}");
}

Test(ctl_plan, knows_no_size_of_a_struct_within_itself)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	expect_reason(
		"struct s { struct s x; }; int f(struct s *p);", "f", "no function makes its 's'");
	expect_reason("struct s { struct s { int a; } x; }; int f(struct s v);", "f",
		"'v' is a struct by value");
	/* Each struct is measured once. */
	buffer_append_string(&text, "struct s0 { char c; };");
	for (int i = 1; i <= 70; i++)
		buffer_printf(&text, "struct s%d { struct s%d a, b; };", i, i - 1);
	buffer_append_string(&text, "int f(struct s70 *p); int g(struct s10 *p);");
	cr_assert(buffer_terminate(&text));
	expect_reason(text.data, "f", "no function makes its 's70'");
	expect(text.data, "g", "1024");
}

Test(ctl_plan, asks_how_large_output_may_become)
{
	expect("int f(unsigned char *dest, unsigned long *destLen, const void *p, int size);", "f",
		"{'name': 'dest', 'type': 'bytes', 'dir': 'out', 'capacity': 65536, "
		"'question': 'how large may it become? 65536 is assumed'},"
		"{'name': 'destLen', 'type': 'u64', 'length_of': 'dest', 'dir': 'inout'}");
	expect("int f(char *text, int size);", "f", "'length_of': 'text'}");
	expect("int f(int *x, const double *y);", "f",
		"{'name': 'x', 'type': 'i32', 'dir': 'out'},"
		"{'name': 'y', 'type': 'f64', 'dir': 'inout'}");
}

#define DB                                                                                         \
	"typedef struct db db; int db_open(const char *path, db **ret); void db_close(db *d);"     \
	"int db_count(db *d); db *db_copy(db *d); const char *db_name(const db *d, int n);"

Test(ctl_plan, makes_a_handle_and_frees_it)
{
	expect(DB, "db_count",
		"'parameters': [{'name': 'path', 'type': 'str'}],"
		"'steps': [{'call': 'db_open', 'args': ['$path', {'out': {'name': 'ret', "
		"'type': 'handle'}}], 'returns': {'type': 'i32'},"
		"'finally': {'call': 'db_close', 'args': ['$ret']}},"
		"{'call': 'db_count', 'args': ['$ret'], "
		"'returns': {'name': 'result', 'type': 'i32'}}]");
	/* A destructor is not called twice. */
	expect(DB, "db_close",
		"'returns': {'type': 'i32'}},{'call': 'db_close', 'args': ['$ret']}]");
	expect(DB, "db_open", "'finally': {'call': 'db_close', 'args': ['$ret']}}]");
	expect("typedef void CURL; CURL *curl_easy_init(void); void curl_easy_cleanup(CURL *c);"
	       "int curl_easy_perform(CURL *c);",
		"curl_easy_perform",
		"{'call': 'curl_easy_init', 'returns': {'name': 'curl_easy_init', 'type': "
		"'handle'},'finally': {'call': 'curl_easy_cleanup', 'args': ['$curl_easy_init']}}");
	expect_reason("struct x; int f(struct x *x);", "f", "no function makes its 'x'");
	/* The returned handle may be the parameter: free no handle twice. */
	expect("struct a; struct a *a_new(void); struct a *a_begin_child(struct a *parent);"
	       "void a_free(struct a *x);",
		"a_begin_child",
		"{'call': 'a_begin_child', 'args': ['$a_new'], "
		"'returns': {'name': 'result', 'type': 'handle', 'nullable': true}}]}}");
}

Test(ctl_plan, gives_each_value_a_name_of_its_own)
{
	static const char text[] =
		"struct a; struct a *a_new(int n, int); int a_use(struct a *, int n,"
		"int); int pair(struct a *x, struct a *y);";

	expect(text, "a_use",
		"'parameters': [{'name': 'n', 'type': 'i32'},{'name': 'argument2', 'type': 'i32'},"
		"{'name': 'n_2', 'type': 'i32'},{'name': 'argument3', 'type': 'i32'}]");
	expect(text, "pair", "{'call': 'pair', 'args': ['$a_new', '$a_new_2']");
	/* A number that comes out is no length of a number. */
	expect("int f(double *, int *);", "f",
		"{'name': 'argument1', 'type': 'f64', 'dir': 'out'},"
		"{'name': 'argument2', 'type': 'i32', 'dir': 'out'}");
}

Test(ctl_plan, chooses_the_nearest_constructor)
{
	static const char text[] =
		"struct a; struct a *a_read_new(void); struct a *a_write_new(void);"
		"void a_read_free(struct a *x); void a_write_free(struct a *x);"
		"int a_write_close(struct a *x); int a_write_header(struct a *x);"
		"int a_read_header(struct a *x);";

	expect(text, "a_read_header", "{'call': 'a_read_new'");
	expect(text, "a_read_header", "'finally': {'call': 'a_read_free'");
	expect(text, "a_write_header", "{'call': 'a_write_new'");
	expect(text, "a_write_header", "'finally': {'call': 'a_write_free'");
}

Test(ctl_plan, gives_memory_to_a_struct)
{
	static const char text[] = "typedef struct { unsigned long state[8]; unsigned char buf[3]; "
				   "int n; } hash_state;"
				   "int hash_init(hash_state *s); int hash_update(hash_state *s, "
				   "const void *p, int n);";

	expect(text, "hash_update",
		"{'call': 'hash_init', 'args': [{'out': {'name': 's', 'type': 'handle', "
		"'size': 72, 'c': 'hash_state'}}]");
	expect(text, "hash_update", "'args': ['$s', '$p', {'length_of': '$p', 'type': 'i32'}]");
	expect("struct p { char c; double d; union { int i; short s[5]; } u; }; int f(struct p "
	       "*p);",
		"f", "'size': 32, 'c': 'struct p'");
}

Test(ctl_plan, makes_a_value_of_the_kind_that_is_wanted)
{
	expect("typedef struct value value; value *value_new_boolean(int on);"
	       "value *value_new_text(const char *text); void value_free(value *value);"
	       "const char *value_get_text(value *value);",
		"value_get_text", "{'call': 'value_new_text', 'args': ['$text'],");
}

Test(ctl_plan, tells_flags_from_a_count)
{
	expect("enum bits { A = 1, B = 2, C = 4, ALL = 7 }; void f(enum bits bits);", "f",
		"{'name': 'bits', 'type': 'flags', 'enum': 'bits'}");
	expect("enum hash { MD5, SHA1, SHA256, SHA512, SHA384 }; void f(enum hash hash);", "f",
		"{'name': 'hash', 'type': 'enum', 'enum': 'hash'}");
	expect("enum day { MON = 1, TUE, WED, THU }; void f(enum day day);", "f",
		"{'name': 'day', 'type': 'enum', 'enum': 'day'}");
}

Test(ctl_plan, names_enums)
{
	expect("enum level { LOW, HIGH = 4, ALIAS = 4 }; enum level f(enum level level);", "f",
		"'level': {'LOW': 0, 'HIGH': 4}");
	expect("enum level { LOW, HIGH = 4 }; enum level f(enum level level);", "f",
		"{'name': 'level', 'type': 'enum', 'enum': 'level'}");
	expect("enum level { LOW = other }; int f(enum level level);", "f",
		"{'name': 'level', 'type': 'i32'}");
}

Test(ctl_plan, gives_a_format_that_is_constant)
{
	expect("int print(int fd, const char *format, ...);", "print",
		"'variadic': 2,'parameters': [{'name': 'fd', 'type': 'i32'},"
		"{'name': 'format', 'type': 'str', 'value': '%s'},{'name': 'text', 'type': "
		"'str'}]");
	expect_reason("int f(...);", "f", "f has only variable arguments");
}

Test(ctl_plan, has_a_reason_for_what_no_tool_can_call)
{
	expect_reason("void f(void (*done)(int));", "f", "'done' is a callback");
	expect_reason(
		"struct s { int a; }; void f(struct s by);", "f", "'by' is a struct by value");
	expect_reason(
		"struct s { int a; }; struct s f(void);", "f", "it returns a struct by value");
	expect_reason("union u { int a; }; void f(union u by);", "f", "'by' is a union");
	expect_reason("long double f(void);", "f", "it returns a type that no tool can have");
	expect_reason(
		"void f(__builtin_va_list ap);", "f", "'ap' is of a type that no tool can have");
	expect_reason("int absent(void);", "absent", "the library does not have it");
	expect_reason(
		"static int f(void) { return 1; }", "f", "it is static, so no library has it");
	expect_reason("void f(int ***x);", "f", "'x' has more than two levels of pointers");
}

struct planned {
	const char *text;
	const char *part; /* a part of the tool for the function f */
};

static void expect_each(const struct planned *cases, size_t n_cases)
{
	for (size_t i = 0; i < n_cases; i++)
		expect(cases[i].text, "f", cases[i].part);
}

Test(ctl_plan, has_the_word_of_the_manifest_for_each_number)
{
	static const struct planned cases[] = {
		{"float f(_Bool, signed char, short, unsigned short, int, unsigned, long long,"
		 "unsigned long long);",
			"[{'name': 'argument1', 'type': 'bool'},{'name': 'argument2', 'type': "
			"'i8'},"
			"{'name': 'argument3', 'type': 'i16'},{'name': 'argument4', 'type': 'u16'},"
			"{'name': 'argument5', 'type': 'i32'},{'name': 'argument6', 'type': 'u32'},"
			"{'name': 'argument7', 'type': 'i64'},{'name': 'argument8', 'type': "
			"'u64'}],'returns': {'name': 'result', 'type': 'f32'}"},
		{"typedef unsigned long size_t; typedef size_t z; void f(z);", "'type': 'usize'"},
		{"enum e; enum e *g(void); void f(enum e);", "'type': 'i32'"},
	};

	expect_each(cases, ARRAY_SIZE(cases));
}

Test(ctl_plan, tells_what_may_be_a_length)
{
#define LENGTH(name, type) "{'name': '" name "', 'type': '" type "', 'length_of': 'p'}"
	static const struct planned cases[] = {
		/* An integer of at least 4 bytes, … */
		{"void f(const void *p, int n);", LENGTH("n", "i32")},
		{"void f(const void *p, unsigned short n);", "{'name': 'n', 'type': 'u16'}"},
		{"void f(const void *p, float n);", "{'name': 'n', 'type': 'f32'}"},
		/* … or a pointer to such an integer, for an output. */
		{"void f(void *p, int *n);", "'length_of': 'p', 'dir': 'inout'}]"},
		{"void f(void *p, const int *n);", "{'name': 'n', 'type': 'i32', 'dir': 'inout'}"},
		{"void f(const void *p, int *n);", "{'name': 'n', 'type': 'i32', 'dir': 'out'}"},
		{"void f(void *p, short *n);", "{'name': 'n', 'type': 'i16', 'dir': 'out'}"},
		{"void f(int *p, int *n);", "{'name': 'n', 'type': 'i32', 'dir': 'out'}"},
		/* By the name of the buffer, then after it, then before it. */
		{"void f(const void *p, int ps, int n, int p_count);", LENGTH("p_count", "i32")},
		{"void f(int n, const void *p, int sz);", LENGTH("sz", "i32")},
		{"void f(int nb, const void *p, int flag);", LENGTH("nb", "i32")},
		{"void f(int nb, int flag, const void *p);", "{'name': 'nb', 'type': 'i32'}"},
		{"void f(const void *p, int flag, int n);", "{'name': 'n', 'type': 'i32'}"},
		{"void f(const void *p, int _N);", LENGTH("N", "i32")},
		{"void f(const void *p, int l);", LENGTH("l", "i32")},
		{"void f(const void *p, int no);", "{'name': 'no', 'type': 'i32'}"},
		{"void f(const void *p, int maxCapacity);", LENGTH("maxCapacity", "i32")},
		/* Without a name it is no length of a text. */
		{"void f(const void *p, int);", LENGTH("argument2", "i32")},
		{"void f(const int *p, int);", LENGTH("argument2", "i32")},
		{"void f(const char *p, int);", "{'name': 'argument2', 'type': 'i32'}"},
		/* It is the length of one buffer. */
		{"void f(const void *p, int n, const void *q);",
			"{'name': 'q', 'type': 'bytes', 'question': 'how many bytes does the "
			"function "
			"read? all are passed'}"},
		{"void f(const void *p, int p_len, const void *q, int q_len);",
			LENGTH("p_len",
				"i32") ",{'name': 'q', 'type': 'bytes'},"
				       "{'name': 'q_len', 'type': 'i32', 'length_of': 'q'}"},
	};

	expect_each(cases, ARRAY_SIZE(cases));
}

Test(ctl_plan, tells_an_array_from_one_number)
{
	static const struct planned cases[] = {
		{"void f(int *v, int n);",
			"{'name': 'v', 'type': 'array', 'items': 'i32', 'dir': 'out', 'capacity': "
			"65536},{'name': 'n', 'type': 'i32', 'length_of': 'v'}"},
		{"void f(const long *v);", "{'name': 'v', 'type': 'i64', 'dir': 'inout'}"},
		{"enum e { A, B }; void f(const enum e *v, int n);",
			"{'name': 'v', 'type': 'enum', 'enum': 'e', 'dir': 'inout'},{'name': 'n', "
			"'type': 'i32'}"},
		{"enum e { A, B }; void f(enum e *v);",
			"{'name': 'v', 'type': 'enum', 'enum': 'e', 'dir': 'out'}"},
		{"void f(const _Bool *v, int n);",
			"{'name': 'v', 'type': 'bool', 'dir': 'inout'},{'name': 'n', 'type': "
			"'i32'}"},
		{"void f(unsigned char *v);", "{'name': 'v', 'type': 'bytes', 'dir': 'out', "
					      "'capacity': 65536, 'question': "
					      "'is this output? and how much does the function "
					      "write? 65536 is assumed'}"},
		{"void f(char *v, int n);", "'type': 'str', 'dir': 'out', 'capacity': 65536, "
					    "'question': 'is this output? "
					    "and how large may it become? 65536 is assumed'},"},
	};

	expect_each(cases, ARRAY_SIZE(cases));
}

Test(ctl_plan, takes_a_pointer_to_a_text_for_output_unless_it_is_constant)
{
	static const struct planned cases[] = {
		{"void f(char **t);", "{'name': 't', 'type': 'str', 'dir': 'out', 'transfer': "
				      "'none', 'question': 'is this text the caller"},
		{"void f(const char **t);",
			"{'name': 't', 'type': 'str', 'dir': 'out', 'transfer': 'none'}"},
		{"void f(char *const *t);", "[{'name': 't', 'type': 'strv'}]"},
		{"void f(unsigned char **t);",
			"'args': [{'out': {'name': 't', 'type': 'handle'}}]"},
		{"void f(int *const *t);", "'args': [{'out': {'name': 't', 'type': 'handle'}}]"},
		{"char *f(void);", "'returns': {'name': 'result', 'type': 'str', 'nullable': true, "
				   "'question': 'is this text the caller"},
		{"unsigned char *f(void);",
			"{'name': 'result', 'type': 'handle', 'nullable': true}"},
		{"int *f(void);", "{'name': 'result', 'type': 'handle', 'nullable': true}"},
	};

	expect_each(cases, ARRAY_SIZE(cases));
}

Test(ctl_plan, has_a_reason_for_each_pointer_that_no_tool_can_pass)
{
	static const char *const cases[][2] = {
		{"void f(int (**v)(void));", "'v' takes a callback"},
		{"void f(int v(void));", "'v' is a callback"},
		{"void f(int (*v)[3]);", "'v' is a pointer to an array"},
		{"void f(__builtin_va_list *v);", "'v' is of a type that no tool can have"},
		{"void f(__builtin_va_list **v);", "'v' has more than two levels of pointers"},
		{"void f(long double *v);", "'v' is a pointer that no tool can pass"},
		{"union u { int a; } f(void);", "it returns a type that no tool can have"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		expect_reason(cases[i][0], "f", cases[i][1]);
}

Test(ctl_plan, gives_what_follows_a_format_by_what_is_before_it)
{
	static const struct planned cases[] = {
		{"void f(int fd, ...);",
			"{'name': 'value', 'type': 'str', 'question': 'which types do the variable "
			"arguments have? one text is assumed'}]"},
		{"void f(char *out, ...);", "{'name': 'value', 'type': 'str', 'question': "},
		/* In steps it is a text of the program. */
		{"struct a *a_new(void); void f(struct a *a, const char *format, ...);",
			"{'call': 'f', 'variadic': 2, 'args': ['$a_new', {'str': '%s'}, '$text']}"},
	};

	expect_each(cases, ARRAY_SIZE(cases));
}

#define PARAMETERS_23                                                                              \
	"int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, "    \
	"int,"                                                                                     \
	"int, int, int, int, int"

Test(ctl_plan, bounds_the_parameters)
{
	expect("int f(" PARAMETERS_23 ");", "f", "{'name': 'argument23', 'type': 'i32'}]");
	expect_reason("int f(" PARAMETERS_23 ", int);", "f", "it has more than 23 parameters");
	expect_reason("int f(" PARAMETERS_23 ", ...);", "f", "f has only variable arguments");
}

Test(ctl_plan, gives_the_result_a_name_that_no_parameter_has)
{
	expect("int f(int *result);", "f",
		"{'name': 'result', 'type': 'i32', 'dir': 'out'}],"
		"'returns': {'name': 'result_2', 'type': 'i32'}");
	expect("struct a *a_new(void); int f(struct a *a, const char *result, int result_2);", "f",
		"'returns': {'name': 'result_3', 'type': 'i32'}");
	expect("int f(int a, int _a);", "f",
		"{'name': 'a', 'type': 'i32'},{'name': 'argument2', 'type': 'i32'}");
	expect("void f(const char *text, const char *format, ...);", "f",
		"{'name': 'format', 'type': 'str', 'value': '%s'},{'name': 'text_2', 'type': "
		"'str'}]");
}

Test(ctl_plan, calls_the_type_of_a_handle_as_the_function_does)
{
	expect_reason("typedef void h; typedef void g; g *g_open(void); void f(h *h);", "f",
		"no function makes its 'h'");
	expect_reason("typedef struct s h; void f(h *h);", "f", "no function makes its 'h'");
	expect_reason(
		"typedef struct { int n : 3; } h; void f(h *h);", "f", "no function makes its 'h'");
}

Test(ctl_plan, passes_every_kind_of_value_in_steps)
{
	static const struct planned cases[] = {
		{"struct a *a_new(void); void f(struct a *a, const double *in, const void *p, int "
		 "n);",
			"'args': ['$a_new', {'inout': {'name': 'in_after', 'type': 'f64', 'value': "
			"'$in'}}, '$p', {'length_of': '$p', 'type': 'i32'}]"},
		{"struct a *a_new(void); void f(struct a *a, const double *in, const void *p, int "
		 "n);",
			"'parameters': [{'name': 'in', 'type': 'f64'},{'name': 'p', 'type': "
			"'bytes'}],'steps'"},
		{"struct a *a_new(void); void f(struct a *a, char *out, unsigned *out_size);",
			"{'out': {'name': 'out', 'type': 'str', 'capacity': 65536, 'question': "
			"'how "
			"large may it become? 65536 is assumed'}}, {'inout': {'name': 'out_size', "
			"'type': 'u32', 'length_of': '$out'}}]"},
		{"struct a *a_new(void); void f(struct a *a, float *v, int n, char **t);",
			"{'out': {'name': 'v', 'type': 'array', 'items': 'f32', 'capacity': "
			"65536}}, "
			"{'length_of': '$v', 'type': 'i32'}, {'out': {'name': 't', 'type': 'str', "
			"'transfer': 'none', 'question': "},
		{"struct a *a_new(void); void f(struct a *a, const void *p);",
			"{'name': 'p', 'type': 'bytes', 'question': 'how many bytes does the "
			"function "
			"read? all are passed'}],'steps'"},
	};

	expect_each(cases, ARRAY_SIZE(cases));
}

/* Equal costs: the first constructor is chosen, in either order. */
Test(ctl_plan, prefers_a_constructor_that_costs_little)
{
	static const struct {
		const char *name;
		const char *first;
		const char *second;
		int better; /* 0: equal */
	} cases[] = {
		{"f", "struct a *g_new_x(int, int)", "struct a *g_new_y(int)", 2},
		{"f", "struct a *g_new_x(int)", "struct a *g_new_y(int)", 0},
		/* A name without a word for it costs as much as three numbers, … */
		{"f", "struct a *g_get(void)", "struct a *g_new(int, int)", 2},
		{"f", "struct a *g_get(void)", "struct a *g_new(int, int, int)", 0},
		/* … a handle four, memory of the tool two more. */
		{"f", "struct a *g_new_x(struct b *)", "struct a *g_new_y(int, int, int)", 2},
		{"f", "struct a *g_new_x(struct b *)", "struct a *g_new_y(int, int, int, int)", 0},
		{"f", "void g_init(struct a *)", "struct a *g_new(int, int, int, int, int)", 2},
		{"f", "void g_init(struct a *)", "struct a *g_new(int, int, int, int, int, int)",
			0},
		/* Two equal letters at the beginning or the end are worth a number. */
		{"ab_f", "struct a *ab_new(int, int)", "struct a *g_new(int)", 1},
		{"ab_f", "struct a *ab_new(int, int, int)", "struct a *a_new(int, int)", 0},
		{"x_use", "struct a *g_new_use(int)", "struct a *h_new(void)", 1},
		{"x_use", "struct a *g_new_use(int, int)", "struct a *h_new(void)", 0},
		{"x_use", "struct a *g_new_us(int)", "struct a *h_new(void)", 2},
	};

	for (size_t i = 0; i < 2 * ARRAY_SIZE(cases); i++) {
		bool is_swapped = i % 2;
		const char *first = is_swapped ? cases[i / 2].second : cases[i / 2].first;
		const char *second = is_swapped ? cases[i / 2].first : cases[i / 2].second;
		bool is_second =
			cases[i / 2].better != 0 && (cases[i / 2].better == 1) == is_swapped;
		const char *wanted = strpbrk(is_second ? second : first, "*_");
		cleanup(buffer_deinit) struct buffer text = {0};
		char part[64];

		wanted = *wanted == '*' ? wanted + 1 : (is_second ? second : first) + 5;
		buffer_printf(&text,
			"struct a { int n; }; struct b *g_open(void); %s; %s; void %s(struct a "
			"*a);",
			first, second, cases[i / 2].name);
		snprintf(part, sizeof(part), "{'call': '%.*s'", (int)strcspn(wanted, "("), wanted);
		expect(buffer_terminate(&text), cases[i / 2].name, part);
	}
}

Test(ctl_plan, calls_no_constructor_that_a_tool_cannot_call)
{
	static const char *const cases[] = {"struct a *a_new(void (*done)(void));",
		"struct a *a_new(int n, void (*done)(void));", "struct a *a_new(int n, ...);",
		"static struct a *a_new(void) { return 0; }", "struct a *absent_new(void);",
		"struct a *a_new(void) __attribute__((deprecated));",
		"struct a *a_new(struct a *from);", "struct a *a_new(int n, struct a *from);",
		"void a_new(struct a *const *ret);", "void a_init(struct a *a);"};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup(buffer_deinit) struct buffer text = {0};

		buffer_printf(&text, "%s void f(struct a *a);", cases[i]);
		expect_reason(buffer_terminate(&text), "f", "no function makes its 'a'");
		buffer_append_string(&text, "struct a *a_other(int, int, int, int, int);");
		expect(buffer_terminate(&text), "f", "'call': 'a_other'");
	}
}

Test(ctl_plan, asks_what_memory_has_to_hold_that_nothing_fills)
{
	static const char *const cases[] = {"void s_deinit(s *x);", "void s_setup(s *x);",
		"void s_init(int flags);", "void s_init(void);", "void s_init(int flags, s *x);"};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup(buffer_deinit) struct buffer text = {0};

		buffer_printf(&text, "typedef struct { int a; } s; %s void f(s *x);", cases[i]);
		expect(buffer_terminate(&text), "f",
			"'steps': [{'call': 'f', 'args': [{'out': {'name': 'x', 'type': 'handle', "
			"'size': 4, 'c': 's', 'question': 'what must be in this memory? it is "
			"zeroed'}}]}]");
	}
	expect("typedef struct { int a; } s; int s_init(s *y, int n); void s_free(s *x);"
	       "void f(s *x);",
		"f",
		"'steps': [{'call': 's_init', 'args': [{'out': {'name': 'y', 'type': 'handle', "
		"'size': 4, 'c': 's'}}, '$n'], 'returns': {'type': 'i32'},"
		"'finally': {'call': 's_free', 'args': ['$y']}},{'call': 'f', 'args': ['$y']}]");
}

Test(ctl_plan, frees_a_handle_by_the_likeliest_destructor)
{
#define A "struct a *a_new(void); void f(struct a *a);"
	static const struct planned cases[] = {
		{A "void a_close(struct a *); void a_free(struct a *);", "{'call': 'a_free'"},
		{A "void a_free(struct a *); void a_close(struct a *);", "{'call': 'a_free'"},
		{A "void a_shutdown(struct a *); int a_end(struct a *);", "{'call': 'a_end'"},
		{A "void a_free_x(struct a *); int a_free_y(struct a *);", "{'call': 'a_free_x'"},
		/* A letter shared with the constructor is worth two words. */
		{A "void b_free(struct a *); void a_delete(struct a *);", "{'call': 'a_delete'"},
		{A "struct a *a_free(struct a *); int a_close(struct a *, int); int "
		   "a_delete(struct a "
		   "*, ...); int absent_destroy(struct a *); int a_end(int);",
			"'returns': {'name': 'a_new', 'type': 'handle'}},{'call': 'f'"},
	};

	expect_each(cases, ARRAY_SIZE(cases));
}

Test(ctl_plan, frees_the_handle_that_the_tool_itself_makes)
{
	static const char freed[] =
		"{'name': 'result', 'type': 'handle'},'finally': {'call': 'a_free', 'args': "
		"['$result']}}]";

	expect("struct a *a_create(void); void a_free(struct a *);", "a_create", freed);
	expect("typedef void a; a *a_open(void); void a_free(a *);", "a_open", freed);
	/* No word of the name is about making. */
	expect("struct a *a_find(void); void a_free(struct a *);", "a_find",
		"'returns': {'name': 'result', 'type': 'handle', 'nullable': true}}]");
	expect("struct a *a_new(void);", "a_new",
		"'returns': {'name': 'result', 'type': 'handle', 'nullable': true}}]");
}

Test(ctl_plan, knows_a_handle_by_what_its_typedef_means)
{
	static const struct planned cases[] = {
		{"typedef void h; typedef h g; g *h_open(void); void f(h *h);",
			"{'call': 'h_open', "},
		{"typedef struct s h; h *h_open(void); void f(const struct s *h);",
			"{'call': 'h_open', "},
		{"union u *u_new(void); void f(union u *u);", "{'call': 'u_new', "},
		{"typedef void h; h *h_open(void); void f(h *a, const h *b);",
			"'args': ['$h_open', '$h_open_2']"},
	};

	expect_each(cases, ARRAY_SIZE(cases));
}

Test(ctl_plan, makes_three_handles_one_of_another)
{
#define CHAIN                                                                                      \
	"struct a *a_new(struct b *); struct b *b_new(struct c *); void f(struct a *);"            \
	"void a_free(struct a *); void b_free(struct b *);"

	expect(CHAIN "struct c *c_new(void);", "f",
		"'steps': [{'call': 'c_new', 'returns': {'name': 'c_new', 'type': 'handle'}},"
		"{'call': 'b_new', 'args': ['$c_new'], 'returns': {'name': 'b_new', 'type': "
		"'handle'},'finally': {'call': 'b_free', 'args': ['$b_new']}},"
		"{'call': 'a_new', 'args': ['$b_new'], 'returns': {'name': 'a_new', 'type': "
		"'handle'},'finally': {'call': 'a_free', 'args': ['$a_new']}},"
		"{'call': 'f', 'args': ['$a_new']}]");
	expect_reason(CHAIN "struct c *c_new(struct d *); struct d *d_new(void);", "f",
		"no function makes its 'd'");
}

Test(ctl_plan, bounds_the_calls_of_a_tool)
{
#define SEVEN "struct a *, struct a *, struct a *, struct a *, struct a *, struct a *, struct a *"

	expect("struct a *a_new(void); void f(" SEVEN ");", "f", "'$a_new_7']");
	expect_reason("struct a *a_new(void); void f(" SEVEN ", struct a *);", "f",
		"its constructor a_new needs too much");
}

Test(ctl_plan, has_the_size_of_each_struct)
{
	static const struct {
		const char *body;
		int size; /* 0: unknown */
	} cases[] = {
		{"struct s { char c; short s; }", 4},
		{"struct s { char c; double d[3]; char e; }", 40},
		{"struct s { char c; int *p; }", 16},
		{"struct s { _Bool b; float f; enum e { A } e; void (*call)(void); }", 24},
		{"struct s { struct { char a[3]; } x; char y; }", 4},
		{"struct s { union { char c[9]; int i; } u; }", 12},
		{"struct s { int a; int b : 3; }", 0},
		{"struct s { }", 0},
		{"struct s { int a[]; }", 0},
		{"struct s { struct t a[3]; }", 0},
		{"struct s { char a[0xffffffff]; }", 0x7fffffff},
		{"struct s { char a[0x100000000]; }", 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup(buffer_deinit) struct buffer text = {0};
		char part[64];

		buffer_printf(&text, "%s; void f(struct s *p);", cases[i].body);
		if (cases[i].size == 0) {
			expect_reason(buffer_terminate(&text), "f", "no function makes its 's'");
			continue;
		}
		snprintf(part, sizeof(part), "'size': %u, 'c': 'struct s'",
			cases[i].size == 0x7fffffff ? UINT32_MAX : (unsigned int)cases[i].size);
		expect(buffer_terminate(&text), "f", part);
	}
}

Test(ctl_plan, takes_a_value_of_an_enum_for_a_bit_by_the_others)
{
	static const struct {
		const char *values;
		const char *word;
	} cases[] = {
		{"A = 1, B = 2, C = 4, NONE = 0", "flags"},
		{"A = 1, B = 2, C = 8", "flags"},
		{"A = 1, B = 2, NONE = 0", "enum"},
		{"A = 1, B = 2, C = 8, D = -1", "enum"},
		/* Half as many combinations as bits at most. */
		{"A = 1, B = 2, C = 4, D = 8, E = 3, F = 5", "flags"},
		{"A = 1, B = 2, C = 4, D = 8, E = 3, F = 5, G = 6", "enum"},
		/* 1 to 4 is a count. */
		{"A = 1, B = 2, C = 4, D = 3", "enum"},
		{"A = 1, B = 1, C = 2", "enum"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char text[128];
		char part[64];

		snprintf(text, sizeof(text), "enum b { %s }; void f(enum b x);", cases[i].values);
		snprintf(part, sizeof(part), "'type': '%s', 'enum': 'b'", cases[i].word);
		expect(text, "f", part);
	}
}

Test(ctl_plan, names_only_an_enum_whose_values_are_known)
{
	static const struct planned cases[] = {
		{"enum { X, Y } f(void);", "'returns': {'name': 'result', 'type': 'i32'}"},
		{"enum e { X, Y = unknown }; enum e f(void);", "'type': 'i32'"},
		{"typedef enum { X, Y } xy; xy f(xy);", "'xy': {'X': 0, 'Y': 1}{"},
		{"enum e { X }; enum g { Y }; enum e f(enum g);",
			"'g': {'Y': 0},\n    'e': {'X': 0}{"},
	};

	expect_each(cases, ARRAY_SIZE(cases));
}

Test(ctl_plan, writes_each_enum_once_and_one_description)
{
	cleanup_free char *tool = plan("enum e { A }; enum e f(enum e a, enum e b);", "f");
	static const char begin[] = "\n    \"e\": {\"A\": 0}{\"name\": \"f\",\"description\": "
				    "\"enum e f(enum e, enum e)\",";

	cr_expect_eq(strncmp(tool, begin, strlen(begin)), 0, "%s", tool);
	expect("/* Count. */ void f(void);", "f", "'description': 'Count.','native'");
	expect("/** @param a One.\n@param b Two. */ void f(int a, int b, char **c);", "f",
		"'description': 'void f(int, int, char **)','native': {'symbol': 'f','parameters': "
		"[{'name': 'a', 'type': 'i32', 'description': 'One.'},{'name': 'b', 'type': 'i32', "
		"'description': 'Two.'},{'name': 'c', 'type': 'str', 'dir'");
}

Test(ctl_plan, ends_where_constructors_need_each_other)
{
	expect_reason(
		"struct a; struct b; struct a *a_new(struct b *b); struct b *b_new(struct a *a);"
		"int a_use(struct a *a);",
		"a_use", "no function makes its 'b'");
}

Test(ctl_plan, bounds_the_search_for_constructors)
{
	cleanup(header_deinit) struct header header = read_header(
		"struct a *a_new(void); int a_use(struct a *a); int b_use(struct a *a);");
	struct planner planner = {
		.header = &header, .is_there = is_there, .n_looks = PLAN_LOOKS_MAX};
	struct plan made;

	cr_expect(plan_make(&planner, c_find_function(&header.declarations, "a_use"), &made));
	cr_expect(!plan_make(&planner, c_find_function(&header.declarations, "b_use"), &made));
	cr_expect_str_eq(made.reason,
		"the header has too many functions for one run: choose some with --only");
}

static void expect_description(const char *text, const char *description)
{
	cleanup(header_deinit) struct header header = read_header(text);
	cleanup(buffer_deinit) struct buffer out = {0};

	comment_describe(&header, c_find_function(&header.declarations, "f"), &out);
	cr_expect_str_eq(buffer_terminate(&out), description);
}

Test(ctl_plan, takes_descriptions_from_comments)
{
	expect_description("/* Count the\n * words. */\nint f(void);", "Count the words.");
	expect_description("/**\n * \\brief Count \\p words.\n *\n * At length.\n */ int f(void);",
		"Count words.");
	expect_description("/** Count.\n * @param x no\n */ int f(int x);", "Count.");
	expect_description(
		"/**\n * f() - Count words.\n * @x: which\n */ int f(int x);", "Count words.");
	expect_description("// one\n// Two.\nint f(void);", "Two.");
	expect_description("/* ^(Close)^ the [db]. */ int f(void);", "Close the db.");
	expect_description(
		"int f(void);\n/* f() counts. */\nint g(void);\n/* g() too. */", "f() counts.");
	/* Comments of a group name no function: they are before. */
	expect_description("/* Count. */ int f(void);\n/* As f(), but more. */ int g(void);\n"
			   "/* Less. */ int h(void);\n/* None. */ int i(void);",
		"Count.");
	expect_description("int f(void);", "");
	expect_description("/**/ int f(void);", "");
	expect_description("/* */ int f(void); /*", "");
}

Test(ctl_plan, takes_descriptions_of_parameters_from_comments)
{
	static const char text[] =
		"/**\n * Count.\n * \\param[in] text Which\n *    text.\n * @param n How many\n"
		" * @other: Kernel\n */ int f(const char *text, int n, int other, int none);";
	cleanup(header_deinit) struct header header = read_header(text);
	static const char *const expected[][2] = {
		{"text", "Which text."}, {"n", "How many"}, {"other", "Kernel"}, {"none", ""}};

	for (size_t i = 0; i < 4; i++) {
		cleanup(buffer_deinit) struct buffer out = {0};

		comment_describe_parameter(
			&header, c_find_function(&header.declarations, "f"), expected[i][0], &out);
		cr_expect_str_eq(buffer_terminate(&out), expected[i][1]);
	}
}

Test(ctl_plan, reads_the_beginning_of_a_long_comment)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup(buffer_deinit) struct buffer out = {0};
	const struct c_function *f;
	struct header header;

	buffer_append_string(&text, "/** Count.\n * @param m Which\n *\n");
	while (text.size < COMMENT_READ_MAX)
		buffer_append_string(&text, " * More.\n");
	buffer_append_string(&text, " * @param n How many\n */ int f(int m, int n);");
	header = read_header(buffer_terminate(&text));
	f = c_find_function(&header.declarations, "f");
	comment_describe_parameter(&header, f, "n", &out);
	cr_expect_eq(out.size, 0);
	comment_describe_parameter(&header, f, "m", &out);
	cr_expect_str_eq(buffer_terminate(&out), "Which");
	header_deinit(&header);
}

Test(ctl_plan, bounds_a_description)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup(buffer_deinit) struct buffer out = {0};
	struct header header;

	buffer_append_string(&text, "/* ");
	for (int i = 0; i < 1000; i++)
		buffer_append_string(&text, "It counts. ");
	buffer_append_string(&text, "*/ int f(void);");
	header = read_header(buffer_terminate(&text));
	comment_describe(&header, c_find_function(&header.declarations, "f"), &out);
	cr_expect_leq(out.size, COMMENT_BYTES_MAX);
	cr_expect_eq(out.data[out.size - 1], '.');
	header_deinit(&header);
}
