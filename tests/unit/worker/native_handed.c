/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "in_process.h"

/* Memory of the function: returned, or handed over by a pointer that the function sets. The
 * allocations of this library of ours are counted, and freed once whatever becomes of the call. */

static int n_allocated;

static void *allocate(size_t size)
{
	n_allocated++;
	return malloc(size);
}

static void release(void *pointer)
{
	n_allocated--;
	free(pointer);
}

static char *copy_text(const char *text)
{
	return text ? strcpy(allocate(strlen(text) + 1), text) : NULL;
}

static void release_all(void *pointer)
{
	char **texts = pointer;

	for (size_t i = 0; texts[i]; i++)
		release(texts[i]);
	release(texts);
}

struct row {
	const char *object;
	const char *arguments;
	bool is_failure;
	const char *answer;
};

static void expect_rows(
	void *address, void (*free_value)(void *), const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct row *row = &rows[i];
		bool is_failure;
		const char *found = in_process_call(
			row->object, address, free_value, row->arguments, &is_failure);

		cr_expect_eq(is_failure, row->is_failure, "%s %s", row->object, row->arguments);
		cr_expect_str_eq(
			found, row->answer, "%s %s: %s", row->object, row->arguments, found);
		cr_expect_eq(n_allocated, 0, "%s %s: %d", row->object, row->arguments, n_allocated);
	}
}

#define EXPECT_ROWS(address, free_value, rows)                                                     \
	expect_rows((void *)(address), free_value, rows, sizeof(rows) / sizeof(*(rows)))

static int32_t hand_text(const char *text, int32_t status, char **ret_text)
{
	*ret_text = copy_text(text);
	return status;
}

#define HAND(type, members)                                                                        \
	"{\"symbol\":\"f\",\"parameters\":[{\"name\":\"text\",\"type\":\"bytes\","                 \
	"\"nullable\":true},{\"name\":\"status\",\"type\":\"i32\",\"default\":0},"                 \
	"{\"name\":\"copy\",\"type\":\"" type "\",\"dir\":\"out\",\"transfer\":\"full\"" members   \
	"}],\"returns\":{\"name\":null,\"type\":\"i32\",\"errors\":\"nonzero\"}}"
#define ONE     "{\"text\":\"MQA=\"}" /* 1 */
#define NO_UTF8 "{\"text\":\"/wA=\"}"

Test(native_handed, texts_are_copied_and_freed)
{
	static const struct row rows[] = {
		{HAND("str", ""), ONE, false, "{\"copy\":\"1\"}"},
		{HAND("json", ""), ONE, false, "{\"copy\":1}"},
		{HAND("str", ""), NO_UTF8, true, "f left text that is not UTF-8 in 'copy'"},
		{HAND("str", ""), "{}", true, "f left NULL in 'copy'"},
		{HAND("str", ",\"nullable\":true"), "{}", false, "{\"copy\":null}"},
		{HAND("str", ""), "{\"text\":\"MQA=\",\"status\":3}", true, "f returned 3"},
		{HAND("str", ""), "{\"status\":3}", true, "f returned 3"},
	};

	EXPECT_ROWS(hand_text, release, rows);
}

static int32_t lend_text(char **ret_text)
{
	static char text[] = "lent";

	*ret_text = text;
	return 0;
}

Test(native_handed, texts_with_transfer_none_are_left_alone)
{
	static const struct row rows[] = {
		{"{\"symbol\":\"f\",\"parameters\":[{\"name\":\"text\",\"type\":\"str\",\"dir\":"
		 "\"out\",\"transfer\":\"none\"}],\"returns\":{\"name\":null,\"type\":\"i32\"}}",
			"{}", false, "{\"text\":\"lent\"}"}};

	EXPECT_ROWS(lend_text, NULL, rows);
}

static void hand_numbers(int32_t count, int16_t **ret_numbers, int32_t *ret_count)
{
	*ret_numbers = allocate(sizeof(**ret_numbers) * 4);
	for (int16_t i = 0; i < 4; i++)
		(*ret_numbers)[i] = (int16_t)(i - 1);
	*ret_count = count;
}

#define NUMBERS(type, used)                                                                        \
	"{\"symbol\":\"f\",\"parameters\":[{\"name\":\"n\",\"type\":\"i32\"},"                     \
	"{\"name\":\"data\",\"type\":" type ",\"dir\":\"out\",\"transfer\":\"full\"},"             \
	"{\"name\":\"used\",\"type\":\"i32\",\"dir\":\"out\"" used "}]}"
#define COUNTED ",\"length_of\":\"data\""

Test(native_handed, numbers_and_bytes_have_a_length)
{
	static const struct row rows[] = {
		{NUMBERS("\"array\",\"items\":\"i16\"", COUNTED), "{\"n\":3}", false,
			"{\"data\":[-1,0,1]}"},
		{NUMBERS("\"bytes\"", COUNTED), "{\"n\":2}", false, "{\"data\":\"//8=\"}"},
		{NUMBERS("\"bytes\"", COUNTED), "{\"n\":0}", false, "{\"data\":\"\"}"},
		{NUMBERS("\"bytes\"", COUNTED), "{\"n\":-1}", true,
			"f reported a length below 0 for 'data'"},
		{NUMBERS("\"array\",\"items\":\"i16\"", COUNTED), "{\"n\":33554433}", true,
			"f reported a length of 33554433 for 'data'; at most 33554432 are allowed"},
		{NUMBERS("\"bytes\",\"size\":[2,\"$used\",\"n\"]", ""), "{\"n\":2}", false,
			"{\"data\":\"//8AAAEAAgA=\",\"used\":2}"},
		{NUMBERS("\"array\",\"items\":\"i16\",\"size\":4", ""), "{\"n\":2}", false,
			"{\"data\":[-1,0,1,2],\"used\":2}"},
	};

	EXPECT_ROWS(hand_numbers, release, rows);
}

static uint8_t *return_bytes(uint32_t width, uint32_t height, uint32_t *ret_size)
{
	uint8_t *bytes = width == 0 ? NULL : allocate(16);

	for (uint8_t i = 0; bytes && i < 16; i++)
		bytes[i] = i;
	*ret_size = width * height;
	return bytes;
}

#define BYTES(out, returns)                                                                        \
	"{\"symbol\":\"f\",\"parameters\":[{\"name\":\"width\",\"type\":\"u32\"},"                 \
	"{\"name\":\"height\",\"type\":\"u32\"},{\"name\":\"n\",\"type\":\"u32\",\"dir\":"         \
	"\"out\"" out "}],\"returns\":{\"name\":\"data\",\"transfer\":\"full\",\"type\":" returns  \
	"}}"

Test(native_handed, bytes_and_arrays_are_returned)
{
	static const struct row rows[] = {
		{BYTES(COUNTED, "\"bytes\""), "{\"width\":2,\"height\":3}", false,
			"{\"data\":\"AAECAwQF\"}"},
		{BYTES("", "\"bytes\",\"size\":[\"width\",\"$height\"]"),
			"{\"width\":1,\"height\":3}", false, "{\"data\":\"AAEC\",\"n\":3}"},
		{BYTES("", "\"array\",\"items\":\"u8\",\"size\":\"$n\""),
			"{\"width\":1,\"height\":2}", false, "{\"data\":[0,1],\"n\":2}"},
		{BYTES("", "\"array\",\"items\":\"u16\",\"size\":1"), "{\"width\":1,\"height\":2}",
			false, "{\"data\":[256],\"n\":2}"},
		{BYTES(COUNTED, "\"bytes\""), "{\"width\":0,\"height\":3}", true,
			"f returned NULL"},
		{BYTES(COUNTED, "\"bytes\",\"nullable\":true"), "{\"width\":0,\"height\":3}", false,
			"{\"data\":null}"},
		{BYTES(COUNTED, "\"bytes\",\"errors\":\"null\""), "{\"width\":0,\"height\":3}",
			true, "f returned NULL"},
		{BYTES("", "\"bytes\",\"size\":[\"width\",\"height\",\"n\",\"n\"]"),
			"{\"width\":65535,\"height\":65535}", true,
			"f reported a length of 18446744073709551615 for 'data'; at most 67108864 "
			"are allowed"},
	};

	EXPECT_ROWS(return_bytes, release, rows);
}

static char **split(char *const *words, int32_t *ret_count)
{
	int32_t count = 0;
	char **copy;

	while (words && words[count])
		count++;
	*ret_count = count;
	if (!words)
		return NULL;
	copy = allocate(((size_t)count + 1) * sizeof(*copy));
	for (int32_t i = 0; i < count; i++)
		copy[i] = copy_text(words[i]);
	copy[count] = NULL;
	return copy;
}

static void hand_words(char *const *words, char ***ret_words)
{
	int32_t count;

	*ret_words = split(words, &count);
}

#define WORDS "{\"name\":\"words\",\"type\":\"strv\",\"nullable\":true}"
#define RETURNED(members)                                                                          \
	"{\"symbol\":\"f\",\"parameters\":[" WORDS ",{\"name\":\"n\",\"type\":\"i32\","            \
	"\"dir\":\"out\"}],\"returns\":{\"type\":\"strv\",\"transfer\":\"full\"" members "}}"
#define HANDED                                                                                     \
	"{\"symbol\":\"f\",\"parameters\":[" WORDS ",{\"name\":\"copy\",\"type\":\"strv\","        \
	"\"dir\":\"out\",\"transfer\":\"full\",\"nullable\":true}]}"

Test(native_handed, lists_of_texts_go_in_and_come_out)
{
	static const struct row returned[] = {
		{RETURNED(""), "{\"words\":[]}", false, "{\"result\":[],\"n\":0}"},
		{RETURNED(""), "{\"words\":[\"a\",\"\",\"b\\u00e9\\n\"]}", false,
			"{\"result\":[\"a\",\"\",\"bé\\n\"],\"n\":3}"},
		{RETURNED(""), "{\"words\":null}", true, "f returned NULL"},
		{RETURNED(",\"nullable\":true"), "{}", false, "{\"result\":null,\"n\":0}"},
		{RETURNED(""), "{\"words\":[\"a\",1]}", true,
			"argument 'words' must be an array whose element 1 must be a string"},
		{RETURNED(""), "{\"words\":[\"a\\u0000\"]}", true,
			"argument 'words' must be an array whose element 0 must be a string "
			"without U+0000"},
		{RETURNED(""), "{\"words\":\"a\"}", true,
			"argument 'words' must be an array of at most 65536 strings, or null"},
	};
	static const struct row handed[] = {
		{HANDED, "{\"words\":[\"a\",\"b\"]}", false, "{\"copy\":[\"a\",\"b\"]}"},
		{HANDED, "{}", false, "{\"copy\":null}"},
	};

	EXPECT_ROWS(split, release_all, returned);
	EXPECT_ROWS(hand_words, release_all, handed);
}

static char **lend_many(int32_t count)
{
	static char empty[] = "";
	static char *texts[65538];

	for (int32_t i = 0; i < count; i++)
		texts[i] = empty;
	texts[count] = NULL;
	return texts;
}

Test(native_handed, lists_have_a_limit)
{
	static const char object[] =
		"{\"symbol\":\"f\",\"parameters\":[{\"name\":\"n\",\"type\":\"i32\"}],\"returns\":"
		"{\"type\":\"strv\"}}";
	static const struct row rows[] = {
		{object, "{\"n\":65537}", true,
			"f returned a list of more than 65536 texts or 67108864 bytes"},
		{object, "{\"n\":1}", false, "{\"result\":[\"\"]}"},
	};
	bool is_failure;

	EXPECT_ROWS(lend_many, NULL, rows);
	in_process_call(object, (void *)lend_many, NULL, "{\"n\":65536}", &is_failure);
	cr_expect_not(is_failure);
}

static void lend_long_texts(char **a, char **b, char **c)
{
	const size_t size = 48u << 20;
	static char *text;

	if (!text)
		text = calloc(1, size + 1);
	cr_assert_not_null(text);
	memset(text, 'a', size);
	*a = *b = *c = text;
}

/* Each text is allowed. */
Test(native_handed, texts_have_a_limited_size_together)
{
#define LENT(name) "{\"name\":\"" name "\",\"type\":\"str\",\"dir\":\"out\",\"transfer\":\"none\"}"
	static const struct row rows[] = {
		{"{\"symbol\":\"f\",\"parameters\":[" LENT("a") "," LENT("b") "," LENT("c") "]}",
			"{}", true, "f left more than 134217728 bytes"}};

	EXPECT_ROWS(lend_long_texts, NULL, rows);
}
