/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/header/plan.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "util/array.h"
#include "util/stringify.h"

/* The most handles in a chain of constructors. */
#define DEPTH_MAX 3

static const char *const constructor_words[] = {
	"new", "create", "open", "init", "alloc", "start", "begin", "parse", "compile"};
/* The likeliest first. */
static const char *const destructor_words[] = {"free", "close", "destroy", "delete", "unref",
	"finalize", "finish", "cleanup", "release", "dispose", "fini", "end", "deinit", "shutdown"};
static const char *const length_words[] = {
	"len", "size", "siz", "count", "cnt", "bytes", "capacity", "num", "max"};
static const char *const short_lengths[] = {"n", "nb", "sz", "l"};

struct making {
	struct planner *planner;
	struct plan *plan;
	const struct c_function *whole; /* function of the tool */
};

/* ── names ───────────────────────────────────────────────────────────────────────────────────── */

static bool has_word(const char *name, const char *word)
{
	return strcasestr(name, word) != NULL;
}

static bool has_any_word(const char *name, const char *const *words, size_t n_words)
{
	for (size_t i = 0; i < n_words; i++)
		if (has_word(name, words[i]))
			return true;
	return false;
}

static size_t common_prefix(const char *a, const char *b)
{
	size_t n = 0;

	while (a[n] && a[n] == b[n])
		n++;
	return n;
}

/* Return the length of the last word of both names with its '_'; 0: they end with other words. */
static size_t common_last_word(const char *a, const char *b)
{
	const char *word = strrchr(a, '_');
	const char *other = strrchr(b, '_');

	return word && other && strcmp(word, other) == 0 ? strlen(word) : 0;
}

static bool is_length_name(const char *name)
{
	if (!name)
		return true;
	name += strspn(name, "_");
	for (size_t i = 0; i < ARRAY_SIZE(short_lengths); i++)
		if (strcasecmp(name, short_lengths[i]) == 0)
			return true;
	return has_any_word(name, length_words, ARRAY_SIZE(length_words));
}

static bool has_value(const struct plan_call *call, const char *name)
{
	if (call->returned.word && strcmp(call->returned.name, name) == 0)
		return true;
	for (size_t i = 0; i < call->n_arguments; i++)
		if (strcmp(call->arguments[i].name, name) == 0 &&
			call->arguments[i].kind != PLAN_HANDLE)
			return true;
	return false;
}

static bool is_taken_name(const struct plan *plan, const struct plan_call *next, const char *name)
{
	for (size_t i = 0; i < plan->n_calls; i++)
		if (has_value(&plan->calls[i], name))
			return true;
	return next && has_value(next, name);
}

/* Write the name of a parameter, the number @index, which the header may leave out. */
static void write_plan_name(const char *wanted, size_t index, char name[PLAN_NAME_BYTES])
{
	if (wanted)
		snprintf(name, PLAN_NAME_BYTES, "%s", wanted + strspn(wanted, "_"));
	else
		snprintf(name, PLAN_NAME_BYTES, "argument%zu", index + 1);
}

/* Write a new name for the plan. @next: a call that is not in the plan yet, or NULL. */
static void choose_plan_name(const struct plan *plan, const struct plan_call *next,
	const char *wanted, size_t index, char name[PLAN_NAME_BYTES])
{
	char base[PLAN_NAME_BYTES];

	write_plan_name(wanted, index, base);
	snprintf(name, PLAN_NAME_BYTES, "%s", base);
	for (unsigned int n = 2; is_taken_name(plan, next, name); n++)
		snprintf(name, PLAN_NAME_BYTES, "%.*s_%u", PLAN_NAME_BYTES - 12, base, n);
}

/* ── types ───────────────────────────────────────────────────────────────────────────────────── */

/* Return whether the values of the enum are bits: three single ones, and few combinations. Numbers
 * without a gap, from 0 or 1, are a count. */
static bool is_flags(const struct c_record *record)
{
	size_t n_single = 0;
	size_t n_other = 0;
	int64_t most = 0;

	for (size_t i = 0; i < record->n_enumerators; i++) {
		int64_t value = record->enumerators[i].value;

		if (value < 0)
			return false;
		n_single += value > 0 && (value & (value - 1)) == 0;
		n_other += (value & (value - 1)) != 0;
		most = value > most ? value : most;
	}
	return n_single >= 3 && most >= 4 && 2 * n_other <= n_single &&
	       most != (int64_t)(n_single + n_other);
}

/* Return the manifest's word for a number, or NULL. */
static const char *number_word(const struct c_type *type)
{
	static const char *const words[2][4] = {
		{"u8", "u16", "u32", "u64"}, {"i8", "i16", "i32", "i64"}};

	for (const struct c_type *at = type; at->kind == C_NAMED; at = at->of)
		if (strcmp(at->name, "size_t") == 0)
			return "usize";
	type = c_type_resolve(type);
	if (type->kind == C_BOOL)
		return "bool";
	if (type->kind == C_ENUM)
		return !type->record->is_complete ? "i32"
		       : is_flags(type->record)   ? "flags"
						  : "enum";
	if (type->kind == C_FLOAT)
		return type->bytes == 4 ? "f32" : type->bytes == 8 ? "f64" : NULL;
	if (type->kind != C_INTEGER)
		return NULL;
	return words[type->is_signed][type->bytes == 1   ? 0
				      : type->bytes == 2 ? 1
				      : type->bytes == 4 ? 2
							 : 3];
}

static const struct c_record *enumeration_of(const struct c_type *type)
{
	type = c_type_resolve(type);
	return type->kind == C_ENUM && type->record->is_complete ? type->record : NULL;
}

/* Return what identifies the target of a handle: a record, or the name of a typedef of void. NULL:
 * a pointer to it is no handle. */
static const void *handle_key(const struct c_type *target)
{
	const struct c_type *resolved = c_type_resolve(target);

	if (resolved->kind == C_STRUCT || resolved->kind == C_UNION)
		return resolved->record;
	if (resolved->kind != C_VOID || target->kind != C_NAMED)
		return NULL;
	while (target->of->kind == C_NAMED)
		target = target->of;
	return target;
}

/* Two typedefs of void are the same by their name: each use has a node of its own. */
static bool is_same_key(const void *a, const struct c_type *target)
{
	const struct c_type *resolved = c_type_resolve(target);
	const struct c_type *left = a;
	const struct c_type *right;

	if (resolved->kind == C_STRUCT || resolved->kind == C_UNION)
		return a == resolved->record;
	right = handle_key(target);
	return right && a && left->kind == C_NAMED && strcmp(left->name, right->name) == 0;
}

/* Return whether @type is a handle of @key. */
static bool is_handle_of(const void *key, const struct c_type *type)
{
	const struct c_type *target;

	c_type_as_parameter(type, &target);
	return target && is_same_key(key, target);
}

/* Return whether @type is a pointer for the output of a handle of @key. */
static bool hands_out(const void *key, const struct c_type *type)
{
	const struct c_type *target;

	c_type_as_parameter(type, &target);
	return target && !c_type_is_const(target) && is_handle_of(key, target);
}

/* ── constructors and destructors ────────────────────────────────────────────────────────────── */

static bool takes_handle(const struct c_function *function, const void *key)
{
	for (size_t i = 0; i < function->type->n_parameters; i++)
		if (is_handle_of(key, function->type->parameters[i].type))
			return true;
	return false;
}

static bool gives_handle(const struct c_function *function, const void *key)
{
	if (is_handle_of(key, function->type->of))
		return true;
	for (size_t i = 0; i < function->type->n_parameters; i++)
		if (hands_out(key, function->type->parameters[i].type))
			return true;
	return false;
}

static bool takes_callback(const struct c_function *function)
{
	for (size_t i = 0; i < function->type->n_parameters; i++) {
		const struct c_type *target;

		c_type_as_parameter(function->type->parameters[i].type, &target);
		if (target && c_type_resolve(target)->kind == C_FUNCTION)
			return true;
	}
	return false;
}

/* Return whether the function fills memory for a handle of @key. */
static bool initialises(const struct c_function *function, const void *key)
{
	const struct c_type *target;

	if (gives_handle(function, key) || function->type->n_parameters == 0 ||
		!is_handle_of(key, function->type->parameters[0].type))
		return false;
	c_type_as_parameter(function->type->parameters[0].type, &target);
	return c_type_size(target) > 0 && has_word(function->name, "init") &&
	       !has_word(function->name, "deinit");
}

/* Return how unlikely the function is as the constructor of handles for @whole: less is better. */
static long judge_constructor(
	const struct c_function *function, const struct c_function *whole, bool is_memory)
{
	long score = 0;

	for (size_t i = 0; i < function->type->n_parameters; i++) {
		const struct c_type *target;

		c_type_as_parameter(function->type->parameters[i].type, &target);
		score += target && handle_key(target) ? 16 : 4;
	}
	if (!has_any_word(function->name, constructor_words, ARRAY_SIZE(constructor_words)))
		score += 12;
	else
		score -= 2 * (long)common_last_word(function->name, whole->name);
	score += is_memory ? 8 : 0;
	return score - 2 * (long)common_prefix(function->name, whole->name);
}

/* Return the best constructor of a handle of @key, or NULL. *ret_is_memory: it initialises memory
 * of the tool. */
static const struct c_function *find_constructor(const struct making *making, const void *key,
	const struct c_function *except, bool *ret_is_memory)
{
	const struct c_declarations *all = &making->planner->header->declarations;
	const struct c_function *best = NULL;
	long best_score = 0;

	making->planner->n_looks += all->n_functions;
	for (size_t i = 0; i < all->n_functions; i++) {
		const struct c_function *function = all->functions[i];
		bool is_memory = initialises(function, key);
		long score;

		if (function == except || function->is_static || function->is_deprecated ||
			(!is_memory &&
				(!gives_handle(function, key) || takes_handle(function, key))) ||
			function->type->is_variadic || takes_callback(function) ||
			!making->planner->is_there(making->planner->data, function))
			continue;
		score = judge_constructor(function, making->whole, is_memory);
		if (best && score >= best_score)
			continue;
		best = function;
		best_score = score;
		*ret_is_memory = is_memory;
	}
	return best;
}

/* Return the rank of the first word of a destructor in the name; negative: no such word. */
static int destructor_rank(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(destructor_words); i++)
		if (has_word(name, destructor_words[i]))
			return (int)i;
	return -1;
}

static bool is_destructor(const struct c_function *function, const void *key)
{
	return function->type->n_parameters == 1 && !function->type->is_variadic &&
	       is_handle_of(key, function->type->parameters[0].type) &&
	       c_type_resolve(function->type->of)->kind != C_POINTER &&
	       destructor_rank(function->name) >= 0;
}

/* Return the best destructor of a handle of @key made by @constructor, or NULL. */
static const struct c_function *find_destructor(
	const struct making *making, const void *key, const struct c_function *constructor)
{
	const struct c_declarations *all = &making->planner->header->declarations;
	const struct c_function *best = NULL;
	long best_score = 0;

	making->planner->n_looks += all->n_functions;
	for (size_t i = 0; i < all->n_functions; i++) {
		const struct c_function *function = all->functions[i];
		long score;

		if (!is_destructor(function, key) ||
			!making->planner->is_there(making->planner->data, function))
			continue;
		score = destructor_rank(function->name) -
			2 * (long)common_prefix(function->name, constructor->name);
		if (best && score >= best_score)
			continue;
		best = function;
		best_score = score;
	}
	return best;
}

/* ── one call ────────────────────────────────────────────────────────────────────────────────── */

__attribute__((format(printf, 2, 3))) static bool refuse_plan(
	struct making *making, const char *format, ...)
{
	va_list arguments;

	if (making->plan->reason[0])
		return false;
	va_start(arguments, format);
	vsnprintf(making->plan->reason, sizeof(making->plan->reason), format, arguments);
	va_end(arguments);
	return false;
}

/* Return the annotations of the parameter @at, or NULL. */
static const struct gir_value *find_annotation(
	const struct making *making, const struct c_function *function, size_t at)
{
	const struct gir_function *known = gir_find(making->planner->gir, function->name);

	return known && at < known->n_parameters ? &known->parameters[at] : NULL;
}

static bool plan_call(struct making *making, const struct c_function *function, bool is_memory,
	unsigned int depth);

/* Let the last call of the plan be undone at the end. */
static void add_last(
	struct making *making, struct plan_call *call, const void *key, const char *name)
{
	if (is_destructor(making->whole, key))
		return;
	call->last = find_destructor(making, key, call->function);
	snprintf(call->last_of, sizeof(call->last_of), "%s", name);
}

/* Plan a constructor for the handle @argument. */
static bool plan_handle(struct making *making, const struct c_function *function,
	struct plan_argument *argument, const struct c_type *target, unsigned int depth)
{
	const void *key = handle_key(target);
	struct plan_call *call;
	bool is_memory = false;
	const struct c_function *constructor =
		depth < DEPTH_MAX ? find_constructor(making, key, function, &is_memory) : NULL;

	if (!constructor && c_type_size(target) > 0) {
		argument->kind = PLAN_MEMORY;
		argument->size = c_type_size(target);
		argument->c = target;
		argument->question = "what must be in this memory? it is zeroed";
		return true;
	}
	if (!constructor)
		return refuse_plan(making, "no function makes its '%s'",
			target->name ? target->name : "{...}");
	if (making->plan->n_calls + 1 >= PLAN_CALLS_MAX ||
		!plan_call(making, constructor, is_memory, depth + 1))
		return refuse_plan(making, "its constructor %s needs too much", constructor->name);
	call = &making->plan->calls[making->plan->n_calls - 1];
	argument->kind = PLAN_HANDLE;
	for (size_t i = 0; i < call->n_arguments; i++)
		if ((call->arguments[i].kind == PLAN_MEMORY && is_memory && i == 0) ||
			(call->arguments[i].kind == PLAN_OUT &&
				hands_out(key, constructor->type->parameters[i].type)))
			snprintf(argument->name, sizeof(argument->name), "%s",
				call->arguments[i].name);
	if (is_handle_of(key, constructor->type->of))
		snprintf(argument->name, sizeof(argument->name), "%s", call->returned.name);
	call->returned.question = NULL;
	add_last(making, call, key, argument->name);
	return true;
}

/* Return the index of the parameter that is the length of the buffer @at; n_parameters: none. */
static size_t find_length(const struct making *making, const struct c_function *function, size_t at)
{
	const struct gir_value *known = find_annotation(making, function, at);
	const struct c_type *type = function->type;
	const char *name = type->parameters[at].name;
	const size_t near[] = {at + 1, at - 1};

	if (known && known->is_array && known->length >= 0)
		return (size_t)known->length < type->n_parameters ? (size_t)known->length
								  : type->n_parameters;
	for (size_t i = 0; name && i < type->n_parameters; i++) {
		const char *other = type->parameters[i].name;
		size_t size = strlen(name);

		if (other && i != at && strlen(other) > size && strncmp(other, name, size) == 0 &&
			is_length_name(other))
			return i;
	}
	for (size_t i = 0; i < ARRAY_SIZE(near); i++) {
		size_t j = near[i];

		if (j < type->n_parameters && is_length_name(type->parameters[j].name))
			return j;
	}
	return type->n_parameters;
}

/* Return whether the parameter can hold a length: an integer, or a pointer to one that is not
 * constant. */
static bool can_hold_length(const struct c_type *type, bool *ret_is_pointer)
{
	const struct c_type *target;
	enum c_kind kind = c_type_as_parameter(type, &target)->kind;

	*ret_is_pointer = target != NULL;
	if (target && c_type_is_const(target))
		return false;
	if (target)
		kind = c_type_resolve(target)->kind;
	return kind == C_INTEGER &&
	       (target ? c_type_resolve(target) : c_type_resolve(type))->bytes >= 4;
}

/* Let the parameter of its length belong to the buffer @at. Return whether it has one. */
static bool claim_length(const struct making *making, const struct c_function *function,
	struct plan_call *call, size_t at)
{
	size_t length = find_length(making, function, at);
	struct plan_argument *argument;
	bool is_out = call->arguments[at].kind == PLAN_OUT;
	bool is_pointer;

	if (length == function->type->n_parameters || length >= PLAN_ARGUMENTS_MAX)
		return false;
	argument = &call->arguments[length];
	if (argument->word ||
		!can_hold_length(function->type->parameters[length].type, &is_pointer) ||
		(is_pointer && (!is_out || call->arguments[at].items)) ||
		(!function->type->parameters[length].name && !call->arguments[at].items &&
			strcmp(call->arguments[at].word, "bytes") != 0))
		return false;
	argument->kind = PLAN_LENGTH;
	argument->of = at;
	argument->is_pointer = is_pointer;
	if (is_pointer) {
		const struct c_type *target;

		c_type_as_parameter(function->type->parameters[length].type, &target);
		argument->word = number_word(target);
	} else {
		argument->word = number_word(function->type->parameters[length].type);
	}
	return true;
}

/* Plan a pointer to bytes, characters or numbers. */
static bool plan_buffer(struct making *making, const struct c_function *function,
	struct plan_call *call, size_t at, const struct c_type *target)
{
	struct plan_argument *argument = &call->arguments[at];
	const struct c_type *resolved = c_type_resolve(target);
	bool is_text = resolved->kind == C_INTEGER && strcmp(resolved->name, "char") == 0;
	bool is_bytes =
		resolved->kind == C_VOID || (resolved->kind == C_INTEGER && resolved->bytes == 1);
	bool is_const = c_type_is_const(target);
	const struct gir_value *known = find_annotation(making, function, at);
	bool has_length;

	if (!is_bytes && !number_word(target))
		return refuse_plan(
			making, "'%s' is a pointer that no tool can pass", argument->name);
	if (known && !known->is_out && !known->is_array && resolved->kind == C_VOID)
		return refuse_plan(making, "'%s' is a pointer to anything", argument->name);
	is_const = known ? !known->is_out : is_const;
	argument->kind = is_const ? PLAN_GIVEN : PLAN_OUT;
	argument->word = is_text ? "str" : is_bytes ? "bytes" : number_word(target);
	if (!is_bytes)
		argument->enumeration = enumeration_of(target);
	if (!is_bytes) {
		argument->items = number_word(target);
		has_length = !argument->enumeration && strcmp(argument->items, "bool") != 0 &&
			     claim_length(making, function, call, at);
		/* Without a length it is one number. */
		if (has_length)
			argument->word = "array";
		else
			argument->items = NULL;
		if (!has_length && is_const)
			argument->kind = PLAN_INOUT;
		return true;
	}
	has_length = claim_length(making, function, call, at);
	if (is_const && is_bytes && !is_text && !has_length)
		argument->question = "how many bytes does the function read? all are passed";
	if (!is_const && has_length &&
		call->arguments[find_length(making, function, at)].is_pointer)
		argument->question =
			"how large may it become? " STRINGIFY(PLAN_CAPACITY) " is assumed";
	else if (!is_const)
		argument->question =
			has_length ? "is this output? and how large may it become? " STRINGIFY(
					     PLAN_CAPACITY) " is assumed"
				   : "is this output? and how much does the function "
				     "write? " STRINGIFY(PLAN_CAPACITY) " is assumed";
	return true;
}

/* Plan bytes by the address of a pointer, whose size another parameter has. */
static bool plan_handed_bytes(struct making *making, struct plan_call *call,
	struct plan_argument *argument, const struct gir_value *known, const struct c_type *element)
{
	bool is_bytes = element->kind == C_VOID || element->bytes == 1;

	if (!is_bytes || known->length < 0 || (size_t)known->length >= call->n_arguments)
		return refuse_plan(making, "'%s' is a list without a size", argument->name);
	argument->word = "bytes";
	argument->is_owned = known->is_owned;
	argument->free_symbol = "g_free";
	argument->has_size = true;
	argument->of = (size_t)known->length;
	return true;
}

/* Plan a pointer to a pointer. */
static bool plan_pointer_out(struct making *making, struct plan_call *call,
	struct plan_argument *argument, const struct gir_value *known, const struct c_type *target,
	const struct c_type *inner)
{
	const struct c_type *resolved = c_type_resolve(inner);
	bool is_text = resolved->kind == C_INTEGER && resolved->is_char;

	if (resolved->kind == C_FUNCTION)
		return refuse_plan(making, "'%s' takes a callback", argument->name);
	if (resolved->kind == C_POINTER || resolved->kind == C_OTHER)
		return refuse_plan(
			making, "'%s' has more than two levels of pointers", argument->name);
	if (is_text && (known ? !known->is_out : c_type_is_const(target))) {
		argument->kind = PLAN_GIVEN;
		argument->word = "strv";
		return true;
	}
	argument->kind = PLAN_OUT;
	argument->word = is_text && strcmp(resolved->name, "char") == 0 ? "str" : "handle";
	if (is_text && c_type_is_const(target))
		return refuse_plan(making, "'%s' is constant", argument->name);
	argument->is_handed = true;
	if (known && known->is_array)
		return plan_handed_bytes(making, call, argument, known, resolved);
	if (known && strcmp(argument->word, "str") == 0) {
		argument->is_owned = known->is_owned;
		argument->free_symbol = "g_free";
	} else if (strcmp(argument->word, "str") == 0 && !c_type_is_const(inner))
		argument->question = "is this text the caller's to free? it is not freed";
	return true;
}

/* Plan the parameter @at of @function. */
static bool plan_parameter(struct making *making, const struct c_function *function,
	struct plan_call *call, size_t at, unsigned int depth)
{
	struct plan_argument *argument = &call->arguments[at];
	const struct c_type *type = function->type->parameters[at].type;
	const struct c_type *target;
	const struct c_type *inner;
	const struct c_type *resolved = c_type_as_parameter(type, &target);

	if (!target) {
		argument->word = number_word(type);
		argument->enumeration = enumeration_of(type);
		if (argument->word)
			return true;
		return refuse_plan(making, "'%s' is %s", argument->name,
			resolved->kind == C_STRUCT  ? "a struct by value"
			: resolved->kind == C_UNION ? "a union"
						    : "of a type that no tool can have");
	}
	if (c_type_resolve(target)->kind == C_FUNCTION)
		return refuse_plan(making, "'%s' is a callback", argument->name);
	if (c_type_resolve(target)->kind == C_OTHER)
		return refuse_plan(
			making, "'%s' is of a type that no tool can have", argument->name);
	if (handle_key(target)) {
		argument->word = "handle";
		return plan_handle(making, function, argument, target, depth);
	}
	c_type_as_parameter(target, &inner);
	if (inner && c_type_resolve(target)->kind == C_POINTER)
		return plan_pointer_out(making, call, argument,
			find_annotation(making, function, at), target, inner);
	if (inner)
		return refuse_plan(making, "'%s' is a pointer to an array", argument->name);
	return plan_buffer(making, function, call, at, target);
}

/* Plan a returned list of texts, or returned bytes with a size among the outputs, by the
 * annotations. Return false for any other value. */
static bool plan_known_returned(const struct gir_function *known, const struct c_function *function,
	struct plan_call *call, const struct c_type *target)
{
	struct plan_argument *returned = &call->returned;
	const struct c_type *resolved = c_type_resolve(target);
	size_t length = (size_t)known->returned.length;
	const struct c_type *inner;

	if (!known->returned.is_array)
		return false;
	returned->is_owned = known->returned.is_owned;
	returned->is_nullable = known->returned.is_nullable;
	c_type_as_parameter(target, &inner);
	if (inner && c_type_resolve(inner)->kind == C_INTEGER && c_type_resolve(inner)->is_char) {
		returned->word = "strv";
		return true;
	}
	if (known->returned.length < 0 || length >= function->type->n_parameters ||
		call->arguments[length].kind != PLAN_OUT || call->arguments[length].is_handed)
		return false;
	if (resolved->kind == C_VOID || (resolved->kind == C_INTEGER && resolved->bytes == 1))
		returned->word = "bytes";
	else if (resolved->kind == C_INTEGER && number_word(target))
		returned->word = "array";
	else
		return false;
	returned->items = returned->word[0] == 'a' ? number_word(target) : NULL;
	returned->free_symbol = "g_free";
	call->size_from = length;
	return true;
}

static bool plan_returned(
	struct making *making, const struct c_function *function, struct plan_call *call)
{
	struct plan_argument *returned = &call->returned;
	const struct c_type *type = function->type->of;
	const struct c_type *target;
	const struct c_type *resolved = c_type_as_parameter(type, &target);
	const struct gir_function *known = gir_find(making->planner->gir, function->name);

	choose_plan_name(making->plan, call, function == making->whole ? "result" : function->name,
		0, returned->name);
	if (resolved->kind == C_VOID)
		return true;
	if (known && target && plan_known_returned(known, function, call, target))
		return true;
	returned->enumeration = enumeration_of(type);
	returned->word = target ? "handle" : number_word(type);
	if (!returned->word)
		return refuse_plan(making, "it returns %s",
			resolved->kind == C_STRUCT ? "a struct by value"
						   : "a type that no tool can have");
	if (target && c_type_resolve(target)->kind == C_INTEGER &&
		c_type_resolve(target)->is_char &&
		strcmp(c_type_resolve(target)->name, "char") == 0) {
		returned->word = "str";
		returned->is_nullable = !known || known->returned.is_nullable;
		returned->is_owned = known && known->returned.is_owned;
		returned->free_symbol = "g_free";
		if (!known && !c_type_is_const(target))
			returned->question = "is this text the caller's to free? it is not freed";
	}
	return true;
}

/* Give a variadic function one text after its fixed parameters, for a format "%s". */
static bool plan_variadic(
	struct making *making, const struct c_function *function, struct plan_call *call)
{
	struct plan_argument *last =
		call->n_arguments > 0 ? &call->arguments[call->n_arguments - 1] : NULL;
	struct plan_argument *more = &call->arguments[call->n_arguments];

	if (!last || call->n_arguments + 1 >= PLAN_ARGUMENTS_MAX)
		return refuse_plan(making, "%s has only variable arguments", function->name);
	if (last->kind == PLAN_GIVEN && strcmp(last->word, "str") == 0) {
		last->kind = PLAN_TEXT;
		last->text = "%s";
	}
	choose_plan_name(
		making->plan, call, last->kind == PLAN_TEXT ? "text" : "value", 0, more->name);
	more->kind = PLAN_GIVEN;
	more->word = "str";
	if (last->kind != PLAN_TEXT)
		more->question = "which types do the variable arguments have? one text is assumed";
	call->n_arguments++;
	return true;
}

/* Let the first parameter of an initialiser be memory of the tool. */
static bool plan_memory(struct making *making, struct plan_call *call)
{
	struct plan_argument *argument = &call->arguments[0];
	const struct c_type *target;

	c_type_as_parameter(call->function->type->parameters[0].type, &target);
	argument->kind = PLAN_MEMORY;
	argument->word = "handle";
	argument->size = c_type_size(target);
	argument->c = target;
	return argument->size > 0 ||
	       refuse_plan(making, "the size of its '%s' is unknown", argument->name);
}

/* Give the values of a call names of their own, now that its constructors have theirs. */
static void choose_names(const struct plan *plan, struct plan_call *call)
{
	for (size_t i = 0; i < call->n_arguments; i++) {
		char wanted[PLAN_NAME_BYTES];
		bool is_again = false;

		if (call->arguments[i].kind == PLAN_HANDLE)
			continue;
		for (size_t j = 0; j < i; j++)
			is_again |= strcmp(call->arguments[j].name, call->arguments[i].name) == 0;
		snprintf(wanted, sizeof(wanted), "%s", call->arguments[i].name);
		choose_plan_name(plan, NULL, is_again ? NULL : wanted, i, call->arguments[i].name);
	}
}

/* Append the call of @function, after the constructors of its handles. */
static bool plan_call(struct making *making, const struct c_function *function, bool is_memory,
	unsigned int depth)
{
	const struct c_type *type = function->type;
	struct plan_call call = {.function = function, .size_from = PLAN_ARGUMENTS_MAX};
	const struct gir_function *known = gir_find(making->planner->gir, function->name);
	size_t n = type->n_parameters;

	if (type->n_parameters >= PLAN_ARGUMENTS_MAX)
		return refuse_plan(
			making, "it has more than %d parameters", PLAN_ARGUMENTS_MAX - 1);
	if (known && known->throws && n > 0) {
		call.throws = true;
		n--;
	}
	call.description = known ? known->description : NULL;
	call.n_arguments = n;
	for (size_t i = 0; i < n; i++)
		write_plan_name(type->parameters[i].name, i, call.arguments[i].name);
	if (is_memory && !plan_memory(making, &call))
		return false;
	/* Buffers first: they claim the numbers that are their lengths. */
	for (int numbers = 0; numbers < 2; numbers++)
		for (size_t i = 0; i < n; i++) {
			const struct c_type *target;

			c_type_as_parameter(type->parameters[i].type, &target);
			if (!call.arguments[i].word && (target == NULL) == numbers &&
				!plan_parameter(making, function, &call, i, depth))
				return false;
		}
	for (size_t i = 0; known && i < n && i < known->n_parameters; i++) {
		call.arguments[i].description = known->parameters[i].description;
		call.arguments[i].is_nullable = known->parameters[i].is_nullable &&
						((call.arguments[i].kind == PLAN_GIVEN &&
							 !number_word(type->parameters[i].type)) ||
							(call.arguments[i].kind == PLAN_OUT &&
								call.arguments[i].is_handed));
	}
	choose_names(making->plan, &call);
	if (!plan_returned(making, function, &call) ||
		(type->is_variadic && !plan_variadic(making, function, &call)))
		return false;
	if (making->plan->n_calls >= PLAN_CALLS_MAX)
		return refuse_plan(making, "it needs too many other functions");
	making->plan->calls[making->plan->n_calls++] = call;
	return true;
}

/* ── all of it ───────────────────────────────────────────────────────────────────────────────── */

bool plan_make(struct planner *planner, const struct c_function *function, struct plan *plan)
{
	struct making making = {planner, plan, function};
	const struct gir_function *known = gir_find(planner->gir, function->name);
	struct plan_call *call;

	*plan = (struct plan){0};
	if (function->is_static)
		return refuse_plan(&making, "it is static, so no library has it");
	if (known && known->is_hidden)
		return refuse_plan(&making, "its GIR file calls it not introspectable");
	if (!planner->is_there(planner->data, function))
		return refuse_plan(&making, "the library does not have it");
	if (planner->n_looks > PLAN_LOOKS_MAX)
		return refuse_plan(&making, "the header has too many functions for one run: choose "
					    "some with --only");
	if (!plan_call(&making, function, false, 0))
		return false;
	call = &plan->calls[plan->n_calls - 1];
	/* Free a handle made by the function itself. */
	for (size_t i = 0; i <= function->type->n_parameters; i++) {
		const struct c_type *type = i < function->type->n_parameters
						    ? function->type->parameters[i].type
						    : function->type->of;
		const char *name = i < function->type->n_parameters ? call->arguments[i].name
								    : call->returned.name;
		const struct c_type *target;

		c_type_as_parameter(type, &target);
		if (target && i < function->type->n_parameters)
			c_type_as_parameter(target, &target);
		if (!target || !handle_key(target) || takes_handle(function, handle_key(target)) ||
			!has_any_word(
				function->name, constructor_words, ARRAY_SIZE(constructor_words)))
			continue;
		add_last(&making, call, handle_key(target), name);
	}
	return true;
}

bool plan_needs_steps(const struct plan *plan)
{
	const struct plan_call *call = &plan->calls[0];

	if (plan->n_calls != 1 || call->last ||
		(call->returned.word && strcmp(call->returned.word, "handle") == 0))
		return true;
	for (size_t i = 0; i < call->n_arguments; i++)
		if (call->arguments[i].kind == PLAN_HANDLE ||
			call->arguments[i].kind == PLAN_MEMORY ||
			strcmp(call->arguments[i].word, "handle") == 0)
			return true;
	return false;
}
