/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/config_reader.h"

/*
 * The kinds of values that keys have. A row of the table of keys (config/config_settings.c) names
 * one of these functions; it is called with JSON_NONE for a key that is not there.
 *
 * A wrong value is told and its default stands in, unless it decides which tools may be called:
 * that is not guessed at, the daemon does not start with it.
 */
struct config_setting {
	const char *path; /* below `toolboxd`, keys joined by '.' */
	void (*read)(struct config_reader *reader, const struct config_setting *setting,
		uint32_t value, void *member);
	size_t offset;                  /* of the member in struct config */
	size_t size;                    /* of the member, in bytes */
	uint64_t least, most, standard; /* a standard outside of the range: nothing stands in */
	const char *const *words;       /* of a word, by value; NULL ends them */
	bool decides_calls;
};

/* A whole number from @least to @most, else @standard. */
void config_value_read_number(struct config_reader *reader, const struct config_setting *setting,
	uint32_t value, void *member);

/* The same where a bad value means the default: only a warning. */
void config_value_read_lenient_number(struct config_reader *reader,
	const struct config_setting *setting, uint32_t value, void *member);

/* true or false, else false. */
void config_value_read_flag(struct config_reader *reader, const struct config_setting *setting,
	uint32_t value, void *member);

/* One of @words, else the one with the index @standard. The member is an enum. */
void config_value_read_word(struct config_reader *reader, const struct config_setting *setting,
	uint32_t value, void *member);

/* A list of strings, trimmed, without empty ones. The member is a struct config_list. */
void config_value_read_list(struct config_reader *reader, const struct config_setting *setting,
	uint32_t value, void *member);

/* A key whose feature is not built: only its being absent can be heeded. */
void config_value_read_unsupported(struct config_reader *reader,
	const struct config_setting *setting, uint32_t value, void *member);

/* The same for an object or a list (@standard: its enum json_type) that says nothing while it is
 * empty. */
void config_value_read_unsupported_unless_empty(struct config_reader *reader,
	const struct config_setting *setting, uint32_t value, void *member);

/* A key that belongs to one that is not supported, and means nothing without it. */
void config_value_read_nothing(struct config_reader *reader, const struct config_setting *setting,
	uint32_t value, void *member);

/* Tell that @value is for a feature that is not built, and keep the daemon from starting. */
void config_value_refuse(struct config_reader *reader, uint32_t value);
