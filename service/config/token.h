/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "bus/address.h"

/*
 * The token of the embedded bus (`embedded.token_file`): the only line of a file readable for the
 * daemon and its trusted clients. It has CONFIG_TOKEN_BYTES_MIN to BUS_TOKEN_BYTES - 1 letters,
 * digits, '-', '.', '_' or '~', so it needs no escapes in a URL.
 */
#define CONFIG_TOKEN_BYTES_MIN 16

/* Read the file at @path. Return 0; -EPERM when others may read it or the group may write to it;
 * -EINVAL when its text is no token; or the negative errno of reading it. */
int config_token_read(const char *path, char ret_token[BUS_TOKEN_BYTES]);

/* Return the requirement on a file for which config_token_read() returned @error: a constant
 * text. */
const char *config_token_expected(int error);
