/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Lines of a person at a terminal, with editing and history by libedit. It is loaded when it is
 * needed, since only this command has a use for it; without it, or without a terminal, a line is
 * read as it comes.
 */

/* Return the next line without its newline, which the caller frees; NULL at the end. @prompt is
 * shown on a terminal. */
char *chat_line_read(const char *prompt);
