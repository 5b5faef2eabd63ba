/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/native/steps.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/text/utf8.h"
#include "worker/native/result.h"

/* The longest words of a failure that a library gives, in bytes. */
#define WORDS_BYTES_MAX 4096

/* One run of a program. */
struct running {
	struct native_steps *steps;
	struct native_frames *frames;
	size_t output_max; /* SIZE_MAX: of `init`, without a result */
	size_t start;      /* start of the result in out */
	struct buffer *out;
	bool is_cut;
};

/* ── preparation ─────────────────────────────────────────────────────────────────────────────── */

int native_steps_init(struct native_steps *steps, struct native_program *program,
	struct native_function *function)
{
	size_t n = function->n_parameters;

	*steps = (struct native_steps){.program = program, .function = *function};
	*function = (struct native_function){0};
	steps->stages = calloc(program->n_steps + 1, sizeof(*steps->stages));
	steps->constants = calloc(n + 1, sizeof(*steps->constants));
	if (!steps->stages || !steps->constants)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const char *text = steps->function.parameters[i].default_json;
		int r = text ? json_tape_read(&steps->constants[i], text, strlen(text),
				       JSON_DEPTH_DEFAULT, NULL)
			     : 0;

		if (r)
			return r < 0 ? r : -EINVAL;
	}
	return 0;
}

void native_steps_deinit(struct native_steps *steps)
{
	for (size_t i = 0; steps->stages && i < steps->program->n_steps; i++) {
		native_call_deinit(&steps->stages[i].call);
		native_call_deinit(&steps->stages[i].finally);
		native_call_deinit(&steps->stages[i].message);
	}
	for (size_t i = 0; steps->constants && i < steps->function.n_parameters; i++)
		json_tape_deinit(&steps->constants[i]);
	free(steps->stages);
	free(steps->constants);
	native_function_deinit(&steps->function);
	native_program_free(steps->program);
	*steps = (struct native_steps){0};
}

int native_frames_grow(struct native_frames *frames, const struct native_steps *steps)
{
	size_t n = steps->program->n_steps + 2;
	struct native_frame *grown;

	if (n <= frames->n_frames)
		return 0;
	/* Cells point into their own frame, but no program runs now. */
	grown = reallocarray(frames->frames, n, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	memset(grown + frames->n_frames, 0, (n - frames->n_frames) * sizeof(*grown));
	frames->frames = grown;
	frames->n_frames = n;
	return 0;
}

static struct native_frame *frame_of(const struct running *running, size_t step)
{
	return &running->frames->frames[step + 1];
}

/* ── one call ────────────────────────────────────────────────────────────────────────────────── */

/* Call @call, whose values are in @frame. The returned value is in the frame then. */
static int enter_call(struct native_call *call, struct native_frame *frame, struct buffer *failure)
{
	union native_returned returned = {0};
	int saved_errno;
	int r = native_call_enter(call, &frame->scratch, &returned, &saved_errno, failure);

	frame->returned = returned;
	frame->value = (struct native_cell){.slot = returned.slot};
	if (r == 0)
		r = native_result_judge(
			&call->function, &frame->scratch, &returned.slot, saved_errno, failure);
	return r > 0 ? NATIVE_STEPS_E_FAILED : r;
}

/* Call @call with the values of @sources, in the frame of finallys and messages. */
static int enter_spare(struct running *running, struct native_call *call,
	const struct native_source *sources, struct buffer *failure)
{
	struct native_frame *spare = frame_of(running, running->steps->program->n_steps);
	int r;

	spare->returned = (union native_returned){0};
	for (size_t i = 0; i < call->function.n_parameters; i++)
		spare->scratch.cells[i].slot.buffer = NULL;
	r = native_frame_fill(running->steps, running->frames, call, sources, spare, failure);
	return r ? r : enter_call(call, spare, failure);
}

/* Free what the call has handed over. */
static void release_call(const struct native_call *call, struct native_frame *frame)
{
	native_call_release(call, &frame->scratch, &frame->returned.slot);
	frame->returned = (union native_returned){0};
	if (call->function.returns.free_symbol)
		frame->value.slot.buffer = NULL;
	for (size_t i = 0; i < call->function.n_parameters; i++)
		if (call->function.parameters[i].is_handed)
			frame->scratch.cells[i].slot.buffer = NULL;
}

/* Call the finally of @step. Its failure is logged. */
static void run_finally(struct running *running, size_t step)
{
	struct native_call *call = &running->steps->stages[step].finally;
	struct native_frame *spare = frame_of(running, running->steps->program->n_steps);
	cleanup(buffer_deinit) struct buffer failure = {0};
	int r = enter_spare(
		running, call, running->steps->program->steps[step].finally->sources, &failure);

	if (r >= 0)
		release_call(call, spare);
	if (r)
		fprintf(stderr, "a finally has failed: %s\n",
			r > 0 && buffer_terminate(&failure) ? failure.data : "out of memory");
}

/* Call the finallys of the steps from @first to before @end, the last one first. */
static void run_finallys(struct running *running, size_t first, size_t end)
{
	while (end-- > first) {
		struct native_frame *frame = frame_of(running, end);

		if (!frame->is_owed)
			continue;
		frame->is_owed = false;
		run_finally(running, end);
	}
}

/* ── the words of a failure ──────────────────────────────────────────────────────────────────── */

/* Replace the words after @start of the output by words of the library, if it has any. */
static void replace_words(
	struct running *running, const char *symbol, size_t start, const char *words, size_t size)
{
	if (!words || size == 0)
		return;
	running->out->size = start;
	buffer_printf(running->out, "%s: ", symbol);
	utf8_repair(words, size, running->out);
}

/* Let the call or the variable of @step give the words of its failure. */
static void find_words(struct running *running, size_t at, size_t start)
{
	const struct native_step *step = &running->steps->program->steps[at];
	struct native_call *call = &running->steps->stages[at].message;
	const char *symbol = running->steps->stages[at].call.function.symbol;
	struct native_frame *spare = frame_of(running, running->steps->program->n_steps);
	cleanup(buffer_deinit) struct buffer unused = {0};
	struct native_found found;

	if (step->message_variable != NATIVE_NONE) {
		native_frame_find(running->steps, running->frames, step->message_variable, &found);
		if (!found.is_null)
			replace_words(running, symbol, start, found.cell->slot.buffer,
				strnlen(found.cell->slot.buffer, found.cell->capacity
									 ? found.cell->capacity
									 : WORDS_BYTES_MAX));
	} else if (step->message_table) {
		const struct native_frame *frame = frame_of(running, at);
		enum native_type type = running->steps->stages[at].call.function.returns.type;
		const char *words = native_enum_name(step->message_table,
			native_is_signed(type)
				? (uint64_t)native_slot_signed(type, &frame->returned.slot)
				: native_slot_number(type, &frame->returned.slot));

		replace_words(running, symbol, start, words, words ? strlen(words) : 0);
	} else if (step->words) {
		replace_words(running, symbol, start, step->words, strlen(step->words));
	} else if (step->message) {
		const char *words;

		if (enter_spare(running, call, step->message->sources, &unused))
			return;
		words = spare->returned.slot.buffer;
		replace_words(
			running, symbol, start, words, words ? strnlen(words, WORDS_BYTES_MAX) : 0);
	}
}

/* Return whether the step sets a handle. A step whose handles are NULL has nothing to end. */
static bool sets_handle(const struct running *running, size_t step)
{
	const struct native_program *program = running->steps->program;

	for (size_t i = 0; i < program->n_variables; i++)
		if (program->variables[i].step == (int)step && program->variables[i].is_handle)
			return true;
	return false;
}

/* Return whether the step has set a handle that is not NULL. */
static bool has_handle(const struct running *running, size_t step)
{
	const struct native_program *program = running->steps->program;
	struct native_found found;

	for (size_t i = 0; i < program->n_variables; i++) {
		if (program->variables[i].step != (int)step || !program->variables[i].is_handle)
			continue;
		native_frame_find(running->steps, running->frames, (int)i, &found);
		if (!found.is_null)
			return true;
	}
	return false;
}

/* End a failed call of @step, whose words begin at @start. */
static int end_failed(struct running *running, size_t at, size_t start)
{
	const struct native_step *step = &running->steps->program->steps[at];
	struct native_frame *frame = frame_of(running, at);

	/* The words may come from values that the failed call has left. */
	frame->is_set = true;
	find_words(running, at, start);
	frame->is_owed = step->is_always && has_handle(running, at);
	release_call(&running->steps->stages[at].call, frame);
	return NATIVE_STEPS_E_FAILED;
}

/* ── one step ────────────────────────────────────────────────────────────────────────────────── */

/* Multiply the factors of the size of what @step returns. */
static int find_size(struct running *running, size_t at, size_t *ret_size)
{
	const struct native_step *step = &running->steps->program->steps[at];
	const struct native_call *call = &running->steps->stages[at].call;
	uint64_t most = NATIVE_ASKED_BYTES_MAX;
	uint64_t size = 1;

	for (size_t i = 0; i < step->n_size; i++) {
		uint64_t factor = step->size[i].number;
		struct native_found found;

		if (step->size[i].variable != NATIVE_NONE) {
			native_frame_find(
				running->steps, running->frames, step->size[i].variable, &found);
			factor = native_slot_number(found.type->type, &found.cell->slot);
			if (native_slot_sign(found.type->type, &found.cell->slot) < 0)
				factor = UINT64_MAX;
		}
		if (factor > most || size * factor > most) {
			buffer_printf(running->out, "%s returned more than %llu elements",
				call->function.symbol, (unsigned long long)most);
			return NATIVE_STEPS_E_FAILED;
		}
		size *= factor;
	}
	*ret_size = step->n_size > 0 ? (size_t)size : 0;
	return 0;
}

/* Keep the values of @step after a call without failure. */
static int keep(struct running *running, size_t at)
{
	const struct native_step *step = &running->steps->program->steps[at];
	struct native_frame *frame = frame_of(running, at);
	size_t start = running->out->size;
	size_t size;
	int r;

	frame->is_set = true;
	r = find_size(running, at, &size);
	r = r ? r : native_frame_keep(running->steps, at, frame, size, running->out);
	if (r > 0)
		return end_failed(running, at, start);
	if (r == 0)
		frame->is_owed =
			step->finally && (!sets_handle(running, at) || has_handle(running, at));
	return r;
}

static int run_step_call(struct running *running, size_t at)
{
	const struct native_step *step = &running->steps->program->steps[at];
	struct native_call *call = &running->steps->stages[at].call;
	struct native_frame *frame = frame_of(running, at);
	size_t start = running->out->size;
	int r;

	frame->returned = (union native_returned){0};
	frame->is_set = false;
	r = native_frame_fill(
		running->steps, running->frames, call, step->call.sources, frame, running->out);
	if (r)
		return r > 0 ? NATIVE_STEPS_E_FAILED : r;
	r = enter_call(call, frame, running->out);
	return r > 0 ? end_failed(running, at, start) : r;
}

/* Read the value at a handle, as if a function had returned a pointer to it. */
static int run_read(struct running *running, size_t at)
{
	const struct native_step *step = &running->steps->program->steps[at];
	const struct native_parameter *type = &running->steps->stages[at].call.function.returns;
	struct native_frame *frame = frame_of(running, at);
	struct native_found found;
	size_t bytes;

	native_frame_find(running->steps, running->frames, step->read_from, &found);
	/* A step that sets nothing leaves null. */
	if (found.is_null && type->is_nullable)
		return 0;
	if (found.is_null) {
		buffer_append_string(running->out, "read returned NULL");
		return NATIVE_STEPS_E_FAILED;
	}
	frame->returned = (union native_returned){0};
	if (native_is_pointer(type->type) && type->type != NATIVE_HANDLE) {
		frame->returned.slot = found.cell->slot;
	} else {
		bytes = native_type_bytes(type->type);
		memcpy(&frame->returned.slot, found.cell->slot.buffer, bytes);
	}
	return keep(running, at);
}

static bool is_met(const struct running *running, const struct native_condition *condition)
{
	struct native_found found;

	if (condition->variable == NATIVE_NONE)
		return true;
	native_frame_find(running->steps, running->frames, condition->variable, &found);
	return native_frame_is_empty(&found) == condition->is_unless;
}

static int run_steps(struct running *running, size_t first, size_t end);

/* ── rounds ──────────────────────────────────────────────────────────────────────────────────── */

static int write_filled(
	struct running *running, const struct native_template *template, struct buffer *out);

static int fail_too_large(struct running *running, const char *kind, size_t actual, size_t max)
{
	running->out->size = running->start;
	buffer_printf(running->out, "{\"code\":\"too_large\",");
	if (kind)
		buffer_printf(running->out, "\"%s\":%zu}", kind, max);
	else
		buffer_printf(running->out, "\"actual\":%zu,\"max\":%zu}", actual, max);
	return NATIVE_STEPS_E_TOO_LARGE;
}

/* Return whether another round begins with what the call of the repeat has returned. */
static bool begins_round(const struct running *running, size_t at)
{
	const struct native_step *step = &running->steps->program->steps[at];
	const struct native_parameter *returns = &running->steps->stages[at].call.function.returns;
	const union native_slot *returned = &frame_of(running, at)->returned.slot;
	bool is_hit =
		native_result_fits(step->fitting, step->fitting_number, returns->type, returned);

	return step->fitting == NATIVE_ERRORS_NULL ? !is_hit : is_hit;
}

/* Add what the round has to the list. */
static int collect_round(struct running *running, size_t at)
{
	const struct native_step *step = &running->steps->program->steps[at];
	struct buffer *list = &frame_of(running, at)->collected;
	size_t before;
	int r;

	if (step->collected == NATIVE_NONE)
		return 0;
	if (list->size > 0)
		buffer_append_char(list, ',');
	before = list->size;
	r = write_filled(running, &step->of, list);
	if (r > 0) {
		/* The words of the failure. */
		running->out->size = running->start;
		buffer_append(running->out, list->data + before, list->size - before);
		return NATIVE_STEPS_E_FAILED;
	}
	if (r == 0 && list->size > running->output_max)
		return fail_too_large(running, NULL, list->size, running->output_max);
	return r ? r : buffer_status(list);
}

static int run_round(struct running *running, size_t at)
{
	const struct native_step *step = &running->steps->program->steps[at];
	int r = keep(running, at);

	r = r ? r : run_steps(running, at + 1, step->end);
	r = r ? r : collect_round(running, at);
	run_finallys(running, at + 1, step->end);
	return r;
}

static int run_repeat(struct running *running, size_t at)
{
	const struct native_step *step = &running->steps->program->steps[at];
	struct native_frame *frame = frame_of(running, at);
	int r;

	buffer_reset(&frame->collected);
	for (uint32_t n = 0;; n++) {
		r = run_step_call(running, at);
		if (r)
			return r;
		if (!begins_round(running, at))
			break;
		if (n == step->max && !step->is_cut) {
			release_call(&running->steps->stages[at].call, frame);
			if (running->output_max == SIZE_MAX) {
				buffer_printf(running->out, "%s began more than %u rounds",
					running->steps->stages[at].call.function.symbol, step->max);
				return NATIVE_STEPS_E_FAILED;
			}
			return fail_too_large(running, "values", 0, step->max);
		}
		running->is_cut |= n == step->max;
		if (n == step->max)
			break;
		r = run_round(running, at);
		if (r)
			return r;
	}
	release_call(&running->steps->stages[at].call, frame);
	frame->is_set = true;
	return 0;
}

/* ── all of them ─────────────────────────────────────────────────────────────────────────────── */

static int run_step(struct running *running, size_t at)
{
	int r;

	switch (running->steps->program->steps[at].operation) {
	case NATIVE_READ:
		return run_read(running, at);
	case NATIVE_REPEAT:
		return run_repeat(running, at);
	case NATIVE_CALL:
		break;
	}
	r = run_step_call(running, at);
	return r ? r : keep(running, at);
}

static int run_steps(struct running *running, size_t first, size_t end)
{
	const struct native_program *program = running->steps->program;
	int r = 0;

	for (size_t i = first; i < end; i++) {
		frame_of(running, i)->is_set = false;
		frame_of(running, i)->is_owed = false;
	}
	for (size_t i = first; r == 0 && i < end;
		i = program->steps[i].operation == NATIVE_REPEAT ? program->steps[i].end : i + 1)
		if (is_met(running, &program->steps[i].condition))
			r = run_step(running, i);
	return r;
}

/* Append the list that a repeat has collected. */
static void write_collected(const struct native_frame *frame, struct buffer *out)
{
	buffer_append_char(out, '[');
	if (frame->is_set)
		buffer_append_buffer(out, &frame->collected);
	buffer_append_char(out, ']');
}

/* Append the template with the values of its variables. After a failure its words are there, from
 * where the template began. */
static int write_filled(
	struct running *running, const struct native_template *template, struct buffer *out)
{
	const struct native_program *program = running->steps->program;
	size_t start = out->size;
	int r = 0;

	for (size_t i = 0; r == 0 && i < template->n_pieces; i++) {
		const struct native_piece *piece = &template->pieces[i];
		struct native_found found;
		size_t before;

		buffer_append_string(out, piece->text);
		before = out->size;
		if (piece->variable == NATIVE_NONE)
			continue;
		if (program->variables[piece->variable].at == NATIVE_COLLECTED) {
			write_collected(
				&running->frames->frames[program->variables[piece->variable].frame],
				out);
			continue;
		}
		native_frame_find(running->steps, running->frames, piece->variable, &found);
		r = native_frame_write(&found, piece->depth, out);
		if (r > 0) {
			memmove(out->data + start, out->data + before, out->size - before);
			out->size -= before - start;
		}
	}
	return r;
}

static int write_program_result(struct running *running)
{
	int r = write_filled(running, &running->steps->program->result, running->out);

	if (r)
		return r > 0 ? NATIVE_STEPS_E_FAILED : r;
	if (running->is_cut && buffer_status(running->out) == 0) {
		bool is_empty = running->out->data[running->out->size - 2] == '{';

		running->out->size--;
		buffer_append_string(
			running->out, is_empty ? "\"truncated\":true}" : ",\"truncated\":true}");
	}
	if (running->out->size - running->start > running->output_max)
		return fail_too_large(
			running, NULL, running->out->size - running->start, running->output_max);
	return buffer_status(running->out);
}

int native_steps_run(struct native_steps *steps, struct native_frames *frames,
	const char *arguments, size_t size, size_t output_max, struct buffer *out)
{
	struct running running = {steps, frames, output_max, out->size, out, false};
	const struct native_signature signature = {&steps->function, steps->constants, NULL};
	int r = native_call_memory_fill(
		&signature, &frames->frames[0].scratch, arguments, size, out);

	frames->frames[0].is_set = true;
	if (r > 0)
		r = NATIVE_STEPS_E_FAILED;
	if (r == 0) {
		r = run_steps(&running, 0, steps->program->n_steps);
		r = r ? r : write_program_result(&running);
		run_finallys(&running, 0, steps->program->n_steps);
	}
	for (size_t i = 0; i < steps->program->n_steps + 2; i++)
		native_frame_trim(&frames->frames[i]);
	return r;
}

int native_steps_begin(
	struct native_steps *steps, struct native_frames *frames, struct buffer *failure)
{
	struct running running = {steps, frames, SIZE_MAX, failure->size, failure, false};

	return run_steps(&running, 0, steps->program->n_steps);
}

void native_steps_end(struct native_steps *steps, struct native_frames *frames)
{
	struct running running = {steps, frames, SIZE_MAX, 0, NULL, false};

	run_finallys(&running, 0, steps->program->n_steps);
}
