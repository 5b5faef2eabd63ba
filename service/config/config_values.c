/* SPDX-License-Identifier: Apache-2.0 */
#include "config/config_values.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/buffer.h"
#include "util/cleanup.h"

/* Tell that a value is not what it must be. */
static void report_wrong(struct config_reader *reader, const struct config_setting *setting,
	uint32_t value, const char *wanted, const char *instead)
{
	char shown[CONFIG_SHOWN_BYTES];
	bool is_flag = config_reader_is_flag(reader, value);

	if (setting->decides_calls)
		instead = "it decides which calls are allowed, so no default is used";
	config_reader_report(reader, CONFIG_ERROR, value, "must be %s, not %s%s%s", wanted,
		config_reader_show(reader, value, shown), is_flag ? "" : "; ",
		is_flag ? "" : instead);
	reader->reporter.is_refused |= setting->decides_calls;
	reader->reporter.is_misused |= is_flag;
}

static void store_number(const struct config_setting *setting, void *member, uint64_t number)
{
	if (setting->size == sizeof(uint32_t))
		*(uint32_t *)member = (uint32_t)number;
	else
		*(uint64_t *)member = number;
}

/* Whether the value is a whole number in the setting's range. */
static bool is_in_range(const struct config_reader *reader, const struct config_setting *setting,
	uint32_t value, uint64_t *ret_number)
{
	uint64_t number;

	if (json_type_at(&reader->tape, value) != JSON_NUMBER ||
		json_number_u64(&reader->tape, value, &number) != 0)
		return false;
	if (number < setting->least || number > setting->most)
		return false;
	*ret_number = number;
	return true;
}

void config_value_read_number(struct config_reader *reader, const struct config_setting *setting,
	uint32_t value, void *member)
{
	uint64_t number = setting->standard;
	char wanted[96];
	char instead[48];

	if (value != JSON_NONE && !is_in_range(reader, setting, value, &number)) {
		snprintf(wanted, sizeof(wanted), "a whole number from %llu to %llu",
			(unsigned long long)setting->least, (unsigned long long)setting->most);
		if (number >= setting->least && number <= setting->most)
			snprintf(instead, sizeof(instead), "%llu is used",
				(unsigned long long)number);
		else
			snprintf(instead, sizeof(instead), "it is not used");
		report_wrong(reader, setting, value, wanted, instead);
	}
	store_number(setting, member, number);
}

void config_value_read_lenient_number(struct config_reader *reader,
	const struct config_setting *setting, uint32_t value, void *member)
{
	uint64_t number = setting->standard;
	char shown[CONFIG_SHOWN_BYTES];

	if (value != JSON_NONE && !is_in_range(reader, setting, value, &number))
		config_reader_report(reader, CONFIG_WARNING, value,
			"should be a whole number from %llu to %llu, not %s; %llu is used",
			(unsigned long long)setting->least, (unsigned long long)setting->most,
			config_reader_show(reader, value, shown), (unsigned long long)number);
	store_number(setting, member, number);
}

void config_value_read_flag(struct config_reader *reader, const struct config_setting *setting,
	uint32_t value, void *member)
{
	enum json_type type = JSON_FALSE;

	if (value != JSON_NONE)
		type = json_type_at(&reader->tape, value);
	if (type != JSON_TRUE && type != JSON_FALSE)
		report_wrong(reader, setting, value, "true or false", "false is used");
	*(bool *)member = type == JSON_TRUE;
}

/* `"a", "b" or "c"` */
static void append_words(const char *const *words, struct buffer *out)
{
	for (size_t i = 0; words[i]; i++) {
		if (i > 0)
			buffer_append_string(out, words[i + 1] ? ", " : " or ");
		buffer_printf(out, "\"%s\"", words[i]);
	}
}

static void report_wrong_word(
	struct config_reader *reader, const struct config_setting *setting, uint32_t value)
{
	cleanup(buffer_deinit) struct buffer wanted = {0};
	char instead[64];

	append_words(setting->words, &wanted);
	snprintf(instead, sizeof(instead), "\"%s\" is used", setting->words[setting->standard]);
	if (buffer_terminate(&wanted))
		report_wrong(reader, setting, value, wanted.data, instead);
	else
		reader->error = buffer_status(&wanted);
}

void config_value_read_word(struct config_reader *reader, const struct config_setting *setting,
	uint32_t value, void *member)
{
	unsigned int index = (unsigned int)setting->standard;
	bool is_known = value == JSON_NONE;

	for (unsigned int i = 0; !is_known && setting->words[i]; i++) {
		const char *word = setting->words[i];

		if (json_type_at(&reader->tape, value) != JSON_STRING ||
			!json_string_equals(&reader->tape, value, word, strlen(word)))
			continue;
		index = i;
		is_known = true;
	}
	if (!is_known)
		report_wrong_word(reader, setting, value);
	*(unsigned int *)member = index;
}

/* Cut the white space off both ends of @text; where it begins then. */
static char *trim(char *text)
{
	static const char space[] = " \t\n\r";
	char *start = text + strspn(text, space);
	size_t size = strlen(start);

	while (size > 0 && strchr(space, start[size - 1]))
		size--;
	start[size] = '\0';
	return start;
}

/* Add one string, trimmed, unless nothing is left of it. */
static void read_item(struct config_reader *reader, const struct config_setting *setting,
	uint32_t value, struct config_list *list)
{
	cleanup_free char *text = NULL;
	char *trimmed;

	if (json_type_at(&reader->tape, value) != JSON_STRING) {
		report_wrong(reader, setting, value, "a string", "it is left out");
		return;
	}
	text = config_reader_string(reader, value);
	if (!text)
		return;
	trimmed = trim(text);
	if (!*trimmed)
		return;
	list->items[list->n_items] = strdup(trimmed);
	if (list->items[list->n_items])
		list->n_items++;
	else
		reader->error = -ENOMEM;
}

void config_value_read_list(struct config_reader *reader, const struct config_setting *setting,
	uint32_t value, void *member)
{
	struct config_list *list = member;

	if (value == JSON_NONE)
		return;
	if (json_type_at(&reader->tape, value) != JSON_ARRAY) {
		report_wrong(reader, setting, value, "a list of strings", "it is not used");
		return;
	}
	list->is_set = true;
	list->items = calloc(json_count(&reader->tape, value) + 1, sizeof(*list->items));
	if (!list->items) {
		reader->error = -ENOMEM;
		return;
	}
	for (uint32_t i = json_first(&reader->tape, value); i < json_end(&reader->tape, value);
		i = json_next(&reader->tape, i))
		read_item(reader, setting, i, list);
}

void config_value_refuse(struct config_reader *reader, uint32_t value)
{
	config_reader_report(
		reader, CONFIG_ERROR, value, "is not supported by this version; take it out");
	reader->reporter.is_refused = true;
}

void config_value_read_unsupported(struct config_reader *reader,
	const struct config_setting *setting, uint32_t value, void *member)
{
	(void)setting;
	(void)member;
	if (value != JSON_NONE)
		config_value_refuse(reader, value);
}

void config_value_read_unsupported_unless_empty(struct config_reader *reader,
	const struct config_setting *setting, uint32_t value, void *member)
{
	enum json_type type = (enum json_type)setting->standard;

	(void)member;
	if (value == JSON_NONE)
		return;
	if (json_type_at(&reader->tape, value) != type || json_count(&reader->tape, value) > 0)
		config_value_refuse(reader, value);
}

void config_value_read_nothing(struct config_reader *reader, const struct config_setting *setting,
	uint32_t value, void *member)
{
	(void)reader;
	(void)setting;
	(void)value;
	(void)member;
}
