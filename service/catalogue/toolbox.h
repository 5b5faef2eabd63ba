/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "call/command.h"
#include "call/native.h"
#include "call/toolbox_sandbox.h"
#include "catalogue/kind.h"
#include "catalogue/toolbox_library.h"
#include "catalogue/triggers.h"
#include "schema/schema.h"
#include "util/buffer.h"
#include "util/cleanup.h"
#include "util/stamp.h"

/*
 * A toolbox and its tools, as a manifest describes them: made once, never changed (but for the
 * stamps of its files, when those are looked at again), shared by counting. A call holds the
 * toolbox it began on, whatever a reload puts in its place.
 */

#define TOOLBOX_ID_BYTES 128 /* of an id, at most */
#define TOOL_NAME_BYTES  64  /* of a tool's name, at most */

enum tool_risk {
	TOOL_UNRATED,
	TOOL_READ,
	TOOL_WRITE,
	TOOL_EXECUTE,
};

struct tool {
	struct toolbox *toolbox; /* the one it stands in */
	uint32_t index; /* in the tools of toolbox_package(toolbox), and so in its processes */
	char *name;
	char *description;     /* "" when the manifest gives none */
	char *argument_schema; /* compact JSON text */
	char *output_schema;   /* compact JSON text */
	char *definition;      /* the whole definition of contract.md, Definitions, as JSON text */
	size_t definition_size;
	struct schema *arguments; /* of argument_schema */
	struct schema *output;    /* of output_schema */
	enum tool_risk risk;      /* its own, else the toolbox's */
	bool is_parallel;         /* false: runs alone in its toolbox */
	uint64_t timeout_ms;      /* 0: the toolbox's */
	double cooldown_s;
	struct triggers triggers;
	struct native_function native; /* of kind native */
	bool may_lack;                 /* the given schema lets out what the function needs */
	struct command command;        /* of kind command */
};

struct toolbox_limits {
	uint64_t timeout_ms; /* 0: the configuration's */
	uint32_t workers;
	uint32_t queue; /* 0: the configuration's */
	uint32_t memory_mb;
	bool prestart;
	bool has_idle_s;
	uint64_t idle_s;
};

/* Of kind python: which interpreter, and what of it (contract.md, Python). */
struct toolbox_python {
	char *interpreters;        /* JSON text of an array: those that are tried, in this order */
	char *plugins;             /* the same, of entry points; NULL: all */
	uint64_t start_timeout_ms; /* how long a host may take to tell what there is */
	bool is_auto; /* the manifest names no interpreter: it is no mistake if none will do */
};

struct toolbox {
	unsigned int references;
	char *id;
	char *description; /* or NULL */
	enum toolbox_kind kind;
	char *file;         /* the manifest's path */
	struct stamp stamp; /* of that file */
	uint64_t digest;    /* of its bytes */
	struct toolbox_library library;
	bool is_checked; /* a host has loaded the library, and found every symbol */
	struct toolbox_limits limits;
	char *config; /* of kinds that take one: JSON text that is given to the toolbox, or NULL */
	enum tool_risk risk;  /* of a tool that declares none */
	bool has_risk;        /* that was declared */
	bool asserts_formats; /* `format` in schemas is checked */
	bool coerces;         /* strings are taken as what they hold, where a schema wants that */
	struct toolbox_sandbox sandbox;
	char *environment;  /* of its hosts, as configured (util/environment.h); NULL: nothing */
	uint64_t settings;  /* digest of what the configuration says of it; 0: nothing */
	bool is_sealed;     /* a host has loaded its library from a sealed copy */
	char *not_enforced; /* what of the sandbox a host could not do here; NULL: nothing */
	struct toolbox_python python; /* of kind python */
	struct toolbox *package;      /* of a part: whose it is, counted; else NULL */
	char *entry_point;            /* of a part: where its host finds it */
	uint32_t member;    /* of a part: which one it is, once its tools are the host's */
	bool is_joined;     /* of a part: they are */
	uint32_t n_members; /* that it has; 0: it is offered itself */
	char *described;    /* of one with parts: what its host told of them, JSON text */
	size_t described_size;
	uint64_t depends; /* digest of the files that this depends on; 0: it does not hold any more
			   */
	struct tool *tools;
	size_t n_tools;
	char *load; /* payload of the host's LOAD frame: toolbox_prepare() */
	size_t load_size;
};

/*
 * The hosts of one manifest may tell several toolboxes (kind python). Each is a part of the one
 * that the manifest is, which runs and owns the tools of all, and is offered by no catalogue:
 *
 *   host      [ now │ read write find │ add ]     one list, one set of processes
 *   parts      clock  filesystem        math      runs of it, under ids of their own
 */
static inline struct toolbox *toolbox_package(struct toolbox *toolbox)
{
	return toolbox->package ? toolbox->package : toolbox;
}

/* A new part of @package called @id, which its host knows by @entry_point (NULL: by its id), and whose
 * tools are still to be read into it: its own until they are joined. NULL without memory. */
struct toolbox *toolbox_new_member(
	struct toolbox *package, const char *id, const char *entry_point);

/* Make the tools of @members those of @package, in this order, and write its LOAD frame anew. NULL among
 * them is none. 0, or -ENOMEM with nothing changed but that frame. */
int toolbox_join_members(struct toolbox *package, struct toolbox *const *members, size_t n_members);

/* Make @member, which is one of another host with the same parts, one of @package, in the place of the
 * one there that has its number, and that nobody holds any more. */
void toolbox_move_member(struct toolbox *member, struct toolbox *package);

/* Free @toolbox, which has no reference left: toolbox_unref() calls this. */
void toolbox_free(struct toolbox *toolbox);

/* Add a reference to @toolbox, and return it. */
static inline struct toolbox *toolbox_ref(struct toolbox *toolbox)
{
	toolbox->references++;
	return toolbox;
}

/* Drop a reference to @toolbox; the last one frees it. Takes NULL. */
static inline void toolbox_unref(struct toolbox *toolbox)
{
	if (toolbox && --toolbox->references == 0)
		toolbox_free(toolbox);
}

/* Forget the tools of a toolbox that is being made. */
void toolbox_drop_tools(struct toolbox *toolbox);

/*
 * Append the payload of a host's LOAD frame (wire/wire.h) with the tools of all @toolboxes, one
 * after the other. They are of one kind, one library and one sandbox; the first one gives its id.
 */
void toolbox_write_load(struct toolbox *const *toolboxes, size_t n_toolboxes, struct buffer *out);

/* Write @toolbox->load anew: what it is made of has changed. 0 or -ENOMEM. */
int toolbox_prepare(struct toolbox *toolbox);

/* Whether its hosts stand behind a guard (worker/sandbox/guard.h). */
bool toolbox_has_guard(const struct toolbox *toolbox);

/* An order of toolboxes in which those that may share a LOAD frame stand together, and are equal:
 * by library, then by sandbox. Other kinds than native share with nobody. */
int toolbox_compare_loads(const struct toolbox *left, const struct toolbox *right);

/* "read", "write", "execute"; "unrated". */
const char *tool_risk_name(enum tool_risk risk);

CLEANUP_DEFINE(toolbox, struct toolbox *, toolbox_unref)
