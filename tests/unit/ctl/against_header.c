/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/check/against_header.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/array.h"
#include "util/cleanup.h"
#include "util/file/file.h"

TestSuite(ctl_against_header, .timeout = 60);

/* A library whose functions need every rule. */
static const char header[] =
	"#include <stddef.h>\n"
	"#include <stdint.h>\n"
	"typedef unsigned char Byte;\n"
	"typedef struct db db;\n"
	"enum level { LEVEL_LOW = 1, LEVEL_HIGH = 4 };\n"
	"#define ACCESS_READ 0x10\n"
	"struct point { int32_t x; char tag; double y; };\n"
	"struct arrays { char tag[5]; uint8_t key[3]; int16_t rows[2][2]; double d; };\n"
	"struct packed { unsigned a : 3; int b; } __attribute__((packed));\n"
	"uint64_t sum(const Byte *data, unsigned int size, _Bool fast);\n"
	"int fill(char *text, size_t size, int *ret_used, char **ret_message);\n"
	"float scale(const float *items, long n, enum level level, const int *factor);\n"
	"int db_open(const char *path, db **ret_db);\n"
	"const char *db_message(db *db);\n"
	"void db_close(db *db);\n"
	"int db_print(db *db, const char *format, ...);\n"
	"struct point move(struct point from, const struct point *by);\n"
	"typedef struct _GError GError;\n"
	"int try_it(int n, GError **error);\n"
	"int lines(const char text[\n  3\n], unsigned long n);\n"
	"struct shelf { db *dbs[3]; struct point at[2]; };\n"
	"struct byte { char c; };\n"
	"void g_level(enum level level);\n"
	"void g_int(int n);\n"
	"void g_bool(_Bool b);\n"
	"void g_double(double d);\n"
	"void g_any(void *any);\n"
	"void g_const(const void *bytes);\n"
	"void g_text(char *text);\n"
	"void g_texts(const char *const *texts);\n"
	"void g_out(char **text);\n"
	"void g_number(int *n);\n"
	"void g_byte(const struct byte *bytes);\n"
	"void g_point(struct point *point);\n"
	"void g_value(struct point point);\n"
	"void g_points(struct point **points);\n"
	"void g_handle(db **ret_db);\n"
	"void g_array(const int numbers[4]);\n"
	"void g_none(void);\n"
	"struct point g_get(void);\n"
	"char *g_get_text(void);\n";

struct found {
	struct buffer text; /* a line for each: "severity pointer: text" */
};

static void keep_finding(void *data, const struct diagnostic *finding)
{
	struct found *found = data;

	buffer_printf(&found->text, "%s %s: %s\n", diagnostic_severity_name(finding->severity),
		finding->pointer, finding->text);
}

/* Hold @manifest against the header. Return the findings, which the caller frees. */
static char *hold(const char *manifest)
{
	static char folder[] = "/tmp/against-header-XXXXXX";
	char path[64];
	const char *headers[] = {path};
	const struct compiler compiler = {headers, ARRAY_SIZE(headers), NULL, NULL};
	struct found found = {0};
	const struct diagnostic_sink sink = {keep_finding, &found};
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(buffer_deinit) struct buffer messages = {0};

	cr_assert(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/lib.h", folder);
	cr_assert_eq(file_replace(folder, "lib.h", header, strlen(header), 0644), 0);
	cr_assert_eq(json_tape_read(&tape, manifest, strlen(manifest), JSON_DEPTH_DEFAULT, NULL), 0,
		"%s", manifest);
	cr_assert_eq(against_header("m.json", &tape, &compiler, &sink, &messages), 0, "%s",
		buffer_terminate(&messages));
	unlink(path);
	rmdir(folder);
	memcpy(folder + strlen(folder) - 6, "XXXXXX", 6);
	return found.text.size > 0 ? buffer_take(&found.text, NULL) : strdup("");
}

/* Hold a tool with this `native` object. */
static char *hold_native(const char *native)
{
	cleanup(buffer_deinit) struct buffer manifest = {0};

	buffer_printf(&manifest, "{\"tools\": [{\"name\": \"t\", \"native\": %s}]}", native);
	return hold(buffer_terminate(&manifest));
}

static void expect_none(const char *native)
{
	cleanup_free char *found = hold_native(native);

	cr_expect_str_eq(found, "");
}

static void expect(const char *native, const char *part)
{
	cleanup_free char *found = hold_native(native);

	cr_expect(strstr(found, part), "not '%s' in:\n%s", part, found);
}

#define SUM(parameters, returns)                                                                   \
	"{\"symbol\": \"sum\", \"parameters\": [" parameters                                       \
	"], \"returns\": {\"type\": \"" returns "\"}}"
#define DATA "{\"name\": \"data\", \"type\": \"bytes\"}, "
#define SIZE "{\"name\": \"size\", \"type\": \"u32\", \"length_of\": \"data\"}, "
#define FAST "{\"name\": \"fast\", \"type\": \"bool\"}"

Test(ctl_against_header, finds_nothing_where_both_agree)
{
	expect_none(SUM(DATA SIZE FAST, "u64"));
	expect_none("{\"symbol\": \"fill\", \"parameters\": ["
		    "{\"name\": \"text\", \"type\": \"str\", \"dir\": \"out\", \"capacity\": 9},"
		    "{\"name\": \"n\", \"type\": \"usize\", \"length_of\": \"text\"},"
		    "{\"name\": \"used\", \"type\": \"i32\", \"dir\": \"out\"},"
		    "{\"name\": \"m\", \"type\": \"str\", \"dir\": \"out\", "
		    "\"transfer\": \"full\"}],"
		    "\"returns\": {\"type\": \"i32\"}}");
	expect_none("{\"symbol\": \"scale\", \"parameters\": ["
		    "{\"name\": \"a\", \"type\": \"array\", \"items\": \"f32\"},"
		    "{\"name\": \"n\", \"type\": \"i64\", \"length_of\": \"a\"},"
		    "{\"name\": \"level\", \"type\": \"i32\"},"
		    "{\"name\": \"f\", \"type\": \"i32\", \"dir\": \"inout\"}],"
		    "\"returns\": {\"type\": \"f32\"}}");
}

Test(ctl_against_header, names_both_types_and_the_declaration)
{
	expect(SUM(DATA "{\"name\": \"size\", \"type\": \"u64\", \"length_of\": \"data\"}, " FAST,
		       "u64"),
		"error /tools/0/native/parameters/1/type: 'u64', but /tmp/");
	expect(SUM(DATA "{\"name\": \"size\", \"type\": \"u64\", \"length_of\": \"data\"}, " FAST,
		       "u64"),
		"lib.h:10 has 'unsigned int' (u32): uint64_t sum(const Byte *, unsigned int, "
		"_Bool)");
}

Test(ctl_against_header, finds_what_follows_a_bound_of_several_lines)
{
	cleanup_free char *found =
		hold("{\"tools\": [{\"name\": \"a\", \"native\": {\"symbol\": \"lines\", "
		     "\"parameters\": [{\"name\": \"text\", \"type\": \"str\"}, "
		     "{\"name\": \"n\", \"type\": \"u64\"}], \"returns\": {\"type\": \"i32\"}}}, "
		     "{\"name\": \"b\", \"native\": " SUM(DATA SIZE FAST, "u8") "}]}");

	cr_expect(strstr(found, "error /tools/1/native/returns/type: 'u8'"), "%s", found);
	cr_expect_null(strstr(found, "/tools/0"), "%s", found);
}

Test(ctl_against_header, finds_a_wrong_class_size_and_sign)
{
	expect(SUM(DATA SIZE FAST, "i64"), "returns/type: 'i64'");
	expect(SUM(DATA SIZE FAST, "u32"), "returns/type: 'u32'");
	expect(SUM(DATA SIZE FAST, "f64"), "returns/type: 'f64'");
	expect(SUM(DATA SIZE FAST, "str"), "returns/type: 'str'");
	expect(SUM(DATA SIZE "{\"name\": \"fast\", \"type\": \"i32\"}", "u64"), "'i32'");
	expect(SUM("{\"name\": \"data\", \"type\": \"array\", \"items\": \"i16\"}, " SIZE FAST,
		       "u64"),
		"an 'array' of 'i16'");
	expect(SUM("{\"name\": \"data\", \"type\": \"u64\"}, " SIZE FAST, "u64"), "'u64', but");
}

Test(ctl_against_header, counts_parameters)
{
	expect(SUM(DATA SIZE FAST ", " SIZE "{\"name\": \"x\", \"type\": \"i32\"}", "u64"),
		"/native/parameters: 5 parameters, but");
	expect("{\"symbol\": \"sum\"}", "0 parameters, but");
	expect("{\"symbol\": \"db_print\", \"parameters\": ["
	       "{\"name\": \"d\", \"type\": \"str\", \"value\": null},"
	       "{\"name\": \"f\", \"type\": \"str\"}]}",
		"has variable arguments");
	expect("{\"symbol\": \"db_close\", \"variadic\": 1, \"parameters\": ["
	       "{\"name\": \"d\", \"type\": \"str\", \"value\": null}]}",
		"has no variable arguments");
}

Test(ctl_against_header, finds_a_symbol_without_a_declaration)
{
	expect("{\"symbol\": \"absent\"}", "symbol: 'absent' is declared in no header");
	expect("{\"symbol\": \"db_message\", \"parameters\": [{\"name\": \"d\", \"type\": \"str\", "
	       "\"value\": null}], \"returns\": {\"type\": \"str\", \"transfer\": \"full\", "
	       "\"free\": \"gone\"}}",
		"free: 'gone' is declared in no header");
}

Test(ctl_against_header, holds_constness)
{
	expect(SUM("{\"name\": \"d\", \"type\": \"bytes\", \"dir\": \"out\", \"capacity\": "
		   "9}, " SIZE FAST,
		       "u64"),
		"error /tools/0/native/parameters/0/type: it comes out, but for ");
	expect("{\"symbol\": \"fill\", \"parameters\": [{\"name\": \"t\", \"type\": \"str\"}]}",
		"warning /tools/0/native/parameters/0/type: it only goes in, but for ");
}

#define OPEN                                                                                       \
	"{\"call\": \"db_open\", \"args\": [\"$path\", {\"out\": {\"name\": \"db\", \"type\": "    \
	"\"handle\"}}], \"returns\": {\"type\": \"i32\", \"errors\": \"nonzero\", \"message\": "   \
	"{\"call\": \"db_message\", \"args\": [\"$db\"], \"returns\": {\"type\": \"str\"}}}, "     \
	"\"finally\": {\"call\": \"db_close\", \"args\": [\"$db\"]}}"
#define STEPS(steps)                                                                               \
	"{\"parameters\": [{\"name\": \"path\", \"type\": \"str\"}, {\"name\": \"n\", \"type\": "  \
	"\"i64\"}], \"steps\": [" steps "]}"

Test(ctl_against_header, follows_the_names_of_steps)
{
	expect_none(STEPS(OPEN));
	expect(STEPS("{\"call\": \"db_open\", \"args\": [\"$n\", {\"out\": {\"name\": \"d\", "
		     "\"type\": \"handle\"}}], \"returns\": {\"type\": \"i32\"}}"),
		"/native/steps/0/args/0: 'i64', but ");
	expect(STEPS(OPEN ", {\"call\": \"db_message\", \"args\": [\"$path\"]}"),
		"steps/1/args/0: 'str', but ");
	expect(STEPS(OPEN ", {\"call\": \"db_message\", \"args\": [{\"i32\": 3}]}"),
		"steps/1/args/0: 'i32', but ");
	expect(STEPS("{\"call\": \"db_open\", \"args\": [\"$path\", {\"out\": {\"name\": \"d\", "
		     "\"type\": \"handle\"}}], \"returns\": {\"type\": \"i32\"}, "
		     "\"finally\": {\"call\": \"db_close\"}}"),
		"finally/call: 0 parameters, but ");
	expect(STEPS("{\"call\": \"sum\", \"args\": [\"$path\", {\"length_of\": \"$path\", "
		     "\"type\": \"u32\"}, {\"bool\": true}], \"returns\": {\"name\": \"s\", "
		     "\"type\": \"u64\"}}, {\"call\": \"db_message\", \"args\": [\"$s\"]}"),
		"steps/1/args/0: 'u64', but ");
	expect_none(STEPS("{\"call\": \"try_it\", \"args\": [{\"as\": \"i32\", \"value\": "
			  "\"$n\"}], \"returns\": {\"type\": \"i32\", \"errors\": \"gerror\"}}"));
	expect(STEPS("{\"call\": \"sum\", \"args\": [\"$path\", {\"length_of\": \"$path\", "
		     "\"type\": \"u32\"}], \"returns\": {\"type\": \"u64\", \"errors\": "
		     "\"gerror\"}}"),
		"'gerror', but the last parameter");
}

static void expect_manifest(const char *manifest, const char *part)
{
	cleanup_free char *found = hold(manifest);

	if (part)
		cr_expect(strstr(found, part), "not '%s' in:\n%s", part, found);
	else
		cr_expect_str_eq(found, "");
}

#define POINT(fields) "{\"structs\": {\"point\": {\"fields\": [" fields "]}}, \"tools\": []}"
#define X             "{\"name\": \"x\", \"type\": \"i32\"}"
#define TAG           "{\"name\": \"tag\", \"type\": \"i8\"}"
#define Y             "{\"name\": \"y\", \"type\": \"f64\"}"

Test(ctl_against_header, holds_the_layout_of_structs)
{
	expect_manifest(POINT(X ", " TAG ", " Y), NULL);
	/* The padding after x is as long as the tag and its padding. */
	expect_manifest(POINT(X ", " Y), NULL);
	expect_manifest("{\"structs\": {\"arrays\": {\"fields\": [{\"name\": \"tag\", \"type\": "
			"\"str\", \"count\": 5}, {\"name\": \"key\", \"type\": \"bytes\", "
			"\"count\": 3}, {\"name\": \"rows\", \"type\": \"i16\", \"count\": 4}, "
			"{\"name\": \"d\", \"type\": \"f64\"}]}}, \"tools\": []}",
		NULL);
	expect_manifest("{\"structs\": {\"arrays\": {\"fields\": [{\"name\": \"tag\", \"type\": "
			"\"str\", \"count\": 5}, {\"name\": \"key\", \"type\": \"bytes\", "
			"\"count\": 4}], \"partial\": true}}, \"tools\": []}",
		"fields/1: 'key' has another size in struct arrays of ");
	expect_manifest(POINT(X ", " TAG), "struct point of ");
	expect_manifest(POINT(TAG ", " X ", " Y), "is at another offset");
	expect_manifest(POINT(X ", {\"name\": \"z\", \"type\": \"i32\"}"), "has no field 'z'");
	expect_manifest(POINT("{\"name\": \"x\", \"type\": \"u32\"}, " TAG ", " Y),
		"fields/0/type: 'u32', but ");
	expect_manifest("{\"structs\": {\"packed\": {\"fields\": [{\"name\": \"a\", \"type\": "
			"\"u32\"}]}}, \"tools\": []}",
		"is a bit-field");
	expect_manifest("{\"structs\": {\"db\": {\"fields\": [" X "]}}, \"tools\": []}",
		"are declared in no header");
}

Test(ctl_against_header, follows_the_elements_of_arrays)
{
#define SHELF(count, use)                                                                          \
	"{\"structs\": {\"point\": {\"fields\": [" X ", " TAG ", " Y                               \
	"]}, \"shelf\": {\"fields\": ["                                                            \
	"{\"name\": \"dbs\", \"type\": \"handle\", \"count\": " count                              \
	"}, {\"name\": \"at\", \"type\": "                                                         \
	"\"struct\", \"struct\": \"point\", \"count\": 2}]}}, \"tools\": [{\"name\": \"t\", "      \
	"\"native\": "                                                                             \
	"{\"parameters\": [{\"name\": \"shelf\", \"type\": \"struct\", \"struct\": \"shelf\"}], "  \
	"\"steps\": [" use "]}}]}"
	expect_manifest(SHELF("3", "{\"call\": \"db_close\", \"args\": [\"$shelf.dbs.2\"]}"), NULL);
	expect_manifest(SHELF("2", "{\"call\": \"db_close\", \"args\": [\"$shelf.dbs.1\"]}"),
		"'dbs' has another size in struct shelf of ");
	expect_manifest(SHELF("3", "{\"call\": \"scale\", \"args\": [null, {\"i64\": 1}, "
				   "\"$shelf.at.1.y\", null], \"returns\": {\"type\": \"f32\"}}"),
		"steps/0/args/2: 'f64', but ");
	expect_manifest(SHELF("3", "{\"call\": \"scale\", \"args\": [null, {\"i64\": 1}, "
				   "\"$shelf.at.1.x\", null], \"returns\": {\"type\": \"f32\"}}"),
		NULL);
}

Test(ctl_against_header, holds_the_values_of_enums)
{
	expect_manifest("{\"enums\": {\"level\": {\"LEVEL_LOW\": 1, \"high\": {\"value\": 4, "
			"\"c\": \"LEVEL_HIGH\"}, \"ACCESS_READ\": 16}}, \"tools\": []}",
		NULL);
	expect_manifest("{\"enums\": {\"level\": {\"LEVEL_LOW\": 2}}, \"tools\": []}",
		"error /enums/level/LEVEL_LOW: 2 is not the value");
	expect_manifest("{\"enums\": {\"level\": {\"low\": 1}}, \"tools\": []}",
		"warning /enums/level/low: 'low' is a constant in no header");
	/* Such a name is no line of C. */
	expect_manifest("{\"enums\": {\"level\": {\"a\\n#error\": 1}}, \"tools\": []}",
		"warning /enums/level/a\n#error: ");
}

Test(ctl_against_header, reports_a_header_that_is_absent_or_wrong)
{
	static const char manifest[] = "{\"tools\": []}";
	const char *headers[] = {"no/such/header.h"};
	struct compiler compiler = {headers, 1, NULL, NULL};
	struct found found = {0};
	const struct diagnostic_sink sink = {keep_finding, &found};
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	cleanup(buffer_deinit) struct buffer messages = {0};

	cr_assert_eq(
		json_tape_read(&tape, manifest, strlen(manifest), JSON_DEPTH_DEFAULT, NULL), 0);
	cr_expect_eq(
		against_header("m.json", &tape, &compiler, &sink, &messages), COMPILER_E_FAILED);
	cr_expect(strstr(buffer_terminate(&messages), "no/such/header.h"), "%s", messages.data);
	buffer_reset(&messages);
	compiler.pkg = "no-such-package";
	cr_expect_eq(
		against_header("m.json", &tape, &compiler, &sink, &messages), COMPILER_E_ABSENT);
	buffer_reset(&messages);
	compiler.pkg = NULL;
	setenv("CC", "no-such-compiler", 1);
	cr_expect_eq(
		against_header("m.json", &tape, &compiler, &sink, &messages), COMPILER_E_ABSENT);
	cr_expect(strstr(buffer_terminate(&messages), "install gcc or clang"), "%s", messages.data);
}

/* A tool, and the findings about it, each "severity pointer: text" and a newline. */
struct told {
	const char *native;
	const char *findings;
};

/* Copy the findings about the tool @index to @out, without its pointer, the folder of the
 * header and the line. */
static void copy_findings(const char *all, size_t index, struct buffer *out)
{
	char begin[32];

	snprintf(begin, sizeof(begin), " /tools/%zu/native", index);
	for (const char *line = all; *line; line = strchr(line, '\n') + 1) {
		const char *end = strchr(line, '\n') + 1;
		const char *pointer = strchr(line, ' ');
		size_t size = strlen(begin);

		if (strncmp(pointer, begin, size) != 0 || !strchr("/:", pointer[size]))
			continue;
		buffer_append(out, line, (size_t)(pointer + 1 - line));
		for (line = pointer + size; line < end; line++) {
			if (strncmp(line, "/tmp/against-header-", 20) == 0)
				line += strlen("/tmp/against-header-XXXXXX/");
			if (strncmp(line - 5, "lib.h:", 6) == 0)
				line += strspn(line, ":0123456789");
			buffer_append_char(out, *line == '"' ? '\'' : *line);
		}
		line = end - 1;
	}
	cr_assert(buffer_terminate(out));
}

/* Hold all tools at once: a compiler is slow. */
static void expect_told(const struct told *cases, size_t n_cases)
{
	cleanup(buffer_deinit) struct buffer manifest = {0};
	cleanup_free char *found = NULL;

	buffer_append_string(&manifest,
		"{'structs': {'point': {'fields': [{'name': 'x', 'type': "
		"'i32'}], 'partial': true}, 'other': {'c': 'db', 'fields': "
		"5}, 'bad': {'c': 'a;b'}}, 'init': [{'call': 'db_open', 'args': [null, {'out': "
		"{'name': 'h', 'type': 'handle'}}], 'returns': {'type': 'i32'}}], 'tools': [");
	for (size_t i = 0; i < n_cases; i++)
		buffer_printf(&manifest, "%s{'name': 't', 'native': %s}", i > 0 ? ", " : "",
			cases[i].native);
	buffer_append_string(&manifest, "]}");
	cr_assert(buffer_terminate(&manifest));
	for (char *at = manifest.data; (at = strchr(at, '\''));)
		*at = '"';
	found = hold(manifest.data);
	for (size_t i = 0; i < n_cases; i++) {
		cleanup(buffer_deinit) struct buffer own = {0};

		copy_findings(found, i, &own);
		cr_expect_str_eq(own.data, cases[i].findings, "%s: %s", cases[i].native, own.data);
	}
}

#define ONE(symbol, parameter)                                                                     \
	"{'symbol': '" symbol "', 'parameters': [{'name': 'p', " parameter "}]}"
#define WRONG "error /parameters/0/type: "
#define MAY_WRITE                                                                                  \
	"warning /parameters/0/type: it only goes in, but for lib.h it is not const, so the "      \
	"function "                                                                                \
	"may write to it: "

Test(ctl_against_header, holds_each_kind_of_value_against_each_type)
{
	static const struct told cases[] = {
		{ONE("g_level", "'type': 'enum'"), ""},
		{ONE("g_level", "'type': 'flags'"), ""},
		{ONE("g_level", "'type': 'enum', 'base': 'u8'"),
			WRONG "'u8', but lib.h has 'enum level' (i32 or an enum): void "
			      "g_level(enum level)\n"},
		{ONE("g_level", "'type': 'i32'"), ""},
		{ONE("g_level", "'type': 'u32'"), ""},
		{ONE("g_level", "'type': 'i64'"), WRONG "'i64', but lib.h has 'enum level' (i32 or "
							"an enum): void g_level(enum level)\n"},
		{ONE("g_int", "'type': 'enum'"), ""},
		{ONE("g_int", "'type': 'flags'"), ""},
		{ONE("g_int", "'type': 'u32'"),
			WRONG "'u32', but lib.h has 'int' (i32): void g_int(int)\n"},
		{ONE("g_int", "'type': 'bool'"),
			WRONG "'bool', but lib.h has 'int' (i32): void g_int(int)\n"},
		{ONE("g_int", "'type': 'f32'"),
			WRONG "'f32', but lib.h has 'int' (i32): void g_int(int)\n"},
		{ONE("g_int", "'type': 'handle'"),
			WRONG "'handle', but lib.h has 'int' (i32): void g_int(int)\n"},
		{ONE("g_int", "'value': 3"), ""},
		{ONE("g_int", "'type': 'nonsense'"),
			WRONG "'nonsense', but lib.h has 'int' (i32): void g_int(int)\n"},
		{ONE("g_int", "'type': 'i32', 'dir': 'out'"),
			WRONG "'i32' by pointer, but lib.h has 'int' (i32): void g_int(int)\n"},
		{ONE("g_int", "'type': 'i32', 'value': null"),
			WRONG "'i32', but lib.h has 'int' (i32): void g_int(int)\n"},
		{ONE("g_bool", "'type': 'bool'"), ""},
		{ONE("g_bool", "'type': 'u8'"), ""},
		{ONE("g_double", "'type': 'f64'"), ""},
		{ONE("g_double", "'type': 'f32'"),
			WRONG "'f32', but lib.h has 'double' (f64): void g_double(double)\n"},
		{ONE("g_double", "'type': 'i64'"),
			WRONG "'i64', but lib.h has 'double' (f64): void g_double(double)\n"},
		{ONE("g_any", "'type': 'bytes'"), MAY_WRITE "void g_any(void *)\n"},
		{ONE("g_any", "'type': 'handle'"), ""},
		{ONE("g_any", "'type': 'str'"), WRONG
			"'str', but lib.h has 'void *' (bytes): void g_any(void *)\n" MAY_WRITE
			"void g_any(void *)\n"},
		{ONE("g_any", "'type': 'strv'"),
			WRONG "'strv', but lib.h has 'void *' (bytes): void g_any(void *)\n"},
		{ONE("g_any", "'type': 'array', 'items': 'i32'"), MAY_WRITE "void g_any(void *)\n"},
		{ONE("g_any", "'type': 'str', 'value': null"), ""},
		{ONE("g_any", "'type': 'bytes', 'dir': 'out'"), ""},
		{ONE("g_const", "'type': 'bytes', 'dir': 'out'"),
			WRONG "it comes out, but for lib.h it is const, so the function does not "
			      "write to it: void g_const(const void *)\n"},
		{ONE("g_const", "'type': 'bytes', 'dir': 'inout'"), ""},
		{ONE("g_const", "'type': 'bytes'"), ""},
		{ONE("g_text", "'type': 'str'"), MAY_WRITE "void g_text(char *)\n"},
		{ONE("g_text", "'type': 'json'"), MAY_WRITE "void g_text(char *)\n"},
		{ONE("g_text", "'type': 'bytes'"), MAY_WRITE "void g_text(char *)\n"},
		{ONE("g_text", "'type': 'array', 'items': 'i8'"),
			MAY_WRITE "void g_text(char *)\n"},
		{ONE("g_text", "'type': 'array', 'items': 'i16'"),
			WRONG "an 'array' of 'i16', but lib.h has 'char *' (str or bytes): void "
			      "g_text(char *)\n" MAY_WRITE "void g_text(char *)\n"},
		{ONE("g_texts", "'type': 'strv'"), ""},
		{ONE("g_texts", "'type': 'str'"), WRONG "'str', but lib.h has 'const char *const "
							"*': void g_texts(const char *const *)\n"},
		{ONE("g_texts", "'type': 'str', 'dir': 'out'"),
			WRONG "'str', but lib.h has 'const char *const *': void g_texts(const char "
			      "*const *)\n" WRONG
			      "it comes out, but for lib.h it is const, so the function does not "
			      "write to it: void g_texts(const char *const *)\n"},
		{ONE("g_texts", "'type': 'str', 'dir': 'out', 'transfer': 'none'"),
			WRONG "it comes out, but for lib.h it is const, so the function does not "
			      "write to it: void g_texts(const char *const *)\n"},
		{ONE("g_out", "'type': 'strv'"), ""},
		{ONE("g_out", "'type': 'strv', 'dir': 'out'"),
			WRONG "'strv' by pointer, but lib.h has 'char **': void g_out(char **)\n"},
		{ONE("g_out", "'type': 'str', 'dir': 'out', 'transfer': 'none'"), ""},
		{ONE("g_number", "'type': 'i32', 'dir': 'out'"), ""},
		{ONE("g_number", "'type': 'u32', 'dir': 'out'"),
			WRONG "'u32' by pointer, but lib.h has 'int *': void g_number(int *)\n"},
		{ONE("g_number", "'type': 'i32', 'dir': 'inout'"), ""},
		{ONE("g_number", "'type': 'i32'"),
			WRONG "'i32', but lib.h has 'int *': void g_number(int *)\n"},
		{ONE("g_number", "'type': 'array', 'items': 'i32'"),
			MAY_WRITE "void g_number(int *)\n"},
		{ONE("g_number", "'type': 'strv'"),
			WRONG "'strv', but lib.h has 'int *': void g_number(int *)\n"},
		{ONE("g_byte", "'type': 'bytes'"), ""},
		{ONE("g_point", "'type': 'bytes'"),
			WRONG "'bytes', but lib.h has 'struct point *': void g_point(struct point "
			      "*)\n" MAY_WRITE "void g_point(struct point *)\n"},
		{ONE("g_point", "'struct': 'point'"), ""},
		{ONE("g_point", "'type': 'struct', 'struct': 'point', 'by': 'value'"),
			WRONG "'struct' (struct point by value), but lib.h has 'struct point *': "
			      "void g_point(struct point *)\n"},
		{ONE("g_point", "'type': 'struct', 'struct': 'other'"),
			WRONG "'struct' (db *), but lib.h has 'struct point *': void "
			      "g_point(struct point *)\n"},
		{ONE("g_point", "'type': 'struct', 'struct': 'bad'"), ""},
		{ONE("g_point", "'type': 'struct', 'struct': 'point', 'dir': 'out'"), ""},
		{ONE("g_point",
			 "'type': 'struct', 'struct': 'point', 'dir': 'out', 'by': 'pointer'"),
			WRONG "'struct' (struct point *) by pointer, but lib.h has 'struct point "
			      "*': void g_point(struct point *)\n"},
		{ONE("g_value", "'type': 'struct', 'struct': 'point', 'by': 'value'"), ""},
		{ONE("g_value", "'type': 'struct', 'struct': 'point'"),
			WRONG "'struct' (struct point *), but lib.h has 'struct point': void "
			      "g_value(struct point)\n"},
		{ONE("g_points",
			 "'type': 'struct', 'struct': 'point', 'dir': 'out', 'by': 'pointer'"),
			""},
		{ONE("g_handle", "'type': 'handle', 'dir': 'out'"), ""},
		{ONE("g_handle", "'type': 'handle', 'dir': 'out', 'size': 3"), ""},
		{ONE("db_close", "'type': 'handle', 'dir': 'out', 'size': 3"), ""},
		{ONE("g_array", "'type': 'array', 'items': 'i32'"), ""},
	};

	expect_told(cases, ARRAY_SIZE(cases));
}

Test(ctl_against_header, holds_what_returns_and_what_frees)
{
	static const struct told cases[] = {
		{"{'symbol': 'g_none'}", ""},
		{"{'symbol': 'g_none', 'returns': {'type': 'i32'}}",
			"error /returns/type: 'i32', but lib.h has 'void' (void): void "
			"g_none(void)\n"},
		{"{'symbol': 'g_none', 'parameters': [{'type': 'i32'}]}",
			"error /parameters: 1 parameter, but lib.h has 0: void g_none(void)\n"},
		{"{'symbol': 'g_get'}",
			"error : 'void', but lib.h has 'struct point': struct point g_get(void)\n"},
		{"{'symbol': 'g_get', 'returns': {}}", ""},
		{"{'symbol': 'g_get', 'returns': {'type': 'struct', 'struct': 'point', 'by': "
		 "'value'}}",
			""},
		{"{'symbol': 'try_it', 'parameters': [{'type': 'i32'}], 'returns': {'type': 'i32', "
		 "'errors': 'gerror'}}",
			""},
		{"{'symbol': 'g_none', 'returns': {'type': 'void', 'errors': 'gerror'}}",
			"error : 1 parameter, but lib.h has 0: void g_none(void)\n"
			"error /returns/errors: 'gerror', but the last parameter at lib.h is no "
			"'GError **': void g_none(void)\n"},
		{"{'symbol': 'g_get_text', 'returns': {'type': 'str', 'free': 'g_text'}}", ""},
		{"{'symbol': 'g_get_text', 'returns': {'type': 'str', 'free': 'free'}}", ""},
		{"{'symbol': 'g_get_text', 'returns': {'type': 'str', 'free': 'g_int'}}",
			"error /returns/free: a function that frees takes one pointer, but lib.h "
			"has: void g_int(int)\n"},
		{"{'symbol': 'g_get_text', 'returns': {'type': 'str', 'free': 'g_none'}}",
			"error /returns/free: a function that frees takes one pointer, but lib.h "
			"has: void g_none(void)\n"},
		{"{'symbol': 'g_get_text', 'returns': {'type': 'str', 'free': 'fill'}}",
			"error /returns/free: a function that frees takes one pointer, but lib.h "
			"has: int fill(char *, size_t, int *, char **)\n"},
		{"{'symbol': 'g_get_text', 'returns': {'type': 'strv'}}",
			"error /returns/type: 'strv', but lib.h has 'char *' (str or bytes): char "
			"*g_get_text(void)\n"},
		{ONE("g_out", "'type': 'str', 'dir': 'out', 'transfer': 'full', 'free': 'g_none'"),
			"error /parameters/0/free: a function that frees takes one pointer, but "
			"lib.h has: void g_none(void)\n"},
		{"{'symbol': 7}", ""},
		{"{'symbol': 'a\\u0000b'}", ""},
		{"{'symbol': 'db_print', 'variadic': 2, 'parameters': [{'name': 'p', 'type': "
		 "'handle'},{'name': 'p', 'type': 'str'},{'name': 'p', 'type': 'str'}]}",
			""},
		{"{'symbol': 'db_print', 'variadic': 1, 'parameters': [{'name': 'p', 'type': "
		 "'handle'},{'name': 'p', 'type': 'str'}]}",
			"error /parameters: 1 fixed parameter, but lib.h has 2: int db_print(db *, "
			"const char *, ...)\n"},
		{"{'symbol': 'g_int', 'variadic': 1, 'parameters': [{'name': 'p', 'type': 'i32'}]}",
			"error /parameters: 'variadic', but lib.h has no variable arguments: void "
			"g_int(int)\n"},
	};

	expect_told(cases, ARRAY_SIZE(cases));
}

#define STEPS_ALONE(steps) "{'steps': [" steps "]}"

Test(ctl_against_header, holds_each_argument_of_a_step)
{
	static const struct told cases[] = {
		{STEPS_ALONE("{'call': 'g_int', 'args': [null]}"),
			"error /steps/0/args/0: 'handle', but lib.h has 'int' (i32): void "
			"g_int(int)\n"},
		{STEPS_ALONE("{'call': 'db_close', 'args': [null]}"), ""},
		{STEPS_ALONE("{'call': 'g_int', 'args': [true]}"), ""},
		{STEPS_ALONE("{'call': 'g_int', 'args': [{}]}"), ""},
		{STEPS_ALONE("{'call': 'g_int', 'args': ['$none']}"), ""},
		{STEPS_ALONE("{'call': 'g_int', 'args': [{'size_of': 'point'}]}"),
			"error /steps/0/args/0: 'usize', but lib.h has 'int' (i32): void "
			"g_int(int)\n"},
		{STEPS_ALONE("{'call': 'g_int', 'args': [{'as': 'i64', 'value': '$n'}]}"),
			"error /steps/0/args/0: 'i64', but lib.h has 'int' (i32): void "
			"g_int(int)\n"},
		{STEPS_ALONE("{'call': 'g_int', 'args': [{'length_of': '$n', 'type': 'u32'}]}"),
			"error /steps/0/args/0/type: 'u32', but lib.h has 'int' (i32): void "
			"g_int(int)\n"},
		{STEPS_ALONE("{'call': 'g_int', 'args': [{'f64': 3}]}"),
			"error /steps/0/args/0: 'f64', but lib.h has 'int' (i32): void "
			"g_int(int)\n"},
		{STEPS_ALONE("{'call': 'g_number', 'args': [{'inout': {'name': 'x', 'type': 'u32', "
			     "'value': 1}}]}, {'call': 'g_int', 'args': ['$x']}"),
			"error /steps/0/args/0/inout/type: 'u32' by pointer, but lib.h has 'int "
			"*': void g_number(int *)\n"
			"error /steps/1/args/0: 'u32', but lib.h has 'int' (i32): void "
			"g_int(int)\n"},
		{STEPS_ALONE("{'call': 'g_number', 'args': [{'out': {'name': 'x', 'type': "
			     "'i32'}}]}, {'call': 'g_double', 'args': ['$x']}"),
			"error /steps/1/args/0: 'i32', but lib.h has 'double' (f64): void "
			"g_double(double)\n"},
		{"{'parameters': [{'name': 'n', 'type': 'i64'}], 'steps': [{'call': 'g_int', "
		 "'args': ['$$n']}]}",
			"error /steps/0/args/0: 'i64', but lib.h has 'int' (i32): void "
			"g_int(int)\n"},
		{"{'parameters': [{'name': 'n', 'type': 'i64'}, {'name': 'n', 'type': 'i32'}], "
		 "'steps': [{'call': 'g_int', 'args': ['$n']}]}",
			""},
		{"{'parameters': [{'name': 'p', 'type': 'struct', 'struct': 'point'}], 'steps': "
		 "[{'call': 'g_int', 'args': ['$p.x']}, {'call': 'g_double', 'args': ['$p.x']}, "
		 "{'call': 'g_double', 'args': ['$p.none']}, {'call': 'g_double', 'args': "
		 "['$p.x.y']}]}",
			"error /steps/1/args/0: 'i32', but lib.h has 'double' (f64): void "
			"g_double(double)\n"},
		{"{'parameters': [{'name': 'p', 'type': 'struct', 'struct': 'other'}, {'name': "
		 "'q', 'type': 'i32'}], 'steps': [{'call': 'g_double', 'args': ['$p.x']}, {'call': "
		 "'g_double', 'args': ['$q.x']}]}",
			""},
		{STEPS_ALONE("{'call': 'g_get_text', 'returns': {'name': 't', 'type': 'str', "
			     "'free': 'g_none'}}, {'call': 'g_int', 'args': ['$t']}"),
			"error /steps/0/returns/free: a function that frees takes one pointer, but "
			"lib.h has: void g_none(void)\n"
			"error /steps/1/args/0: 'str', but lib.h has 'int' (i32): void "
			"g_int(int)\n"},
		{STEPS_ALONE("{'call': 'g_out', 'args': [{'out': {'name': 't', 'type': 'str', "
			     "'transfer': 'full', 'free': 'g_none'}}]}"),
			"error /steps/0/args/0/out/free: a function that frees takes one pointer, "
			"but lib.h has: void g_none(void)\n"},
		{STEPS_ALONE("{'call': 'g_none', 'returns': {'type': 'void', 'message': {'call': "
			     "'g_int', 'args': [{'f32': 1}]}}, 'finally': {'call': 'g_int', "
			     "'args': [{'u32': 1}]}}"),
			"error /steps/0/returns/message/args/0: 'f32', but lib.h has 'int' (i32): "
			"void g_int(int)\n"
			"error /steps/0/finally/args/0: 'u32', but lib.h has 'int' (i32): void "
			"g_int(int)\n"},
		{STEPS_ALONE("{'call': 'g_none', 'returns': {'type': 'void', 'message': 'text'}}"),
			""},
		{STEPS_ALONE("{'repeat': {'call': 'g_int', 'args': [{'f32': 1}], 'steps': "
			     "[{'call': 'g_int', 'args': [{'u32': 1}]}]}}, {'call': 'g_int', "
			     "'args': [{'i64': 1}]}"),
			"error /steps/0/repeat/args/0: 'f32', but lib.h has 'int' (i32): void "
			"g_int(int)\n"
			"error /steps/0/repeat/steps/0/args/0: 'u32', but lib.h has 'int' (i32): "
			"void g_int(int)\n"
			"error /steps/1/args/0: 'i64', but lib.h has 'int' (i32): void "
			"g_int(int)\n"},
		{STEPS_ALONE("{'read': '$p', 'name': 'r', 'type': 'i64'}, {'call': 'g_int', "
			     "'args': ['$r']}"),
			"error /steps/1/args/0: 'i64', but lib.h has 'int' (i32): void "
			"g_int(int)\n"},
		{"{'steps': 5}", ""},
		{STEPS_ALONE("{'call': 'none'}, {'call': 'g_int', 'args': [{'f64': 1}]}"),
			"error /steps/0/call: 'none' is declared in no header: is one more "
			"--header missing?\n"
			"error /steps/1/args/0: 'f64', but lib.h has 'int' (i32): void "
			"g_int(int)\n"},
		{STEPS_ALONE(
			 "{'call': 'g_int', 'args': ['$h']}, {'call': 'g_int', 'args': ['$s']}"),
			"error /steps/0/args/0: 'handle', but lib.h has 'int' (i32): void "
			"g_int(int)\n"},
		{"{'parameters': [{'name': 'h', 'type': 'i32'}], 'steps': [{'call': 'g_int', "
		 "'args': ['$h']}]}",
			""},
		{STEPS_ALONE("{'call': 'g_int', 'args': ['$h']}"),
			"error /steps/0/args/0: 'handle', but lib.h has 'int' (i32): void "
			"g_int(int)\n"},
	};

	expect_told(cases, ARRAY_SIZE(cases));
}
