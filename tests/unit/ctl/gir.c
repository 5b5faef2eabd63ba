/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/header/gir.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctl/header/plan_write.h"
#include "scarce.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/file/file.h"

TestSuite(ctl_gir, .timeout = 20);

#define REPOSITORY(inside)                                                                         \
	"<?xml version='1.0'?><repository version='1.2' "                                          \
	"xmlns='http://www.gtk.org/introspection/core/1.0' "                                       \
	"xmlns:c='http://www.gtk.org/introspection/c/1.0'><include name='Other'/>"                 \
	"<package name='x-1'/><c:include name='x.h'/>"                                             \
	"<namespace name='X' shared-library='libx.so.1,liby.so.2'>" inside                         \
	"</namespace></repository>"

static const char functions[] = REPOSITORY(
	"<function name='hidden' c:identifier='x_hidden' introspectable='0'/>"
	"<record name='Box'><method name='get' c:identifier='x_box_get' throws='1'>"
	"<doc>Get #XBox of\n@name, or %NULL.\n\nAt length.</doc>"
	"<return-value transfer-ownership='full' nullable='1'><array length='0'><type "
	"name='guint8'/>"
	"</array></return-value><parameters><instance-parameter name='box'/>"
	"<parameter name='size' direction='out'><doc>the size</doc><type name='gsize'/></parameter>"
	"</parameters></method></record>"
	"<function name='copy' c:identifier='x_copy'><return-value transfer-ownership='full'>"
	"<type name='utf8'/></return-value><parameters><parameter name='text' nullable='1'>"
	"<doc>a text</doc></parameter></parameters></function>"
	"<function name='none'/>");

/* Write @text as the GIR file X-1.gir of a folder for the data of programs. */
static void set_up(char folder[64], const char *text)
{
	char path[128];

	strcpy(folder, "/tmp/gir-XXXXXX");
	cr_assert(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/gir-1.0", folder);
	cr_assert_eq(file_replace(path, "X-1.gir", text, strlen(text), 0644), 0);
	setenv("XDG_DATA_DIRS", folder, 1);
}

static void tear_down(const char *folder)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/gir-1.0/X-1.gir", folder);
	unlink(path);
	snprintf(path, sizeof(path), "%s/gir-1.0", folder);
	rmdir(path);
	rmdir(folder);
}

static int read_text(const char *text, struct gir *ret_gir, struct buffer *message)
{
	char folder[64];
	int r;

	set_up(folder, text);
	r = gir_read("X-1", ret_gir, message);
	tear_down(folder);
	return r;
}

Test(ctl_gir, reads_functions_and_where_they_are)
{
	cleanup(gir_deinit) struct gir gir = {0};
	cleanup(buffer_deinit) struct buffer message = {0};
	const struct gir_function *get;

	cr_assert_eq(read_text(functions, &gir, &message), 0);
	cr_expect_eq(gir.n_functions, 3);
	cr_expect_eq(gir.n_headers, 1);
	cr_expect_str_eq(gir.headers[0], "x.h");
	cr_expect_str_eq(gir.package, "x-1");
	cr_expect_str_eq(gir.library, "libx.so.1,liby.so.2");
	cr_expect(gir_find(&gir, "x_hidden")->is_hidden);
	cr_expect_null(gir_find(&gir, "none"));
	cr_expect_null(gir_find(NULL, "x_copy"));
	get = gir_find(&gir, "x_box_get");
	cr_assert(get);
	cr_expect(get->throws);
	cr_expect_str_eq(get->description, "Get XBox of name, or NULL.");
	cr_assert_eq(get->n_parameters, 2);
	/* An index does not count the instance. */
	cr_expect_eq(get->returned.length, 1);
	cr_expect(get->returned.is_array && get->returned.is_owned && get->returned.is_nullable);
	cr_expect(get->parameters[1].is_out && !get->parameters[1].is_inout);
	cr_expect_str_eq(get->parameters[1].description, "the size");
	cr_expect(gir_find(&gir, "x_copy")->parameters[0].is_nullable);
}

Test(ctl_gir, reads_no_index_that_is_none)
{
	static const char *const lengths[] = {"2147483647", "99999999999999999999", "x", "-1", ""};

	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		cleanup(gir_deinit) struct gir gir = {0};
		cleanup(buffer_deinit) struct buffer text = {0};
		cleanup(buffer_deinit) struct buffer message = {0};

		buffer_printf(&text,
			REPOSITORY("<method name='m' c:identifier='m'><parameters>"
				   "<instance-parameter name='i'/><parameter name='a'>"
				   "<array length='%s'/></parameter></parameters></method>"),
			lengths[i]);
		cr_assert_eq(read_text(buffer_terminate(&text), &gir, &message), 0);
		cr_expect_eq(gir_find(&gir, "m")->parameters[1].length, GIR_NONE, "%s", lengths[i]);
	}
}

static void expect_refused(const char *text, const char *words)
{
	cleanup(gir_deinit) struct gir gir = {0};
	cleanup(buffer_deinit) struct buffer message = {0};

	cr_assert_eq(read_text(text, &gir, &message), 1, "%s", text);
	cr_expect(strstr(buffer_terminate(&message), words), "%s", message.data);
}

Test(ctl_gir, refuses_a_file_that_is_no_gir)
{
	cleanup(buffer_deinit) struct buffer message = {0};
	struct gir gir;

	expect_refused("no XML", "X-1.gir is no XML");
	expect_refused("", "X-1.gir is no XML");
	expect_refused("<repository/>", "X-1.gir names no header of C");
	expect_refused(
		"<!DOCTYPE a [<!ENTITY e SYSTEM '/etc/passwd'>]><a>&e;</a>", "names no header");
	cr_expect_eq(gir_read("None-1", &gir, &message), 1);
	cr_expect(strstr(buffer_terminate(&message), "is the -dev package"), "%s", message.data);
	cr_expect_eq(gir_read("../X-1", &gir, &message), 1);
}

static bool is_there(void *data, const struct c_function *function)
{
	(void)data;
	(void)function;
	return true;
}

/* Return the tool for @name, whose header is @text; the caller frees it. */
static char *plan(const struct gir *gir, const char *text, const char *name)
{
	cleanup(header_deinit) struct header header = {0};
	struct planner planner = {.header = &header, .is_there = is_there, .gir = gir};
	struct buffer tool = {0};
	struct plan made;

	buffer_append_string(&header.text, text);
	cr_assert(buffer_terminate(&header.text));
	cr_assert_eq(header_read_text(&header), 0);
	if (!plan_make(&planner, c_find_function(&header.declarations, name), &made))
		return strdup(made.reason);
	plan_write_tool(&header, &made, &tool);
	return buffer_take(&tool, NULL);
}

Test(ctl_gir, answers_the_questions_of_a_plan)
{
	static const char text[] =
		"typedef struct box box; typedef struct error error; typedef unsigned long gsize;"
		"box *x_box_new(void); unsigned char *x_box_get(box *b, gsize *size, error **e);"
		"char *x_copy(const char *text); void x_hidden(void);";
	cleanup(gir_deinit) struct gir gir = {0};
	cleanup(buffer_deinit) struct buffer message = {0};
	cleanup_free char *copy = NULL;
	cleanup_free char *get = NULL;
	cleanup_free char *hidden = NULL;

	cr_assert_eq(read_text(functions, &gir, &message), 0);
	copy = plan(&gir, text, "x_copy");
	cr_expect(strstr(copy, "\"description\": \"a text\", \"nullable\": true"), "%s", copy);
	cr_expect(strstr(copy, "\"transfer\": \"full\", \"free\": \"g_free\""), "%s", copy);
	cr_expect_null(strstr(copy, "question"), "%s", copy);
	get = plan(&gir, text, "x_box_get");
	cr_expect(strstr(get, "Get XBox of name, or NULL."), "%s", get);
	cr_expect(strstr(get, "\"type\": \"bytes\", \"errors\": \"gerror\", \"nullable\": true, "
			      "\"transfer\": \"full\", \"free\": \"g_free\", \"size\": \"$size\""),
		"%s", get);
	hidden = plan(&gir, text, "x_hidden");
	cr_expect_str_eq(hidden, "its GIR file calls it not introspectable");
}

#define F(inside)         "<function name='f' c:identifier='f'>" inside "</function>"
#define PARAMETERS(list)  F("<parameters>" list "</parameters>")
#define P(name, is, type) "<parameter name='" name "' " is ">" type "</parameter>"
#define OUT               "direction='out'"
#define FULL              "transfer-ownership='full'"
#define LIST(length)      "<array length='" length "'><type/></array>"

/* Expect @part, with ' in place of ", in the tool for f() of the header @text, or in the reason
 * against one. */
static void expect_plan(const char *text, const char *functions_of, const char *part)
{
	cleanup(gir_deinit) struct gir gir = {0};
	cleanup(buffer_deinit) struct buffer file = {0};
	cleanup(buffer_deinit) struct buffer message = {0};
	cleanup_free char *tool = NULL;

	buffer_printf(&file, REPOSITORY("%s"), functions_of);
	cr_assert_eq(read_text(buffer_terminate(&file), &gir, &message), 0);
	tool = plan(&gir, text, "f");
	for (char *at = tool; (at = strchr(at, '"'));)
		*at = '\'';
	cr_expect(strstr(tool, part), "not %s in\n%s", part, tool);
}

Test(ctl_gir, says_who_frees_what_a_function_hands_out)
{
	static const struct {
		const char *text;
		const char *gir;
		const char *part;
	} cases[] = {
		{"void f(unsigned char **d, unsigned long *n);",
			PARAMETERS(P("d", OUT " " FULL, LIST("1")) P("n", OUT, "")),
			"{'name': 'd', 'type': 'bytes', 'dir': 'out', 'size': 'n', 'transfer': "
			"'full', 'free': 'g_free'},"},
		{"struct a *a_new(void); void f(struct a *a, unsigned char **d, unsigned long *n);",
			PARAMETERS(P("a", "", "") P("d", OUT " nullable='1'", LIST("2"))
					P("n", OUT, "")),
			"{'out': {'name': 'd', 'type': 'bytes', 'size': '$n', 'transfer': 'none', "
			"'nullable': true}}"},
		{"void f(void **d, unsigned long *n);",
			PARAMETERS(P("d", OUT, LIST("1")) P("n", OUT, "")),
			"'dir': 'out', 'size': 'n', 'transfer': 'none'},"},
		{"void f(int **d, unsigned long *n);",
			PARAMETERS(P("d", OUT, LIST("1")) P("n", OUT, "")),
			"'d' is a list without a size"},
		{"void f(char **d, unsigned long *n);",
			PARAMETERS(P("d", OUT, "<array/>") P("n", OUT, "")),
			"'d' is a list without a size"},
		{"void f(char **t);", PARAMETERS(P("t", OUT " " FULL, "")),
			"'dir': 'out', 'transfer': 'full', 'free': 'g_free'}"},
		{"void f(char **t);", PARAMETERS(P("t", OUT " nullable='1'", "")),
			"'type': 'str', 'nullable': true, 'dir': 'out', 'transfer': 'none'}"},
		{"void f(char **t);", PARAMETERS(P("t", "", "<array/>")),
			"[\n        {'name': 't', 'type': 'strv'}]"},
		{"void f(const char *const *t);", PARAMETERS(P("t", OUT, "")), "'t' is constant"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		expect_plan(cases[i].text, cases[i].gir, cases[i].part);
}

Test(ctl_gir, hands_out_no_list_whose_size_is_no_parameter)
{
	expect_plan("void f(unsigned char **d, unsigned long *n);",
		PARAMETERS(P("d", OUT, LIST("2")) P("n", OUT, "")), "'d' is a list without a size");
}

Test(ctl_gir, says_what_is_output_and_what_may_be_absent)
{
	static const struct {
		const char *text;
		const char *gir;
		const char *part;
	} cases[] = {
		{"void f(const void *p);", PARAMETERS(P("p", "", "")),
			"'p' is a pointer to anything"},
		{"void f(void *p);", PARAMETERS(P("p", OUT, "")),
			"{'name': 'p', 'type': 'bytes', 'dir': 'out', 'capacity': 65536, "},
		{"void f(char *p);", PARAMETERS(P("p", "", "")), "{'name': 'p', 'type': 'str'}]"},
		{"void f(const char *p);", PARAMETERS(P("p", OUT, "")),
			"'type': 'str', 'dir': 'out'"},
		{"void f(int *p);", PARAMETERS(P("p", "", "")), "'type': 'i32', 'dir': 'inout'}"},
		{"void f(const void *p, int flag, long n);",
			PARAMETERS(P("p", "", LIST("2")) P("flag", "", "") P("n", "", "")),
			"{'name': 'p', 'type': 'bytes'},\n        {'name': 'flag', 'type': "
			"'i32'},\n"
			"        {'name': 'n', 'type': 'i64', 'length_of': 'p'}"},
		{"void f(const void *p, long n);", PARAMETERS(P("p", "", LIST("2")) P("n", "", "")),
			"{'name': 'p', 'type': 'bytes', 'question': 'how many bytes does the "
			"function "
			"read? all are passed'},\n        {'name': 'n', 'type': 'i64'}"},
		/* No number is absent. */
		{"void f(int p, const char *t);",
			PARAMETERS(P("p", "nullable='1'", "")
					P("t", "allow-none='1'", "<doc>a\n\nb</doc>")),
			"{'name': 'p', 'type': 'i32'},\n        {'name': 't', 'type': 'str', "
			"'description': 'a', 'nullable': true}]"},
		{"void f(char *p);", PARAMETERS(P("p", OUT " optional='1'", "")),
			"{'name': 'p', 'type': 'str', 'dir': 'out'"},
		/* A parameter without annotations. */
		{"void f(char *p, char *q);", PARAMETERS(P("p", "", "")),
			"{'name': 'q', 'type': 'str', 'dir': 'out'"},
		{"typedef struct e e; int f(int a, e **error);",
			"<function name='f' c:identifier='f' throws='1'/>",
			"[\n        {'name': 'a', 'type': 'i32'}],\n      'returns': {'name': "
			"'result', "
			"'type': 'i32', 'errors': 'gerror'}"},
		{"typedef struct e e; void f(e **error);",
			"<function name='f' c:identifier='f' throws='1'/>",
			"'symbol': 'f',\n      'returns': {'type': 'void', 'errors': 'gerror'}"},
		{"void f(void);", "<function name='f' c:identifier='f' throws='1'/>",
			"'symbol': 'f'}}"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		expect_plan(cases[i].text, cases[i].gir, cases[i].part);
}

#define RETURNED(is, type, list)                                                                   \
	F("<return-value " is ">" type "</return-value><parameters>" list "</parameters>")
#define RETURNS "'returns': {'name': 'result', "

Test(ctl_gir, knows_the_size_of_what_is_returned)
{
	static const char handle[] = "{'name': 'result', 'type': 'handle', 'nullable': true}}]";
	static const struct {
		const char *text;
		const char *gir;
		const char *part;
	} cases[] = {
		{"char **f(void);", RETURNED(FULL, "<array/>", ""),
			RETURNS "'type': 'strv', 'transfer': 'full'}"},
		{"char **f(void);", RETURNED("nullable='1'", "<array/>", ""),
			RETURNS "'type': 'strv', 'nullable': true}"},
		{"unsigned char *f(long *n);", RETURNED("", LIST("0"), P("n", OUT, "")),
			RETURNS "'type': 'bytes', 'size': 'n'}"},
		{"void *f(long *n);", RETURNED(FULL, LIST("0"), P("n", OUT, "")),
			RETURNS
			"'type': 'bytes', 'transfer': 'full', 'free': 'g_free', 'size': 'n'}"},
		{"int *f(int a, long *n);", RETURNED("", LIST("1"), P("a", "", "") P("n", OUT, "")),
			RETURNS "'type': 'array', 'items': 'i32', 'size': 'n'}"},
		{"char *f(void);", RETURNED("", "", ""), RETURNS "'type': 'str'}"},
		{"const char *f(void);", RETURNED(FULL " nullable='1'", "", ""),
			RETURNS "'type': 'str', 'nullable': true, 'transfer': 'full', 'free': "
				"'g_free'}"},
		/* No output has the size, or no tool can list such values. */
		{"int *f(long n);", RETURNED("", LIST("0"), P("n", "", "")), handle},
		{"int *f(long *n);", RETURNED("", LIST("1"), P("n", OUT, "")), handle},
		{"int *f(char **n);", RETURNED("", LIST("0"), P("n", OUT, "")), handle},
		{"int *f(long *n);", RETURNED("", "<array/>", P("n", OUT, "")), handle},
		{"float *f(long *n);", RETURNED("", LIST("0"), P("n", OUT, "")), handle},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		expect_plan(cases[i].text, cases[i].gir, cases[i].part);
}

/* Return the description of f() with the documentation @text; the caller frees it. */
static char *describe(const char *text)
{
	cleanup(gir_deinit) struct gir gir = {0};
	cleanup(buffer_deinit) struct buffer file = {0};
	cleanup(buffer_deinit) struct buffer message = {0};
	const char *description;

	buffer_printf(&file, REPOSITORY(F("<doc>%s</doc>")), text);
	cr_assert_eq(read_text(buffer_terminate(&file), &gir, &message), 0);
	description = gir_find(&gir, "f")->description;
	return strdup(description ? description : "none");
}

Test(ctl_gir, has_the_first_paragraph_without_marks)
{
	static const char *const cases[][2] = {
		{"One\n  line\tof text.  ", "One line of text."},
		{"First.\n\nSecond.", "First."},
		{"Frees #GList, %NULL, @name and `code`.", "Frees GList, NULL, name and code."},
		/* A mark before nothing is a mark. */
		{"50 % of # and @", "50 % of # and @"},
		{"C#\nlines", "C# lines"},
		{"", "none"},
		{" \n ", "none"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_free char *description = describe(cases[i][0]);

		cr_expect_str_eq(description, cases[i][1]);
	}
}

Test(ctl_gir, bounds_a_description)
{
	char text[402];
	cleanup_free char *description = NULL;

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	description = describe(text);
	cr_expect_eq(strlen(description), 400);
}

Test(ctl_gir, reads_functions_wherever_they_are)
{
#define DEEP_7 "<a><b><c><d><e><g><h>"
#define END_7  "</h></g></e></d></c></b></a>"
	cleanup(gir_deinit) struct gir gir = {0};
	cleanup(buffer_deinit) struct buffer message = {0};

	cr_assert_eq(read_text(REPOSITORY("<class><constructor c:identifier='x_new'/><method "
					  "c:identifier='x_do'/></class>" DEEP_7
					  "<i><function c:identifier='x_8'/><j><function "
					  "c:identifier='x_9'/></j></i>" END_7),
			     &gir, &message),
		0);
	cr_expect(gir_find(&gir, "x_new"));
	cr_expect(gir_find(&gir, "x_do"));
	cr_expect(gir_find(&gir, "x_8"));
	cr_expect_null(gir_find(&gir, "x_9"), "deeper than 8 elements");
	cr_expect_eq(gir_find(&gir, "x_do")->returned.length, GIR_NONE);
}

Test(ctl_gir, finds_a_file_in_each_folder_of_data)
{
	cleanup(gir_deinit) struct gir gir = {0};
	cleanup(buffer_deinit) struct buffer message = {0};
	char folder[64];
	char folders[128];

	set_up(folder, functions);
	snprintf(folders, sizeof(folders), "/none:%s:/none/either", folder);
	setenv("XDG_DATA_DIRS", folders, 1);
	cr_expect_eq(gir_read("X-1", &gir, &message), 0);
	gir_deinit(&gir);
	cr_expect_eq(gir_read("X-?", &gir, &message), 1, "a name is no pattern");
	cr_expect_eq(gir_read("X-2", &gir, &message), 1);
	tear_down(folder);
}

Test(ctl_gir, is_read_whole_or_not_at_all_when_memory_is_short)
{
	for (size_t n = 0; scarce_once_after(n); n++) {
		cleanup(gir_deinit) struct gir gir = {0};
		cleanup(buffer_deinit) struct buffer message = {0};
		int r = gir_read_text(functions, strlen(functions), "X-1", &gir, &message);

		cr_expect_eq(r, scarce_has_failed() ? -ENOMEM : 0, "%zu: %d", n, r);
		cr_expect_eq(gir.n_functions, r == 0 ? 3 : 0);
		if (r != 0)
			continue;
		cr_expect_not_null(gir_find(&gir, "x_box_get")->description, "%zu", n);
		cr_expect_not_null(gir_find(&gir, "x_box_get")->parameters[1].description);
		cr_expect_not_null(gir_find(&gir, "x_copy")->parameters[0].description);
		cr_expect_not_null(gir.library);
		cr_expect_not_null(gir.package);
	}
}
