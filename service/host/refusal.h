/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

struct seccomp_data;

/*
 * The system calls refused by the sandbox of a host (worker/sandbox/syscalls.h). Each waits in the
 * kernel until the daemon, which holds the listener, has answered it:
 *
 *   thread of a tool ── socket() ──▶ filter ──▶ listener ──▶ daemon: EPERM, and the name is kept
 *
 * The daemon never lets a call continue. The kernel writes everything read here.
 */

/* "socket(AF_BLUETOOTH, SOCK_SEQPACKET, 2147483647)" is not the longest. */
#define REFUSAL_TEXT_BYTES 80

/* Read the next call of @listener, which is readable, and refuse it. Return 0 with a description as
 * from refusal_describe(), or a negative errno (-ENOENT: the caller was killed meanwhile). */
int refusal_answer(int listener, char ret_text[REFUSAL_TEXT_BYTES]);

/* Describe a call by its name, and by the arguments that decide: "fork", "socket(AF_INET,
 * SOCK_STREAM)", "ioctl(…, 0x5412)". */
void refusal_describe(const struct seccomp_data *call, char ret_text[REFUSAL_TEXT_BYTES]);
