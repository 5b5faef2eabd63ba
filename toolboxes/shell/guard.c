/* SPDX-License-Identifier: Apache-2.0 */
#include "guard.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Words of a segment, and bytes of them all, that are looked at. */
#define WORDS_MAX 128
#define BYTES_MAX 16384

/* Commands in commands: sh -c "sh -c …". */
#define DEPTH_MAX 8

#define SHOWN_CHARS 220

/* A simple command: its words, without quotes. */
struct segment {
	char bytes[BYTES_MAX];
	size_t size;
	char *words[WORDS_MAX];
	size_t n;
	bool in_word;
	bool is_target; /* the word is the target of a redirection */
};

struct guard {
	const char *rule;
	unsigned int depth;
	bool fed_target; /* what is piped into the next segment names a critical target */
};

static void judge_text(struct guard *guard, const char *text, size_t size);

/* ── words ───────────────────────────────────────────────────────────────────────────────────── */

static bool is_one_of(const char *word, const char *const *names)
{
	for (; *names; names++)
		if (strcasecmp(word, *names) == 0)
			return true;
	return false;
}

/* Return @text after digits; NULL: there is none. */
static const char *skip_digits(const char *text)
{
	size_t n = strspn(text, "0123456789");

	return n > 0 ? text + n : NULL;
}

static bool is_number_or_end(const char *text)
{
	return text && text[strspn(text, "0123456789")] == '\0';
}

/* Return whether @rest, after a prefix of letters like sd, is a disk or a part of one: a1. */
static bool is_lettered_disk(const char *rest)
{
	size_t n = strspn(rest, "abcdefghijklmnopqrstuvwxyz");

	return n > 0 && is_number_or_end(rest + n);
}

/* Return whether @rest is a number, and a part after the letter p, perhaps. */
static bool is_numbered_disk(const char *rest)
{
	const char *end = skip_digits(rest);

	return end &&
	       (*end == '\0' || (*end == 'p' && skip_digits(end + 1) && is_number_or_end(end + 1)));
}

static bool is_nvme(const char *rest)
{
	const char *end = skip_digits(rest);

	return end && *end == 'n' && is_numbered_disk(end + 1);
}

static bool has_prefix(const char *text, const char *prefix, const char **ret_rest)
{
	size_t size = strlen(prefix);

	if (strncmp(text, prefix, size) != 0)
		return false;
	*ret_rest = text + size;
	return true;
}

/* Return whether @name, in a folder of /dev, is a volume: folders of other devices are known. */
static bool is_volume(const char *name)
{
	static const char *const others[] = {"pts", "shm", "net", "input", "snd", "fd", "dri",
		"bus", "char", "cpu", "mqueue", "hugepages", "usb", "vfio", "serial", "v4l",
		"dma_heap", NULL};
	const char *slash = strchr(name, '/');
	char folder[32];

	if (!slash || !slash[1] || slash - name >= (long)sizeof(folder) ||
		strcmp(name, "mapper/control") == 0)
		return false;
	snprintf(folder, sizeof(folder), "%.*s", (int)(slash - name), name);
	return !is_one_of(folder, others);
}

/* Return whether @path is a block device, by its name. */
static bool is_device(const char *path)
{
	static const char *const lettered[] = {"sd", "vd", "xvd", "hd", NULL};
	static const char *const numbered[] = {"mmcblk", "disk", "rdisk", "dm-", "md", NULL};
	const char *name;
	const char *rest;

	if (!has_prefix(path, "/dev/", &name))
		return false;
	for (size_t i = 0; lettered[i]; i++)
		if (has_prefix(name, lettered[i], &rest) && is_lettered_disk(rest))
			return true;
	for (size_t i = 0; numbered[i]; i++)
		if (has_prefix(name, numbered[i], &rest) && is_numbered_disk(rest))
			return true;
	return (has_prefix(name, "nvme", &rest) && is_nvme(rest)) || is_volume(name);
}

/* Write the absolute path @path without `.`, `..` and double slashes to @ret; "" is the root. */
static void normalise(const char *path, char *ret, size_t room)
{
	size_t used = 0;

	ret[0] = '\0';
	while (*path) {
		size_t n;

		path += strspn(path, "/");
		n = strcspn(path, "/");
		if (n == 2 && strncmp(path, "..", 2) == 0) {
			while (used > 0 && ret[--used] != '/')
				;
			ret[used] = '\0';
		} else if (n > 0 && !(n == 1 && *path == '.') && used + n + 2 < room) {
			used += (size_t)snprintf(ret + used, room - used, "/%.*s", (int)n, path);
		}
		path += n;
	}
}

/* Return whether @path, without a pattern at its end, is the root, a folder of the system, or
 * somebody's home. */
static bool is_critical_path(const char *path)
{
	static const char *const folders[] = {"/bin", "/boot", "/dev", "/etc", "/home", "/lib",
		"/lib32", "/lib64", "/opt", "/proc", "/root", "/sbin", "/srv", "/sys", "/usr",
		"/var", NULL};
	char clean[256];

	if (*path != '/' || strpbrk(path, "*?[]{}$"))
		return false;
	normalise(path, clean, sizeof(clean));
	return !*clean || is_one_of(clean, folders) ||
	       (strncmp(clean, "/home/", 6) == 0 && !strchr(clean + 6, '/'));
}

/* Return whether removing @word is a disaster. */
static bool is_critical(const char *word)
{
	static const char *const homes[] = {"~", "$HOME", "${HOME}", NULL};
	size_t size = strlen(word);
	char path[256];

	if (size >= sizeof(path))
		return false;
	memcpy(path, word, size + 1);
	/* What is removed is all inside. */
	if (size >= 2 && strcmp(path + size - 2, "/*") == 0)
		path[size - 1] = '\0';
	else if (size >= 3 && strcmp(path + size - 3, "/.*") == 0)
		path[size - 2] = '\0';
	size = strlen(path);
	while (size > 1 && path[size - 1] == '/')
		path[--size] = '\0';
	return is_one_of(path, homes) || is_critical_path(path);
}

/* ── rules ───────────────────────────────────────────────────────────────────────────────────── */

/* Return whether one of the short or long options of @words is @letter or @name. */
static bool has_option(char *const *words, size_t n, const char *letters, const char *name)
{
	for (size_t i = 1; i < n && strcmp(words[i], "--") != 0; i++) {
		if (words[i][0] != '-')
			continue;
		if (words[i][1] == '-' ? strcmp(words[i] + 2, name) == 0
				       : strpbrk(words[i], letters) != NULL)
			return true;
	}
	return false;
}

static bool has_word(char *const *words, size_t n, bool (*is_it)(const char *word))
{
	for (size_t i = 1; i < n; i++)
		if (words[i][0] != '-' && is_it(words[i]))
			return true;
	return false;
}

static bool writes_device(const char *name, char *const *words, size_t n)
{
	static const char *const copying[] = {"cp", "mv", "install", "rsync", NULL};
	static const char *const disk_tools[] = {"fdisk", "sfdisk", "cfdisk", "parted", "sgdisk",
		"gdisk", "wipefs", "blkdiscard", "shred", "tee", NULL};

	if (is_one_of(name, copying))
		return n > 1 && is_device(words[n - 1]);
	return is_one_of(name, disk_tools) && has_word(words, n, is_device);
}

static bool is_device_operand(const char *word)
{
	return strncmp(word, "of=", 3) == 0 && is_device(word + 3);
}

/* Return whether `of` stands before a device. */
static bool has_of(char *const *words, size_t n)
{
	for (size_t i = 1; i + 1 < n; i++)
		if (strcmp(words[i], "of") == 0 && is_device(words[i + 1]))
			return true;
	return has_word(words, n, is_device_operand);
}

static bool finds_to_delete(char *const *words, size_t n)
{
	bool deletes = false;

	for (size_t i = 1; i < n; i++)
		deletes = deletes || strcmp(words[i], "-delete") == 0 ||
			  (i + 1 < n && strncmp(words[i], "-exec", 5) == 0 &&
				  strcmp(words[i + 1], "rm") == 0);
	return deletes && has_word(words, n, is_critical);
}

/* Return the rule that the command @words breaks, or NULL. */
static const char *find_rule(
	const struct guard *guard, const char *name, char *const *words, size_t n)
{
	static const char *const modes[] = {"chmod", "chown", "chgrp", NULL};

	if (strcmp(name, "rm") == 0 && has_option(words, n, "rR", "recursive") &&
		(guard->fed_target || has_word(words, n, is_critical)))
		return "rm_recursive_critical_target";
	if (strcmp(name, "mkfs") == 0 || strncmp(name, "mkfs.", 5) == 0 ||
		strcmp(name, "mke2fs") == 0)
		return "mkfs_filesystem_create";
	if (strcmp(name, "dd") == 0 && has_of(words, n))
		return "dd_write_block_device";
	if (writes_device(name, words, n))
		return "disk_mutation_block_device";
	if (strcmp(name, "find") == 0 && finds_to_delete(words, n))
		return "find_delete_critical_target";
	if (strcmp(name, "mv") == 0 && n > 2 && has_word(words, n - 1, is_critical))
		return "mv_critical_target";
	if (is_one_of(name, modes) && has_option(words, n, "R", "recursive") &&
		has_word(words, n, is_critical))
		return "mode_recursive_critical_target";
	return NULL;
}

/* ── commands ────────────────────────────────────────────────────────────────────────────────── */

/* Return whether @word is NAME=value. */
static bool is_assignment(const char *word)
{
	size_t n = 0;

	while (isalnum((unsigned char)word[n]) || word[n] == '_')
		n++;
	return n > 0 && !isdigit((unsigned char)word[0]) && word[n] == '=';
}

/* Return how many words after a wrapper are its own: options, their values, assignments, times. */
static size_t count_wrapper_words(char *const *words, size_t n)
{
	static const char *const with_value[] = {"-u", "--user", "-g", "--group", "-h", "--host",
		"-p", "--prompt", "-C", "-T", "-r", "--role", "-t", "--type", "-D", "--chdir", "-n",
		"-I", "-L", "-P", "-s", "-k", "-S", "--signal", NULL};
	size_t i = 0;

	while (i < n) {
		if (words[i][0] == '-')
			i += is_one_of(words[i], with_value) ? 2 : 1;
		else if (is_assignment(words[i]) || isdigit((unsigned char)words[i][0]))
			i++;
		else
			break;
	}
	return i < n ? i : n;
}

/* Judge the text that a shell is given by -c, alone or in a group of options. */
static void judge_shell(struct guard *guard, char *const *words, size_t n)
{
	for (size_t i = 1; i + 1 < n; i++)
		if (words[i][0] == '-' && words[i][1] != '-' && strchr(words[i], 'c')) {
			judge_text(guard, words[i + 1], strlen(words[i + 1]));
			return;
		}
}

/* Judge the words as one text, as eval(1) does. */
static void judge_joined(struct guard *guard, char *const *words, size_t n)
{
	struct text joined = {0};

	for (size_t i = 0; i < n; i++) {
		text_put(&joined, words[i]);
		text_put(&joined, " ");
	}
	judge_text(guard, text_string(&joined), joined.size);
	text_free(&joined);
}

/* Judge the command @words, behind what may be before its name. */
static void judge_command(struct guard *guard, char *const *words, size_t n)
{
	static const char *const wrappers[] = {"sudo", "doas", "env", "command", "nohup", "time",
		"nice", "ionice", "exec", "builtin", "setsid", "stdbuf", "timeout", "xargs",
		"busybox", "chrt", "unshare", NULL};
	static const char *const shells[] = {
		"sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "su", NULL};
	static const char *const reserved[] = {
		"if", "then", "else", "elif", "do", "while", "until", "!", NULL};

	while (n > 0) {
		const char *slash = strrchr(words[0], '/');
		char name[64];

		snprintf(name, sizeof(name), "%s", slash ? slash + 1 : words[0]);
		for (size_t i = 0; name[i]; i++)
			name[i] = (char)tolower((unsigned char)name[i]);
		if (is_one_of(name, wrappers)) {
			size_t own = count_wrapper_words(words + 1, n - 1);

			words += own + 1;
			n -= own + 1;
			continue;
		}
		if (is_assignment(words[0]) || is_one_of(name, reserved)) {
			words++;
			n--;
			continue;
		}
		if (is_one_of(name, shells))
			judge_shell(guard, words, n);
		else if (strcmp(name, "eval") == 0)
			judge_joined(guard, words + 1, n - 1);
		else
			guard->rule = find_rule(guard, name, words, n);
		return;
	}
}

/* ── text ────────────────────────────────────────────────────────────────────────────────────── */

static void put_byte(struct segment *segment, char byte)
{
	if (segment->size + 2 >= BYTES_MAX)
		return;
	if (!segment->in_word && segment->n < WORDS_MAX)
		segment->words[segment->n] = segment->bytes + segment->size;
	segment->in_word = true;
	segment->bytes[segment->size++] = byte;
}

static void end_word(struct guard *guard, struct segment *segment)
{
	const char *word;

	if (!segment->in_word)
		return;
	segment->in_word = false;
	segment->bytes[segment->size++] = '\0';
	if (segment->n == WORDS_MAX)
		return;
	word = segment->words[segment->n];
	if (segment->is_target && is_device(word) && !guard->rule)
		guard->rule = "redirect_block_device";
	segment->n += !segment->is_target;
	segment->is_target = false;
}

static void end_segment(struct guard *guard, struct segment *segment, bool is_pipe)
{
	end_word(guard, segment);
	if (segment->n > 0 && !guard->rule)
		judge_command(guard, segment->words, segment->n);
	if (segment->n > 0)
		guard->fed_target = is_pipe && has_word(segment->words, segment->n, is_critical);
	segment->n = 0;
	segment->size = 0;
	segment->is_target = false;
}

/* Judge what is between @text, after `$(` or a backtick, and its @end. Return its size. */
static size_t judge_substitution(struct guard *guard, const char *text, size_t size, char end)
{
	unsigned int open = 1;
	size_t at = 0;

	for (; at < size; at++) {
		if (text[at] == '\\')
			at++;
		else if (end == ')' && text[at] == '(')
			open++;
		else if (text[at] == end && --open == 0)
			break;
	}
	at = at < size ? at : size;
	judge_text(guard, text, at);
	return at;
}

/* Take what follows a quote @quote. Return the bytes of it with the quote at its end. */
static size_t take_quoted(
	struct guard *guard, struct segment *segment, const char *text, size_t size, char quote)
{
	size_t at = 0;

	/* An empty word is one, too. */
	put_byte(segment, ' ');
	segment->size -= segment->size > 0;
	for (; at < size && text[at] != quote; at++) {
		if (quote == '"' && text[at] == '\\' && at + 1 < size)
			at++;
		else if (quote == '"' && text[at] == '`')
			at += judge_substitution(guard, text + at + 1, size - at - 1, '`') + 1;
		else if (quote == '"' && text[at] == '$' && at + 1 < size && text[at + 1] == '(')
			at += judge_substitution(guard, text + at + 2, size - at - 2, ')') + 2;
		if (at < size)
			put_byte(segment, text[at]);
	}
	return at < size ? at + 1 : size;
}

/* Begin the target of a redirection. A number before it is a descriptor. */
static void begin_target(struct guard *guard, struct segment *segment)
{
	bool is_number = false;

	if (segment->in_word && segment->n < WORDS_MAX) {
		segment->bytes[segment->size] = '\0';
		is_number = is_number_or_end(segment->words[segment->n]);
	}
	if (is_number)
		segment->in_word = false;
	end_word(guard, segment);
	segment->is_target = true;
}

/* Take the bytes at @text that are not quoted. Return how many. */
static size_t take_plain(
	struct guard *guard, struct segment *segment, const char *text, size_t size)
{
	switch (*text) {
	case ' ':
	case '\t':
		end_word(guard, segment);
		return 1;
	case '#':
		if (segment->in_word)
			break;
		for (size_t n = 1;; n++)
			if (n == size || text[n] == '\n')
				return n;
	case '>':
	case '<':
		begin_target(guard, segment);
		segment->is_target = *text == '>';
		return 1 + strspn(text + 1, ">|&") * (size > 1);
	case '&':
		if (size > 1 && text[1] == '>')
			return 1;
		end_segment(guard, segment, false);
		return 1;
	case '|':
		end_segment(guard, segment, !(size > 1 && text[1] == '|'));
		return size > 1 && text[1] == '|' ? 2 : 1;
	case ';':
	case '\n':
	case '\r':
	case '(':
	case ')':
	case '`':
		end_segment(guard, segment, false);
		return 1;
	case '{':
	case '}':
		if (segment->in_word)
			break;
		end_segment(guard, segment, false);
		return 1;
	case '\\':
		if (size > 1 && text[1] == '\n')
			return 2;
		if (size > 1)
			put_byte(segment, text[1]);
		return size > 1 ? 2 : 1;
	default:
		break;
	}
	put_byte(segment, *text);
	return 1;
}

/* Return whether @text has a function that calls itself twice, in the background: NAME(){
 * NAME|NAME& }. */
static bool has_bomb(const char *text, size_t size)
{
	char squeezed[1024];
	size_t n = 0;

	for (size_t i = 0; i < size && n + 1 < sizeof(squeezed); i++)
		if (!isspace((unsigned char)text[i]))
			squeezed[n++] = text[i];
	squeezed[n] = '\0';
	for (char *at = strstr(squeezed, "(){"); at; at = strstr(at + 1, "(){")) {
		const char *name = at;
		char body[256];

		while (name > squeezed && !strchr(";&|(){}", name[-1]))
			name--;
		snprintf(body, sizeof(body), "%.*s|%.*s&", (int)(at - name), name, (int)(at - name),
			name);
		if (at > name && strncmp(at + 3, body, strlen(body)) == 0)
			return true;
	}
	return false;
}

static void judge_text(struct guard *guard, const char *text, size_t size)
{
	struct segment *segment;
	size_t at = 0;

	if (guard->rule || guard->depth == DEPTH_MAX)
		return;
	segment = calloc(1, sizeof(*segment));
	if (!segment)
		return;
	guard->depth++;
	while (at < size && !guard->rule) {
		char byte = text[at];

		if (byte == '\'' || byte == '"')
			at += 1 + take_quoted(guard, segment, text + at + 1, size - at - 1, byte);
		else
			at += take_plain(guard, segment, text + at, size - at);
	}
	if (!guard->rule)
		end_segment(guard, segment, false);
	guard->depth--;
	free(segment);
}

const char *guard_judge(const char *command, size_t size)
{
	struct guard guard = {0};

	if (has_bomb(command, size))
		return "fork_bomb";
	judge_text(&guard, command, size);
	return guard.rule;
}

const char *guard_type(
	const char *line, const char *chars, size_t size, char *ret_line, size_t room)
{
	bool is_given = size > 0 && chars[size - 1] == END_OF_INPUT;
	const char *rule = NULL;
	struct text all = {0};
	size_t begin = 0;
	size_t left;

	text_put(&all, line);
	/* A terminal keeps the character: "rm -rf /", it and a line end are one line. */
	for (size_t i = 0; i < size; i++)
		if (chars[i] != END_OF_INPUT)
			text_add(&all, chars + i, 1);
	for (size_t i = 0; i < all.size && !rule; i++) {
		if (all.data[i] != '\n' && all.data[i] != '\r')
			continue;
		rule = guard_judge(all.data + begin, i - begin);
		begin = i + 1;
	}
	left = all.size - begin;
	if (is_given && left > 0 && !rule)
		rule = guard_judge(all.data + begin, left);
	if (left >= room) {
		begin += left - (room - 1);
		left = room - 1;
	}
	/* A NUL would hide what comes after it. */
	for (size_t i = 0; i < left; i++)
		ret_line[i] = all.data[begin + i] ? all.data[begin + i] : ' ';
	ret_line[left] = '\0';
	text_free(&all);
	return rule;
}

/* ── words for the model ─────────────────────────────────────────────────────────────────────── */

static void put_escaped(struct text *out, char byte)
{
	switch (byte) {
	case '&':
		text_put(out, "&amp;");
		break;
	case '"':
		text_put(out, "&quot;");
		break;
	case '<':
		text_put(out, "&lt;");
		break;
	case '>':
		text_put(out, "&gt;");
		break;
	default:
		text_add(out, &byte, 1);
	}
}

/* Write the first characters of @command, with one space for all white space in a row. */
static void put_command(const char *command, size_t size, struct text *out)
{
	struct text folded = {0};
	const char *characters;
	size_t n;
	size_t shown;

	for (size_t i = 0; i < size; i++) {
		unsigned char byte = (unsigned char)command[i];
		bool is_space = isspace(byte) || byte < 0x20;

		if (!is_space)
			text_add(&folded, command + i, 1);
		else if (folded.size > 0 && folded.data[folded.size - 1] != ' ')
			text_put(&folded, " ");
	}
	if (folded.size > 0 && folded.data[folded.size - 1] == ' ')
		folded.size--;
	characters = text_string(&folded);
	shown = utf8_prefix(characters, folded.size, SHOWN_CHARS, &n);
	for (size_t i = 0; i < shown; i++)
		put_escaped(out, characters[i]);
	if (shown < folded.size)
		text_put(out, "\xE2\x80\xA6");
	text_free(&folded);
}

void guard_explain(const char *tool, const char *rule, long long session_id, const char *command,
	size_t size, struct text *out)
{
	text_printf(out,
		"<system_hint type=\"tool_call_denied\" tool=\"%s\" reason=\"dangerous_command\" "
		"policy=\"blacklist\" rule=\"%s\"",
		tool, rule);
	if (session_id)
		text_printf(out, " session_id=\"%lld\"", session_id);
	text_put(out, " command=\"");
	put_command(command, size, out);
	text_put(out,
		"\">Blocked: this command destroys data that nothing brings back. Nothing was "
		"run. Name the very files or folders that it may change.</system_hint>");
}
