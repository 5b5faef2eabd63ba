/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/answer.h"
#include "core/state.h"

/*
 * From one catalogue to the next.
 *
 *   reload, SIGHUP, start ──▶ loader ──▶ new catalogue ──▶ swapped in whole ──▶ responses, changed
 *                               │                             │
 *     a request meanwhile ──▶ the next one         toolboxes that stayed keep their runners;
 *                                                  the others' retire: their calls end where
 *                                                  they began
 */

/* Begin a reload; when one is going on, another follows it. */
void reload_begin(struct service *service);

/* Begin one in which interpreters are asked anew what their tools are, whatever is kept of that. */
void reload_ask_again(struct service *service);

/* The same in the background, because somebody wants to know what is there now; not if there are no
 * toolboxes of an interpreter, or it was done a short time ago. */
void reload_refresh(struct service *service);

/* Begin one when no more news has come for a moment: something was installed. */
void reload_soon(struct service *service);

/* Read the configuration anew; on a mistake that may hide what is forbidden, what is in force
 * stays. (In reload_configuration.c, as what follows.) */
void reload_configuration(struct service *service);

/* Write the member `configuration` of a reload's answer, where there is something to tell:
 * [{"file": …, "line": …, "path": …, "error": …}, …], file and line null for what is in no file. */
void reload_write_mistakes(const struct service *service, struct answer *answer);

/* Watch what is registered now, and what that is made of. */
void reload_watch(struct service *service);

/* The service is stopping: answer those who wait for a reload that there will be none. */
void reload_give_up(struct service *service);

/* Answer the request in service->envelope when the next reload that begins is done. */
void reload_request(struct service *service);

/* Forget everything: loader, catalogue, runners, who waits. */
void reload_end(struct service *service);
