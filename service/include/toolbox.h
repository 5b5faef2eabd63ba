/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOLBOX_H
#define TOOLBOX_H

/*
 * toolbox.h: a toolbox for toolboxd as a shared library of C or C++.
 *
 * Tools are C functions. They are given arguments that were checked against a JSON Schema, read
 * them with typed getters, and answer with typed writers: no JSON library is needed, and nothing is
 * linked. This header is all there is. It is C99 and C++11.
 *
 *     #include <toolbox.h>
 *
 *     static void greet(struct toolbox_call call, void *data)
 *     {
 *         const char *name = "";
 *
 *         (void)data;
 *         toolbox_get_string(call, "name", &name, NULL);
 *         toolbox_put_string(call, "greeting", name);
 *         toolbox_reply(call);
 *     }
 *
 *     static const struct toolbox_tool tools[] = {{
 *         .name = "greet",
 *         .description = "Greet somebody by name.",
 *         .argument_schema = "{\"type\": \"object\", \"required\": [\"name\"],"
 *                            " \"properties\": {\"name\": {\"type\": \"string\"}}}",
 *         .risk = TOOLBOX_READ,
 *         .handler = greet,
 *     }};
 *
 *     TOOLBOX_PLUGIN(tools, NULL, NULL);
 *
 * Built by `cc -shared -fPIC $(pkg-config --cflags toolbox) -o libgreet.so greet.c` and registered
 * by a file greet.json beside it:
 *
 *     {"kind": "plugin", "library": "libgreet.so"}
 *
 *
 * WHERE IT RUNS
 *
 * In a process of its own (toolbox-host), in a sandbox: class `compute` unless the manifest says
 * another, so no network, no other processes, few files; threads are allowed. What is written to
 * stdout and stderr goes to the daemon's log. A crash costs the call that runs, and the next one
 * gets a new process. So nothing that must last may be kept in variables, and several processes may
 * run at once (`limits.workers` of the manifest).
 *
 *     dlopen ─▶ init(configuration) ─▶ the table of tools is read ─▶ handler, handler, … ─▶ deinit
 *
 * A process that has nothing to do for a while, or is replaced, or whose daemon stops, ends in
 * order: deinit(), then exit(3), with half a second for both. One that crashes, or is killed over a
 * call, ends as it is.
 *
 * The table is read once, in a process that ends behind it, and then kept by the daemon for as long
 * as neither the library nor its configuration changes: it must not depend on anything else. In a
 * later process a tool is found by its name.
 *
 *
 * A CALL
 *
 *              handler(call)                 toolbox_reply… toolbox_fail, toolbox_refuse
 *     ○ ─────────────────────────▶ open ──────────────────────────────────────────────▶ gone
 *        (validate(call) before)     │ toolbox_keep: the handler may return, and any
 *                                    │ thread answers later
 *
 * One call at a time runs in a process. Its answer leaves, and the next one begins, when it is
 * answered and its handler has returned. A handler that returns without an answer, and has not kept
 * its call, has failed.
 *
 * A struct toolbox_call is passed by value and may be copied anywhere. All functions may be called
 * from any thread, at any time, with any call: one that is gone gives TOOLBOX_E_GONE and does
 * nothing else. So answering twice, or too late, is harmless.
 *
 * Texts that getters give are the call's: good until it is gone (and its handler has returned).
 *
 * A call that takes longer than its time (timeout_ms of the tool, less when the caller asks for
 * less), or is cancelled, ends with its process, by SIGKILL. toolbox_ms_left tells how long there
 * is.
 *
 *
 * CONFIGURATION
 *
 * init() is given a call, too: its arguments are `config` of the manifest, merged with
 * `toolboxd.toolboxes.<id>` of the configuration (without the keys that the daemon reads itself:
 * enabled, sandbox, limits, env). The call stays readable for good, and so do its texts. It takes
 * no answer but toolbox_fail, which says why the toolbox cannot be loaded.
 *
 *
 * VERSIONS
 *
 * What is built with this header loads into every later daemon. The structs only grow: api_version
 * and size tell what a plugin knows, and what it does not know is taken as zero. A daemon that is
 * older than a plugin's api_version refuses it, by name; one that finds a struct larger than its
 * own takes it when the rest is zero.
 */

#include <stddef.h>
#include <stdint.h>
#ifndef __cplusplus
#include <stdbool.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define TOOLBOX_API_VERSION 1u

/* What the functions of this header return. */
enum toolbox_status {
	TOOLBOX_OK = 0,
	TOOLBOX_E_ABSENT = 1, /* there is no such argument, or it is null */
	TOOLBOX_E_TYPE = 2,   /* it is of another type */
	TOOLBOX_E_RANGE = 3,  /* it is a number beyond the range of the type asked for */
	TOOLBOX_E_GONE = 4,   /* the call is gone */
	TOOLBOX_E_MISUSE = 5, /* not here: a key in an array, an answer in init() … */
	TOOLBOX_E_MEMORY = 6  /* out of memory */
};

enum toolbox_type {
	TOOLBOX_ABSENT = 0,
	TOOLBOX_NULL = 1,
	TOOLBOX_BOOL = 2,
	TOOLBOX_NUMBER = 3,
	TOOLBOX_STRING = 4,
	TOOLBOX_ARRAY = 5,
	TOOLBOX_OBJECT = 6
};

/* What a call of a tool may do: nobody is asked for what only reads; the configuration says who is
 * asked for what else (approval.mode). */
enum toolbox_risk {
	TOOLBOX_UNRATED = 0, /* not said; the manifest's `risk`, if there is one */
	TOOLBOX_READ = 1,    /* looks at something */
	TOOLBOX_WRITE = 2,   /* changes something */
	TOOLBOX_EXECUTE = 3  /* may do anything */
};

/* Flags of a tool. */
#define TOOLBOX_ALONE 1u /* runs while no other tool of this toolbox does, in any process */

/* What may be asked about who calls. */
enum toolbox_caller {
	TOOLBOX_CALLER_CALL_ID = 0, /* the id that the caller gave the call */
	TOOLBOX_CALLER_SESSION = 1, /* the session it belongs to */
	TOOLBOX_CALLER_LANG = 2     /* its language, as "en-US" */
};

struct toolbox_host;

/* A call, by value. Both members are the host's. */
struct toolbox_call {
	const struct toolbox_host *host;
	uint64_t id;
};

/* Run @call; @data is the tool's own pointer. */
typedef void (*toolbox_handler)(struct toolbox_call call, void *data);

struct toolbox_tool {
	const char *name;            /* [A-Za-z_][A-Za-z0-9_-]{0,63} */
	const char *description;     /* what it does and when to use it, for a model; or NULL */
	const char *argument_schema; /* JSON Schema of an object; NULL: it takes no arguments */
	const char *output_schema;   /* JSON Schema of the result; NULL: any object */
	uint32_t risk;               /* enum toolbox_risk */
	uint32_t flags;              /* TOOLBOX_ALONE */
	uint32_t timeout_ms;         /* 0: the toolbox's */
	uint32_t cooldown_s;         /* pause between the end of a run and the next one */
	const char *const *triggers; /* regular expressions of utterances; NULL ends it; or NULL */
	void *data;                  /* its own pointer, for handler and validate */
	toolbox_handler handler;
	/* Or NULL. Called before the handler: may refuse arguments that satisfy the schema and yet
	 * make no sense, by toolbox_refuse, and else returns. It must be quick and change nothing.
	 */
	toolbox_handler validate;
};

struct toolbox_plugin {
	uint32_t api_version; /* TOOLBOX_API_VERSION */
	uint32_t size;        /* of this struct */
	uint32_t tool_size;   /* of struct toolbox_tool */
	uint32_t n_tools;
	const struct toolbox_tool *tools; /* NULL when init() gives them */
	/* Or NULL. @tools and @n_tools hold those of above, and may be changed to others, which
	 * must stay where they are. 0; anything else: the toolbox cannot be loaded, for the reason
	 * that toolbox_fail was told. */
	int (*init)(struct toolbox_call call, const struct toolbox_tool **tools, uint32_t *n_tools);
	/* Or NULL. Called once, behind the last call, when the process ends in order and not by a
	 * signal. Threads that the plugin has started may still be running: what they use must stay
	 * until they have been joined. The configuration can be read, no call is there to answer.
	 */
	void (*deinit)(void);
};

#if defined(__GNUC__)
#define TOOLBOX_EXPORT __attribute__((visibility("default")))
#else
#define TOOLBOX_EXPORT
#endif

/* The one symbol that a library exports. */
extern TOOLBOX_EXPORT const struct toolbox_plugin toolbox_plugin;

/* Define it: @tools is an array. */
#define TOOLBOX_PLUGIN(tools, init, deinit)                                                        \
	const struct toolbox_plugin toolbox_plugin = {                                             \
		TOOLBOX_API_VERSION,                                                               \
		(uint32_t)sizeof(struct toolbox_plugin),                                           \
		(uint32_t)sizeof(struct toolbox_tool),                                             \
		(uint32_t)(sizeof(tools) / sizeof((tools)[0])),                                    \
		(tools),                                                                           \
		(init),                                                                            \
		(deinit),                                                                          \
	}

/* ── what the host offers: called by the functions below ─────────────────────────────────────── */

struct toolbox_host {
	uint32_t api_version; /* of the host: later members are there when it is later */
	uint32_t size;        /* of its struct */
	enum toolbox_type (*type)(struct toolbox_call call, const char *key);
	int (*get_bool)(struct toolbox_call call, const char *key, bool *ret);
	int (*get_i64)(struct toolbox_call call, const char *key, int64_t *ret);
	int (*get_u64)(struct toolbox_call call, const char *key, uint64_t *ret);
	int (*get_double)(struct toolbox_call call, const char *key, double *ret);
	int (*get_string)(
		struct toolbox_call call, const char *key, const char **ret, size_t *ret_size);
	int (*get_json)(
		struct toolbox_call call, const char *key, const char **ret, size_t *ret_size);
	int (*get_count)(struct toolbox_call call, const char *key, uint32_t *ret);
	const char *(*caller)(struct toolbox_call call, enum toolbox_caller what);
	uint32_t (*ms_left)(struct toolbox_call call);
	int (*progress)(struct toolbox_call call, double progress, const char *text);
	int (*keep)(struct toolbox_call call);
	int (*put_null)(struct toolbox_call call, const char *key);
	int (*put_bool)(struct toolbox_call call, const char *key, bool value);
	int (*put_i64)(struct toolbox_call call, const char *key, int64_t value);
	int (*put_u64)(struct toolbox_call call, const char *key, uint64_t value);
	int (*put_double)(struct toolbox_call call, const char *key, double value);
	int (*put_string)(struct toolbox_call call, const char *key, const char *text, size_t size);
	int (*put_json)(struct toolbox_call call, const char *key, const char *json, size_t size);
	int (*open_object)(struct toolbox_call call, const char *key);
	int (*open_array)(struct toolbox_call call, const char *key);
	int (*close)(struct toolbox_call call);
	int (*reply)(struct toolbox_call call);
	int (*reply_json)(struct toolbox_call call, const char *json, size_t size);
	int (*fail)(struct toolbox_call call, const char *text);
	int (*refuse)(struct toolbox_call call, const char *path, const char *text);
};

/* ── arguments ───────────────────────────────────────────────────────────────────────────────────
 *
 * @key is the name of an argument; or, beginning with '/', a JSON Pointer (RFC 6901) to something
 * inside: "/lines/0/text"; or "" for all of them. An argument that has a `default` in the schema is
 * always there. TOOLBOX_OK with *ret written, or TOOLBOX_E_ABSENT, _TYPE, _RANGE, _GONE, _MEMORY;
 * then *ret is left as it was.
 */

/* What it is. */
static inline enum toolbox_type toolbox_get_type(struct toolbox_call call, const char *key)
{
	return call.host->type(call, key);
}

/* Whether it is there, and not null. */
static inline bool toolbox_has(struct toolbox_call call, const char *key)
{
	return call.host->type(call, key) > TOOLBOX_NULL;
}

static inline int toolbox_get_bool(struct toolbox_call call, const char *key, bool *ret)
{
	return call.host->get_bool(call, key, ret);
}

/* Whole numbers, exactly: 3.0 and 1e2 are whole, 2.5 is TOOLBOX_E_TYPE. */
static inline int toolbox_get_i64(struct toolbox_call call, const char *key, int64_t *ret)
{
	return call.host->get_i64(call, key, ret);
}

static inline int toolbox_get_u64(struct toolbox_call call, const char *key, uint64_t *ret)
{
	return call.host->get_u64(call, key, ret);
}

/* The nearest double. */
static inline int toolbox_get_double(struct toolbox_call call, const char *key, double *ret)
{
	return call.host->get_double(call, key, ret);
}

/* UTF-8, NUL-terminated. @ret_size (or NULL): its bytes; more than strlen when U+0000 is in it. */
static inline int toolbox_get_string(
	struct toolbox_call call, const char *key, const char **ret, size_t *ret_size)
{
	return call.host->get_string(call, key, ret, ret_size);
}

/* The JSON text of any value, NUL-terminated, for who has a JSON library. @ret_size or NULL. */
static inline int toolbox_get_json(
	struct toolbox_call call, const char *key, const char **ret, size_t *ret_size)
{
	return call.host->get_json(call, key, ret, ret_size);
}

/* How many elements an array has, or members an object. */
static inline int toolbox_get_count(struct toolbox_call call, const char *key, uint32_t *ret)
{
	return call.host->get_count(call, key, ret);
}

/* ── the call ────────────────────────────────────────────────────────────────────────────────── */

/* The caller's id for the call, its session, its language: "" where it gives none. */
static inline const char *toolbox_call_id(struct toolbox_call call)
{
	return call.host->caller(call, TOOLBOX_CALLER_CALL_ID);
}

static inline const char *toolbox_session(struct toolbox_call call)
{
	return call.host->caller(call, TOOLBOX_CALLER_SESSION);
}

static inline const char *toolbox_lang(struct toolbox_call call)
{
	return call.host->caller(call, TOOLBOX_CALLER_LANG);
}

/* Milliseconds until the process is killed; 0 when the call is gone. */
static inline uint32_t toolbox_ms_left(struct toolbox_call call)
{
	return call.host->ms_left(call);
}

/* Whether nobody waits for an answer any more: the call is gone, or its time is over. */
static inline bool toolbox_is_cancelled(struct toolbox_call call)
{
	return call.host->ms_left(call) == 0;
}

/* Tell how far it is: @progress from 0 to 1 (anything else: not known), and @text (or NULL). It may
 * be called as often as one likes: twenty times a second it is told. */
static inline int toolbox_progress(struct toolbox_call call, double progress, const char *text)
{
	return call.host->progress(call, progress, text);
}

/* The handler will return before the call is answered. */
static inline int toolbox_keep(struct toolbox_call call)
{
	return call.host->keep(call);
}

/* ── the answer ──────────────────────────────────────────────────────────────────────────────────
 *
 * A result is an object unless something else is opened first. Values are put into what was opened
 * last: with their key into an object, with key NULL into an array.
 *
 *     toolbox_open_array(call, "lines");
 *     toolbox_put_string(call, NULL, "first");
 *     toolbox_close(call);
 *     toolbox_put_i64(call, "count", 1);
 *     toolbox_reply(call);                        {"lines":["first"],"count":1}
 *
 * A mistake (a text that is not UTF-8, NaN, a key in the wrong place, the same key twice) makes the
 * call fail when it is answered, and says so; the functions that put need not be asked each time.
 */

static inline int toolbox_put_null(struct toolbox_call call, const char *key)
{
	return call.host->put_null(call, key);
}

static inline int toolbox_put_bool(struct toolbox_call call, const char *key, bool value)
{
	return call.host->put_bool(call, key, value);
}

static inline int toolbox_put_i64(struct toolbox_call call, const char *key, int64_t value)
{
	return call.host->put_i64(call, key, value);
}

static inline int toolbox_put_u64(struct toolbox_call call, const char *key, uint64_t value)
{
	return call.host->put_u64(call, key, value);
}

static inline int toolbox_put_double(struct toolbox_call call, const char *key, double value)
{
	return call.host->put_double(call, key, value);
}

/* @text: UTF-8, NUL-terminated; NULL puts null. */
static inline int toolbox_put_string(struct toolbox_call call, const char *key, const char *text)
{
	return call.host->put_string(call, key, text, SIZE_MAX);
}

/* @size bytes of UTF-8. */
static inline int toolbox_put_string_sized(
	struct toolbox_call call, const char *key, const char *text, size_t size)
{
	return call.host->put_string(call, key, text, size);
}

/* The JSON text of any value, NUL-terminated. */
static inline int toolbox_put_json(struct toolbox_call call, const char *key, const char *json)
{
	return call.host->put_json(call, key, json, SIZE_MAX);
}

static inline int toolbox_open_object(struct toolbox_call call, const char *key)
{
	return call.host->open_object(call, key);
}

static inline int toolbox_open_array(struct toolbox_call call, const char *key)
{
	return call.host->open_array(call, key);
}

/* Close what was opened last. */
static inline int toolbox_close(struct toolbox_call call)
{
	return call.host->close(call);
}

/* Answer with what was put; what is open is closed. */
static inline int toolbox_reply(struct toolbox_call call)
{
	return call.host->reply(call);
}

/* Answer with a result that is JSON text already, NUL-terminated. */
static inline int toolbox_reply_json(struct toolbox_call call, const char *json)
{
	return call.host->reply_json(call, json, SIZE_MAX);
}

/* The same, of @size bytes. */
static inline int toolbox_reply_json_sized(struct toolbox_call call, const char *json, size_t size)
{
	return call.host->reply_json(call, json, size);
}

/* Answer that the tool has failed, for the reason @text. */
static inline int toolbox_fail(struct toolbox_call call, const char *text)
{
	return call.host->fail(call, text);
}

/* Answer that the arguments cannot be taken: @path is a JSON Pointer to what is wrong ("/name", ""
 * for all of them), @text what it must be. */
static inline int toolbox_refuse(struct toolbox_call call, const char *path, const char *text)
{
	return call.host->refuse(call, path, text);
}

#ifdef __cplusplus
}
#endif

#endif
