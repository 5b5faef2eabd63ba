/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "json/reader.h"
#include "loop/loop.h"
#include "util/buffer.h"
#include "util/cleanup.h"

/*
 * One toolbox-host process, seen from the daemon.
 *
 *        host_spawn          LOADED              INVOKE / RESULT, FAILED
 *   ○ ───────────▶ starting ─────────▶ ready ◀──────────────────────────▶ running
 *                     │ REFUSED, exit,   │ │ exit, signal, junk              │
 *                     │ start timeout    │ └──────────────┐                  │
 *                     │                  │ host_dismiss   │                  │
 *                     │                  ▼                │                  │
 *                     │              dismissed            │                  │
 *                     │                  │ exit, signal,  │                  │
 *                     │                  │ HOST_DISMISS_MS  │                  │
 *                     ▼                  ▼                ▼                  ▼
 *                   ended() is called once, with the reason; then only host_free is left
 *
 * The process is spawned and exec'd (never forked from the daemon's memory), in a process group of
 * its own, with one socket. host_free kills the group: there is no other way to stop a call.
 * host_dismiss lets a host that has nothing to do end its toolbox in order.
 */
struct host;

/* Why a host ended. */
enum host_reason {
	HOST_EXITED,    /* on its own; exit_code */
	HOST_SIGNALED,  /* by signal; signal */
	HOST_MALFORMED, /* it sent what no host may send, or closed its socket, and was killed */
	HOST_TOO_LARGE, /* its answer was over output_max, and it was killed; actual, max */
	HOST_REFUSED,   /* it could not load its toolbox; pointer and message */
	HOST_TOO_SLOW,  /* not loaded within start_timeout_ms, and was killed */
	HOST_LINGERED,  /* dismissed, not gone within HOST_DISMISS_MS, and was killed */
};

struct host_exit {
	enum host_reason reason;
	int exit_code;
	int signal;
	const char *pointer; /* HOST_REFUSED: JSON Pointer into the LOAD frame, NUL-terminated */
	const char *message; /* HOST_REFUSED: its own words, NUL-terminated, checked to be UTF-8;
				HOST_MALFORMED: what it did, for the log */
	size_t actual;       /* HOST_TOO_LARGE: bytes of the answer, as its frame says */
	size_t max;          /* HOST_TOO_LARGE: output_max */
};

/* Write how it ended, as a part of a sentence: "its host died (SIGSEGV)". NUL-terminated. */
void host_describe_exit(const struct host_exit *exit, char *ret_text, size_t size);

enum host_answer_kind {
	HOST_ANSWER_RESULT, /* tape and text: the result */
	HOST_ANSWER_FAILED, /* text: the tool's own words, checked to be UTF-8 */
	HOST_ANSWER_ERROR,  /* tape and text: an object, as WIRE_ERROR has it (wire/wire.h) */
};

struct host_answer {
	enum host_answer_kind kind;
	const struct json_tape *tape; /* the text, read */
	const char *text;
	size_t size;
};

/* What a host tells. Each of these but progressed() and said() may call host_free, and answered()
 * may invoke the next call; the texts are the host's and go with it. */
struct host_handler {
	/* The toolbox is loaded: host_invoke may be called. @loaded is the JSON text it sent. */
	void (*loaded)(void *data, const char *loaded, size_t size);

	/* The call @id is done. What @answer points to is good during the call only. */
	void (*answered)(void *data, uint64_t id, const struct host_answer *answer);

	/* The call @id goes on, and tells how far it is: an object. NULL: nobody wants to know. */
	void (*progressed)(void *data, uint64_t id, const struct json_tape *progress);

	/* It has said something to the bus (WIRE_EMIT): an object, and its JSON @text. @object is
	 * NULL for what is no JSON object, or nests too deep. May call host_hold. NULL: hosts of
	 * this owner have no bus. */
	void (*bus_message)(
		void *data, const struct json_tape *object, const char *text, size_t size);

	/* The process is gone, or must not be used any more. A call in flight gets no answer. What
	 * @end points to is good during the call only. */
	void (*ended)(void *data, const struct host_exit *exit);
};

struct host_options {
	const char *program;     /* path of toolbox-host */
	const char *toolbox_id;  /* for its log lines and its process title */
	const char *environment; /* beside what all are given (host/process.h); NULL: nothing */
	const char *load;        /* payload of the LOAD frame; copied */
	size_t load_size;
	size_t output_max; /* host_output_bytes: largest payload it may send */
	size_t stderr_max; /* stderr_bytes: how much of its stderr goes to our log, per call */
	uint64_t start_timeout_ms;
	bool has_bus;   /* it may say what it likes to the bus, and hear what it asks for */
	bool has_guard; /* it starts its toolbox behind a guard (worker/sandbox/guard.h): class
			   `command` */
};

/* Start a process. @handler is copied. 0 or a negative errno (then nothing is called). */
int host_spawn(struct loop *loop, const struct host_options *options,
	const struct host_handler *handler, void *data, struct host **ret_host);

struct host_call {
	uint32_t tool;       /* index in the toolbox's list */
	uint32_t timeout_ms; /* left of its time */
	const char *caller;  /* JSON text, of kinds that ask who calls; size 0: none */
	size_t caller_size;
	const char *arguments; /* JSON text */
	size_t size;
};

/* Calls that a host has at a time: it runs them one after the other. */
#define HOST_CALLS_MAX 8

/* Run @call, as call @id (not 0), behind those that were sent before. 0, or a negative errno, and
 * then the host knows nothing of it: -EBUSY while it is loading, has HOST_CALLS_MAX calls, or has
 * not read all that was sent, -EPIPE when it is ending (ended() has come, or comes). What is sent
 * cannot be taken back but by host_free. */
int host_invoke(struct host *host, uint64_t id, const struct host_call *call);

/* Let a host that has the bus hear the message @text (WIRE_MESSAGE). 0; -ENOBUFS when it has not
 * read HOST_UNREAD_BYTES of earlier ones, -EPIPE when it is ending: the message is lost. */
#define HOST_UNREAD_BYTES (1u << 20)
int host_send_bus_message(struct host *host, const char *text, size_t size);

/* Read nothing more of what it says for @hold_ms: it waits in the socket, and the host, as soon as
 * that is full, waits too. Its answers come as late. What a host has left behind that is gone is
 * read at once. */
void host_hold(struct host *host, uint64_t hold_ms);

/* It is not needed any more. It hears so by the end of file on its socket, at which it ends its
 * toolbox in order (the `deinit` of a plugin) and exits. No call runs in it. Of its callbacks only
 * @ended comes from now on, once, with @data: HOST_EXITED and status 0 when all went well. What the
 * toolbox has to say to our log is taken until then. */
#define HOST_DISMISS_MS 500
void host_dismiss(
	struct host *host, void (*ended)(void *data, const struct host_exit *exit), void *data);

/* Kill the process group, reap it, forget it; no callback comes. A guard is told to kill what it
 * guards. Takes NULL. */
void host_free(struct host *host);

pid_t host_pid(const struct host *host);

/* "SIGSEGV" for 11; "SIG64" for one without a name. A constant text. */
const char *host_signal_name(int signal);

CLEANUP_DEFINE(host, struct host *, host_free)
