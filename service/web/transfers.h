/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "loop/loop.h"
#include "web/library.h"

/*
 * Transfers of libcurl on the loop: its sockets and its timer become sources of the loop.
 *
 *   curl multi ──CURLMOPT_SOCKETFUNCTION──▶ loop_source ─┐
 *              ──CURLMOPT_TIMERFUNCTION───▶ loop_timer ──┴─▶ curl_multi_socket_action ─▶ done
 *
 * A user adds easy handles to @multi, each with its CURLOPT_PRIVATE, and removes them.
 */
struct transfers {
	const struct library *curl;
	struct loop *loop;
	CURLM *multi;
	struct loop_timer timer;
	/* Take the end of a transfer, whose CURLOPT_PRIVATE is @transfer. The transfer may be freed
	 * then. */
	void (*done)(void *transfer, CURLcode code);
};

/* Fill the zeroed @transfers. Return false without memory; the caller deinits @transfers in either
 * case. */
bool transfers_init(struct transfers *transfers, const struct library *curl, struct loop *loop,
	void (*done)(void *transfer, CURLcode code));

/* Free the connections. All transfers have been removed. Takes a zeroed struct. */
void transfers_deinit(struct transfers *transfers);

/* Let @easy check certificates by SSL_CERT_FILE and SSL_CERT_DIR, where these are set. */
void transfers_set_certificates(const struct transfers *transfers, CURL *easy);
