/* SPDX-License-Identifier: Apache-2.0 */
#include "search/fold.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unicase.h>
#include <unictype.h>
#include <uninorm.h>
#include <unistr.h>

/* Marks above, below and beside a letter have these combining classes (Unicode 4.3): accents. Vowel
 * signs of other scripts have lower ones, and stay. */
#define ACCENT_CLASS_MIN 200

static struct {
	const struct unicode_normalization_form *nfkd;
	__typeof__(&u8_normalize) normalize;
	__typeof__(&u8_casefold) casefold;
	__typeof__(&u8_mbtouc) decode;
	__typeof__(&uc_combining_class) combining_class;
	__typeof__(&uc_is_general_category_withtable) has_category;
	__typeof__(&uc_is_property_ideographic) is_ideographic;
} unistring;

static bool is_loaded;
static pthread_once_t is_looked_for = PTHREAD_ONCE_INIT;

static void look_for_libunistring(void)
{
	void *library = dlopen(UNISTRING_SONAME, RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return;
	unistring.nfkd = dlsym(library, "uninorm_nfkd");
	unistring.normalize = dlsym(library, "u8_normalize");
	unistring.casefold = dlsym(library, "u8_casefold");
	unistring.decode = dlsym(library, "u8_mbtouc");
	unistring.combining_class = dlsym(library, "uc_combining_class");
	unistring.has_category = dlsym(library, "uc_is_general_category_withtable");
	unistring.is_ideographic = dlsym(library, "uc_is_property_ideographic");
	is_loaded = unistring.nfkd && unistring.normalize && unistring.casefold &&
		    unistring.decode && unistring.combining_class && unistring.has_category &&
		    unistring.is_ideographic;
}

bool fold_load(void)
{
	pthread_once(&is_looked_for, look_for_libunistring);
	return is_loaded;
}

uint32_t fold_next(const char *text, size_t size, size_t *at)
{
	ucs4_t code = (unsigned char)text[*at];
	int length = 1;

	if (code >= 0x80)
		length = unistring.decode(&code, (const uint8_t *)text + *at, size - *at);
	*at += length > 0 ? (size_t)length : 1;
	return code;
}

/* Append the folded text without accents. */
static void append_letters(const uint8_t *text, size_t size, struct buffer *out)
{
	size_t at = 0;

	while (at < size) {
		size_t start = at;
		uint32_t code = fold_next((const char *)text, size, &at);

		if (code < 0x80 || unistring.combining_class(code) < ACCENT_CLASS_MIN)
			buffer_append(out, text + start, at - start);
	}
}

void fold_text(const char *text, size_t size, struct buffer *out)
{
	size_t n_plain;
	size_t n_folded;
	uint8_t *plain =
		unistring.normalize(unistring.nfkd, (const uint8_t *)text, size, NULL, &n_plain);
	uint8_t *folded =
		plain ? unistring.casefold(plain, n_plain, NULL, unistring.nfkd, NULL, &n_folded)
		      : NULL;

	if (folded)
		append_letters(folded, n_folded, out);
	else if (out->error == 0)
		out->error = -ENOMEM;
	free(folded);
	free(plain);
}

enum fold_class fold_class(uint32_t code)
{
	if (unistring.is_ideographic(code))
		return FOLD_ALONE;
	return unistring.has_category(
		       code, UC_CATEGORY_MASK_L | UC_CATEGORY_MASK_N | UC_CATEGORY_MASK_M)
		       ? FOLD_LETTER
		       : FOLD_SEPARATOR;
}
