/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "schema/schema.h"
#include "util/file/file.h"

/*
 * Runs files in the format of the JSON-Schema-Test-Suite:
 *
 *   [{"description": …, "schema": …, "tests": [{"description": …, "data": …, "valid": true}]}]
 *
 *   schema-suite --draft 2020-12|draft7 --remotes DIR [--formats] FILE…
 *
 * Every document below DIR is registered as http://localhost:1234/ + its path there. Each failing
 * case is printed; the last line counts. Exit status 1 when a case failed, 2 on unusable arguments.
 */

#define FILE_BYTES_MAX (16 << 20)
#define REMOTES_MAX    512
#define REMOTES_URI    "http://localhost:1234/"

struct file {
	struct buffer text;
	struct json_tape tape;
	char *uri; /* NULL: of no resource */
};

struct suite {
	struct schema_options options;
	struct schema_context *context;
	struct file remotes[REMOTES_MAX];
	struct schema_resource resources[REMOTES_MAX];
	unsigned int passed;
	unsigned int failed;
};

static void file_deinit(struct file *file)
{
	json_tape_deinit(&file->tape);
	buffer_deinit(&file->text);
	free(file->uri);
}

/* Read the JSON file @path; false, after a line on stderr, when it cannot be. */
static bool file_load(struct file *file, const char *path)
{
	struct json_error error;
	int r = file_read(path, FILE_BYTES_MAX, &file->text);

	if (r < 0) {
		fprintf(stderr, "schema-suite: %s: %s\n", path, strerror(-r));
		return false;
	}
	r = json_tape_read(
		&file->tape, file->text.data, file->text.size, JSON_DEPTH_DEFAULT, &error);
	if (r != 0) {
		fprintf(stderr, "schema-suite: %s: %s at byte %zu\n", path, error.message,
			error.offset);
		return false;
	}
	return true;
}

static bool load_remotes(struct suite *suite, const char *folder, const char *uri);

static bool load_remote(struct suite *suite, const char *path, const char *uri)
{
	struct schema_options *options = &suite->options;
	struct file *file = &suite->remotes[options->n_resources];
	size_t size = strlen(path);
	struct stat status;

	if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
		return load_remotes(suite, path, uri);
	if (size < 5 || strcmp(path + size - 5, ".json") != 0)
		return true;
	if (options->n_resources == REMOTES_MAX || !file_load(file, path))
		return false;
	file->uri = strdup(uri);
	suite->resources[options->n_resources].uri = file->uri;
	suite->resources[options->n_resources].tape = &file->tape;
	options->n_resources++;
	return true;
}

/* Register what is in @folder below @uri. */
static bool load_remotes(struct suite *suite, const char *folder, const char *uri)
{
	DIR *directory = opendir(folder);
	const struct dirent *entry;
	bool is_loaded = true;

	if (!directory) {
		fprintf(stderr, "schema-suite: %s: %s\n", folder, strerror(errno));
		return false;
	}
	while (is_loaded && (entry = readdir(directory))) {
		cleanup(buffer_deinit) struct buffer path = {0};
		cleanup(buffer_deinit) struct buffer name = {0};

		if (entry->d_name[0] == '.')
			continue;
		buffer_printf(&path, "%s/%s", folder, entry->d_name);
		buffer_printf(&name, "%s%s%s", uri, uri[strlen(uri) - 1] == '/' ? "" : "/",
			entry->d_name);
		is_loaded = buffer_terminate(&path) && buffer_terminate(&name) &&
			    load_remote(suite, path.data, name.data);
	}
	closedir(directory);
	return is_loaded;
}

static void print_failure(const char *path, const struct json_tape *tape, uint32_t group,
	uint32_t test, const char *what)
{
	cleanup_free char *group_name =
		json_string_dup(tape, json_find(tape, group, "description"), NULL);
	cleanup_free char *test_name =
		json_string_dup(tape, json_find(tape, test, "description"), NULL);

	printf("%s: %s: %s: %s\n", path, group_name, test_name, what);
}

/* Run one case. When its schema did not compile, @schema is NULL and @why has the reason. The
 * second pass is compared with the first. */
static void run_test(struct suite *suite, const char *path, const struct json_tape *tape,
	uint32_t group, uint32_t test, const struct schema *schema, const char *why)
{
	cleanup(schema_report_deinit) struct schema_report report = {0};
	uint32_t data = json_find(tape, test, "data");
	bool is_valid = json_is_true(tape, json_find(tape, test, "valid"));
	bool holds = schema && schema_validate(schema, suite->context, tape, data) == 0;

	if (schema)
		schema_explain(schema, suite->context, tape, data, &report);
	if (schema && holds == is_valid && (report.n_violations == 0) == holds) {
		suite->passed++;
		return;
	}
	suite->failed++;
	if (!schema)
		print_failure(path, tape, group, test, why);
	else if (holds != is_valid)
		print_failure(path, tape, group, test,
			holds ? "should be invalid" : report.violations[0].message);
	else
		print_failure(path, tape, group, test, "explained otherwise than validated");
}

static void run_group(
	struct suite *suite, const char *path, const struct json_tape *tape, uint32_t group)
{
	cleanup(schema_cleanup) struct schema *schema = NULL;
	cleanup(schema_error_deinit) struct schema_error error = {0};
	uint32_t tests = json_find(tape, group, "tests");
	int r = schema_compile(
		tape, json_find(tape, group, "schema"), &suite->options, &schema, &error);

	for (uint32_t i = json_first(tape, tests); i < json_end(tape, tests);
		i = json_next(tape, i))
		run_test(suite, path, tape, group, i, r == 0 ? schema : NULL,
			error.message.data ? error.message.data : strerror(ENOMEM));
}

static bool run_file(struct suite *suite, const char *path)
{
	cleanup(file_deinit) struct file file = {0};
	const struct json_tape *tape = &file.tape;

	if (!file_load(&file, path))
		return false;
	for (uint32_t i = json_first(tape, 0); i < json_end(tape, 0); i = json_next(tape, i))
		run_group(suite, path, tape, i);
	return true;
}

/* Take the option at @argv; returns how many arguments it has, or 0 for no option. */
static int take_option(struct suite *suite, char *const *argv)
{
	if (strcmp(argv[0], "--formats") == 0) {
		suite->options.assert_formats = true;
		return 1;
	}
	if (argv[1] && strcmp(argv[0], "--draft") == 0) {
		if (strcmp(argv[1], "draft7") == 0)
			suite->options.dialect = SCHEMA_DRAFT_07;
		else if (strcmp(argv[1], "2020-12") != 0)
			return 0;
		return 2;
	}
	if (argv[1] && strcmp(argv[0], "--remotes") == 0)
		return load_remotes(suite, argv[1], REMOTES_URI) ? 2 : 0;
	return 0;
}

static void suite_deinit(struct suite *suite)
{
	for (size_t i = 0; i < suite->options.n_resources; i++)
		file_deinit(&suite->remotes[i]);
	schema_context_free(suite->context);
}

int main(int argc, char **argv)
{
	static struct suite suite;
	int r = 0;

	suite.context = schema_context_new();
	suite.options.resources = suite.resources;
	for (int i = 1; r == 0 && i < argc;) {
		int taken = argv[i][0] == '-' ? take_option(&suite, argv + i) : 1;

		if (taken == 0 || (argv[i][0] != '-' && !run_file(&suite, argv[i])))
			r = 2;
		i += taken;
	}
	if (argc < 2 || !suite.context)
		r = 2;
	if (r == 2)
		fprintf(stderr, "usage: schema-suite --draft 2020-12|draft7 --remotes DIR "
				"[--formats] FILE…\n");
	else
		printf("%u passed, %u failed\n", suite.passed, suite.failed);
	suite_deinit(&suite);
	return r == 0 && suite.failed > 0 ? 1 : r;
}
