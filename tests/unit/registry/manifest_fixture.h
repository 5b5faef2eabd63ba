/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "registry/manifest.h"

/* A manifest reader with a folder to write manifests to, for each test. */
void manifest_set_up(void);
void manifest_tear_down(void);

/* The path of @name in the folder; good for a few calls. */
const char *manifest_path(const char *name);

/* Write the manifest @name: JSON with ' in place of ". */
void manifest_write(const char *name, const char *text);

/* What the last reading gave: 0 and a toolbox, or its problems. */
extern struct toolbox *toolbox;
extern struct problems problems;
int manifest_read_again(const char *name);

/* Write and read box.json, which must be good. Returns the toolbox. */
struct toolbox *read_good(const char *text);

/* Write and read box.json, whose first mistake must be told so. */
void expect_refused(const char *text, unsigned int line, const char *pointer, const char *message);

/* A manifest around one tool, around one native object. */
#define BOX(tool)     "{'kind':'native','library':'libm.so.6','tools':[" tool "]}"
#define TOOL(members) BOX("{'name':'f'," members "}")
#define SQRT                                                                                       \
	"'native':{'symbol':'sqrt','parameters':[{'name':'x','type':'f64'}],"                      \
	"'returns':{'type':'f64'}}"
