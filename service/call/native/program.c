/* SPDX-License-Identifier: Apache-2.0 */
#include "call/native/program.h"

#include <stdlib.h>

/* The ownership of the parts of a program. */

void native_invocation_deinit(struct native_invocation *invocation)
{
	native_function_deinit(&invocation->function);
	free(invocation->sources);
	*invocation = (struct native_invocation){0};
}

static void invocation_free(struct native_invocation *invocation)
{
	if (invocation)
		native_invocation_deinit(invocation);
	free(invocation);
}

void native_template_deinit(struct native_template *template)
{
	for (size_t i = 0; i < template->n_pieces; i++)
		free(template->pieces[i].text);
	free(template->pieces);
	*template = (struct native_template){0};
}

static void step_deinit(struct native_step *step)
{
	native_invocation_deinit(&step->call);
	invocation_free(step->finally);
	invocation_free(step->message);
	free(step->words);
	native_template_deinit(&step->of);
	free(step->of_schema);
}

void native_program_free(struct native_program *program)
{
	if (!program)
		return;
	for (size_t i = 0; i < program->n_steps; i++)
		step_deinit(&program->steps[i]);
	for (size_t i = 0; i < program->n_variables; i++)
		free(program->variables[i].name);
	free(program->steps);
	free(program->variables);
	native_template_deinit(&program->result);
	free(program->schema);
	free(program->source);
	free(program);
}

const struct native_parameter *native_variable_type(const struct native_program *program,
	const struct native_function *function, const struct native_variable *variable)
{
	const struct native_function *called;

	if (variable->owner != NATIVE_NONE)
		return &variable->part;
	if (variable->at == NATIVE_COLLECTED)
		return NULL;
	called = variable->frame == 0 ? function
				      : &program->steps[variable->frame - 1].call.function;
	return variable->at == NATIVE_RETURNS ? &called->returns
					      : &called->parameters[variable->at];
}
