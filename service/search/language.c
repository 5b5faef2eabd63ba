/* SPDX-License-Identifier: Apache-2.0 */
#include "search/language.h"

#include <string.h>
#include <strings.h>

#include "util/array.h"

/* The stemmers of libstemmer 2.2, and the subtags of their languages (ISO 639-1). */
static const struct {
	const char *tag;
	const char *stemmer;
} languages[] = {{"ar", "arabic"}, {"hy", "armenian"}, {"eu", "basque"}, {"ca", "catalan"},
	{"da", "danish"}, {"nl", "dutch"}, {"en", "english"}, {"fi", "finnish"}, {"fr", "french"},
	{"de", "german"}, {"el", "greek"}, {"hi", "hindi"}, {"hu", "hungarian"},
	{"id", "indonesian"}, {"ga", "irish"}, {"it", "italian"}, {"lt", "lithuanian"},
	{"ne", "nepali"}, {"no", "norwegian"}, {"nb", "norwegian"}, {"nn", "norwegian"},
	{"", "porter"}, {"pt", "portuguese"}, {"ro", "romanian"}, {"ru", "russian"},
	{"sr", "serbian"}, {"es", "spanish"}, {"sv", "swedish"}, {"ta", "tamil"}, {"tr", "turkish"},
	{"yi", "yiddish"}};

const char *search_language_stemmer(const char *language)
{
	size_t size = strcspn(language, "-");

	for (size_t i = 0; i < ARRAY_SIZE(languages); i++)
		if (strcasecmp(languages[i].stemmer, language) == 0 ||
			(size > 0 && strlen(languages[i].tag) == size &&
				strncasecmp(languages[i].tag, language, size) == 0))
			return languages[i].stemmer;
	return NULL;
}
