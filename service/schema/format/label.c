/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <idn2.h>
#include <stdint.h>
#include <string.h>

#include "schema/format/check.h"

/*
 * Internationalised labels of host names, judged by libidn2: it decodes the label (RFC 3492), checks
 * the result by the rules for registration (RFC 5891 section 4, RFC 5892, RFC 5893) with its own
 * tables of Unicode, and encodes it again.
 */

#define PREFIX          "xn--"
#define LABEL_BYTES_MAX 63

/* Host names ignore case (RFC 4343), but libidn2 takes small letters only. */
bool format_is_a_label(const char *text, size_t size)
{
	char label[LABEL_BYTES_MAX + 1] = PREFIX;
	size_t used = strlen(PREFIX);
	uint8_t *name = NULL;
	int r;

	if (size > LABEL_BYTES_MAX - used || memchr(text, '\0', size))
		return false;
	for (size_t i = 0; i < size; i++)
		label[used++] = (char)tolower((unsigned char)text[i]);
	r = idn2_register_u8(NULL, (const uint8_t *)label, &name, 0);
	idn2_free(name);
	return r == IDN2_OK;
}
