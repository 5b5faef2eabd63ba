/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdint.h>

#include "in_process.h"

/* Enums and flags: names in the place of numbers, both ways. */

static int32_t next_level(int32_t level, int32_t *reached)
{
	*reached = level;
	return level + 1;
}

static uint8_t join(uint8_t access, uint8_t more)
{
	return access | more;
}

static int64_t same(int64_t number)
{
	return number;
}

#define LEVELS "\"enums\":{\"level\":{\"low\":-1,\"medium\":0,\"high\":1,\"highest\":1}}"
#define LEVEL  "\"type\":\"enum\",\"enum\":\"level\""
#define NEXT                                                                                       \
	"{\"symbol\":\"next\",\"parameters\":[{\"name\":\"level\"," LEVEL "},"                     \
	"{\"name\":\"reached\"," LEVEL ",\"dir\":\"out\"}],\"returns\":{" LEVEL "}," LEVELS "}"

#define ACCESS "\"type\":\"flags\",\"enum\":\"access\",\"base\":\"u8\""
#define JOIN                                                                                       \
	"{\"symbol\":\"join\",\"parameters\":[{\"name\":\"access\"," ACCESS "},"                   \
	"{\"name\":\"more\",\"type\":\"u8\"}],\"returns\":{" ACCESS "},"                           \
	"\"enums\":{\"access\":{\"none\":0,\"read\":1,\"write\":2,\"both\":3,\"run\":128}}}"

struct row {
	const char *arguments;
	bool is_failure;
	const char *answer;
};

static void expect_rows(const char *object, void *address, const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		bool is_failure;
		const char *found =
			in_process_call(object, address, NULL, rows[i].arguments, &is_failure);

		cr_expect_eq(is_failure, rows[i].is_failure, "%s", rows[i].arguments);
		cr_expect_str_eq(found, rows[i].answer, "%s: %s", rows[i].arguments, found);
	}
}

Test(native_names, stand_for_the_numbers_of_an_enum)
{
	static const struct row rows[] = {
		{"{\"level\":\"low\"}", false, "{\"result\":\"medium\",\"reached\":\"low\"}"},
		{"{\"level\":\"medium\"}", false, "{\"result\":\"high\",\"reached\":\"medium\"}"},
		{"{\"level\":\"highest\"}", false, "{\"result\":2,\"reached\":\"high\"}"},
		{"{\"level\":\"none\"}", true,
			"argument 'level' must be one of low, medium, high, highest"},
		{"{\"level\":0}", true,
			"argument 'level' must be one of low, medium, high, highest"},
	};

	expect_rows(NEXT, (void *)next_level, rows, sizeof(rows) / sizeof(*rows));
}

Test(native_names, stand_for_the_number_of_a_default)
{
	static const struct row rows[] = {
		{"{}", false, "{\"result\":2,\"reached\":\"high\"}"},
	};

	expect_rows("{\"symbol\":\"next\",\"parameters\":[{\"name\":\"level\"," LEVEL
		    ",\"default\":\"highest\"},{\"name\":\"reached\"," LEVEL
		    ",\"dir\":\"out\"}],\"returns\":{" LEVEL "}," LEVELS "}",
		(void *)next_level, rows, sizeof(rows) / sizeof(*rows));
}

Test(native_names, stand_for_the_bits_of_flags)
{
#define REFUSED                                                                                    \
	"argument 'access' must be an array of different names of none, read, write, both, run"
	static const struct row rows[] = {
		{"{\"access\":[],\"more\":0}", false, "{\"result\":[]}"},
		{"{\"access\":[\"none\"],\"more\":0}", false, "{\"result\":[]}"},
		{"{\"access\":[\"write\",\"read\"],\"more\":0}", false,
			"{\"result\":[\"read\",\"write\"]}"},
		{"{\"access\":[\"both\"],\"more\":128}", false,
			"{\"result\":[\"read\",\"write\",\"run\"]}"},
		{"{\"access\":[\"run\"],\"more\":68}", false,
			"{\"result\":[\"run\",{\"unknown\":68}]}"},
		{"{\"access\":[{\"unknown\":68},\"run\"],\"more\":0}", false,
			"{\"result\":[\"run\",{\"unknown\":68}]}"},
		{"{\"access\":[],\"more\":4}", false, "{\"result\":[{\"unknown\":4}]}"},
		{"{\"access\":[{\"unknown\":256}],\"more\":0}", true, REFUSED},
		{"{\"access\":[{\"unknown\":1},{\"unknown\":2}],\"more\":0}", true, REFUSED},
		{"{\"access\":[{\"unknown\":-1}],\"more\":0}", true, REFUSED},
		{"{\"access\":[{\"other\":1}],\"more\":0}", true, REFUSED},
		{"{\"access\":[\"read\",\"read\"],\"more\":0}", true, REFUSED},
		{"{\"access\":[7],\"more\":0}", true, REFUSED},
		{"{\"access\":\"read\",\"more\":0}", true, REFUSED},
	};

	expect_rows(JOIN, (void *)join, rows, sizeof(rows) / sizeof(*rows));
}

/* The names reach over all 64 bits, and a failure has the name beside the number. */
Test(native_names, are_as_wide_as_their_base)
{
#define WIDE(base, rule)                                                                           \
	"{\"symbol\":\"f\",\"parameters\":[{\"name\":\"n\",\"type\":\"i64\"}],\"returns\":"        \
	"{\"type\":\"enum\",\"enum\":\"e\",\"base\":\"" base "\",\"errors\":\"" rule "\"},"        \
	"\"enums\":{\"e\":{\"least\":" LEAST ",\"most\":" MOST ",\"bad\":7}}}"
#define LEAST "-9223372036854775808"
#define MOST  "9223372036854775807"
	static const struct row rows[] = {
		{"{\"n\":-9223372036854775808}", false, "{\"result\":\"least\"}"},
		{"{\"n\":9223372036854775807}", false, "{\"result\":\"most\"}"},
		{"{\"n\":-1}", false, "{\"result\":-1}"},
	};
	static const struct row failures[] = {
		{"{\"n\":7}", true, "f returned 7 (bad)"},
		{"{\"n\":8}", true, "f returned 8"},
	};

	expect_rows(WIDE("i64", "none"), (void *)same, rows, sizeof(rows) / sizeof(*rows));
	expect_rows(WIDE("i64", "nonzero"), (void *)same, failures,
		sizeof(failures) / sizeof(*failures));
#undef LEAST
#undef MOST
#define LEAST "0"
#define MOST  "18446744073709551615"
	expect_rows(WIDE("u64", "none"), (void *)same,
		(const struct row[]){{"{\"n\":-1}", false, "{\"result\":\"most\"}"}}, 1);
}
