/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <dlfcn.h>
#include <idn2.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "schema/format/check.h"

/*
 * Internationalised labels of host names, judged by libidn2: it decodes the label (RFC 3492),
 * checks the result by the rules for registration (RFC 5891 section 4, RFC 5892, RFC 5893) with its
 * own tables of Unicode, and encodes it again.
 *
 * libidn2 and its libunistring are loaded with the first label: linked, they cost each start 0.2 MB
 * and 0.2 ms, and few schemas ask for them. Without them no such label is valid.
 */

#define LIBRARY "libidn2.so.0"

#define PREFIX          "xn--"
#define LABEL_BYTES_MAX 63

static struct {
	__typeof__(&idn2_register_u8) register_u8;
	__typeof__(&idn2_free) free;
} libidn2;

static pthread_once_t is_looked_for = PTHREAD_ONCE_INIT;

static void look_for_libidn2(void)
{
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return;
	libidn2.register_u8 = dlsym(library, "idn2_register_u8");
	libidn2.free = dlsym(library, "idn2_free");
}

/* Return whether libidn2 is loaded. */
static bool load_libidn2(void)
{
	pthread_once(&is_looked_for, look_for_libidn2);
	return libidn2.register_u8 && libidn2.free;
}

/* Host names ignore case (RFC 4343), but libidn2 takes small letters only. */
bool format_is_a_label(const char *text, size_t size)
{
	char label[LABEL_BYTES_MAX + 1] = PREFIX;
	size_t used = strlen(PREFIX);
	uint8_t *name = NULL;
	int r;

	if (size > LABEL_BYTES_MAX - used || memchr(text, '\0', size) || !load_libidn2())
		return false;
	for (size_t i = 0; i < size; i++)
		label[used++] = (char)tolower((unsigned char)text[i]);
	r = libidn2.register_u8(NULL, (const uint8_t *)label, &name, 0);
	libidn2.free(name);
	return r == IDN2_OK;
}
