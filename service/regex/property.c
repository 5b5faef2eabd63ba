/* SPDX-License-Identifier: Apache-2.0 */
#include "regex/property.h"

#include <string.h>

#include "util/array.h"
#include "util/text/text.h"

/* The general categories with long names, and PCRE2's short names for them. */
static const struct {
	const char *name;
	const char *category;
} categories[] = {{"Cased_Letter", "L&"}, {"LC", "L&"}, {"Close_Punctuation", "Pe"},
	{"Combining_Mark", "M"}, {"Connector_Punctuation", "Pc"}, {"Control", "Cc"},
	{"Currency_Symbol", "Sc"}, {"Dash_Punctuation", "Pd"}, {"Decimal_Number", "Nd"},
	{"Enclosing_Mark", "Me"}, {"Final_Punctuation", "Pf"}, {"Format", "Cf"},
	{"Initial_Punctuation", "Pi"}, {"Letter", "L"}, {"Letter_Number", "Nl"},
	{"Line_Separator", "Zl"}, {"Lowercase_Letter", "Ll"}, {"Mark", "M"}, {"Math_Symbol", "Sm"},
	{"Modifier_Letter", "Lm"}, {"Modifier_Symbol", "Sk"}, {"Nonspacing_Mark", "Mn"},
	{"Number", "N"}, {"Open_Punctuation", "Ps"}, {"Other", "C"}, {"Other_Letter", "Lo"},
	{"Other_Number", "No"}, {"Other_Punctuation", "Po"}, {"Other_Symbol", "So"},
	{"Paragraph_Separator", "Zp"}, {"Private_Use", "Co"}, {"Punctuation", "P"},
	{"Separator", "Z"}, {"Space_Separator", "Zs"}, {"Spacing_Mark", "Mc"}, {"Surrogate", "Cs"},
	{"Symbol", "S"}, {"Titlecase_Letter", "Lt"}, {"Unassigned", "Cn"},
	{"Uppercase_Letter", "Lu"}, {"cntrl", "Cc"}, {"digit", "Nd"}, {"punct", "P"}};

static bool is_name_char(char c)
{
	return text_is_alphanumeric(c) || c == '_' || c == '=';
}

static bool is_prefix(const char *name, size_t size, const char *prefix)
{
	size_t length = strlen(prefix);

	return size > length && memcmp(name, prefix, length) == 0;
}

bool property_translate(char letter, const char *name, size_t size, struct buffer *out)
{
	static const char *const prefixes[] = {"gc=", "General_Category="};

	for (size_t i = 0; i < size; i++) {
		if (!is_name_char(name[i]))
			return false;
	}
	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++) {
		if (is_prefix(name, size, prefixes[i])) {
			name += strlen(prefixes[i]);
			size -= strlen(prefixes[i]);
			break;
		}
	}
	if (text_is(name, size, "Assigned")) {
		buffer_printf(out, "\\%c{Cn}", letter == 'p' ? 'P' : 'p');
		return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(categories); i++) {
		if (text_is(name, size, categories[i].name)) {
			buffer_printf(out, "\\%c{%s}", letter, categories[i].category);
			return true;
		}
	}
	buffer_printf(out, "\\%c{%.*s}", letter, (int)size, name);
	return size > 0;
}
