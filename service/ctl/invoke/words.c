/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/invoke/words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bus/bus.h"
#include "json/reader.h"
#include "json/writer.h"
#include "util/file/file.h"
#include "util/text/utf8.h"

static bool split(const char *text, struct word *ret_word)
{
	const char *equals = strchr(text, '=');
	bool is_json;

	if (!equals)
		return false;
	is_json = equals > text && equals[-1] == ':';
	*ret_word = (struct word){
		.key = text,
		.key_size = (size_t)(equals - text) - is_json,
		.value = equals + 1,
		.size = strlen(equals + 1),
		.is_json = is_json,
		.file = equals[1] == '@' ? equals + 2 : NULL,
	};
	return ret_word->key_size > 0;
}

static int refuse_word(const char *text, struct buffer *reason)
{
	buffer_printf(reason,
		"'%s' is not an argument of a tool: write key=value, key:=JSON or key=@FILE", text);
	return WORDS_E_USAGE;
}

/* JSON cannot hold a text that is not UTF-8, and it is not changed into one. */
static int refuse_bytes(const struct word *word, struct buffer *reason)
{
	buffer_printf(reason,
		"'%.*s' is given a value that is not UTF-8; a tool that takes bytes takes base64, "
		"or %.*s=@FILE",
		(int)word->key_size, word->key, (int)word->key_size, word->key);
	return WORDS_E_USAGE;
}

/* Append how to write the text that looks like the file @name. */
static void append_quoted(const char *name, const char *key, size_t key_size, struct buffer *reason)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	buffer_printf(&text, "@%s", name);
	buffer_printf(reason, "; for the text itself: %.*s:='", (int)key_size, key);
	json_write_bytes_lossy(reason, buffer_text(&text), text.size);
	buffer_append_char(reason, '\'');
}

static int refuse_argument_file(
	const char *name, const char *key, size_t key_size, int status, struct buffer *reason)
{
	if (status == -EFBIG)
		buffer_printf(reason, "'%.*s' is given the file '%s', which has over %zu bytes",
			(int)key_size, key, name, bus_limits_default.frame_bytes);
	else
		buffer_printf(reason, "'%.*s' is given the file '%s', which cannot be read: %s",
			(int)key_size, key, name,
			status == -EINVAL ? "it is no regular file" : strerror(-status));
	if (status == -ENOENT && !strchr(name, '\''))
		append_quoted(name, key, key_size, reason);
	return WORDS_E_USAGE;
}

int words_read_file(const char *name, const char *key, size_t key_size, struct buffer *contents,
	struct buffer *reason)
{
	size_t most = bus_limits_default.frame_bytes;
	int r = strcmp(name, "-") == 0 ? file_read_fd(STDIN_FILENO, most, contents)
				       : file_read(name, most, contents);

	if (r == 0 || r == -ENOMEM)
		return r;
	return refuse_argument_file(name, key, key_size, r, reason);
}

static int check_json(const struct word *word, struct buffer *reason)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	struct json_error error;
	int r = json_tape_read(&tape, word->value, word->size, JSON_DEPTH_DEFAULT, &error);

	if (r <= 0)
		return r;
	if (word->file)
		buffer_printf(reason, "'%.*s:=' needs JSON, and '%s' is not JSON: byte %zu: %s",
			(int)word->key_size, word->key, word->file, error.offset, error.message);
	else
		buffer_printf(reason, "'%.*s:=' needs JSON, not '%s': %s", (int)word->key_size,
			word->key, word->value, error.message);
	return WORDS_E_USAGE;
}

static int read_argument_word(const char *text, struct word *word, struct buffer *reason)
{
	int r;

	if (!split(text, word))
		return refuse_word(text, reason);
	if (!utf8_is_valid(word->key, word->key_size) ||
		(!word->file && !utf8_is_valid(word->value, word->size)))
		return refuse_bytes(word, reason);
	if (word->file) {
		r = words_read_file(word->file, word->key, word->key_size, &word->content, reason);
		if (r != 0)
			return r;
		word->value = buffer_text(&word->content);
		word->size = word->content.size;
	}
	return word->is_json ? check_json(word, reason) : 0;
}

int words_read(
	const char *const *texts, size_t n, struct words *ret_words, struct buffer *ret_reason)
{
	int r = 0;

	*ret_words = (struct words){.list = calloc(n + 1, sizeof(struct word))};
	if (!ret_words->list)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < n; i++)
		r = read_argument_word(texts[i], &ret_words->list[ret_words->n++], ret_reason);
	if (r == WORDS_E_USAGE && !buffer_terminate(ret_reason))
		return -ENOMEM;
	return r;
}

void words_deinit(struct words *words)
{
	for (size_t i = 0; i < words->n; i++)
		buffer_deinit(&words->list[i].content);
	free(words->list);
	*words = (struct words){0};
}
