/* SPDX-License-Identifier: Apache-2.0 */
#include "robots.h"

#include <string.h>
#include <strings.h>

#include "text.h"

/*
 * The file is read line by line, and only the best rule of each kind of group is kept.
 *
 *   User-agent: a ─┐
 *   User-agent: b ─┴─ a group begins        Allow, Disallow: the rules of the group
 *
 * A rule is a beginning of a path, in which `*` stands for any characters, and `$` at its end for
 * the end of the path.
 */

/* More than any path has. */
#define PATH_SIZE_MAX 8192

struct span {
	const char *bytes;
	size_t size;
};

/* The best rule of a kind of group. */
struct verdict {
	bool has_group;
	bool is_disallowed;
	size_t rule_size;
};

struct robots {
	const char *agent;
	struct span path;
	bool is_in_header; /* the line before was a User-agent */
	bool is_for_agent; /* the group counts for the agent by its name */
	bool is_for_all;
	struct verdict named;
	struct verdict all;
};

static struct span trimmed(const char *begin, const char *end)
{
	while (begin < end && strchr(" \t\r", *begin))
		begin++;
	while (begin < end && strchr(" \t\r", end[-1]))
		end--;
	return (struct span){begin, (size_t)(end - begin)};
}

static bool is_word(struct span span, const char *word)
{
	return span.size == strlen(word) && strncasecmp(span.bytes, word, span.size) == 0;
}

/* Write @span to @bytes, of PATH_SIZE_MAX, with %XX taken for its byte. A longer span is cut: no
 * path is so long. */
static struct span decode(struct span span, char *bytes)
{
	size_t n = 0;

	for (size_t i = 0; i < span.size && n < PATH_SIZE_MAX; n++) {
		const char *at = span.bytes + i;
		bool is_escape = *at == '%' && i + 2 < span.size && hex_value(at[1]) >= 0 &&
				 hex_value(at[2]) >= 0;

		bytes[n] = is_escape ? (char)(hex_value(at[1]) * 16 + hex_value(at[2])) : *at;
		i += is_escape ? 3 : 1;
	}
	return (struct span){bytes, n};
}

/* Return whether the rest of @path from @at on begins with @part, or ends with it. */
static bool has_part(struct span path, size_t at, struct span part, bool is_end)
{
	size_t place = is_end ? path.size - part.size : at;

	return part.size <= path.size - at &&
	       memcmp(path.bytes + place, part.bytes, part.size) == 0;
}

/* Find @part in @path from *at on, which moves after it. */
static bool find_part(struct span path, struct span part, size_t *at)
{
	const char *found = memmem(path.bytes + *at, path.size - *at, part.bytes, part.size);

	if (found)
		*at = (size_t)(found - path.bytes) + part.size;
	return found;
}

/* Each part between two `*` is taken where it comes first: a later place cannot help the rest. */
static bool matches_rule(struct span path, struct span rule)
{
	bool is_ended = rule.size > 0 && rule.bytes[rule.size - 1] == '$';
	size_t size = rule.size - is_ended;
	char bytes[PATH_SIZE_MAX];
	bool is_first = true;
	size_t at = 0;

	for (size_t begin = 0;; is_first = false) {
		const char *star = memchr(rule.bytes + begin, '*', size - begin);
		size_t end = star ? (size_t)(star - rule.bytes) : size;
		struct span part = decode((struct span){rule.bytes + begin, end - begin}, bytes);

		if (!star && is_ended && !is_first)
			return has_part(path, at, part, true);
		if (is_first ? !has_part(path, 0, part, false) : !find_part(path, part, &at))
			return false;
		at = is_first ? part.size : at;
		if (!star)
			return !is_ended || at == path.size;
		begin = end + 1;
	}
}

static void count_rule(struct verdict *verdict, struct span rule, bool is_disallowed)
{
	if (rule.size < verdict->rule_size || (rule.size == verdict->rule_size && is_disallowed))
		return;
	verdict->rule_size = rule.size;
	verdict->is_disallowed = is_disallowed;
}

static void read_agent(struct robots *robots, struct span name)
{
	if (!robots->is_in_header)
		robots->is_for_agent = robots->is_for_all = false;
	robots->is_in_header = true;
	robots->is_for_agent |= is_word(name, robots->agent);
	robots->is_for_all |= is_word(name, "*");
	robots->named.has_group |= robots->is_for_agent;
	robots->all.has_group |= robots->is_for_all;
}

static void read_rule(struct robots *robots, struct span rule, bool is_disallowed)
{
	robots->is_in_header = false;
	if (!robots->is_for_agent && !robots->is_for_all)
		return;
	if (rule.size == 0 || !matches_rule(robots->path, rule))
		return;
	if (robots->is_for_agent)
		count_rule(&robots->named, rule, is_disallowed);
	if (robots->is_for_all)
		count_rule(&robots->all, rule, is_disallowed);
}

static void read_line(struct robots *robots, const char *begin, const char *end)
{
	const char *comment = memchr(begin, '#', (size_t)(end - begin));
	const char *colon;
	struct span key;
	struct span value;

	end = comment ? comment : end;
	colon = memchr(begin, ':', (size_t)(end - begin));
	if (!colon)
		return;
	key = trimmed(begin, colon);
	value = trimmed(colon + 1, end);
	if (is_word(key, "user-agent"))
		read_agent(robots, value);
	else if (is_word(key, "disallow") || is_word(key, "allow"))
		read_rule(robots, value, is_word(key, "disallow"));
}

bool robots_allow(const char *text, size_t size, const char *agent, const char *path)
{
	char decoded[PATH_SIZE_MAX];
	struct robots robots = {
		.agent = agent, .path = decode((struct span){path, strlen(path)}, decoded)};
	const char *end = text + size;

	if (size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
		text += 3;
	while (text < end) {
		const char *line = memchr(text, '\n', (size_t)(end - text));

		line = line ? line : end;
		read_line(&robots, text, line);
		text = line + (line < end);
	}
	if (robots.named.has_group)
		return !robots.named.is_disallowed;
	return !robots.all.is_disallowed;
}
