/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/words/words.h"

#include <string.h>

#include "json/member.h"
#include "json/reader.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/text/language_tag.h"

static const char *const keys[] = {
	[WORDS_NO_SERVER] = "no_server",
	[WORDS_ERROR] = "error",
	[WORDS_LIMIT] = "limit",
	[WORDS_CANCELLED] = "cancelled",
};

static const struct {
	const char *language;
	const char *sentences[ARRAY_SIZE(keys)];
} built_in[] = {
	{"en", {"I cannot reach my language model right now.",
		       "Something went wrong while I was thinking.",
		       "I could not finish this in the time I have.", "Stopped."}},
	{"de", {"Ich erreiche mein Sprachmodell gerade nicht.",
		       "Beim Nachdenken ist etwas schiefgegangen.",
		       "Das habe ich in der vorgesehenen Zeit nicht geschafft.", "Abgebrochen."}},
};

/* Append the sentence of @configured in the language @tag. */
static bool write_configured(const struct json_tape *configured, const char *key,
	struct text_view tag, struct buffer *out)
{
	json_each_key(language, configured, 0) {
		cleanup_free char *name = json_string_dup(configured, language, NULL);
		uint32_t words;

		if (!name || !language_tag_equals(tag, name, strlen(name)) ||
			json_type_at(configured, language + 1) != JSON_OBJECT)
			continue;
		words = json_find_typed(configured, language + 1, key, JSON_STRING);
		if (words == JSON_NONE)
			return false;
		json_string_decode(configured, words, out);
		return true;
	}
	return false;
}

/* Append a built-in sentence in the language @tag. */
static bool write_built_in(enum words_kind kind, struct text_view tag, struct buffer *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(built_in); i++) {
		const char *language = built_in[i].language;

		if (!language_tag_equals(tag, language, strlen(language)))
			continue;
		buffer_append_string(out, built_in[i].sentences[kind]);
		return true;
	}
	return false;
}

void words_write(
	const char *configured, enum words_kind kind, struct text_view tag, struct buffer *out)
{
	cleanup(json_tape_cleanup) struct json_tape tape = {0};
	bool has_own = configured && json_tape_read(&tape, configured, strlen(configured),
					     JSON_DEPTH_DEFAULT, NULL) == 0;

	for (; tag.text; tag = language_tag_shorten(tag))
		if ((has_own && write_configured(&tape, keys[kind], tag, out)) ||
			write_built_in(kind, tag, out))
			return;
	tag = TEXT_VIEW("en");
	if (!has_own || !write_configured(&tape, keys[kind], tag, out))
		write_built_in(kind, tag, out);
}
