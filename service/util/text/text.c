/* SPDX-License-Identifier: Apache-2.0 */
#include "util/text/text.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* A text with the other one inside counts as this many typing mistakes. */
#define CONTAINED_DISTANCE 2
#define CONTAINED_BYTES    3

/* Bytes are distinguished by their last six bits, which is enough for names. */
#define BAGS 64

/* The work of a look at a name, and of a byte compared with others. */
#define LOOK_WORK 20
#define BYTE_WORK 2

static unsigned int min3(unsigned int a, unsigned int b, unsigned int c)
{
	unsigned int least = a < b ? a : b;

	return least < c ? least : c;
}

static int lower(char c)
{
	return tolower((unsigned char)c);
}

static void lower_all(const char *text, size_t size, unsigned char *ret)
{
	for (size_t i = 0; i < size; i++)
		ret[i] = (unsigned char)lower(text[i]);
}

/* Return a lower bound of the distance of two texts by their bytes, in any order: most pairs of
 * names need no further comparison. */
static unsigned int least_distance(
	const unsigned char *a, size_t a_size, const unsigned char *b, size_t b_size)
{
	int counts[BAGS] = {0};
	unsigned int more = 0;
	unsigned int less = 0;

	for (size_t i = 0; i < a_size; i++)
		counts[a[i] % BAGS]++;
	for (size_t i = 0; i < b_size; i++)
		counts[b[i] % BAGS]--;
	for (size_t i = 0; i < BAGS; i++) {
		more += counts[i] > 0 ? (unsigned int)counts[i] : 0;
		less += counts[i] < 0 ? (unsigned int)-counts[i] : 0;
	}
	return more > less ? more : less;
}

/* Fill @row for the byte @i (from 1) of @a, from the two rows above it, and return its least
 * value. */
static unsigned int fill_row(unsigned int rows[3][TEXT_NAME_BYTES + 1], size_t i,
	const unsigned char *a, const unsigned char *b, size_t b_size)
{
	unsigned int *row = rows[i % 3];
	const unsigned int *last = rows[(i + 2) % 3];
	const unsigned int *before = rows[(i + 1) % 3];
	unsigned int least = row[0] = (unsigned int)i;

	for (size_t j = 1; j <= b_size; j++) {
		unsigned int cost = a[i - 1] != b[j - 1];

		row[j] = min3(last[j] + 1, row[j - 1] + 1, last[j - 1] + cost);
		if (cost && i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			before[j - 2] + 1 < row[j])
			row[j] = before[j - 2] + 1;
		if (row[j] < least)
			least = row[j];
	}
	return least;
}

/* As text_distance(), and add the work to *work. */
static unsigned int find_distance(
	const char *a, size_t a_size, const char *b, size_t b_size, unsigned int most, size_t *work)
{
	/* Three rows of the classic table: the one before the last (for swaps), the last, the
	 * current. */
	unsigned int rows[3][TEXT_NAME_BYTES + 1];
	unsigned char a_lower[TEXT_NAME_BYTES];
	unsigned char b_lower[TEXT_NAME_BYTES];
	unsigned int last_least = 0;

	if (a_size > TEXT_NAME_BYTES || b_size > TEXT_NAME_BYTES)
		return most + 1;
	if ((a_size > b_size ? a_size - b_size : b_size - a_size) > most)
		return most + 1;
	*work += BAGS + a_size + b_size;
	lower_all(a, a_size, a_lower);
	lower_all(b, b_size, b_lower);
	if (least_distance(a_lower, a_size, b_lower, b_size) > most)
		return most + 1;
	for (size_t j = 0; j <= b_size; j++)
		rows[0][j] = (unsigned int)j;
	for (size_t i = 1; i <= a_size; i++) {
		unsigned int least = fill_row(rows, i, a_lower, b_lower, b_size);

		*work += BYTE_WORK * b_size;
		/* Every path to the end goes through one of two consecutive rows. */
		if (least > most && last_least > most)
			return most + 1;
		last_least = least;
	}
	return rows[a_size % 3][b_size] <= most ? rows[a_size % 3][b_size] : most + 1;
}

unsigned int text_distance(
	const char *a, size_t a_size, const char *b, size_t b_size, unsigned int most)
{
	size_t work = 0;

	return find_distance(a, a_size, b, b_size, most, &work);
}

static bool begins_with(const char *text, const char *part, size_t part_size)
{
	for (size_t i = 0; i < part_size; i++)
		if (lower(text[i]) != lower(part[i]))
			return false;
	return true;
}

static bool contains(
	const char *whole, size_t whole_size, const char *part, size_t part_size, size_t *work)
{
	if (part_size < CONTAINED_BYTES || part_size > whole_size)
		return false;
	*work += BYTE_WORK * whole_size;
	for (size_t at = 0; at + part_size <= whole_size; at++)
		if (begins_with(whole + at, part, part_size))
			return true;
	return false;
}

bool text_is_nearer(const char *name, size_t name_size, const char *candidate,
	size_t candidate_size, unsigned int than, unsigned int *ret_distance, size_t *work)
{
	size_t longer = name_size > candidate_size ? name_size : candidate_size;
	unsigned int most = (unsigned int)(longer / 3);
	unsigned int distance;

	*work += LOOK_WORK;
	if (longer > TEXT_NAME_BYTES || than == 0)
		return false;
	if (most >= than)
		most = than - 1;
	distance = find_distance(name, name_size, candidate, candidate_size, most, work);
	if (distance > most && than > CONTAINED_DISTANCE &&
		(contains(name, name_size, candidate, candidate_size, work) ||
			contains(candidate, candidate_size, name, name_size, work)))
		distance = most = CONTAINED_DISTANCE;
	if (distance > most)
		return false;
	*ret_distance = distance;
	return true;
}

bool text_is_near(const char *name, size_t name_size, const char *candidate, size_t candidate_size,
	unsigned int *ret_distance)
{
	size_t work = 0;

	return text_is_nearer(
		name, name_size, candidate, candidate_size, UINT_MAX, ret_distance, &work);
}

int text_compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

char *text_trim(char *text)
{
	static const char space[] = " \t\n\r";
	char *start = text + strspn(text, space);
	size_t size = strlen(start);

	while (size > 0 && strchr(space, start[size - 1]))
		size--;
	start[size] = '\0';
	return start;
}

bool text_is_stack_frame(const char *line, size_t size)
{
	static const char at[] = "at ";
	size_t indent = 0;

	while (indent < size && (line[indent] == ' ' || line[indent] == '\t'))
		indent++;
	return indent > 0 && size - indent > strlen(at) &&
	       memcmp(line + indent, at, strlen(at)) == 0;
}

/* ── secrets of a URL ────────────────────────────────────────────────────────────────────────── */

const char *text_next_value(const char *at, size_t *ret_size)
{
	const char *value = strchr(at, '=');

	if (!value)
		return NULL;
	*ret_size = strcspn(value + 1, "&;");
	return value + 1;
}

void text_mask_url(const char *url, char *ret_masked)
{
	const char *scheme = strstr(url, "://");
	const char *authority = scheme ? scheme + strlen("://") : url;
	/* A password may have any character, so the last '@' ends it. */
	const char *host = *url == '/' ? NULL : memrchr(authority, '@', strcspn(authority, "?"));
	const char *query;
	const char *value;
	size_t size;

	if (host) {
		ret_masked = mempcpy(ret_masked, url, (size_t)(authority - url));
		ret_masked = stpcpy(ret_masked, TEXT_MASK);
		url = host;
	}
	query = strchr(url, '?');
	while (query && (value = text_next_value(query, &size))) {
		ret_masked = mempcpy(ret_masked, url, (size_t)(value - url));
		ret_masked = stpcpy(ret_masked, TEXT_MASK);
		url = query = value + size;
	}
	strcpy(ret_masked, url);
}

char *text_mask_url_dup(const char *url)
{
	char *masked = malloc(TEXT_MASKED_BYTES(strlen(url)));

	if (masked)
		text_mask_url(url, masked);
	return masked;
}

size_t text_span_name(const char *text)
{
	size_t size = 0;

	while (text_is_digit(text[size]) ||
		((text[size] | 0x20) >= 'a' && (text[size] | 0x20) <= 'z') || text[size] == '_' ||
		text[size] == '-')
		size++;
	return size;
}
