/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "in_process.h"

/* Structs, laid out as this compiler does: by pointer, as values, returned, in each direction. */

struct point {
	int32_t x;
	double y;
};

struct entry {
	uint8_t id;
	char name[5];
	int16_t sizes[3];
	struct point at;
	struct point corners[2];
	const char *note;
	uint8_t digest[3];
	bool is_open;
	float weight;
	int32_t level;
	void *handle;
};

#define POINT                                                                                      \
	"\"point\":{\"fields\":[{\"name\":\"x\",\"type\":\"i32\"},{\"name\":\"y\","                \
	"\"type\":\"f64\"}],\"size\":16}"
#define ENTRY                                                                                      \
	"\"entry\":{\"fields\":[{\"name\":\"id\",\"type\":\"u8\",\"required\":true},"              \
	"{\"name\":\"name\",\"type\":\"str\",\"count\":5},"                                        \
	"{\"name\":\"sizes\",\"type\":\"i16\",\"count\":3},"                                       \
	"{\"name\":\"at\",\"type\":\"struct\",\"struct\":\"point\"},"                              \
	"{\"name\":\"corners\",\"type\":\"struct\",\"struct\":\"point\",\"count\":2},"             \
	"{\"name\":\"note\",\"type\":\"str\",\"nullable\":true},"                                  \
	"{\"name\":\"digest\",\"type\":\"bytes\",\"count\":3},"                                    \
	"{\"name\":\"is_open\",\"type\":\"bool\"},{\"name\":\"weight\",\"type\":\"f32\"},"         \
	"{\"name\":\"level\",\"type\":\"enum\",\"enum\":\"level\"},"                               \
	"{\"name\":\"handle\",\"type\":\"handle\"}]}"
#define TABLES ",\"enums\":{\"level\":{\"low\":0,\"high\":7}},\"structs\":{" POINT "," ENTRY "}}"
#define FUNCTION(parameters, returns)                                                              \
	"{\"symbol\":\"f\",\"parameters\":[" parameters "],\"returns\":{" returns "}" TABLES
#define AN_ENTRY "\"type\":\"struct\",\"struct\":\"entry\""
#define A_POINT  "\"type\":\"struct\",\"struct\":\"point\""

static int n_allocated;

static void release(void *pointer)
{
	n_allocated--;
	free(pointer);
}

struct row {
	const char *object;
	const char *arguments;
	bool is_failure;
	const char *answer;
};

static void expect_rows(void *address, const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct row *row = &rows[i];
		bool is_failure;
		const char *found =
			in_process_call(row->object, address, release, row->arguments, &is_failure);

		cr_expect_eq(is_failure, row->is_failure, "%s", row->arguments);
		cr_expect_str_eq(found, row->answer, "%s: %s", row->arguments, found);
		cr_expect_eq(n_allocated, 0, "%s: %d", row->arguments, n_allocated);
	}
}

#define EXPECT_ROWS(address, rows)                                                                 \
	expect_rows((void *)(address), rows, sizeof(rows) / sizeof(*(rows)))

/* Double the numbers, and keep the rest. */
static int32_t twice(struct entry *entry)
{
	if (!entry)
		return -1;
	entry->id = (uint8_t)(entry->id * 2);
	for (size_t i = 0; i < 3; i++)
		entry->sizes[i] = (int16_t)(entry->sizes[i] * 2);
	entry->at.x *= 2;
	entry->corners[1].y *= 2;
	entry->weight *= 2;
	entry->handle = &n_allocated;
	return (int32_t)strlen(entry->name);
}

#define TWICE                                                                                      \
	FUNCTION("{\"name\":\"e\",\"dir\":\"inout\",\"nullable\":true," AN_ENTRY "}",              \
		"\"type\":\"i32\"")
#define EMPTY                                                                                      \
	"\"name\":\"\",\"sizes\":[0,0,0],\"at\":{\"x\":0,\"y\":0.0},\"corners\":[{\"x\":0,"        \
	"\"y\":0.0},{\"x\":0,\"y\":0.0}],\"note\":null,\"digest\":\"AAAA\",\"is_open\":false,"     \
	"\"weight\":0.0,\"level\":\"low\"}}"

Test(native_struct, goes_in_and_comes_out_field_by_field)
{
	static const struct row rows[] = {
		{TWICE, "{\"e\":{\"id\":4}}", false, "{\"result\":0,\"e\":{\"id\":8," EMPTY},
		{TWICE,
			"{\"e\":{\"level\":\"high\",\"weight\":1.5,\"is_open\":true,\"digest\":"
			"\"AQ==\",\"note\":\"b\\u00e9\",\"corners\":[{},{\"y\":2}],\"at\":{\"x\":-"
			"3},"
			"\"sizes\":[1,-2],\"name\":\"b\\u00e9\",\"id\":1}}",
			false,
			"{\"result\":3,\"e\":{\"id\":2,\"name\":\"bé\",\"sizes\":[2,-4,0],\"at\":"
			"{\"x\":-6,\"y\":0.0},\"corners\":[{\"x\":0,\"y\":0.0},{\"x\":0,\"y\":4.0}]"
			","
			"\"note\":\"bé\",\"digest\":\"AQAA\",\"is_open\":true,\"weight\":3.0,"
			"\"level\":\"high\"}}"},
		{TWICE, "{}", false, "{\"result\":-1,\"e\":null}"},
		{TWICE, "{\"e\":[]}", true, "argument 'e' must be an object or null"},
		{TWICE, "{\"e\":{}}", true, "argument 'e' must be an object with 'id'"},
		{TWICE, "{\"e\":{\"id\":256}}", true,
			"argument 'e' must be an object whose 'id' must be an integer from 0 to "
			"255"},
		{TWICE, "{\"e\":{\"id\":1,\"size\":1}}", true,
			"argument 'e' must be an object without 'size', which 'entry' has not"},
		{TWICE, "{\"e\":{\"id\":1,\"handle\":1}}", true,
			"argument 'e' must be an object without 'handle', which 'entry' has not"},
		{TWICE, "{\"e\":{\"id\":1,\"name\":\"abcde\"}}", true,
			"argument 'e' must be an object whose 'name' must have at most 4 bytes, "
			"not "
			"5"},
		{TWICE, "{\"e\":{\"id\":1,\"digest\":\"AAAAAA==\"}}", true,
			"argument 'e' must be an object whose 'digest' must have at most 3 bytes, "
			"not 4"},
		{TWICE, "{\"e\":{\"id\":1,\"sizes\":[1,2,3,4]}}", true,
			"argument 'e' must be an object whose 'sizes' must be an array of at most "
			"3 "
			"elements"},
		{TWICE, "{\"e\":{\"id\":1,\"sizes\":[1,null]}}", true,
			"argument 'e' must be an object whose 'sizes' must be an array whose "
			"element "
			"1 must be an integer from -32768 to 32767"},
		{TWICE, "{\"e\":{\"id\":1,\"at\":{\"z\":1}}}", true,
			"argument 'e' must be an object whose 'at' must be an object without 'z', "
			"which 'point' has not"},
		{TWICE, "{\"e\":{\"id\":1,\"level\":7}}", true,
			"argument 'e' must be an object whose 'level' must be one of low, high"},
	};

	EXPECT_ROWS(twice, rows);
}

static struct point mirror(struct point point, int32_t by)
{
	return (struct point){point.x - by, -point.y};
}

#define MIRROR                                                                                     \
	FUNCTION("{\"name\":\"p\",\"by\":\"value\"," A_POINT "},{\"name\":\"by\",\"type\":"        \
		 "\"i32\"}",                                                                       \
		"\"by\":\"value\"," A_POINT)

Test(native_struct, is_passed_and_returned_as_a_value)
{
	static const struct row rows[] = {
		{MIRROR, "{\"p\":{\"x\":7,\"y\":1.5},\"by\":2}", false,
			"{\"result\":{\"x\":5,\"y\":-1.5}}"},
		{MIRROR, "{\"by\":2,\"p\":{}}", false, "{\"result\":{\"x\":-2,\"y\":-0.0}}"},
	};

	EXPECT_ROWS(mirror, rows);
}

static struct entry fill(struct entry entry)
{
	entry.id++;
	return entry;
}

Test(native_struct, of_many_fields_is_a_value_too)
{
#define FILL                                                                                       \
	FUNCTION("{\"name\":\"e\",\"by\":\"value\"," AN_ENTRY "}", "\"by\":\"value\"," AN_ENTRY)
	static const struct row rows[] = {
		{FILL, "{\"e\":{\"id\":4}}", false, "{\"result\":{\"id\":5," EMPTY},
	};

	EXPECT_ROWS(fill, rows);
}

static struct point *make(int32_t x, double y)
{
	struct point *point;

	if (x == 0)
		return NULL;
	point = malloc(sizeof(*point));
	n_allocated++;
	*point = (struct point){x, y};
	return point;
}

static void hand(int32_t x, double y, struct point **ret_point)
{
	*ret_point = make(x, y);
}

static void set(int32_t x, double y, struct point *ret_point)
{
	*ret_point = (struct point){x, y};
}

#define XY            "{\"name\":\"x\",\"type\":\"i32\"},{\"name\":\"y\",\"type\":\"f64\"}"
#define MAKE(members) FUNCTION(XY, "\"name\":\"p\",\"transfer\":\"full\"," A_POINT members)
#define HAND(members)                                                                              \
	FUNCTION(XY ",{\"name\":\"p\",\"dir\":\"out\",\"by\":\"pointer\",\"transfer\":"            \
		    "\"full\"," A_POINT members "}",                                               \
		"\"type\":\"void\"")
#define SET FUNCTION(XY ",{\"name\":\"p\",\"dir\":\"out\"," A_POINT "}", "\"type\":\"void\"")

Test(native_struct, of_the_function_is_copied_and_freed)
{
	static const struct row made[] = {
		{MAKE(""), "{\"x\":1,\"y\":2}", false, "{\"p\":{\"x\":1,\"y\":2.0}}"},
		{MAKE(""), "{\"x\":0,\"y\":2}", true, "f returned NULL"},
		{MAKE(",\"nullable\":true"), "{\"x\":0,\"y\":2}", false, "{\"p\":null}"},
	};
	static const struct row handed[] = {
		{HAND(""), "{\"x\":1,\"y\":2}", false, "{\"p\":{\"x\":1,\"y\":2.0}}"},
		{HAND(""), "{\"x\":0,\"y\":2}", true, "f left NULL in 'p'"},
		{HAND(",\"nullable\":true"), "{\"x\":0,\"y\":2}", false, "{\"p\":null}"},
	};
	static const struct row written[] = {
		{SET, "{\"x\":1,\"y\":2}", false, "{\"p\":{\"x\":1,\"y\":2.0}}"},
	};

	EXPECT_ROWS(make, made);
	EXPECT_ROWS(hand, handed);
	EXPECT_ROWS(set, written);
}

/* Leave in an entry what JSON cannot have. */
static void spoil(int32_t how, struct entry *entry)
{
	static char no_utf8[] = "\xff";

	memset(entry->name, 'x', how == 0 ? sizeof(entry->name) : 0);
	entry->note = how == 1 ? no_utf8 : NULL;
	entry->weight = how == 2 ? NAN : 0;
	if (how == 3)
		memset(entry + 1, 0, 1);
}

Test(native_struct, with_values_that_json_has_not_is_a_failure)
{
#define SPOIL                                                                                      \
	FUNCTION("{\"name\":\"how\",\"type\":\"i32\"},{\"name\":\"e\",\"dir\":\"out\"," AN_ENTRY   \
		 "}",                                                                              \
		"\"type\":\"void\"")
	static const struct row rows[] = {
		{SPOIL, "{\"how\":1}", true, "f left text that is not UTF-8 in 'note'"},
		{SPOIL, "{\"how\":2}", true, "f left NaN in 'weight'"},
		{SPOIL, "{\"how\":3}", true, "f wrote past the end of 'e', which has room for 1"},
		{SPOIL, "{\"how\":0}", false,
			"{\"e\":{\"id\":0,\"name\":\"xxxxx\",\"sizes\":[0,0,0],\"at\":{\"x\":0,"
			"\"y\":0.0},\"corners\":[{\"x\":0,\"y\":0.0},{\"x\":0,\"y\":0.0}],\"note\":"
			"null,\"digest\":\"AAAA\",\"is_open\":false,\"weight\":0.0,\"level\":"
			"\"low\"}}"},
	};

	EXPECT_ROWS(spoil, rows);
}

Test(native_struct, that_is_partial_is_read_where_the_function_has_it)
{
#define PARTIAL(size)                                                                              \
	"\"structs\":{\"head\":{\"fields\":[{\"name\":\"x\",\"type\":\"i32\"}],\"partial\":"       \
	"true" size "}}}"
	static const struct row made[] = {
		{"{\"symbol\":\"f\",\"parameters\":[" XY "],\"returns\":{\"type\":\"struct\","
		 "\"struct\":\"head\",\"transfer\":\"full\"}," PARTIAL(""),
			"{\"x\":3,\"y\":0}", false, "{\"result\":{\"x\":3}}"},
	};
	static const struct row written[] = {
		{"{\"symbol\":\"f\",\"parameters\":[" XY ",{\"name\":\"p\",\"type\":\"struct\","
		 "\"struct\":\"head\",\"dir\":\"out\"}]," PARTIAL(",\"size\":16"),
			"{\"x\":3,\"y\":1}", false, "{\"p\":{\"x\":3}}"},
	};

	EXPECT_ROWS(make, made);
	EXPECT_ROWS(set, written);
}
