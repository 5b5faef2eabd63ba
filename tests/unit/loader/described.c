/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/described.h"

#include <criterion/criterion.h>
#include <string.h>

#include "quotes.h"
#include "util/buffer.h"
#include "util/cleanup.h"

/* The files that a description depends on. JSON is written with ' in place of ". */

TestSuite(described, .timeout = 60);

static void append_path(void *data, const char *path)
{
	buffer_printf(data, "%s;", path);
}

/* Return the dependencies of a toolbox with this description, each with a semicolon. */
static char *dependencies(const char *description)
{
	cleanup_free char *json = quoted(description);
	struct package package = {.described = json, .described_size = strlen(json)};
	struct buffer out = {0};

	buffer_append_string(&out, "");
	described_each_dependency(&package, append_path, &out);
	return buffer_take(&out, NULL);
}

Test(described, has_each_absolute_path_of_its_list)
{
	static const struct {
		const char *description;
		const char *paths;
	} rows[] = {
		{"{'depends':['/a','/b c']}", "/a;/b c;"},
		{"{'depends':['/a','b','./c','',5,null,['/d'],'/e']}", "/a;/e;"},
		{"{'depends':[]}", ""},
		{"{'depends':'/a'}", ""},
		{"{'depends':{'/a':'/b'}}", ""},
		{"{'other':['/a']}", ""},
		{"{}", ""},
		{"['/a']", ""},
		{"'/a'", ""},
		{"{'depends':['/a']", ""},
		{"", ""},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		cleanup_free char *paths = dependencies(rows[i].description);

		cr_expect_str_eq(paths ? paths : "", rows[i].paths, "%s: %s", rows[i].description,
			paths ? paths : "");
	}
}

Test(described, has_no_list_that_is_longer_than_allowed)
{
	for (size_t more = 0; more < 2; more++) {
		cleanup(buffer_deinit) struct buffer text = {0};
		cleanup_free char *paths = NULL;

		buffer_append_string(&text, "{'depends':['/'");
		for (size_t i = 1; i < DESCRIBED_DEPENDS_MAX + more; i++)
			buffer_append_string(&text, ",'/'");
		buffer_append_string(&text, "]}");
		paths = dependencies(buffer_terminate(&text));
		cr_expect_eq(
			paths ? strlen(paths) : 0, more ? 0 : DESCRIBED_DEPENDS_MAX * strlen("/;"));
	}
}
