/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

#include "http/connection/fields.h"

/*
 * The bytes of a request: they are charged, read, and given to the handler when all have come.
 */

/* Read on with the received @bytes. */
void connection_feed(struct http_connection *connection, const char *bytes, size_t size);

/* Refuse the request being read, and close. */
void connection_refuse(struct http_connection *connection, unsigned int status, const char *reason);
