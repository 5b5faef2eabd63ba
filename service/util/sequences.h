/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

/*
 * The escape sequences of terminals (ECMA-48) in a text for other readers: colours, titles, links.
 *
 *   ESC [ parameters final   CSI              ESC ] … BEL or ESC \  OSC; DCS, SOS, PM and APC, too
 *   ESC intermediates final  such as ESC ( B  ESC final             such as ESC 7
 *
 * A cut or malformed sequence ends before the first impossible byte. A string (OSC …) whose end is
 * not in its line is no string: only its two first bytes are one.
 */

/* Remove the sequences from the @size bytes at @text, in place. Return how many bytes are left. */
size_t sequences_remove(char *text, size_t size);
