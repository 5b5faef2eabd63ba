/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "config/remembered.h"
#include "ctl/options.h"
#include "ctl/session.h"
#include "util/text/text_list.h"

/*
 * The files of remembered decisions (config/remembered.h): the service's, perhaps of another user,
 * so the service is asked for their folders.
 */

/* Ask for the folders, low to high; the last is for writing. Return 0 with @ret_folders, which the
 * caller deinits, or an enum ctl_status after a complaint. */
int own_files_ask(struct ctl_session *session, struct text_list *ret_folders);

/* The same with the names of approval.allow in the configuration of the service, which the caller
 * deinits. */
int own_files_ask_allowed(struct ctl_session *session, struct text_list *ret_folders,
	struct text_list *ret_configured);

/* Ask for the state folder, likewise: a list of one. */
int own_files_ask_state(struct ctl_session *session, struct text_list *ret_folders);

/* Read the entries of the file @file of @folder into @entries. An absent file has none. Return 0,
 * or CTL_ERROR after a complaint: an unreadable file is not replaced. */
int own_files_read(const char *folder, const char *file, struct config_remembered *entries);

/* Let no other toolboxctl change the own files below the last of @folders until the descriptor
 * *ret_lock is closed: a file read from then on is still the same when replaced. root locks as the
 * owner of the folder. Return 0, or CTL_ERROR after a complaint about @name, as of
 * own_files_write(). */
int own_files_lock(const struct ctl_options *options, const struct text_list *folders,
	const char *name, int *ret_lock);

/* Write @text as the file @name of the folder @below of the last of @folders ("": of that itself);
 * NULL: remove it. root writes as the owner of the folder. Return 0, or CTL_ERROR after a complaint
 * with the command for another user to type. */
int own_files_write(const struct ctl_options *options, const struct text_list *folders,
	const char *below, const char *name, const struct buffer *text);

/* Have the service read them. Return an enum ctl_status after complaints about what it cannot
 * use. */
int own_files_reload(struct ctl_session *session, const struct ctl_options *options);

/* Complain that another program has undone the change of @what since it was written. Return
 * CTL_ERROR. */
int own_files_complain_lost(const char *what);
