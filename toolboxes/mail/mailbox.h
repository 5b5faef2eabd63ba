/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MAIL_MAILBOX_H
#define MAIL_MAILBOX_H

#include <stdbool.h>

/* Return whether @address is LOCAL@DOMAIN in ASCII: a dot-atom of at most 64 characters, and a name
 * of hosts (RFC 5321, 4.1.2, without quoted strings and addresses in brackets). */
bool mailbox_is_good(const char *address);

#endif
