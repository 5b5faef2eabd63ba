/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "call/command.h"
#include "call/native.h"
#include "catalogue/origin.h"
#include "catalogue/triggers.h"
#include "json/reader.h"
#include "util/cleanup.h"

struct package;
struct tool_schemas;

/*
 * A toolbox and its tools, as callers see them. How they are run is the business of the package
 * that it belongs to (catalogue/package.h), and holding that holds the toolbox.
 */

#define TOOLBOX_ID_BYTES 128 /* the longest id */
#define TOOL_NAME_BYTES  64  /* the longest name of a tool */

enum tool_risk {
	TOOL_UNRATED,
	TOOL_READ,
	TOOL_WRITE,
	TOOL_EXECUTE,
};

/* The limits of the toolboxes of one manifest, which they share. */
struct toolbox_limits {
	uint64_t timeout_ms; /* deadline of a call; 0: the configuration's */
	uint64_t max_ms;     /* to which progress extends it; 0: most_ms of the kind */
	uint32_t workers;
	uint32_t queue; /* 0: the configuration's */
	uint32_t memory_mb;
	bool prestart;
	bool has_idle_s;
	uint64_t idle_s;
};

struct tool {
	struct toolbox *toolbox; /* which it belongs to */
	uint32_t index;          /* among the tools of its package, and so in its processes */
	char *name;
	char *description;     /* "" when the manifest gives none */
	char *argument_schema; /* compact JSON text */
	char *output_schema;   /* compact JSON text */
	char *definition;      /* the whole definition of contract.md, Definitions, as JSON text */
	size_t definition_size;
	struct tool_schemas *schemas; /* both, compiled or at rest; owned */
	enum tool_risk risk;          /* its own, else the package's */
	bool is_parallel;             /* false: it runs alone in its package */
	bool has_content;             /* its results are rich content (catalogue/content.h) */
	bool validates;               /* its host may refuse arguments by their meaning */
	uint64_t timeout_ms;          /* 0: the package's */
	double cooldown_s;
	struct triggers triggers;
	unsigned char
		run[ORIGIN_DIGEST_BYTES]; /* the digest of how it is run (package_prepare()) */
	union { /* how it is called, by the kind of its package; plugin and python: by its name */
		struct {
			struct native_function native;
			/* the schema does not require an argument that the function needs */
			bool may_lack;
		};
		struct {
			struct command command;
			uint32_t program; /* among the programs of the package */
			uint32_t beside;  /* likewise: the file that defines it, or ORIGIN_NONE */
			uint32_t n_scripts;
			uint32_t
				scripts[COMMAND_SCRIPTS_MAX]; /* likewise: those of its arguments */
		};
		struct {
			char *server_name; /* kind mcp: its name at the server */
			char *pin; /* the digest of its description there (mcp/client/pin.h) */
		};
	};
};

struct toolbox {
	struct package *package; /* which owns it */
	uint32_t index;          /* among the toolboxes of its package */
	char *id;
	char *description;  /* NULL: none */
	char *entry_point;  /* for kind python: the name by which its host finds it; else NULL */
	struct tool *tools; /* owned */
	size_t n_tools;
	uint64_t settings; /* digest of the operator's settings of its tools; 0: none */
};

/* Return a toolbox of @package, which does not own it before package_add(), called @id, and found
 * by its host by @entry_point (may be NULL); both texts are copied. NULL when memory is short. */
struct toolbox *toolbox_new(struct package *package, const char *id, const char *entry_point);

/* Free a toolbox that no package owns. Takes NULL. */
void toolbox_free(struct toolbox *toolbox);

/* Free the tools of a toolbox that is being made, for whose indices @is_dropped is true; NULL:
 * all. */
void toolbox_drop_tools(struct toolbox *toolbox, const bool *is_dropped);

/* Return whether @after, of the same toolbox and name, is another tool than @before: its definition
 * (which has its risk), its program or library, or how it is run differs. */
bool tool_differs(const struct tool *before, const struct tool *after);

/* Return whether the definition of @tool, and the program that a call of it would start, are what
 * they were when they were read. A tool that starts no program has a process that loaded the
 * library, or began the server, that belongs to the definition: the files of such a tool are looked
 * at once in a few milliseconds. For the loop only. */
bool tool_is_current(const struct tool *tool);

/* Return whether the program that a call of @tool would start is what it was; true if it would
 * start none. */
bool tool_program_is_current(const struct tool *tool);

/* Return the digest of the files that a call of @tool would start, by which its host knows them
 * (wire/wire.h). 0: it starts none, or its host finds programs in another PATH. */
uint64_t tool_program_digest(const struct tool *tool);

/* Return "read", "write", "execute" or "unrated". */
const char *tool_risk_name(enum tool_risk risk);

/* Return the risk that the value at @token names; TOOL_UNRATED when it is neither "read" nor
 * "write" nor "execute". */
enum tool_risk tool_risk_at(const struct json_tape *tape, uint32_t token);

CLEANUP_DEFINE(toolbox, struct toolbox *, toolbox_free)
