/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "json/reader.h"
#include "loop/loop.h"
#include "util/cleanup.h"
#include "util/file/sealed_file.h"
#include "wire/wire.h"

/*
 * One toolbox-host process, seen from the daemon.
 *
 *        host_spawn          LOADED              INVOKE / RESULT, FAILED, ERROR
 *   ○ ───────────▶ STARTING ─────────▶ READY ◀──────────────────────────▶ RUNNING
 *                     │ REFUSED, exit,   │ │ exit, signal, junk              │
 *                     │ start timeout    │ └──────────────┐                  │
 *                     │                  │ host_dismiss ◀─┼──────────────────┤
 *                     │                  ▼                │                  │
 *                     │              DISMISSED            │                  │
 *                     │                  │ exit, signal,  │                  │
 *                     │                  │ HOST_DISMISS_MS│                  │
 *                     ▼                  ▼                ▼                  ▼
 *                   ENDED: ended() is called once, with the reason; then only host_free is left
 *
 * The process is spawned and exec'd (never forked from the daemon's memory), in a process group of
 * its own, with one socket. host_free kills the group: there is no other way to stop a call, unless
 * the host carries several. host_dismiss lets a host end its toolbox in order.
 */
struct host;
struct output_tail;

/* Why a host ended. */
enum host_reason {
	HOST_EXITED,    /* it exited; exit_code */
	HOST_SIGNALED,  /* a signal killed it; signal */
	HOST_MALFORMED, /* it broke the protocol, or closed its socket, and was killed */
	HOST_TOO_LARGE, /* its answer was over output_max, and it was killed; actual, max */
	HOST_REFUSED,   /* it could not load its toolbox; pointer and message */
	HOST_TOO_SLOW,  /* it did not load its toolbox in start_timeout_ms, and was killed */
	HOST_LINGERED,  /* it did not exit in HOST_DISMISS_MS once dismissed, and was killed */
};

struct host_exit {
	enum host_reason reason;
	const char *refused; /* as in struct host_answer */
	const char *printed; /* the last line printed by the ended call, NUL-terminated; NULL:
	                      * none */
	int exit_code;
	int signal;
	const char *pointer; /* HOST_REFUSED: JSON Pointer into the LOAD frame, NUL-terminated */
	const char *message; /* HOST_REFUSED: from the host, NUL-terminated, UTF-8; HOST_MALFORMED:
				how it broke the protocol, for the log */
	size_t actual;       /* HOST_TOO_LARGE: bytes of the answer, as its frame declares */
	size_t max;          /* HOST_TOO_LARGE: output_max */
};

/* The end of a text about a failure, for the text @refused of an exit or an answer. */
#define HOST_REFUSED_FORMAT " (the sandbox refused: %s)"

/* Describe @exit in @ret_text, NUL-terminated, as a part of a sentence: "its host died
 * (SIGSEGV)". */
void host_describe_exit(const struct host_exit *exit, char *ret_text, size_t size);

enum host_answer_kind {
	HOST_ANSWER_RESULT, /* tape and text: the result */
	HOST_ANSWER_FAILED, /* text: the message of the tool, UTF-8 */
	HOST_ANSWER_ERROR,  /* tape and text: an object, as WIRE_ERROR has it (wire/wire.h) */
};

struct host_answer {
	enum host_answer_kind kind;
	const char *refused; /* the first system call refused by the sandbox during the call
	                      * (host/refusal.h); NULL: none */
	const struct json_tape *tape; /* tokens of the text */
	const char *text;
	size_t size;
	uint64_t reading_ns; /* the thread's time for reading a long text, else 0 */
};

/* The events of a host. Each of them but progressed() and bus_message() may call host_free, and
 * answered() and relieved() may invoke the next call. The texts belong to the host and are valid
 * during the callback only. */
struct host_handler {
	/* The toolbox is loaded, so host_invoke may be called. @loaded is the JSON text of
	 * LOADED. */
	void (*loaded)(void *data, const char *loaded, size_t size);

	/* The call @id has ended with @answer. */
	void (*answered)(void *data, uint64_t id, const struct host_answer *answer);

	/* The running call @id reports its progress: a JSON object, not checked further. May be
	 * NULL. */
	void (*progressed)(void *data, uint64_t id, const struct json_tape *progress);

	/* The host, which carries calls, has read all sent bytes, after it refused a call because
	 * of unread ones. NULL if carries is not set. */
	void (*relieved)(void *data);

	/* The host, which carries calls, has found its toolbox changed since LOAD. May not free the
	 * host. NULL if carries is not set. */
	void (*stale)(void *data);

	/* host_is_in_use() has changed. May not free the host. NULL if carries is not set. */
	void (*used)(void *data);

	/* The host sent a message to the bus (WIRE_EMIT): an object, and its JSON @text. @object is
	 * NULL if the text is no JSON object, or nests too deep. May call host_hold. May be NULL if
	 * has_bus is not set. */
	void (*bus_message)(
		void *data, const struct json_tape *object, const char *text, size_t size);

	/* The process has ended, or must not be used any more. No answer follows for a call in
	 * flight. */
	void (*ended)(void *data, const struct host_exit *exit);
};

struct host_options {
	const char *program;     /* path of toolbox-host */
	const char *toolbox_id;  /* for its log lines and its process title */
	const char *environment; /* in addition to every host's (host/process.h), or NULL */
	const char *load;        /* payload of the LOAD frame; copied */
	size_t load_size;
	/* copies of the libraries that LOAD names, in their order; NULL: none */
	const struct sealed_file *libraries[WIRE_LIBRARIES_MAX];
	size_t output_max; /* host_output_bytes: its largest payload */
	uint32_t
		/* the most values of an answer, which is an error with more; 0: not bounded */
		values_max;
	size_t stderr_max;        /* stderr_bytes: logged bytes of its stderr per call */
	struct output_tail *tail; /* borrowed; for the last lines of its stderr; NULL: not kept */
	uint64_t start_timeout_ms;
	bool has_bus;   /* it may send to the bus, and receive its subscribed topics */
	bool carries;   /* it runs several calls at a time, and ends one on request */
	bool has_ring;  /* its answers may come in a ring (wire/ring.h) */
	bool has_guard; /* it starts its toolbox through a guard (worker/sandbox/guard.h): class
			   `command` */
	bool yields;    /* nicer than the daemon from its start on, with its children */
};

/* Start a process. @handler is copied. Returns 0, or a negative errno; then no event follows. */
int host_spawn(struct loop *loop, const struct host_options *options,
	const struct host_handler *handler, void *data, struct host **ret_host);

struct host_call {
	uint32_t tool;       /* index in the toolbox */
	uint32_t timeout_ms; /* left of its time */
	const char *caller;  /* JSON text, for kinds that ask for the caller; size 0: none */
	size_t caller_size;
	const char *arguments; /* JSON text */
	size_t size;
	bool is_check;    /* only ask whether the tool takes the arguments */
	uint64_t program; /* as in struct wire_invoke */
};

/* The calls of a host at a time: it runs them one after the other, or carries them. With fewer, the
 * turns of the loop take fewer calls (docs/performance.md). */
#define HOST_CALLS_MAX   32
#define HOST_CARRIED_MAX WIRE_CALLS_MAX

/* A host that carries calls takes no more while so many bytes are unread. */
#define HOST_FULL_BYTES ((size_t)1 << 20)

/* Send @call, with the id @id (not 0), to run after the calls sent before. Returns 0, or a negative
 * errno; then the host does not know the call: -EBUSY while the host is loading, has its full
 * number of calls, or has not read all sent bytes (HOST_FULL_BYTES of them, if it carries calls:
 * relieved() follows); -EPIPE when it is ending (ended() has been called, or follows), also because
 * memory is short, if it carries calls. */
int host_invoke(struct host *host, uint64_t id, const struct host_call *call);

/* Return whether host_invoke() takes another call of a host that carries one. */
bool host_has_room(const struct host *host);

/* The time that the guard of an ended host has to end the processes of its toolbox. */
#define HOST_GUARD_MS 5000

/* End the call @id of a host that carries several: no event follows for it. @is_late: its deadline
 * has passed. A host without a confirmation in HOST_CANCEL_MS is ended. */
#define HOST_CANCEL_MS 5000
void host_cancel(struct host *host, uint64_t id, bool is_late);

/* Send the message @text of the bus (WIRE_MESSAGE) to a host with the bus. Returns 0; -ENOBUFS when
 * the host has not read HOST_UNREAD_BYTES of earlier messages, -EPIPE when it is ending: the
 * message is lost. */
#define HOST_UNREAD_BYTES (1u << 20)
int host_send_bus_message(struct host *host, const char *text, size_t size);

/* Stop reading from the host for @hold_ms: frames wait in the ring and in the socket, and once both
 * are full, the host waits, too, as in a refused system call. Answers are delayed as well. If the
 * process has ended, the rest is read at once. */
void host_hold(struct host *host, uint64_t hold_ms);

/* Return the first system call refused by the sandbox since the host was started, or since the
 * running or last call began; NULL: none. Valid until the next event. */
const char *host_refused(const struct host *host);

/* The most bytes of a note, with its NUL. */
#define HOST_NOTE_BYTES 1024

/* Return the last fault of the toolbox reported by the host since @since_ns, or NULL. Valid until
 * the next event. */
const char *host_note(const struct host *host, uint64_t since_ns);

/* Return whether the host, which carries calls, has something to keep although it has no call. */
bool host_is_in_use(const struct host *host);

/* Announce to a host that carries calls that no further call comes. */
void host_replace(struct host *host);

/* A host may have so many system calls refused in such a time; then it waits. */
#define HOST_REFUSALS_MAX      100
#define HOST_REFUSAL_WINDOW_MS 100

/* End a host with a loaded toolbox, not needed any more; a call in it gets no answer. At the end of
 * file on its socket it ends the toolbox in order (`deinit` of a plugin) and exits. From now on
 * only @ended is called, once, with @data: HOST_EXITED and status 0 after an end in order. Until
 * then the output of the toolbox is logged. */
#define HOST_DISMISS_MS 500
void host_dismiss(
	struct host *host, void (*ended)(void *data, const struct host_exit *exit), void *data);

/* Kill the process group, reap the process and free the host; no event follows. A guard is asked to
 * kill its processes. Takes NULL. */
void host_free(struct host *host);

pid_t host_pid(const struct host *host);

/* Let the host yield to the daemon for the rest of its life, as by options.yields. */
void host_yield(struct host *host);

/* Read the processor time used by the host, without its children. Return 0, or a negative errno: it
 * is ending. */
int host_used_ns(const struct host *host, uint64_t *ret_ns);

/* Return the name of @signal, a constant: "SIGSEGV" for 11, "SIG64" for one without a name. */
const char *host_signal_name(int signal);

CLEANUP_DEFINE(host, struct host *, host_free)
