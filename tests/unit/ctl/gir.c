/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/header/gir.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctl/header/plan_write.h"
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
