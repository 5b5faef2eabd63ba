/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/driver.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/cleanup.h"
#include "worker/library.h"
#include "worker/native/call.h"

struct native_driver {
	struct library library;
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

/* Find the function @symbol, which the member @key of the native object at @object names. */
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

/* Find the function that frees results. "free" means libc's. A library's own calls of malloc()
 * and free() are bound to the first ones in the process, which may be neither the library's nor
 * libc's. */
static int find_free(struct loading *loading, uint32_t object,
	const struct native_function *function, void (**ret_free)(void *))
{
	uint32_t returns = json_find(loading->tape, object, "returns");
	void *address;
	int r;

	if (!function->free_symbol || strcmp(function->free_symbol, "free") == 0) {
		*ret_free = function->free_symbol ? free : NULL;
		return 0;
	}
	r = find_symbol(loading, returns, "free", function->free_symbol, &address);
	if (r == 0)
		memcpy(ret_free, &address, sizeof(address));
	return r;
}

static int load_tool(struct loading *loading, uint32_t object, struct native_call *call)
{
	struct native_function function = {0};
	void (*free_result)(void *) = NULL;
	void *address = NULL;
	int r = native_function_read(loading->tape, object, &function, loading->problems);

	if (r)
		return r > 0 ? DRIVER_E_REFUSED : r;
	r = find_symbol(loading, object, "symbol", function.symbol, &address);
	r = r ? r : find_free(loading, object, &function, &free_result);
	r = r ? r : native_call_init(call, &function, address, free_result);
	native_function_deinit(&function);
	return r;
}

static int load_tools(struct loading *loading)
{
	const struct json_tape *tape = loading->tape;
	struct native_driver *driver = loading->driver;
	uint32_t tools = json_find(tape, 0, "tools");

	if (tools == JSON_NONE || json_type_at(tape, tools) != JSON_ARRAY)
		return refuse(loading, tools, "'tools' must be an array");
	driver->calls = calloc(json_count(tape, tools) + 1u, sizeof(*driver->calls));
	if (!driver->calls)
		return -ENOMEM;
	for (uint32_t i = json_first(tape, tools); i < json_end(tape, tools);
		i = json_next(tape, i)) {
		int r = load_tool(loading, i, &driver->calls[driver->n_calls++]);

		if (r)
			return r;
	}
	return 0;
}

static void unload_native(void *data)
{
	struct native_driver *driver = data;

	if (!driver)
		return;
	for (uint32_t i = 0; i < driver->n_calls; i++)
		native_call_deinit(&driver->calls[i]);
	free(driver->calls);
	native_scratch_deinit(&driver->scratch);
	free(driver);
}

/* LOAD frame: {"library": a path or a name, "tools": [native object, …]}. Constructors of the
 * library run here. If it lacks a symbol of any tool, nothing is loaded. */
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
