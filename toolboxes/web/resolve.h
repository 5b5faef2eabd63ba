/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEB_RESOLVE_H
#define WEB_RESOLVE_H

#include <netdb.h>
#include <stdint.h>

/* Resolve @host within @wait_ms. Return 0 with *ret, which the caller frees by freeaddrinfo(), or
 * an error of getaddrinfo(3); EAI_AGAIN: the time is over. */
int resolve_host(const char *host, uint64_t wait_ms, struct addrinfo **ret);

#endif
