/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "call/toolbox_sandbox.h"
#include "catalogue/kind.h"
#include "catalogue/origin.h"
#include "catalogue/skipped.h"
#include "catalogue/toolbox.h"
#include "catalogue/toolbox_library.h"
#include "util/buffer.h"
#include "util/cleanup.h"
#include "util/file/stamp.h"
#include "util/text/text_list.h"

/*
 * A package: one manifest, and so one set of processes. It owns the toolboxes: a single one, or, of
 * kind python, as many as the interpreter describes.
 *
 *   package      one file, one runner   [ now │ read write find │ add ]   tools, by their index
 *   toolboxes    each with its own id     clock  filesystem        math
 *
 * It is made once and never changed (but for the stamps and warnings of its files after another
 * look, looked_ms, runner, and mcp.is_stale), and shared by counting. A call holds its package from
 * beginning to end, whatever a reload puts in its place.
 */

struct runner;

/* The part of kind python: the interpreter, and the entry points to load (contract.md, Python). */
struct package_python {
	char *interpreters; /* JSON text of an array: the interpreters to try, in this order */
	char *plugins;      /* the same, of entry points; NULL: all */
	char *left_out; /* the toolbox ids of entry points not loaded for a description, an object
	                 * of JSON; NULL: none */
	bool is_auto;   /* the manifest names no interpreter: it is no mistake if none serves */
};

/* The treatment of a tool changed by its server since its first sight. */
enum mcp_pin_mode {
	MCP_PIN_WARN,  /* offered, and logged */
	MCP_PIN_BLOCK, /* it is not offered until an operator accepts the change */
	MCP_PIN_OFF,   /* like any other */
};

/* The part of kind mcp. */
struct package_mcp {
	/* JSON text {"argv", "cwd", "env"?} or {"url", "headers"?, "proxy"?, "ca"?} */
	char *server;
	/* the server for people, without secrets: its program, or its URL without a path */
	char *origin;
	char *rules;     /* JSON text {"include"?, "exclude"?, "tools"?}: the operator's choice */
	char *variables; /* our variables named by `env` (util/environment.h); NULL: none */
	bool is_http;    /* it has a url */
	/* as the server has decided (mcp/version.h), now or, before it is asked, earlier */
	bool is_legacy;
	uint64_t grace_s;     /* how long its tools are offered while it cannot be reached */
	uint64_t list;        /* digest of what the server lists (mcp/client/pin.h); 0: not known */
	atomic_bool is_stale; /* a host has found another list since */
	bool has_resources;   /* resources of the server are tools, too */
	enum mcp_pin_mode pin;
	struct stamp pins; /* the stamp of the file of its pins (loader/pins.h) */
};

struct package {
	atomic_uint references; /* a load beside the loop takes some */
	struct package_bin
		*bin;          /* borrowed; where it goes without references; NULL: freed at once */
	struct package *next;  /* in the bin */
	struct runner *runner; /* borrowed; where its calls run while it is offered, else NULL
	                        * (offer/offer.h). For the loop only */
	char *id;              /* id of its processes and of its settings in the configuration */
	bool is_entry;         /* its manifest is a list of servers */
	enum toolbox_kind kind;

	/* the manifest */
	char *file;
	struct stamp stamp; /* stamp of that file */
	struct origins
		/* that file, and the overlay of a folder: the files with the definitions of its
		 * tools */
		definition;
	struct origins programs; /* kind command: its programs, and the definitions beside them */
	uint64_t
		/* when the loop last found the definition current (tool_is_current()) */
		looked_ms;
	int64_t loaded_ns; /* when it was read (CLOCK_REALTIME) */
	uint64_t digest;   /* digest of its bytes */

	uint64_t writable; /* digest of the warnings about its files' writers */

	/* as the manifest and the configuration have it */
	uint64_t settings;        /* settings_digest() of its configuration; 0: none */
	bool has_foreign_setting; /* the sandbox has a setting of another toolbox */
	struct text_list
		unknown_settings; /* names in its `toolboxes.<id>.sandbox` without a setting */
	uint64_t fences; /* digest of the fences around its paths (loader/operator/fences.h); 0: it
	                  * has none */
	struct toolbox_limits limits;
	uint32_t concurrent; /* the calls of its process at a time; 0: one. Kind plugin */
	enum tool_risk risk; /* the risk of a tool without a declared risk */
	char *off;        /* reason of a manifest with `enabled` false, with the command; or NULL */
	bool is_left_out; /* none of its tools is offered, so none was read */
	bool is_scanned;  /* it is left out, and its manifest was not read (manifest/off.h) */
	bool has_gate;    /* it is offered once its examples have passed (loader/gate/gate.h) */
	bool asserts_formats; /* `format` in schemas is checked */
	bool has_content;     /* the results of its tools are rich content; of kind plugin */
	bool coerces; /* a string is taken as the value inside, where a schema wants the value */
	char *config; /* JSON text for its hosts; NULL: none */
	/* `start_timeout_ms` of the configuration; 0: not read yet */
	uint64_t start_timeout_ms;
	struct native_program *init; /* kind native: the steps before its first call; or NULL */
	struct native_types *types;  /* kind native: its tables; else NULL */
	size_t schema_bytes;         /* kind native: of the schemas made from its functions */
	char *environment; /* variables of its hosts (util/environment.h); NULL: nothing is added */
	struct toolbox_sandbox sandbox;
	char *state_folder; /* writable for its hosts (loader/operator/state_folder.h); or NULL */
	const char *trace_files;        /* as in config/config.h; borrowed, or NULL */
	struct toolbox_library library; /* for kinds native (perhaps several) and plugin, and the
	                                 * file of kind python; else zeroed */
	bool has_library_list;          /* its manifest has a list of them */
	struct package_python python;   /* for kind python; else zeroed */
	struct package_mcp mcp;         /* for kind mcp; else zeroed */
	char *guest_source; /* for kind guest: the context.source of its process; else NULL */

	/* as a host has found it */
	bool is_checked;    /* the library loads and has every symbol */
	char *not_enforced; /* the part of the sandbox not possible here; NULL: none */
	char *refused;      /* the first system call refused while loading; NULL: none */
	char *described;    /* for kind python: the description of its toolboxes, JSON text */
	size_t described_size;
	uint64_t fingerprint; /* digest of the files under the description; 0: not valid. Kind mcp:
	                       * digest of the description itself */

	struct skipped_list left_out; /* for kind mcp: tools of the server not offered */

	struct toolbox **toolboxes; /* owned */
	size_t n_toolboxes;

	/* written by package_prepare() */
	struct tool **tools; /* the tools of all toolboxes, by tool.index */
	size_t n_tools;
	char *load; /* payload of the hosts' LOAD frame (wire/wire.h) */
	size_t load_size;
	size_t load_head; /* bytes of it before the first tool */
	size_t load_tail; /* bytes of the text after the last tool, if there is a tool */
};

/* The mistake of a toolbox with both keys. */
#define PACKAGE_ONE_PROCESS                                                                        \
	"a toolbox with \"concurrent\" has one process for all of its calls: limits.workers must " \
	"be 1; leave it out"

/* Return whether the tools of @package are guests: a server or a guest has chosen their names,
 * which never take or share names of installed tools. */
static inline bool package_is_guest(const struct package *package)
{
	return package->kind == KIND_MCP || package->kind == KIND_GUEST;
}

/* Packages without references, freed later: freeing takes time in proportion to their tools. A
 * zeroed bin is empty. */
struct package_bin {
	_Atomic(struct package *) first;
	void (*filled)(void *data); /* called for a package put into an empty bin; or NULL */
	void *data;
};

/* Free the packages in @bin, from any thread. */
void package_bin_empty(struct package_bin *bin);

static inline bool package_bin_is_empty(struct package_bin *bin)
{
	return !atomic_load(&bin->first);
}

/* Return a package with one reference and nothing in it, or NULL when memory is short. */
struct package *package_new(void);

/* Put @package, without a reference left, into its bin, or free the package with its toolboxes:
 * package_unref() calls this. */
void package_discard(struct package *package);

/* Add a reference to @package, and return it. */
static inline struct package *package_ref(struct package *package)
{
	atomic_fetch_add_explicit(&package->references, 1, memory_order_relaxed);
	return package;
}

/* Drop a reference to @package; the last one discards it. Takes NULL. */
static inline void package_unref(struct package *package)
{
	if (package && atomic_fetch_sub(&package->references, 1) == 1)
		package_discard(package);
}

/* Append a toolbox made by toolbox_new() for @package, the owner from now on. 0, or -ENOMEM with
 * nothing changed. */
int package_add(struct package *package, struct toolbox *toolbox);

/* Number the tools of all toolboxes, write the LOAD frame, and digest how each tool is run: to be
 * called when any of it has changed, before the package is shared. 0 or -ENOMEM. */
int package_prepare(struct package *package);

/*
 * Append the payload of a host's LOAD frame with the tools of all @packages, one after the other.
 * The packages are prepared, and of the same kind, library and sandbox; the first gives its id.
 */
void package_write_load(struct package *const *packages, size_t n_packages, struct buffer *out);

/* The most calls of a host at a time. */
#define PACKAGE_CALLS_MAX 64

/* Return the number of calls that a host of @package runs at a time; more than one: it carries them
 * (wire/wire.h). */
unsigned int package_capacity(const struct package *package);

/* Order packages: packages allowed to share a LOAD frame are equal, by library, then by sandbox.
 * Kinds other than native never share, nor do tables. Returns as strcmp(). */
int package_compare_loads(const struct package *left, const struct package *right);

/* Let @package go on in the place of @fresh, which was read from the same files: they are accepted
 * as they were then. Changed programs are accepted no more. */
void package_renew(struct package *package, const struct package *fresh);

/* Return whether the programs of its tools are the same as at their reading. */
bool package_has_same_programs(const struct package *package);

/* Return the time for a host of @package to start, where the configuration gives @configured_ms. */
uint64_t package_start_ms(const struct package *package, uint64_t configured_ms);

/* Return the place of its libraries in its manifest. */
const char *package_library_place(const struct package *package);

/* Return whether its hosts run below a guard (worker/sandbox/guard.h). */
bool package_has_guard(const struct package *package);

/* Return the name of the sandbox class of its hosts; NULL: its kind has none. */
const char *package_sandbox_name(const struct package *package);

/* Return whether its hosts may start programs, with processor time apart from the host's. */
bool package_starts_programs(const struct package *package);

CLEANUP_DEFINE(package, struct package *, package_unref)
