/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bus/address.h"
#include "config/approval.h"
#include "config/approval_key.h"
#include "config/layers/flags.h"
#include "config/http.h"
#include "config/limits.h"
#include "config/listen.h"
#include "config/profiles.h"
#include "config/remembered.h"
#include "config/rules.h"
#include "config/toolboxes.h"
#include "util/buffer.h"
#include "util/diagnostic.h"
#include "util/log.h"
#include "util/text/text_list.h"

/*
 * The configuration: the mycroft.conf stack, the environment, the flags (contract.md,
 * Configuration).
 *
 *   distribution < system < $XDG_CONFIG_DIRS < $XDG_CONFIG_HOME < --config   objects merge deep
 *                                    │
 *               keys `toolboxd`, `websocket`, `PHAL.ovos-phal-plugin-tools`
 *                                    │
 *                       environment < flags  ──▶ struct config
 *
 * A file that cannot be read or parsed, an unknown key and a wrong value close the configuration,
 * since they may hide a restriction: a daemon started with it offers nothing, and at a reload the
 * one in force stays. If the schema has another effect for it (`x-mistake`), a mistake is reported
 * with its file and path, and the value of a lower layer or the default is used.
 *
 * A bus named by the environment or a flag takes the place of the whole `websocket` section.
 */

enum config_duplicates {
	CONFIG_DUPLICATES_ERROR,
	CONFIG_DUPLICATES_LAST,
};

/* Toolboxes brought by other processes (contract.md, Guests). */
struct config_guests {
	bool is_enabled;
	uint32_t max;   /* toolboxes */
	uint32_t tools; /* in all toolboxes together */
	enum tool_risk risk;
};

struct config {
	struct bus_address bus;
	struct text_list toolbox_dirs; /* low to high */
	bool has_toolbox_dirs;         /* set; else those are the default ones */
	bool has_answer_sources;       /* @answer_sources is set; else all may answer */
	bool is_disabled;              /* `enabled` is false: nothing is served */
	struct text_list tools_enabled;
	struct text_list tools_disabled;
	struct text_list experimental;
	struct text_list embedded_origins;
	uint64_t embedded_stall_s;
	char embedded_token[BUS_TOKEN_BYTES]; /* "": no token is needed; BUS_TOKEN_UNKNOWN when a
	                                       * closing mistake may hide a token */
	char *embedded_token_file;            /* NULL: none is named */
	enum config_duplicates duplicate_names;
	enum approval_mode approval_mode;
	struct config_profiles profiles;
	struct config_access *access;
	size_t n_access;
	struct config_caller *callers;
	size_t n_callers;
	uint64_t callers_digest;         /* the same for the same rules; 0: there are none */
	struct text_list approval_allow; /* with the names of @allowed */
	struct config_remembered allowed;
	struct config_remembered enabled;
	struct config_remembered disabled;
	struct text_list disabled_why; /* the reason of each entry of @disabled, for a person */
	struct text_list folders;      /* the folders of both, low to high */
	const char *filter_variable;   /* the variable with the filter; NULL: no variable */
	uint64_t approval_timeout_ms;
	struct text_list answer_sources; /* patterns: the sources of answers */
	struct approval_key approval_key;
	char *approval_key_file; /* its file, after config_read_approval_key() */
	uint32_t result_max_chars;
	enum sandbox_class sandbox_max; /* the widest for a toolbox */
	uint64_t timeout_ms;            /* 0: the kind's */
	uint64_t job_timeout_ms;
	uint64_t jobs_keep_hours;
	uint64_t start_timeout_ms;
	uint64_t idle_s;
	uint64_t drain_ms;
	uint32_t crash_limit; /* 0: off */
	uint64_t crash_window_s;
	struct config_limits limits;
	struct config_guests guests;
	bool events_calls;
	bool events_arguments;
	bool events_results;
	bool audit_arguments;
	bool audit_required;
	char *audit_file; /* NULL: off */
	uint64_t audit_max_bytes;
	enum log_level log_level;
	enum log_format log_format;
	char *search_language; /* NULL: the default */
	char *plugins; /* `PHAL.ovos-phal-plugin-tools`, by entry points: an object; or NULL */
	struct config_toolbox *toolboxes;
	size_t n_toolboxes;
	struct config_http http;
	const char *stemmer; /* for search.language (search/language.h) */
	struct config_listen listen;
	char *lang; /* the language of the device: `lang` of mycroft.conf; NULL: none is set */
	uint64_t start_digest; /* digest of what only a start reads; the same for the same values */
	const char *trace_files; /* the flag's value; borrowed */
	/* from the flags: the toolboxes differ from the ones meant by the files */
	bool is_second;
	char *closed;         /* the closing mistake, as "FILE:LINE POINTER: text"; or NULL */
	struct buffer merged; /* the merged JSON text */
};

enum config_status {
	CONFIG_E_REFUSED = 1, /* no bus can be served with it; the reason is reported */
	CONFIG_E_USAGE,       /* a flag has an unusable value; it is reported */
};

/*
 * Read everything, from files, environment and @flags, and call @report with @data for everything
 * that is wrong. Return 0 with @ret_config filled (config_deinit), which may be closed;
 * CONFIG_E_REFUSED, CONFIG_E_USAGE,
 * -ENOMEM, or the negative errno of a shortage of descriptors.
 */
int config_read(const struct config_flags *flags, diagnostic_function report, void *data,
	struct config *ret_config);

/* Call @visit with @data for the path of every file sought by config_read(), whether it exists or
 * not. Return 0, or a negative errno: then fewer were visited. */
int config_each_file(
	const struct config_flags *flags, void (*visit)(void *data, const char *path), void *data);

/* Call @visit with @data for each folder whose files are all read by config_read(). Return as
 * config_each_file() does. */
int config_each_folder(void (*visit)(void *data, const char *path), void *data);

/* As config_read(), but read only the address of the bus and, if this user can read it, its token:
 * a client needs nothing else. */
int config_read_bus(const struct config_flags *flags, diagnostic_function report, void *data,
	struct bus_address *ret_address);

/* As config_read_bus(), but read only the place of the key for answering (*ret_path: NULL when it
 * is not configured; the caller frees it) and, if this user can read it, the key. */
int config_read_approval_key(const struct config_flags *flags, diagnostic_function report,
	void *data, char **ret_path, struct approval_key *ret_key);

/* Report to @sink, with @severity, the named, but missing folders of toolboxes. */
void config_report_absent_folders(const struct config *config, enum diagnostic_severity severity,
	const struct diagnostic_sink *sink);

void config_deinit(struct config *config);

/* Return `toolboxes.<id>`, or NULL. */
const struct config_toolbox *config_toolbox_find(
	const struct config *config, const char *toolbox_id);

/* Return whether `toolboxes.<id>.enabled` is true (the default). */
bool config_toolbox_is_enabled(const struct config *config, const char *toolbox_id);
