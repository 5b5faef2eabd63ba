/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/*
 * The files of new toolboxes, built in from the folder templates/ of the source tree. Each template
 * is a working toolbox with the id TEMPLATE_ID; another id makes a new toolbox of it.
 */
#define TEMPLATE_ID "my_toolbox"

/* The same as the name of a module, which contains no '-'. */
#define TEMPLATE_MODULE "my_module"

struct template
{
	const char *kind; /* the folder in templates/ */
	const char *name; /* path below it */
	const char *text; /* NUL-terminated */
};

/* By kind, then by name. */
extern const struct template templates[];
extern const size_t n_templates;
