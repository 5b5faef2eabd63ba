/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/config.h"
#include "util/buffer.h"

/* A folder for each test, where all the files of the stack are looked for. Every test is a process
 * of its own, and may change its environment. */
void config_set_up(void);
void config_tear_down(void);

/* What the last reading gave. */
extern struct config config;

/* What it told, a line each: `error|warning FILE:LINE PATH: text`, files without their folder. */
extern struct buffer told;

/* The path of @name in the test's folder; good for a few calls. */
const char *in_folder(const char *name);

/* Write a file, and the folders on its way, in the test's folder. */
void write_file(const char *name, const char *text);

/* Write ~/.config/mycroft/mycroft.conf. */
void write_user_file(const char *text);

/* config_read(), into config and told. */
int read_with(const struct config_flags *flags);
int read_all(void);

void expect_silence(void);
void expect_told(const char *words);
void expect_bus(const char *url);

/* @expected: the items, with commas. */
void expect_list(const struct config_list *list, const char *expected);
