/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "config/config.h"
#include "offer/disposal.h"
#include "offer/expiry.h"
#include "offer/mistakes.h"
#include "offer/prepared_reload.h"
#include "offer/outages.h"
#include "offer/problems.h"
#include "offer/offer.h"
#include "loader/loader.h"
#include "loader/watcher.h"
#include "loop/loop.h"
#include "manifest/folders.h"
#include "util/buffer.h"
#include "util/log.h"
#include "util/file/paths.h"

/*
 * Reloads: when the toolboxes are loaded again.
 *
 *   start, request, ──▶ configuration ──▶ loader ──▶ offer_swap ──▶ changed, done
 *   SIGHUP, watcher       │                 │
 *                  closed └──▶ answers      └─ a request meanwhile waits for the next one, which
 *                                              follows
 *
 * A guest that comes, changes or goes begins a load of guests alone: the rest of the catalogue in
 * force stays as it is. One load is under way at a time.
 *
 * While the configuration is closed since the start (config/config.h), nothing is loaded, and the
 * service is not ready.
 */

/* Parts of the service changed or used by a reload, all borrowed. */
struct reload_parts {
	struct loop *loop;
	struct config *config; /* read again by each reload */
	struct offer *offer;
	struct disposal *disposal; /* frees the replaced packages */
};

/* Callbacks, with the data that reload_init() was given. */
struct reload_handler {
	/* A reload begins. Return whether done() uses reload.tools. */
	bool (*begun)(void *data);
	/* Other tools are offered: @members of ovos.tools.changed. */
	void (*changed)(void *data, const struct buffer *members);
	void (*done)(void *data);        /* a reload ended, good or bad … */
	void (*ready)(void *data);       /* … then, after the first load, this … */
	void (*reloaded)(void *data);    /* … and after each later one this */
	void (*start_again)(void *data); /* only another start reads what was mended */
	void (*configured)(void *data);  /* another configuration is in force */
	/* Fill the empty @ret_set with the guests for the load that begins. */
	void (*list_guests)(void *data, struct guest_set *ret_set);
	/* The load has ended: @set with the outcomes, which are in force if @is_taken. A load of
	 * guests alone took @spent_ms; any other 0. */
	void (*take_guests)(
		void *data, const struct guest_set *set, bool is_taken, uint64_t spent_ms);
};

/* The end of a reload. */
enum reload_outcome {
	RELOAD_CHANGED, /* other tools are offered */
	RELOAD_UNCHANGED,
	RELOAD_FAILED, /* the configuration is closed, or memory is short: nothing was loaded */
	RELOAD_OUTCOMES,
};

struct reload {
	struct reload_parts parts;
	const struct config_flags *flags; /* borrowed; the configuration is read again with them */
	const struct paths *paths;        /* borrowed */
	struct reload_handler handler;
	void *data;

	struct watcher *watcher;     /* watcher of registrations; NULL: there is no inotify */
	struct loader *loader;       /* NULL: no reload is under way */
	struct prepared_reload next; /* comes with its catalogue; made beside the loop */
	struct buffer tools;         /* prepared_reload.tools, for done() */
	uint64_t outcomes[RELOAD_OUTCOMES];
	uint64_t generation;            /* number of the catalogue loaded last, or being loaded */
	bool is_ready;                  /* the first load is done */
	bool starts_again;              /* only another start reads what was mended */
	bool is_wanted;                 /* another reload follows the one under way … */
	struct loop_timer following;    /* … in a turn of the loop of its own */
	bool is_unwatched;              /* the files of the new catalogue are watched there, too */
	struct loop_timer rewatch;      /* a load that watches what was not, for want of memory */
	struct folders_listing listing; /* the registration folders as they are being loaded … */
	struct text_list programs;      /* … the folders of programs in them … */
	bool is_listed;                 /* … if they could be listed, watched before */
	struct guest_set guests;        /* the guests of the load under way */
	bool asks_again;    /* the next one asks interpreters again what their tools are */
	bool is_background; /* the one under way waits for servers, and gives way to a change … */
	bool is_background_next;     /* … or the one that follows */
	struct expiry expiry;        /* the next end of an entry of disabled.json in force */
	struct loop_timer retry;     /* asks servers without a list again */
	uint32_t n_retries;          /* how often, since each had; 0: each has */
	struct loop_timer relisting; /* asks servers with changed lists again … */
	uint32_t n_relistings;       /* … how often without a rest between … */
	uint64_t relisted_ms;        /* … and when it was armed last */
	struct asking *asking;       /* questions to servers; they outlive loads … */
	struct loop_timer arrival;   /* … and the load for their answers … */
	bool takes_answers;          /* … is the next one */
	struct outages outages;      /* unreachable servers … */
	struct text_list away;       /* … and the ones out for too long, for the load under way */
	uint64_t refresh_after_ms;   /* when reload_refresh() may begin one again */

	struct mistakes mistakes; /* mistakes of the configuration */
	struct problems problems; /* problems of toolboxes and of names */
	struct log_rate reloads;  /* lines about reloads, at anybody's request */
	uint64_t begun_ms;        /* when the one under way began */
	bool is_asked;            /* somebody asked for the one under way … */
	bool is_asked_next;       /* … or for the one that follows */
	bool has_logged_sandbox;  /* the restrictions missing in this system were logged */
};

/* Make @reload ready, with toolboxes and the configuration watched where the system can. @paths and
 * @flags outlive it; @handler is copied, @data passed to it. @mistakes of the configuration in
 * force are taken over. 0 or a negative errno. */
int reload_init(struct reload *reload, const struct reload_parts *parts,
	const struct config_flags *flags, const struct paths *paths, struct mistakes *mistakes,
	const struct reload_handler *handler, void *data);

/* Stop loading and watching. Waiting requests get no answer. */
void reload_deinit(struct reload *reload);

/* Return the word for @outcome: `changed`, `unchanged` or `failed`. */
const char *reload_outcome_name(enum reload_outcome outcome);

/* Begin a reload, or have another one follow the one under way. */
void reload_begin(struct reload *reload);

/* Begin a requested reload: interpreters are asked again for their tools, whatever is cached, and
 * the log has a line, whatever has changed. */
void reload_ask_again(struct reload *reload);

/* Begin a reload and ask interpreters again, without a line in the log for its own sake, at most
 * once in a few seconds. */
void reload_refresh(struct reload *reload);

/* Begin a reload in the background for servers with stale tools, after a moment, a longer one each
 * time when servers change all the time. */
void reload_list_again(struct reload *reload);

/* Begin a reload once no further news has arrived for a moment: something was installed. */
void reload_soon(struct reload *reload);

/* Take in the guests, as list_guests() lists them, without a load of anything else. Nothing happens
 * when a load is under way, or before the first one: take_guests() follows in any case. */
void reload_guests(struct reload *reload);

/* Return whether a change is pending: seen and not loaded yet, or a reload. */
bool reload_is_pending(struct reload *reload);

/* Read the configuration again. A closed one does not replace an open one.
 * (offer/configuration.c) */
void reload_configuration(struct reload *reload);

/* Watch the registration folders, the files from which the present toolboxes are made, and the
 * configuration's files; @is_again: in a reload that has called this before. (offer/watch.c) */
void reload_watch(struct reload *reload, bool is_again);

/* Have the next reload_watch() list the registration folders anew. (offer/watch.c) */
void reload_drop_listing(struct reload *reload);
