/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOOLBOX_H
#define TOOLBOX_H

/*
 * toolbox.h: a toolbox for toolboxd as a shared library of C or C++.
 *
 * Tools are C functions. Their arguments were checked against a JSON Schema; a tool reads them with
 * typed getters and answers with typed writers. So it needs no JSON library and links nothing. This
 * header is the whole interface. It is valid C99 and C++11.
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
 *     static const struct toolbox_parameter greet_parameters[] = {
 *         {.name = "name", .type = "string", .text = "Who is greeted", .required = 1},
 *         {.name = NULL},
 *     };
 *
 *     static const struct toolbox_tool tools[] = {{
 *         .name = "greet",
 *         .description = "Greet somebody by name.",
 *         .risk = TOOLBOX_READ,
 *         .handler = greet,
 *         .parameters = greet_parameters,
 *     }};
 *
 *     TOOLBOX_PLUGIN(tools, NULL, NULL);
 *
 * Build it by `cc -shared -fPIC $(pkg-config --cflags toolbox) -o libgreet.so greet.c` and register
 * it by a file greet.json beside it:
 *
 *     {"kind": "plugin", "library": "libgreet.so"}
 *
 *
 * WHERE IT RUNS
 *
 * A toolbox runs in a process of its own (toolbox-host), in a sandbox: class `compute` unless the
 * manifest sets another. That class has no network, no other processes and few files; threads are
 * allowed. Output to stdout and stderr goes to the daemon's log. If the process crashes, the
 * running call fails and the next one gets a new process. Several processes may run at once
 * (`limits.workers` of the manifest). So do not keep in variables what must last.
 *
 *     dlopen ─▶ init(configuration) ─▶ the table of tools is read ─▶ handler, handler, … ─▶ deinit
 *
 * A process that is idle for a while, is replaced, or whose daemon stops, ends in order: deinit(),
 * then exit(3), with half a second for both. A process that crashes, or is killed because of a
 * call, ends without them.
 *
 * The table is read once, in a process that ends afterwards. The daemon keeps the table until the
 * library or its configuration changes, so it must not depend on anything else. A later process
 * finds a tool by its name.
 *
 *
 * A CALL
 *
 *              handler(call)                 toolbox_reply… toolbox_fail, toolbox_refuse
 *     ○ ─────────────────────────▶ open ──────────────────────────────────────────────▶ gone
 *        (validate(call) before)     │ toolbox_keep: the handler may return, and any
 *                                    │ thread answers later
 *
 * A process runs one call at a time. The answer is sent, and the next call begins, when the call is
 * answered and its handler has returned. If a handler returns without an answer and has not kept
 * the call, the call fails.
 *
 * With `"concurrent": N` in the manifest (2 to 64) one process runs all calls, and the next call
 * begins as soon as a handler has kept its call. Handlers run one after the other; up to N calls
 * are open. A thread answers a kept call, and sends the answer. A call that exceeds its time, or is
 * cancelled, is gone, and the process goes on; only a handler that does not return for five seconds
 * after that ends the process. toolbox_use keeps such a process, although it has no call.
 *
 * A struct toolbox_call is passed by value and may be copied anywhere. All functions may be called
 * from any thread, at any time, with any call. For a call that is gone they return TOOLBOX_E_GONE
 * and do nothing else. So a second or a late answer is harmless.
 *
 * Texts that getters return belong to the call: they are valid until it is gone and its handler has
 * returned.
 *
 * Without `concurrent`, a call that exceeds its time (timeout_ms of the tool, or less if the caller
 * asks for less), or is cancelled, ends by a SIGKILL to its process. toolbox_ms_left returns the
 * time that is left.
 *
 *
 * CONFIGURATION
 *
 * init() gets a call, too. Its arguments are `config` of the manifest, merged with
 * `toolboxd.toolboxes.<id>` of the configuration (without the keys that the daemon reads itself:
 * enabled, sandbox, limits, env). A setting named by the sandbox of the manifest ("$roots") is a
 * list of absolute paths then, and `fences` has what stays closed in them: `hidden` and `kept`.
 * That call stays readable, and its texts valid, until the process ends. Its only answer is
 * toolbox_fail, with the reason why the toolbox cannot be loaded.
 *
 *
 * VERSIONS
 *
 * A plugin that is built with this header loads into every later daemon. The structs only grow:
 * api_version and size describe which members a plugin has, and the daemon takes the others as
 * zero. A daemon that is older than a plugin's api_version refuses the plugin and names both
 * versions. A struct that is larger than the daemon's own is accepted if the rest is zero.
 */

#include <stddef.h>
#include <stdint.h>
#ifndef __cplusplus
#include <stdbool.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define TOOLBOX_API_VERSION 5u

/* The results of the functions of this header. */
enum toolbox_status {
	TOOLBOX_OK = 0,
	TOOLBOX_E_ABSENT = 1, /* the argument is missing or null */
	TOOLBOX_E_TYPE = 2,   /* the argument has another type */
	TOOLBOX_E_RANGE = 3,  /* the number does not fit into the type asked for */
	TOOLBOX_E_GONE = 4,   /* the call is gone */
	TOOLBOX_E_MISUSE = 5, /* not allowed here: a key in an array, an answer in init(), … */
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

/* The risk of calling a tool. A call that only reads needs no approval; the configuration sets
 * which other calls need one (approval.mode). */
enum toolbox_risk {
	TOOLBOX_UNRATED = 0, /* unknown: `risk` of the manifest, if there is one */
	TOOLBOX_READ = 1,    /* only reads */
	TOOLBOX_WRITE = 2,   /* changes something */
	TOOLBOX_EXECUTE = 3  /* may do anything */
};

/* Flags of a tool. */
#define TOOLBOX_ALONE      1u /* never runs beside another tool of its toolbox, in any process */
#define TOOLBOX_IDEMPOTENT 2u /* version 2; the same call again has no further effect */

/* Facts about the caller, for struct toolbox_host. */
enum toolbox_caller {
	TOOLBOX_CALLER_CALL_ID = 0, /* the id that the caller gave the call */
	TOOLBOX_CALLER_SESSION = 1, /* the session that the call belongs to */
	TOOLBOX_CALLER_LANG = 2,    /* the language of the session, as "en-US" */
	/* The trace of the call (W3C Trace Context, Baggage); "" from an older toolboxd. */
	TOOLBOX_CALLER_TRACEPARENT = 3,
	TOOLBOX_CALLER_TRACESTATE = 4,
	TOOLBOX_CALLER_BAGGAGE = 5,
	TOOLBOX_CALLER_IDENTITY = 6 /* the caller; "" from an older toolboxd */
};

/* The bit of struct toolbox_call.id for toolbox_given(). */
#define TOOLBOX_GIVEN (UINT64_C(1) << 63)

struct toolbox_host;

/* A call, by value. Both members belong to the host. */
struct toolbox_call {
	const struct toolbox_host *host;
	uint64_t id;
};

/* Run @call; @data is the pointer of the tool. */
typedef void (*toolbox_handler)(struct toolbox_call call, void *data);

/* A parameter of a tool, for an argument schema without JSON text: an object with these members and
 * no others. This struct never grows. Version 4. */
struct toolbox_parameter {
	const char *name;
	const char *type;  /* "string", "integer", "number", "boolean", "array" or "object" */
	const char *text;  /* its description, for a model; or NULL */
	uint32_t required; /* not 0: every call has it */
	/* The bounds, both included, of a number, of the characters of a string, or of the elements
	 * of an array; INFINITY, or -INFINITY, is no bound. Both 0: no bounds. */
	double min;
	double max;
	const char *default_json; /* its value in a call without it, as JSON text; or NULL */
};

struct toolbox_tool {
	const char *name;        /* [A-Za-z_][A-Za-z0-9_-]{0,63} */
	const char *description; /* purpose and use, for a model; or NULL */
	const char
		*argument_schema;  /* JSON Schema of an object; NULL: no arguments, or parameters */
	const char *output_schema; /* JSON Schema of the result; NULL: any object */
	uint32_t risk;             /* enum toolbox_risk */
	uint32_t flags;            /* TOOLBOX_ALONE */
	uint32_t timeout_ms;       /* 0: the toolbox's */
	uint32_t cooldown_s;       /* pause between the end of a call and the next one */
	const char *const *triggers; /* regular expressions of utterances, then a NULL; or NULL */
	void *data;                  /* passed to handler and validate */
	toolbox_handler handler;
	/* NULL, or called before the handler. It may refuse, by toolbox_refuse, arguments that
	 * satisfy the schema but make no sense; or, by toolbox_fail, a call that must not run, with
	 * the reason for the caller. By toolbox_describe it may describe the call to a person. It
	 * must be quick and change nothing: it is also called alone, before a person is asked about
	 * the call, and to check a call. */
	toolbox_handler validate;
	/* version 2 */
	const char *title;         /* a name for people, as programs with MCP show it; or NULL */
	uint32_t result_max_chars; /* the most code points of a result; 0: the configuration's */
	const char *spoken;        /* JSON: `spoken` of docs/native.md; or NULL */
	/* version 3 */
	const char *grant_key; /* an argument: a person who approves a call for the whole session
	                        * approves calls with the same value; NULL: all calls */
	const char *asked_key; /* an argument, a text, with all effect of the tool: a call where it
	                        * is absent or empty only reads, and needs no approval unless the
	                        * operator sets the risk; a "string" of argument_schema; or NULL */
	const char *given;     /* "statistics" or "conversation": see toolbox_given(); or NULL */
	/* version 4 */
	const struct toolbox_parameter *parameters; /* in place of argument_schema; an entry without
	                                             * a name ends them; or NULL */
	/* version 5 */
	const char *examples; /* JSON: `examples` of docs/native.md, sample calls; or NULL */
};

struct toolbox_plugin {
	uint32_t api_version; /* TOOLBOX_API_VERSION */
	uint32_t size;        /* size of this struct */
	uint32_t tool_size;   /* size of struct toolbox_tool */
	uint32_t n_tools;
	const struct toolbox_tool *tools; /* NULL if init() sets them */
	/* NULL, or called once before the table is read. *tools and *n_tools hold the members
	 * above and may be set to another table, which must stay in its place. Return 0; any other
	 * value means that the toolbox cannot be loaded, for the reason passed to toolbox_fail. */
	int (*init)(struct toolbox_call call, const struct toolbox_tool **tools, uint32_t *n_tools);
	/* NULL, or called once after the last call, if the process ends in order and not by a
	 * signal. Threads that the plugin started may still run: keep the data that they use until
	 * they are joined. The configuration is readable; there is no call to answer. */
	void (*deinit)(void);
	/* version 3. NULL, or called with `concurrent` when a changed toolbox gets all further
	 * calls: the process ends when its kept calls are answered, even if it is in use. */
	void (*replaced)(void);
};

#if defined(__GNUC__)
#define TOOLBOX_EXPORT __attribute__((visibility("default")))
#else
#define TOOLBOX_EXPORT
#endif

/* The one symbol that a library exports. */
extern TOOLBOX_EXPORT const struct toolbox_plugin toolbox_plugin;

/* Define that symbol. @tools is an array. */
#define TOOLBOX_PLUGIN(tools, init, deinit)                                                        \
	const struct toolbox_plugin toolbox_plugin = {                                             \
		TOOLBOX_API_VERSION,                                                               \
		(uint32_t)sizeof(struct toolbox_plugin),                                           \
		(uint32_t)sizeof(struct toolbox_tool),                                             \
		(uint32_t)(sizeof(tools) / sizeof((tools)[0])),                                    \
		(tools),                                                                           \
		(init),                                                                            \
		(deinit),                                                                          \
		NULL,                                                                              \
	}

/* ── functions of the host, called by those below ────────────────────────────────────────────── */

struct toolbox_host {
	uint32_t api_version; /* version of the host; a later one has more members */
	uint32_t size;        /* size of the host's struct */
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
	/* version 2 */
	bool (*is_confined)(struct toolbox_call call);
	/* version 3 */
	int (*use)(struct toolbox_call call, bool is_in_use);
	int (*describe)(struct toolbox_call call, const char *text);
};

/* ── arguments ───────────────────────────────────────────────────────────────────────────────────
 *
 * @key is the name of an argument, a JSON Pointer (RFC 6901) into the arguments if it begins with
 * '/' ("/lines/0/text"), or "" for all of them. An argument with a `default` in the schema is never
 * absent. The getters return TOOLBOX_OK with *ret written, or TOOLBOX_E_ABSENT, _TYPE, _RANGE,
 * _GONE or _MEMORY with *ret unchanged.
 */

/* Return the type of the argument. */
static inline enum toolbox_type toolbox_get_type(struct toolbox_call call, const char *key)
{
	return call.host->type(call, key);
}

/* Return whether the argument is present and not null. */
static inline bool toolbox_has(struct toolbox_call call, const char *key)
{
	return call.host->type(call, key) > TOOLBOX_NULL;
}

static inline int toolbox_get_bool(struct toolbox_call call, const char *key, bool *ret)
{
	return call.host->get_bool(call, key, ret);
}

/* Get a whole number, exactly: 3.0 and 1e2 are whole, 2.5 is TOOLBOX_E_TYPE. */
static inline int toolbox_get_i64(struct toolbox_call call, const char *key, int64_t *ret)
{
	return call.host->get_i64(call, key, ret);
}

static inline int toolbox_get_u64(struct toolbox_call call, const char *key, uint64_t *ret)
{
	return call.host->get_u64(call, key, ret);
}

/* Get the nearest double. */
static inline int toolbox_get_double(struct toolbox_call call, const char *key, double *ret)
{
	return call.host->get_double(call, key, ret);
}

/* Get a string in UTF-8, NUL-terminated. @ret_size (may be NULL) is its size in bytes, which
 * exceeds strlen() if the string contains U+0000. */
static inline int toolbox_get_string(
	struct toolbox_call call, const char *key, const char **ret, size_t *ret_size)
{
	return call.host->get_string(call, key, ret, ret_size);
}

/* Get the JSON text of any value, NUL-terminated, for a JSON library. @ret_size may be NULL. */
static inline int toolbox_get_json(
	struct toolbox_call call, const char *key, const char **ret, size_t *ret_size)
{
	return call.host->get_json(call, key, ret, ret_size);
}

/* Get the number of elements of an array, or of members of an object. */
static inline int toolbox_get_count(struct toolbox_call call, const char *key, uint32_t *ret)
{
	return call.host->get_count(call, key, ret);
}

/* Return a call whose getters read what toolboxd gives with @call, as `given` of its tool asks:
 *
 *     "statistics"   {"tools": [{"toolbox_id", "name", "calls", "errors", "p50_ms", "p99_ms"}, …],
 *                     "left_out": 0}   since toolboxd or the toolbox was loaded; tools that were
 *                     never called, or that the caller does not see, are absent; both times are
 *                     null where each call was refused
 *     "conversation" {"messages": [{"role": "user" or "assistant", "text", "time"}, …]}   the last
 *                     messages of the caller's session, the oldest first
 *
 * Everything is absent for a tool that does not ask. Version 3. */
static inline struct toolbox_call toolbox_given(struct toolbox_call call)
{
	call.id |= TOOLBOX_GIVEN;
	return call;
}

/* ── the call ────────────────────────────────────────────────────────────────────────────────── */

/* Return the caller's id for the call, its session, its language; "" if the caller gave none. */
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

/* Return who calls, for what belongs to one caller: over HTTP `http:NAME` of its token, or the
 * address or user that the connection has; on the bus what the caller writes as context.source,
 * which others may write, too, but never a name of the first two forms. "": unknown. Version 3. */
static inline const char *toolbox_identity(struct toolbox_call call)
{
	return call.host->caller(call, TOOLBOX_CALLER_IDENTITY);
}

/* Return a text of the trace of the call, for a request of the tool's own; "" without one. */
static inline const char *toolbox_trace(struct toolbox_call call, enum toolbox_caller what)
{
	return call.host->caller(call, what);
}

/* Return the milliseconds until the time of the call is over; 0 if it is gone. Then its process is
 * killed; with `concurrent` the call is gone, and the process goes on. */
static inline uint32_t toolbox_ms_left(struct toolbox_call call)
{
	return call.host->ms_left(call);
}

/* Return whether an answer would be too late: the call is gone, or its time is over. */
static inline bool toolbox_is_cancelled(struct toolbox_call call)
{
	return call.host->ms_left(call) == 0;
}

/* Return whether the kernel restricts this process to the files of its sandbox (landlock). Without
 * that, a toolbox is held in its folders only by its own checks of paths. Version 2. */
static inline bool toolbox_is_confined(struct toolbox_call call)
{
	return call.host->is_confined(call);
}

/* Report progress: @progress from 0 to 1 (any other number: unknown), and @text (or NULL). It may
 * be called in the innermost loop: at most twenty reports a second are sent. */
static inline int toolbox_progress(struct toolbox_call call, double progress, const char *text)
{
	return call.host->progress(call, progress, text);
}

/* Declare whether the process keeps something for its callers. A process in use is not stopped for
 * being idle; the end of the daemon and a change of the toolbox end it. Only with `concurrent` of
 * the manifest; @call may be gone. Version 3. */
static inline int toolbox_use(struct toolbox_call call, bool is_in_use)
{
	return call.host->use(call, is_in_use);
}

/* In validate: let a person who is asked about the call read @text, too, which the arguments alone
 * do not show. Version 3. */
static inline int toolbox_describe(struct toolbox_call call, const char *text)
{
	return call.host->describe(call, text);
}

/* Keep the call open when the handler returns; a thread answers it later. */
static inline int toolbox_keep(struct toolbox_call call)
{
	return call.host->keep(call);
}

/* ── the answer ──────────────────────────────────────────────────────────────────────────────────
 *
 * A result is an object unless an array is opened first. A value goes into the object or array that
 * was opened last: with its key into an object, with the key NULL into an array.
 *
 *     toolbox_open_array(call, "lines");
 *     toolbox_put_string(call, NULL, "first");
 *     toolbox_close(call);
 *     toolbox_put_i64(call, "count", 1);
 *     toolbox_reply(call);                        {"lines":["first"],"count":1}
 *
 * After a mistake (a text that is not UTF-8, NaN, a key in the wrong place, the same key twice) the
 * call fails when it is answered, with the mistake as its reason. So the result of each put need
 * not be checked.
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

/* Put @text: UTF-8, NUL-terminated; NULL puts null. */
static inline int toolbox_put_string(struct toolbox_call call, const char *key, const char *text)
{
	return call.host->put_string(call, key, text, SIZE_MAX);
}

/* Put @size bytes of UTF-8. */
static inline int toolbox_put_string_sized(
	struct toolbox_call call, const char *key, const char *text, size_t size)
{
	return call.host->put_string(call, key, text, size);
}

/* Put any value, given as its JSON text, NUL-terminated. */
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

/* Close the object or array that was opened last. */
static inline int toolbox_close(struct toolbox_call call)
{
	return call.host->close(call);
}

/* Answer with the result that was put together. Open objects and arrays are closed. */
static inline int toolbox_reply(struct toolbox_call call)
{
	return call.host->reply(call);
}

/* Answer with a result that is JSON text, NUL-terminated. */
static inline int toolbox_reply_json(struct toolbox_call call, const char *json)
{
	return call.host->reply_json(call, json, SIZE_MAX);
}

/* The same, with @size bytes of JSON text. */
static inline int toolbox_reply_json_sized(struct toolbox_call call, const char *json, size_t size)
{
	return call.host->reply_json(call, json, size);
}

/* Answer that the tool has failed, for the reason @text. */
static inline int toolbox_fail(struct toolbox_call call, const char *text)
{
	return call.host->fail(call, text);
}

/* Answer that the arguments are not accepted. @path is a JSON Pointer to the wrong one ("/name", or
 * "" for all of them); @text describes what it must be. */
static inline int toolbox_refuse(struct toolbox_call call, const char *path, const char *text)
{
	return call.host->refuse(call, path, text);
}

#ifdef __cplusplus
}
#endif

#endif
