/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/driver.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json/member.h"
#include "util/cleanup.h"
#include "wire/wire.h"
#include "worker/library.h"
#include "worker/native/call.h"
#include "worker/native/steps.h"

struct native_tool {
	struct native_call call;
	struct native_steps steps; /* without a program: it is one call */
};

struct native_driver {
	struct library libraries[WIRE_LIBRARIES_MAX];
	size_t n_libraries;
	struct native_steps init; /* without a program: there is none */
	struct native_frames init_frames;
	bool has_begun;
	struct native_types *types; /* the tables of the toolbox */
	struct native_tool *tools;
	uint32_t n_tools;
	struct native_scratch scratch;
	struct native_frames frames;
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

/* Refuse the unknown function @symbol, named at @place. */
static int refuse_symbol(struct loading *loading, uint32_t place, const char *symbol)
{
	const struct native_driver *driver = loading->driver;
	cleanup(buffer_deinit) struct buffer files = {0};

	for (size_t i = 0; i < driver->n_libraries; i++)
		buffer_printf(&files, " %s", driver->libraries[i].file);
	return refuse(loading, place, "%s no function '%s': nm -D --defined-only%s shows what %s",
		driver->n_libraries == 1 ? "the library has" : "the libraries have", symbol,
		buffer_terminate(&files) ? files.data : "",
		driver->n_libraries == 1 ? "it has" : "they have");
}

/* Find @symbol in the libraries of the toolbox. */
static void *find_address(const struct loading *loading, const char *symbol)
{
	const struct native_driver *driver = loading->driver;

	return library_find(driver->libraries, driver->n_libraries, symbol);
}

/* Find the function @symbol, named in the member @key of the native object at @object. */
static int find_symbol(struct loading *loading, uint32_t object, const char *key,
	const char *symbol, void **ret_address)
{
	uint32_t place = json_find(loading->tape, object, key);
	void *address = find_address(loading, symbol);

	if (!address)
		return refuse_symbol(loading, place, symbol);
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
	const struct json_tape *tape = loading->tape;
	uint32_t parameters = json_find(tape, object, "parameters");
	uint32_t list = parameters != JSON_NONE ? parameters : json_find(tape, object, "args");
	uint32_t at = list == JSON_NONE ? JSON_NONE : json_first(tape, list);
	int r = 0;

	for (size_t i = 0; r == 0 && i < call->function.n_parameters; i++) {
		uint32_t out = json_find(tape, at, "out");
		uint32_t place = parameters != JSON_NONE || out == JSON_NONE ? at : out;
		void (*free_value)(void *) = NULL;

		r = find_free(
			loading, place, call->function.parameters[i].free_symbol, &free_value);
		if (free_value)
			native_call_free_handed(call, i, free_value);
		at = json_next(tape, at);
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
	address = find_address(loading, "g_error_free");
	if (!address)
		return refuse(loading, json_find(loading->tape, returns, "errors"),
			"the library is not linked to GLib, so its functions report no GError");
	memcpy(&call->free_gerror, &address, sizeof(address));
	return 0;
}

/* Prepare @call for @function, named in the member @key of the object at @object, and take the
 * function over. */
static int load_call(struct loading *loading, uint32_t object, const char *key,
	struct native_function *function, struct native_call *call)
{
	void (*free_result)(void *) = NULL;
	void *address = NULL;
	int r = find_symbol(loading, object, key, function->symbol, &address);

	r = r ? r
	      : find_free(loading, json_find(loading->tape, object, "returns"),
			function->returns.free_symbol, &free_result);
	r = r ? r : native_call_init(call, function, address, free_result);
	r = r ? r : find_handed(loading, object, call);
	return r ? r : find_gerror(loading, object, call);
}

static int load_invocation(
	struct loading *loading, struct native_invocation *invocation, struct native_call *call)
{
	return invocation
		       ? load_call(loading, invocation->place, "call", &invocation->function, call)
		       : 0;
}

/* Prepare the calls of the step. A read calls nothing. */
static int load_stage(struct loading *loading, struct native_step *step, struct native_stage *stage)
{
	int r;

	if (step->operation == NATIVE_READ) {
		stage->call.function = step->call.function;
		step->call.function = (struct native_function){0};
		return 0;
	}
	r = load_invocation(loading, &step->call, &stage->call);
	r = r ? r : load_invocation(loading, step->finally, &stage->finally);
	return r ? r : load_invocation(loading, step->message, &stage->message);
}

/* Read the program at @object, a native object or `init`. */
static int read_steps(struct loading *loading, uint32_t object, struct native_steps *steps,
	struct native_frames *frames)
{
	struct native_driver *driver = loading->driver;
	struct native_program *program = NULL;
	struct native_function function = {0};
	int r = native_program_read(loading->tape, object, driver->types, driver->init.program,
		&function, &program, loading->problems);

	if (r)
		return r > 0 ? DRIVER_E_REFUSED : r;
	r = native_steps_init(steps, program, &function);
	if (steps != &driver->init) {
		steps->process = &driver->init;
		steps->process_frames = &driver->init_frames;
	}
	return r ? r : native_frames_grow(frames, steps);
}

/* Prepare the calls of all steps. Their functions are in the stages then, no longer in the
 * program. */
static int load_stages(struct loading *loading, struct native_steps *steps)
{
	struct native_program *program = steps->program;
	int r = 0;

	for (size_t i = 0; program && r == 0 && i < program->n_steps; i++)
		r = load_stage(loading, &program->steps[i], &steps->stages[i]);
	return r;
}

static int load_tool(struct loading *loading, uint32_t object, struct native_tool *tool)
{
	struct native_function function = {0};
	int r;

	if (json_find(loading->tape, object, "steps") != JSON_NONE) {
		r = read_steps(loading, object, &tool->steps, &loading->driver->frames);
		return r ? r : load_stages(loading, &tool->steps);
	}
	r = native_function_read(
		loading->tape, object, loading->driver->types, &function, loading->problems);
	if (r)
		return r > 0 ? DRIVER_E_REFUSED : r;
	r = load_call(loading, object, "symbol", &function, &tool->call);
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
	driver->tools = calloc(json_count(tape, tools) + 1u, sizeof(*driver->tools));
	if (!driver->tools)
		return -ENOMEM;
	json_each(i, tape, tools) {
		int r = load_tool(loading, i, &driver->tools[driver->n_tools++]);

		if (r)
			return r;
	}
	return 0;
}

/* Run `init`. */
static int begin_init(struct loading *loading)
{
	struct native_driver *driver = loading->driver;
	cleanup(buffer_deinit) struct buffer failure = {0};
	int r;

	if (!driver->init.program || json_find(loading->tape, 0, "is_check") != JSON_NONE)
		return 0;
	driver->has_begun = true;
	r = native_steps_begin(&driver->init, &driver->init_frames, &failure);
	if (r <= 0)
		return r;
	return refuse(loading, json_find(loading->tape, 0, "init"), "init has failed: %s",
		buffer_terminate(&failure) ? failure.data : "out of memory");
}

static int read_types(struct loading *loading)
{
	int r = native_types_read(loading->tape, 0, &loading->driver->types, loading->problems);

	return r > 0 ? DRIVER_E_REFUSED : r;
}

static int read_init(struct loading *loading)
{
	struct native_driver *driver = loading->driver;
	uint32_t init = json_find(loading->tape, 0, "init");

	if (init == JSON_NONE || json_type_at(loading->tape, init) != JSON_ARRAY)
		return init == JSON_NONE ? 0 : refuse(loading, init, "'init' must be an array");
	return read_steps(loading, init, &driver->init, &driver->init_frames);
}

/* The driver whose `init` has given memory away, for libraries to use until the process exits.
 * Without "volatile" a compiler drops the pointer, because nothing reads it. */
static struct native_driver *volatile kept_driver;

static void unload_native(void *data)
{
	struct native_driver *driver = data;

	if (!driver)
		return;
	if (driver->has_begun)
		native_steps_end(&driver->init, &driver->init_frames);
	if (driver->has_begun && driver->init.program->keeps) {
		kept_driver = driver;
		return;
	}
	for (uint32_t i = 0; i < driver->n_tools; i++) {
		native_call_deinit(&driver->tools[i].call);
		native_steps_deinit(&driver->tools[i].steps);
	}
	free(driver->tools);
	native_steps_deinit(&driver->init);
	native_frames_deinit(&driver->init_frames);
	native_frames_deinit(&driver->frames);
	native_scratch_deinit(&driver->scratch);
	native_types_free(driver->types);
	free(driver);
}

static int open_libraries(
	const struct driver_load *load, struct native_driver *driver, struct diagnostics *problems)
{
	int r;

	do
		r = library_open(load, driver->n_libraries, &driver->libraries[driver->n_libraries],
			problems);
	while (r == 0 && ++driver->n_libraries < load->n_seals);
	return r;
}

/* LOAD frame: {"library": a path or a name, or "libraries": an array of them, "tools": [native
 * object, …], "init": [step, …] or absent, "enums" and "structs" as of a manifest or absent,
 * "is_check": true or absent}. Constructors of the libraries run here, then `init`. If a symbol of
 * any tool is missing, nothing is loaded. */
static int load_native(
	const struct driver_load *load, void **ret_driver, struct diagnostics *problems)
{
	struct loading loading = {.tape = load->tape, .problems = problems};
	int r;

	loading.driver = calloc(1, sizeof(*loading.driver));
	if (!loading.driver)
		return -ENOMEM;
	r = open_libraries(load, loading.driver, problems);
	r = r ? r : read_types(&loading);
	r = r ? r : read_init(&loading);
	r = r ? r : load_tools(&loading);
	/* The tools take the types of the values of `init` from its program. */
	r = r ? r : load_stages(&loading, &loading.driver->init);
	r = r ? r : begin_init(&loading);
	if (r)
		unload_native(loading.driver);
	else
		*ret_driver = loading.driver;
	return r;
}

static void describe_native(const void *data, struct buffer *out)
{
	const struct native_driver *driver = data;

	buffer_append_string(out, ",\"libraries\":[");
	for (size_t i = 0; i < driver->n_libraries; i++) {
		buffer_append_string(out, i == 0 ? "{" : ",{");
		library_describe(&driver->libraries[i], out);
		buffer_append_char(out, '}');
	}
	buffer_append_char(out, ']');
}

static int invoke_native(void *data, const struct driver_call *call, struct buffer *out)
{
	struct native_driver *driver = data;
	struct native_tool *tool;
	int r;

	if (call->tool >= driver->n_tools)
		return -EINVAL;
	tool = &driver->tools[call->tool];
	if (tool->steps.program) {
		r = native_steps_run(&tool->steps, &driver->frames, call->arguments, call->size,
			call->output_max, out);
		return r == NATIVE_STEPS_E_TOO_LARGE ? DRIVER_E_ERROR : r > 0 ? DRIVER_E_FAILED : r;
	}
	r = native_call_run(&tool->call, &driver->scratch, call->arguments, call->size, out);
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
