/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/*
 * The files of new toolboxes, built in: those of the folder templates/ of the source tree. Each
 * template is a toolbox that works, called TEMPLATE_ID; with another id it is a new one.
 */
#define TEMPLATE_ID "my_toolbox"

/* The same as the name of a module, which has no '-'. */
#define TEMPLATE_MODULE "my_module"

/* The files under this name belong to every kind. */
#define TEMPLATE_SHARED "shared"

struct template
{
	const char *kind; /* the folder in templates/ */
	const char *name; /* path below it */
	const char *text; /* NUL-terminated */
};

/* By kind, then by name. */
extern const struct template templates[];
extern const size_t n_templates;
