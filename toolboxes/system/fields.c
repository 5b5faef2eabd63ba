/* SPDX-License-Identifier: Apache-2.0 */
#include "fields.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *next_line(const char *text)
{
	const char *end = strchr(text, '\n');

	return end && end[1] ? end + 1 : NULL;
}

/* Copy the @size bytes at @from without white space around them, cut to @room - 1 bytes. */
static void copy_trimmed(const char *from, size_t size, char *ret_value, size_t room)
{
	while (size > 0 && strchr(" \t", from[0])) {
		from++;
		size--;
	}
	while (size > 0 && strchr(" \t\r", from[size - 1]))
		size--;
	if (size >= room)
		size = room - 1;
	memcpy(ret_value, from, size);
	ret_value[size] = '\0';
}

bool field_find(const char *text, const char *name, char separator, char *ret_value, size_t room)
{
	size_t size = strlen(name);

	for (const char *line = text; line; line = next_line(line)) {
		const char *at = line + size;

		if (strncmp(line, name, size) != 0)
			continue;
		at += strspn(at, " \t");
		if (*at != separator)
			continue;
		copy_trimmed(at + 1, strcspn(at + 1, "\n"), ret_value, room);
		return true;
	}
	return false;
}

/* The fields 3 to 24 of proc(5), after the name. */
bool process_line_read(const char *text, struct process_line *ret_line)
{
	const char *open = strchr(text, '(');
	const char *close = strrchr(text, ')');
	uint64_t user;
	uint64_t kernel;
	int64_t pages;

	if (!open || !close || close < open)
		return false;
	if (sscanf(close + 1,
		    " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64
		    " %*d %*d %*d %*d %*d %*d %*u %*u %" SCNd64,
		    &ret_line->state, &user, &kernel, &pages) != 4)
		return false;
	ret_line->ticks = user + kernel;
	ret_line->pages = pages > 0 ? (uint64_t)pages : 0;
	copy_trimmed(open + 1, (size_t)(close - open - 1), ret_line->name, sizeof(ret_line->name));
	return true;
}

bool pcm_line_read(const char *text, struct pcm_line *ret_line)
{
	size_t size = strcspn(text, "\n");
	const char *end = text + size;
	const char *name;
	const char *colon;
	char ways[64];

	if (sscanf(text, "%2u-%2u:", &ret_line->card, &ret_line->device) != 2)
		return false;
	colon = memchr(text, ':', size);
	if (!colon)
		return false;
	name = colon + 1;
	colon = memchr(name, ':', (size_t)(end - name));
	if (!colon)
		return false;
	copy_trimmed(name, (size_t)(colon - name), ret_line->name, sizeof(ret_line->name));
	/* After the second name: its directions. */
	colon = memchr(colon + 1, ':', (size_t)(end - colon - 1));
	copy_trimmed(colon ? colon : end, colon ? (size_t)(end - colon) : 0, ways, sizeof(ways));
	ret_line->plays = strstr(ways, "playback") != NULL;
	ret_line->records = strstr(ways, "capture") != NULL;
	return true;
}

bool card_find(const char *text, unsigned int card, struct card_line *ret_card)
{
	for (const char *line = text; line; line = next_line(line)) {
		size_t size = strcspn(line, "\n");
		const char *open = memchr(line, '[', size);
		const char *close = memchr(line, ']', size);
		const char *dash;
		unsigned int number;

		if (sscanf(line, " %u [", &number) != 1 || number != card || !open || !close ||
			close < open)
			continue;
		copy_trimmed(
			open + 1, (size_t)(close - open - 1), ret_card->id, sizeof(ret_card->id));
		dash = strstr(close, " - ");
		if (!dash || dash > line + size)
			dash = close;
		else
			dash += 2;
		copy_trimmed(dash + 1, (size_t)(line + size - dash - 1), ret_card->name,
			sizeof(ret_card->name));
		return true;
	}
	return false;
}

bool route_line_read(const char *text, struct route_line *ret_line)
{
	return sscanf(text, "%15s %" SCNx32 " %" SCNx32 " %" SCNx32 " %*u %*u %" SCNu32 " %" SCNx32,
		       ret_line->interface, &ret_line->destination, &ret_line->gateway,
		       &ret_line->flags, &ret_line->metric, &ret_line->mask) == 6;
}
