/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The language of the words in definitions and queries, for the stemmers of libstemmer. */
#define SEARCH_LANGUAGE_DEFAULT "english"

/* Return the name of the stemmer for @language, which is a name of libstemmer or a language tag
 * (RFC 5646) of which the first subtag counts, in any letter case. NULL: there is no such
 * stemmer. */
const char *search_language_stemmer(const char *language);

/* The names and tags as a list for a message. */
#define SEARCH_LANGUAGES                                                                           \
	"a language tag like \"de\" or \"de-AT\", or one of arabic, armenian, basque, catalan, "   \
	"danish, dutch, english, finnish, french, german, greek, hindi, hungarian, indonesian, "   \
	"irish, italian, lithuanian, nepali, norwegian, porter, portuguese, romanian, russian, "   \
	"serbian, spanish, swedish, tamil, turkish, yiddish"
