/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/driver.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json/member.h"
#include "util/cleanup.h"
#include "worker/library.h"
#include "worker/native/call.h"

/* A call made once, before a caller's first. */
struct once {
	struct native_call begin;
	struct native_call end; /* called when the process ends in order; without an address: no
	                         * call */
};

struct native_driver {
	struct library library;
	struct once *init;
	uint32_t n_init;
	uint32_t n_begun; /* how many of them have begun */
	struct native_call *calls;
	uint32_t n_calls;
	struct native_scratch scratch;
};

/* The input of load(), and the list for a refusal. */
struct loading {
	const struct json_tape *tape;
	struct native_driver *driver;
	struct diagnostics *problems;
};

/* Refuse the value at @token of the LOAD frame. */
__attribute__((format(printf, 3, 4))) static int refuse(
	struct loading *loading, uint32_t token, const char *format, ...)
{
	va_list arguments;
	int r;

	va_start(arguments, format);
	r = driver_refuse_with(loading->problems, loading->tape, token, format, arguments);
	va_end(arguments);
	return r;
}

/* Find the function @symbol, named in the member @key of the native object at @object. */
static int find_symbol(struct loading *loading, uint32_t object, const char *key,
	const char *symbol, void **ret_address)
{
	uint32_t place = json_find(loading->tape, object, key);
	void *address = dlsym(loading->driver->library.handle, symbol);

	if (!address)
		return refuse(loading, place,
			"the library has no function '%s': nm -D --defined-only %s shows what it "
			"has",
			symbol, loading->driver->library.file);
	if (library_is_data(address, NULL))
		return refuse(loading, place, "'%s' is a variable, not a function", symbol);
	*ret_address = address;
	return 0;
}

/* Find the function @symbol (NULL: none) for freeing a value, named at @place. "free" means libc's.
 * A library's own calls of malloc() and free() are bound to the first definitions in the process,
 * perhaps neither the library's nor libc's. */
static int find_free(
	struct loading *loading, uint32_t place, const char *symbol, void (**ret_free)(void *))
{
	void *address;
	int r;

	if (!symbol || strcmp(symbol, "free") == 0) {
		*ret_free = symbol ? free : NULL;
		return 0;
	}
	r = find_symbol(loading, place, "free", symbol, &address);
	if (r == 0)
		memcpy(ret_free, &address, sizeof(address));
	return r;
}

/* Find the functions for freeing what the parameters hand over. */
static int find_handed(struct loading *loading, uint32_t object, struct native_call *call)
{
	uint32_t parameters = json_find(loading->tape, object, "parameters");
	uint32_t place =
		parameters == JSON_NONE ? JSON_NONE : json_first(loading->tape, parameters);
	int r = 0;

	for (size_t i = 0; r == 0 && i < call->function.n_parameters; i++) {
		void (*free_value)(void *) = NULL;

		r = find_free(
			loading, place, call->function.parameters[i].free_symbol, &free_value);
		if (free_value)
			native_call_free_handed(call, i, free_value);
		place = json_next(loading->tape, place);
	}
	return r;
}

/* Find the function for freeing a GError. The library has it through its own dependencies. */
static int find_gerror(struct loading *loading, uint32_t object, struct native_call *call)
{
	uint32_t returns = json_find(loading->tape, object, "returns");
	void *address;

	if (call->function.errors != NATIVE_ERRORS_GERROR)
		return 0;
	address = dlsym(loading->driver->library.handle, "g_error_free");
	if (!address)
		return refuse(loading, json_find(loading->tape, returns, "errors"),
			"the library is not linked to GLib, so its functions report no GError");
	memcpy(&call->free_gerror, &address, sizeof(address));
	return 0;
}

static int load_tool(struct loading *loading, uint32_t object, struct native_call *call)
{
	struct native_function function = {0};
	void (*free_result)(void *) = NULL;
	void *address = NULL;
	int r = native_function_read(loading->tape, object, NULL, &function, loading->problems);

	if (r)
		return r > 0 ? DRIVER_E_REFUSED : r;
	r = find_symbol(loading, object, "symbol", function.symbol, &address);
	r = r ? r
	      : find_free(loading, json_find(loading->tape, object, "returns"),
			function.returns.free_symbol, &free_result);
	r = r ? r : native_call_init(call, &function, address, free_result);
	r = r ? r : find_handed(loading, object, call);
	r = r ? r : find_gerror(loading, object, call);
	native_function_deinit(&function);
	return r;
}

static int load_tools(struct loading *loading)
{
	const struct json_tape *tape = loading->tape;
	struct native_driver *driver = loading->driver;
	uint32_t tools = json_find_typed_at(tape, 0, "tools", JSON_ARRAY);

	if (tools == JSON_NONE)
		return refuse(loading, tools, "'tools' must be an array");
	driver->calls = calloc(json_count(tape, tools) + 1u, sizeof(*driver->calls));
	if (!driver->calls)
		return -ENOMEM;
	json_each(i, tape, tools) {
		int r = load_tool(loading, i, &driver->calls[driver->n_calls++]);

		if (r)
			return r;
	}
	return 0;
}

/* Load the element at @object of `init`. */
static int load_once(struct loading *loading, uint32_t object, struct once *once)
{
	uint32_t call = json_find(loading->tape, object, "call");
	uint32_t finally = json_find(loading->tape, object, "finally");
	int r = load_tool(loading, call, &once->begin);

	return r || finally == JSON_NONE ? r : load_tool(loading, finally, &once->end);
}

/* Run @call, of constants alone. The reason is in @out after a failure. */
static int run_once(struct native_driver *driver, struct native_call *call, struct buffer *out)
{
	static const char none[] = "{}";

	return native_call_run(call, &driver->scratch, none, strlen(none), out);
}

/* Load all of `init`, and run it unless the host only looks at the library. */
static int load_init(struct loading *loading)
{
	const struct json_tape *tape = loading->tape;
	struct native_driver *driver = loading->driver;
	uint32_t init = json_find(tape, 0, "init");
	bool is_check = json_find(tape, 0, "is_check") != JSON_NONE;
	int r = 0;

	if (init == JSON_NONE || json_type_at(tape, init) != JSON_ARRAY)
		return init == JSON_NONE ? 0 : refuse(loading, init, "'init' must be an array");
	driver->init = calloc(json_count(tape, init) + 1u, sizeof(*driver->init));
	if (!driver->init)
		return -ENOMEM;
	for (uint32_t at = json_first(tape, init); r == 0 && at < json_end(tape, init);
		at = json_next(tape, at))
		r = load_once(loading, at, &driver->init[driver->n_init++]);
	for (uint32_t at = json_first(tape, init); r == 0 && !is_check && at < json_end(tape, init);
		at = json_next(tape, at)) {
		cleanup(buffer_deinit) struct buffer out = {0};

		r = run_once(driver, &driver->init[driver->n_begun].begin, &out);
		if (r > 0)
			r = refuse(loading, at, "init has failed: %s",
				buffer_terminate(&out) ? out.data : "out of memory");
		driver->n_begun += r == 0;
	}
	return r;
}

/* Undo, in reverse order, what has been done before the first call. */
static void undo_init(struct native_driver *driver)
{
	while (driver->n_begun > 0) {
		struct native_call *end = &driver->init[--driver->n_begun].end;
		cleanup(buffer_deinit) struct buffer out = {0};

		if (end->address && run_once(driver, end, &out) != 0)
			fprintf(stderr, "a finally of init has failed: %s\n",
				buffer_terminate(&out) ? out.data : "out of memory");
	}
}

static void unload_native(void *data)
{
	struct native_driver *driver = data;

	if (!driver)
		return;
	undo_init(driver);
	for (uint32_t i = 0; i < driver->n_init; i++) {
		native_call_deinit(&driver->init[i].begin);
		native_call_deinit(&driver->init[i].end);
	}
	free(driver->init);
	for (uint32_t i = 0; i < driver->n_calls; i++)
		native_call_deinit(&driver->calls[i]);
	free(driver->calls);
	native_scratch_deinit(&driver->scratch);
	free(driver);
}

/* LOAD frame: {"library": a path or a name, "tools": [native object, …], "init": [{"call": native
 * object, "finally": native object or absent}, …], "is_check": true or absent}. Constructors of the
 * library run here, then `init`. If it lacks a symbol of any tool, nothing is loaded. */
static int load_native(
	const struct driver_load *load, void **ret_driver, struct diagnostics *problems)
{
	struct loading loading = {.tape = load->tape, .problems = problems};
	int r;

	loading.driver = calloc(1, sizeof(*loading.driver));
	if (!loading.driver)
		return -ENOMEM;
	r = library_open(load, &loading.driver->library, problems);
	r = r ? r : load_tools(&loading);
	r = r ? r : load_init(&loading);
	if (r)
		unload_native(loading.driver);
	else
		*ret_driver = loading.driver;
	return r;
}

static void describe_native(const void *data, struct buffer *out)
{
	const struct native_driver *driver = data;

	library_describe(&driver->library, out);
}

static int invoke_native(void *data, const struct driver_call *call, struct buffer *out)
{
	struct native_driver *driver = data;
	int r;

	if (call->tool >= driver->n_calls)
		return -EINVAL;
	r = native_call_run(
		&driver->calls[call->tool], &driver->scratch, call->arguments, call->size, out);
	return r > 0 ? DRIVER_E_FAILED : r;
}

/* The library stays loaded afterwards, because a thread of its own may run in it. */
const struct driver native_driver = {
	.kind = "native",
	.load = load_native,
	.describe = describe_native,
	.invoke = invoke_native,
	.free = unload_native,
};
