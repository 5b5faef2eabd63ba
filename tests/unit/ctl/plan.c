/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/header/plan_write.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/header/comment.h"
#include "json/reader.h"
#include "util/cleanup.h"

TestSuite(ctl_plan, .timeout = 20);

static bool is_there(void *data, const struct c_function *function)
{
	(void)data;
	return strcmp(function->name, "absent") != 0;
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
