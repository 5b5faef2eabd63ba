/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The checks of format.c: each returns whether the @size bytes of UTF-8 at @text have the format of
 * its name. */

/* RFC 3339 section 5.6 and appendix A. A leap second is at 23:59:60 UTC. */
bool format_is_date(const char *text, size_t size);
bool format_is_time(const char *text, size_t size);
bool format_is_date_time(const char *text, size_t size);
bool format_is_duration(const char *text, size_t size);

/* RFC 9562 section 4. */
bool format_is_uuid(const char *text, size_t size);

/* RFC 2673 section 3.2 and RFC 4291 section 2.2. */
bool format_is_ipv4(const char *text, size_t size);
bool format_is_ipv6(const char *text, size_t size);

/* RFC 1123 section 2.1; labels with xn-- at their start also RFC 5891 section 4.4. */
bool format_is_hostname(const char *text, size_t size);

/* The @size bytes after "xn--" as an A-label: RFC 3492, RFC 5892. */
bool format_is_a_label(const char *text, size_t size);

/* RFC 5321 section 4.1.2, Mailbox. */
bool format_is_email(const char *text, size_t size);

/* RFC 3986. */
bool format_is_uri(const char *text, size_t size);
bool format_is_uri_reference(const char *text, size_t size);

/* RFC 6901 section 3. */
bool format_is_json_pointer(const char *text, size_t size);
