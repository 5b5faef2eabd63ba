/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "call/bus_call.h"
#include "call/command.h"
#include "call/native/program.h"
#include "catalogue/origin.h"
#include "call/run_llm.h"
#include "catalogue/triggers.h"
#include "json/reader.h"
#include "util/cleanup.h"

struct package;
struct tool_schemas;

/*
 * A toolbox and its tools, as callers see them. Running them is the business of its package
 * (catalogue/package.h), and holding the package holds the toolbox.
 */

#define TOOLBOX_ID_BYTES 128 /* the longest id */
#define TOOL_NAME_BYTES  64  /* the longest name of a tool */

/* The beginning of tool.off and package.off. */
#define OFF_BY_MANIFEST "disabled by its manifest"

enum tool_risk {
	TOOL_UNRATED,
	TOOL_READ,
	TOOL_WRITE,
	TOOL_EXECUTE,
};

/* The knowledge of the daemon that comes with each call of a tool (core/call/given.h). */
enum tool_given {
	GIVEN_NOTHING,
	GIVEN_STATISTICS,
	GIVEN_CONVERSATION,
};

/* Whether a call of a tool by MCP becomes a task (mcp/task.h), as its manifest has it. */
enum tool_task {
	TOOL_TASK_BY_TIME, /* open: if the tool has more time than TOOL_TASK_MS */
	TOOL_TASK_FORBIDDEN,
	TOOL_TASK_OPTIONAL,
	TOOL_TASK_REQUIRED,
};

/* The time of a tool, or of its toolbox, beyond which its calls are tasks. */
#define TOOL_TASK_MS 30000

/* The shared limits of the toolboxes of one manifest. */
struct toolbox_limits {
	uint64_t timeout_ms; /* deadline of a call; 0: the configuration's */
	uint64_t max_ms;     /* limit of its extension by progress; 0: most_ms of the kind */
	uint32_t workers;
	uint32_t queue; /* 0: the configuration's */
	uint32_t memory_mb;
	bool prestart;
	bool has_idle_s;
	uint64_t idle_s;
};

struct tool {
	struct toolbox *toolbox; /* its package */
	uint32_t index;          /* among the tools of its package, and so in its processes */
	char *name;
	char *description;     /* "" when the manifest gives none */
	char *argument_schema; /* as it is listed: compact JSON text */
	char *checked_schema;  /* the same without run_llm, for calls; NULL: it has no run_llm */
	char *output_schema;   /* compact JSON text */
	char *definition;      /* the whole definition of contract.md, Definitions, as JSON text */
	size_t definition_size;
	char *spoken;                 /* its spoken faces (catalogue/voice/spoken.h), or NULL */
	struct tool_schemas *schemas; /* both, compiled or at rest; owned */
	enum tool_risk risk;          /* its own, else the package's */
	enum run_llm run_llm;
	enum tool_given given;
	enum tool_task task;
	bool is_parallel; /* false: it runs alone in its package */
	bool has_content; /* its results are rich content (catalogue/content.h) */
	bool validates;   /* its host may refuse arguments by their meaning */
	char *off;        /* reason of a manifest with `enabled` false, with the command; or NULL */
	char *lack;       /* the operator has to set something before it is offered; or NULL */
	bool is_experimental; /* offered only by name (`experimental`) */
	/* it was offered when the gate of its package opened; for the loader alone, which writes it
	 * later, too */
	bool has_passed_gate;
	/* the argument that a session's approval holds for; NULL: for all calls of the tool */
	char *grant_key;
	/* the argument with all effect: a call without its text only reads, and needs no
	 * approval; or NULL */
	char *asked_key;
	uint32_t result_max_chars; /* 0: the configuration's */
	uint64_t timeout_ms;       /* 0: the package's */
	double cooldown_s;
	struct triggers triggers;
	unsigned char
		run[ORIGIN_DIGEST_BYTES]; /* the digest of how it is run (package_prepare()) */
	union { /* how it is called, by the kind of its package; plugin and python: by its name */
		struct {
			/* its function; with steps only the parameters for callers */
			struct native_function native;
			struct native_program *steps; /* owned; NULL: one function */
			/* the schema does not require an argument needed by the function */
			bool may_lack;
		};
		struct {
			struct command command;
			uint32_t program; /* among the programs of the package */
			uint32_t beside;  /* likewise: the file that defines it, or ORIGIN_NONE */
			uint32_t n_scripts;
			uint32_t scripts[COMMAND_SCRIPTS_MAX]; /* likewise: the files of its
				                               * arguments */
		};
		struct {
			char *server_name; /* kind mcp: its name at the server */
			char *pin; /* the digest of its description there (mcp/client/pin.h) */
		};
		struct bus_call *bus; /* owned */
	};
};

struct toolbox {
	struct package *package; /* the owner */
	uint32_t index;          /* among the toolboxes of its package */
	char *id;
	char *description;  /* NULL: none */
	char *entry_point;  /* for kind python: its name in the host; else NULL */
	struct tool *tools; /* owned */
	size_t n_tools;
	uint64_t settings; /* digest of the operator's settings of its tools; 0: none */
};

/* Return whether calls of @tool become tasks where a client of MCP knows tasks. */
bool tool_may_be_task(const struct tool *tool);

/* Return a toolbox of @package, its owner from package_add() on, called @id, and in its host
 * @entry_point (may be NULL); both texts are copied. NULL when memory is short. */
struct toolbox *toolbox_new(struct package *package, const char *id, const char *entry_point);

/* Free a toolbox without an owner. Takes NULL. */
void toolbox_free(struct toolbox *toolbox);

/* Free the tools of a toolbox in the making, if @is_dropped is true at their index; NULL: all. */
void toolbox_drop_tools(struct toolbox *toolbox, const bool *is_dropped);

/* Return whether @after, of the same toolbox and name, is another tool than @before: by definition
 * (with the risk), program or library, or the way of running. */
bool tool_differs(const struct tool *before, const struct tool *after);

/* Return whether the definition of @tool, and the program started by a call, are unchanged since
 * they were read. A tool without a program to start has a process with the library, or the server,
 * of the definition: the files of such a tool are looked at once in a few milliseconds. For the
 * loop only. */
bool tool_is_current(const struct tool *tool);

/* Return whether the program started by a call of @tool is unchanged; true without a program. */
bool tool_program_is_current(const struct tool *tool);

/* Return the digest of the files started by a call of @tool, for its host (wire/wire.h). 0: a call
 * starts none, or the host finds programs in another PATH. */
uint64_t tool_program_digest(const struct tool *tool);

/* "unrated", "read", "write", "execute", by risk; NULL ends them. */
extern const char *const tool_risk_names[];

/* Return the risk named by the value at @token; TOOL_UNRATED for a value other than "read",
 * "write", "execute". */
enum tool_risk tool_risk_at(const struct json_tape *tape, uint32_t token);

CLEANUP_DEFINE(toolbox, struct toolbox *, toolbox_free)
