/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SYSTEM_FIELDS_H
#define SYSTEM_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Texts of the kernel, as functions of strings: no file is read here. */

/* Find the line `NAME SEPARATOR VALUE` of @text, with white space around the separator or without.
 * Copy the value, cut to @room - 1 bytes, to @ret_value. */
bool field_find(const char *text, const char *name, char separator, char *ret_value, size_t room);

/* A line of /proc/PID/stat (proc(5)). */
struct process_line {
	char name[64];  /* cut by the kernel at 15 bytes */
	char state;     /* R, S, D, Z, T, … */
	uint64_t ticks; /* of processor time: user and system */
	uint64_t pages; /* resident */
};

/* Read a line of /proc/PID/stat. Its name may have spaces and parentheses. */
bool process_line_read(const char *text, struct process_line *ret_line);

/* A device in /proc/asound/pcm: `00-03: HDMI 0 : HDMI 0 : playback 1`. */
struct pcm_line {
	unsigned int card;
	unsigned int device;
	char name[96];
	bool plays;
	bool records;
};

/* Read one line of /proc/asound/pcm, which ends at a line feed or at the NUL. */
bool pcm_line_read(const char *text, struct pcm_line *ret_line);

/* A card in /proc/asound/cards: ` 0 [PCH            ]: HDA-Intel - HDA Intel PCH`. */
struct card_line {
	char id[32];
	char name[96];
};

/* Find the card @card in the text of /proc/asound/cards. */
bool card_find(const char *text, unsigned int card, struct card_line *ret_card);

/* A line of /proc/net/route: addresses in network byte order. */
struct route_line {
	char interface[16];
	uint32_t destination;
	uint32_t gateway;
	uint32_t mask;
	uint32_t flags;
	uint32_t metric;
};

/* Read one line of /proc/net/route. Its first line, the titles, is none. */
bool route_line_read(const char *text, struct route_line *ret_line);

/* Return the line after the one at @text; NULL at the end. */
const char *next_line(const char *text);

#endif
