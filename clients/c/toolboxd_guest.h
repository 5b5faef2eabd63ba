/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOLBOXD_GUEST_H
#define TOOLBOXD_GUEST_H

/*
 * Tools from a running C program: a guest of toolboxd. This header and toolboxd_guest.c are all: C99
 * with POSIX, without another library. A copy of both in a program works as well.
 *
 *   static char *add(void *data, const char *args, char **error)
 *   {
 *           …                                        args: {"a": 3, "b": 4}
 *           return strdup("{\"sum\": 7}");
 *   }
 *
 *   struct toolboxd_guest *guest = toolboxd_guest_open(NULL, "sums");
 *
 *   toolboxd_guest_add(guest, "{\"name\": \"add\", \"description\": \"Add two numbers.\"}", add, NULL);
 *   while (toolboxd_guest_serve(guest, -1) == 0)
 *           ;
 *   fprintf(stderr, "%s\n", toolboxd_guest_error(guest));
 *   toolboxd_guest_close(guest);
 *
 * toolboxd has to take guests (`guests.enabled`). Calls run one after the other, in
 * toolboxd_guest_serve(). A guest is for one thread, except for toolboxd_guest_wake().
 *
 * All messages of the bus are hostile input: a frame of more than TOOLBOXD_GUEST_FRAME_BYTES, and a
 * frame that breaks RFC 6455, ends the connection, which is made again.
 */

#ifdef __cplusplus
extern "C" {
#endif

#define TOOLBOXD_GUEST_FRAME_BYTES (16u << 20)
#define TOOLBOXD_GUEST_TOOLS_MAX   256

struct toolboxd_guest;

/*
 * Run a tool. @data is that of toolboxd_guest_add(), @args the JSON text of an object, checked by
 * toolboxd against the argument schema. Return the JSON text of the result, by malloc(); or NULL,
 * with *@error the reason for a person or a model, by malloc(), or NULL.
 */
typedef char *(*toolboxd_guest_function)(void *data, const char *args, char **error);

/*
 * Return a guest for the bus at @url, ws://HOST:PORT/PATH, which is not connected to yet; NULL:
 * TOOLBOXD_BUS, else ws://127.0.0.1:8181/core. Its tools are in the toolbox @toolbox_id. Return NULL
 * without memory, or for another kind of URL (errno is EINVAL then).
 */
struct toolboxd_guest *toolboxd_guest_open(const char *url, const char *toolbox_id);

/* Add a tool before the first toolboxd_guest_serve(): @definition is the JSON text of a tool of a
 * manifest, without `native` and `command`, and with a name without escapes. It is copied. Return 0,
 * or -1 with errno: EINVAL (it is no object with a name), ENOSPC, ENOMEM. */
int toolboxd_guest_add(struct toolboxd_guest *guest, const char *definition,
	toolboxd_guest_function function, void *data);

/*
 * Connect, register, renew, and answer calls for @timeout_ms; negative: until
 * toolboxd_guest_wake(). A lost bus is connected to again, with pauses from 0.5 s to 30 s. Return 0,
 * or -1 when toolboxd does not take the tools, or without memory: toolboxd_guest_error() has the
 * reason.
 */
int toolboxd_guest_serve(struct toolboxd_guest *guest, int timeout_ms);

/* Let a present or the next toolboxd_guest_serve() return 0. From any thread or signal handler, until
 * toolboxd_guest_close() begins: @guest is freed then, so a signal that may come again is ignored
 * or blocked before. */
void toolboxd_guest_wake(struct toolboxd_guest *guest);

/* Return whether toolboxd offers the tools at this moment, as far as is known. */
int toolboxd_guest_is_registered(const struct toolboxd_guest *guest);

/* Return the last error, or why the bus is away; "" without one. Valid until the next call. */
const char *toolboxd_guest_error(const struct toolboxd_guest *guest);

/* Leave, and free @guest. Takes NULL. */
void toolboxd_guest_close(struct toolboxd_guest *guest);

#ifdef __cplusplus
}
#endif

#endif
