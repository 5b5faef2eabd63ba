/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/* Receive one form of a secret. Return 0 or -ENOMEM. */
typedef int (*mcp_secret_form_function)(void *data, const char *form, size_t size);

/*
 * Call @found with each form in which a server may repeat the secret @text: as it is, in JSON (as
 * it must be, with `\/`, in ASCII alone), in a URL, and in base64 after any other text, such as the
 * user of HTTP's scheme Basic. Some may be the same. Return 0 or -ENOMEM.
 */
int mcp_secret_forms(const char *text, size_t size, mcp_secret_form_function found, void *data);
