/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/fixtures/native_object.h"
#include "worker/native/call.h"

/*
 * Any bytes as the arguments of a C function of every type, which reads all that its arguments
 * allow; and any bytes as the contents of the buffers that a function leaves and their lengths.
 * Either there is a message, or a result that is JSON. The first byte chooses which.
 */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define TABLES                                                                                     \
	"\"enums\":{\"level\":{\"low\":0,\"high\":7},\"access\":{\"read\":1,\"write\":2,\"all\":"  \
	"3}},"                                                                                     \
	"\"structs\":{\"point\":{\"fields\":[{\"name\":\"x\",\"type\":\"i16\"},{\"name\":\"y\","   \
	"\"type\":\"f32\"}]},\"entry\":{\"fields\":[{\"name\":\"name\",\"type\":\"str\","          \
	"\"count\":5},"                                                                            \
	"{\"name\":\"points\",\"type\":\"struct\",\"struct\":\"point\",\"count\":2},"              \
	"{\"name\":\"note\",\"type\":\"str\",\"nullable\":true},{\"name\":\"digest\","             \
	"\"type\":\"bytes\",\"count\":3},{\"name\":\"level\",\"type\":\"enum\",\"enum\":"          \
	"\"level\","                                                                               \
	"\"base\":\"u8\"}]}}"

struct entry {
	char name[5];
	struct {
		int16_t x;
		float y;
	} points[2];
	const char *note;
	uint8_t digest[3];
	uint8_t level;
};

static const char taking[] =
	"{\"symbol\":\"take\",\"parameters\":["
	"{\"name\":\"text\",\"type\":\"str\",\"nullable\":true},"
	"{\"name\":\"text_size\",\"type\":\"u16\",\"length_of\":\"text\"},"
	"{\"name\":\"data\",\"type\":\"bytes\",\"default\":\"AAECAw==\"},"
	"{\"name\":\"data_size\",\"type\":\"usize\",\"length_of\":\"data\"},"
	"{\"name\":\"list\",\"type\":\"array\",\"items\":\"i16\",\"nullable\":true},"
	"{\"name\":\"list_size\",\"type\":\"u8\",\"length_of\":\"list\"},"
	"{\"name\":\"plan\",\"type\":\"json\",\"default\":[]},"
	"{\"name\":\"edited\",\"type\":\"str\",\"dir\":\"inout\",\"capacity\":\"room\","
	"\"default\":\"\"},"
	"{\"name\":\"room\",\"type\":\"i32\",\"default\":16},"
	"{\"name\":\"floats\",\"type\":\"array\",\"items\":\"f32\",\"dir\":\"inout\","
	"\"nullable\":true},"
	"{\"name\":\"floats_size\",\"type\":\"u64\",\"dir\":\"inout\",\"length_of\":\"floats\"},"
	"{\"name\":\"number\",\"type\":\"i64\",\"dir\":\"inout\",\"default\":0},"
	"{\"name\":\"flag\",\"type\":\"bool\",\"default\":false},"
	"{\"name\":\"words\",\"type\":\"strv\",\"nullable\":true},"
	"{\"name\":\"level\",\"type\":\"enum\",\"enum\":\"level\",\"default\":\"low\"},"
	"{\"name\":\"access\",\"type\":\"flags\",\"enum\":\"access\",\"base\":\"u8\",\"default\":[]"
	"},"
	"{\"name\":\"entry\",\"type\":\"struct\",\"struct\":\"entry\",\"dir\":\"inout\","
	"\"nullable\":true}],"
	"\"returns\":{\"type\":\"u64\"}," TABLES "}";

static const char leaving[] =
	"{\"symbol\":\"leave\",\"parameters\":["
	"{\"name\":\"text\",\"type\":\"str\",\"dir\":\"out\",\"capacity\":24},"
	"{\"name\":\"text_size\",\"type\":\"i8\",\"dir\":\"out\",\"length_of\":\"text\"},"
	"{\"name\":\"data\",\"type\":\"bytes\",\"dir\":\"out\",\"capacity\":9},"
	"{\"name\":\"data_size\",\"type\":\"u8\",\"dir\":\"inout\",\"length_of\":\"data\"},"
	"{\"name\":\"floats\",\"type\":\"array\",\"items\":\"f64\",\"dir\":\"out\",\"capacity\":3},"
	"{\"name\":\"bytes\",\"type\":\"array\",\"items\":\"i8\",\"dir\":\"out\",\"capacity\":5},"
	"{\"name\":\"single\",\"type\":\"f32\",\"dir\":\"out\"},"
	"{\"name\":\"plan\",\"type\":\"json\",\"dir\":\"out\",\"capacity\":200},"
	"{\"name\":\"entry\",\"type\":\"struct\",\"struct\":\"entry\",\"dir\":\"out\"},"
	"{\"name\":\"access\",\"type\":\"flags\",\"enum\":\"access\",\"base\":\"u8\",\"dir\":"
	"\"out\"},"
	"{\"name\":\"words\",\"type\":\"strv\",\"dir\":\"out\",\"nullable\":true},"
	"{\"name\":\"handed\",\"type\":\"bytes\",\"dir\":\"out\",\"transfer\":\"none\","
	"\"size\":\"size\"},{\"name\":\"size\",\"type\":\"u8\",\"dir\":\"out\"}],"
	"\"returns\":{\"type\":\"i8\",\"length_of\":\"bytes\"}," TABLES "}";

static struct native_call take_call;
static struct native_call leave_call;
static struct native_scratch scratch;

/* The bytes that leave() leaves, one piece after the other; zeroes after them. */
static const uint8_t *left;
static size_t left_size;

static void require(bool is_so)
{
	if (!is_so)
		abort();
}

/* So that nothing that is read is left out. */
static uint64_t sum(const void *bytes, size_t size)
{
	const uint8_t *byte = bytes;
	uint64_t total = 0;

	for (size_t i = 0; byte && i < size; i++)
		total += byte[i];
	return total;
}

static uint64_t take(const char *text, uint16_t text_size, const uint8_t *data, size_t data_size,
	const int16_t *list, uint8_t list_size, const char *plan, char *edited, int32_t room,
	float *floats, uint64_t *floats_size, int64_t *number, bool flag, char *const *words,
	int32_t level, uint8_t access, struct entry *entry)
{
	uint64_t more = access;

	require(level == 0 || level == 7);
	for (size_t i = 0; words && words[i]; i++)
		more += sum(words[i], strlen(words[i]));
	if (entry) {
		require(memchr(entry->name, '\0', sizeof(entry->name)));
		require(entry->level == 0 || entry->level == 7);
		more += sum(entry, sizeof(*entry));
		more += entry->note ? sum(entry->note, strlen(entry->note)) : 0;
		entry->points[0].y = entry->points[1].y;
	}
	require(!text || strlen(text) == text_size);
	require((uintptr_t)list % sizeof(*list) == 0 && (uintptr_t)floats % sizeof(*floats) == 0);
	require(room >= 1 && strnlen(edited, (size_t)room) < (size_t)room);
	memset(edited, 'x', (size_t)room - 1);
	for (uint64_t i = 0; floats && i < *floats_size; i++)
		floats[i] = 0.5f;
	*floats_size /= 2;
	*number = flag ? INT64_MIN : -1;
	return more + sum(data, data_size) + sum(list, list_size * sizeof(*list)) +
	       sum(plan, strlen(plan));
}

static void spill(void *place, size_t size)
{
	size_t count = size < left_size ? size : left_size;

	if (count > 0)
		memcpy(place, left, count);
	left += count;
	left_size -= count;
}

static int8_t leave(char *text, int8_t *text_size, uint8_t *data, uint8_t *data_size,
	double *floats, int8_t *bytes, float *single, char *plan, struct entry *entry,
	uint8_t *access, char ***words, uint8_t **handed, uint8_t *handed_size)
{
	static char word[8];
	static char *list[] = {word, word, NULL};
	static uint8_t memory[UINT8_MAX];
	int8_t returned = 0;

	require(*text_size == 0 && *data_size == 9 && sum(text, 24) == 0 && sum(plan, 200) == 0);
	spill(&returned, 1);
	spill(text_size, 1);
	spill(data_size, 1);
	spill(text, 24);
	spill(data, 9);
	spill(floats, 3 * sizeof(*floats));
	spill(bytes, 5);
	spill(single, sizeof(*single));
	spill(plan, 200);
	spill(entry->name, sizeof(entry->name));
	spill(entry->points, sizeof(entry->points));
	spill(&entry->digest, sizeof(entry->digest) + sizeof(entry->level));
	spill(access, 1);
	spill(handed_size, 1);
	memset(word, 0, sizeof(word));
	spill(word, sizeof(word) - 1);
	entry->note = word[0] == 'n' ? NULL : word;
	*words = word[1] == 'n' ? NULL : list;
	*handed = memory;
	return returned;
}

static void prepare(struct native_call *call, const char *object, void (*address)(void))
{
	struct native_function function;
	struct diagnostics problems = {0};
	struct native_object read;
	void *place;

	memcpy(&place, &address, sizeof(place));
	require(native_object_read(&read, object, &problems) == 0);
	require(native_function_read(&read.tape, 0, read.types, &function, &problems) == 0);
	require(native_call_init(call, &function, place, NULL) == 0);
	native_object_release(&read);
}

static void clean_up(void)
{
	native_call_deinit(&take_call);
	native_call_deinit(&leave_call);
	native_scratch_deinit(&scratch);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct json_tape tape = {0};
	struct buffer out = {0};
	int r;

	if (!take_call.address) {
		prepare(&take_call, taking, (void (*)(void))take);
		prepare(&leave_call, leaving, (void (*)(void))leave);
		atexit(clean_up);
	}
	if (size == 0)
		return 0;
	left = data + 1;
	left_size = size - 1;
	if (data[0] % 2 == 0)
		r = native_call_run(&take_call, &scratch, (const char *)data + 1, size - 1, &out);
	else
		r = native_call_run(&leave_call, &scratch, "{}", 2, &out);
	require(r == 0 || r == NATIVE_CALL_E_FAILED);
	require(out.size > 0);
	if (r == 0)
		require(json_tape_read(&tape, out.data, out.size, JSON_DEPTH_DEFAULT, NULL) == 0);
	json_tape_deinit(&tape);
	buffer_deinit(&out);
	return 0;
}
