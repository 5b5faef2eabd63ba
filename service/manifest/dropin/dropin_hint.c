/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/dropin/dropin_hint.h"

#include <string.h>

#include "util/array.h"
#include "util/text/text.h"
#include "util/text/text_view.h"

/* The most wrong letters of a known word in a comment. */
#define WRONG_MAX 2

/* The words after the first, perhaps the name and the type of a parameter. */
#define PARAMETER_WORDS 2

#define PARAM       "# param NAME TYPE DESCRIPTION"
#define DESCRIPTION "# description: TEXT"
#define RISK        "# risk: read, write or execute"
#define TIMEOUT     "# timeout: SECONDS"
#define TITLE       "# title: TEXT"
#define COOLDOWN    "# cooldown: SECONDS"
#define TRIGGER     "# trigger REGEX"
#define OUTPUT      "# output: text, json, json_lines or content"
#define RETURNS     "# returns NAME TYPE DESCRIPTION"
#define EXAMPLE     "# example {ARGUMENTS} -> RESULT"

/* The defining words, then other words for them. */
static const struct {
	const char *word;
	const char *form;
	bool is_other;
	bool is_at_top; /* it has an effect only before the first line of code */
} heads[] = {{"param", PARAM, false, false}, {"description", DESCRIPTION, false, false},
	{"risk", RISK, false, false}, {"timeout", TIMEOUT, false, false},
	{"title", TITLE, false, true}, {"cooldown", COOLDOWN, false, true},
	{"trigger", TRIGGER, false, true}, {"output", OUTPUT, false, true},
	{"returns", RETURNS, false, true}, {"example", EXAMPLE, false, true},
	{"arg", PARAM, true, false}, {"args", PARAM, true, false}, {"argument", PARAM, true, false},
	{"arguments", PARAM, true, false}, {"input", PARAM, true, false},
	{"option", PARAM, true, false}, {"parameter", PARAM, true, false},
	{"parameters", PARAM, true, false}, {"about", DESCRIPTION, true, false},
	{"desc", DESCRIPTION, true, false}, {"summary", DESCRIPTION, true, false},
	{"deadline", TIMEOUT, true, false}, {"name", TITLE, true, true},
	{"regex", TRIGGER, true, true}, {"result", RETURNS, true, true}};

/* Words with a colon that other programs read: editors, linters, the interpreter of Python. */
static const char *const foreign[] = {"coding", "encoding", "ex", "fmt", "isort", "mypy", "noqa",
	"pylint", "ruff", "shellcheck", "vi", "vim"};

static const char ends[] = " \t\r?:,()=";

/* Take the next word off *text, without what separates it from others. */
static struct text_view take_hint_word(struct text_view *text)
{
	struct text_view word;

	while (text->size > 0 && strchr(ends, *text->text) && *text->text) {
		text->text++;
		text->size--;
	}
	word = (struct text_view){text->text, 0};
	while (word.size < text->size &&
		(!strchr(ends, word.text[word.size]) || !word.text[word.size]))
		word.size++;
	text->text += word.size;
	text->size -= word.size;
	return word;
}

static bool has_colon(struct text_view rest)
{
	while (rest.size > 0 && (*rest.text == ' ' || *rest.text == '\t')) {
		rest.text++;
		rest.size--;
	}
	return rest.size > 0 && *rest.text == ':';
}

/* Return whether the first words of @rest have the name of a type. */
static bool has_type(struct text_view rest)
{
	static const char *const types[] = {"string", "str", "text", "integer", "int", "number",
		"float", "boolean", "bool", "array", "list", "object"};

	for (int n = 0; n < PARAMETER_WORDS; n++) {
		struct text_view word = take_hint_word(&rest);

		for (size_t i = 0; i < ARRAY_SIZE(types); i++)
			if (word.size == strlen(types[i]) &&
				strncasecmp(word.text, types[i], word.size) == 0)
				return true;
	}
	return false;
}

/* Return the form near to @word, or NULL. */
static const char *find_form(struct text_view word, bool is_at_top)
{
	for (size_t i = 0; i < ARRAY_SIZE(heads); i++) {
		unsigned int most = heads[i].is_other ? 0 : WRONG_MAX;

		if (heads[i].is_at_top && !is_at_top)
			continue;
		if (word.size > WRONG_MAX && text_distance(word.text, word.size, heads[i].word,
						     strlen(heads[i].word), most) <= most)
			return heads[i].form;
	}
	return NULL;
}

/* Return whether @rest is one number, as after `timeout`. */
static bool is_number(struct text_view rest)
{
	struct text_view word = take_hint_word(&rest);
	size_t n = 0;

	while (n < word.size && (text_is_digit(word.text[n]) || word.text[n] == '.'))
		n++;
	return n > 0 && n == word.size && take_hint_word(&rest).size == 0;
}

const char *dropin_hint_find(const char *text, size_t size, bool is_at_top)
{
	struct text_view rest = {text, size};
	struct text_view word = take_hint_word(&rest);
	const char *form = find_form(word, is_at_top);

	if (form && (has_colon(rest) || (strcmp(form, PARAM) == 0 && has_type(rest)) ||
			    (strcmp(form, TIMEOUT) == 0 && is_number(rest))))
		return form;
	/* `risk level: read`, `short description: Rings.` */
	word = take_hint_word(&rest);
	if (!has_colon(rest))
		return NULL;
	return form ? form : find_form(word, is_at_top);
}

bool dropin_hint_is_unknown(const char *text, size_t size)
{
	size_t n = 0;

	while (n < size && text[n] >= 'a' && text[n] <= 'z')
		n++;
	if (n == 0 || n == size || text[n] != ':' ||
		(n + 1 < size && text[n + 1] != ' ' && text[n + 1] != '\t'))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(foreign); i++)
		if (text_is(text, n, foreign[i]))
			return false;
	return true;
}
