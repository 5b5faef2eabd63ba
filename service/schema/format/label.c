/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "schema/format/check.h"
#include "util/buffer.h"
#include "util/cleanup.h"
#include "util/utf8.h"

/*
 * Internationalised labels of host names: what stands behind "xn--" is decoded (RFC 3492), and what
 * comes out must be a label that IDNA 2008 allows (RFC 5891 section 4.2.3, RFC 5892). Its rules for
 * characters and their neighbours are one pattern, compiled for each such label: they are rare.
 */

#define LABEL_POINTS_MAX 63
#define CODE_POINT_MAX   0x10FFFF

/* Parameters of RFC 3492 section 5. */
#define BASE          36
#define THRESHOLD_MIN 1
#define THRESHOLD_MAX 26
#define SKEW          38
#define DAMP          700
#define INITIAL_BIAS  72
#define INITIAL_N     128

/* Characters that cause no visible change to what they join: a virama comes before. */
#define VIRAMAS                                                                                    \
	"\\x{94d}\\x{9cd}\\x{a4d}\\x{acd}\\x{b4d}\\x{bcd}\\x{c4d}\\x{ccd}\\x{d4d}\\x{dca}"         \
	"\\x{e3a}\\x{f84}\\x{1039}\\x{1714}\\x{1734}\\x{17d2}\\x{1a60}\\x{1b44}\\x{1baa}"          \
	"\\x{1bf2}\\x{1bf3}\\x{2d7f}\\x{a806}\\x{a8c4}\\x{a953}\\x{a9c0}\\x{aaf6}\\x{abed}"
/* Arabic letters that join on both sides, and those that join only to what is before them. */
#define JOIN_BOTH                                                                                  \
	"\\x{620}\\x{626}\\x{628}\\x{62a}-\\x{62e}\\x{633}-\\x{63f}\\x{641}-\\x{647}"              \
	"\\x{649}\\x{64a}\\x{66e}\\x{66f}\\x{678}-\\x{687}\\x{69a}-\\x{6bf}\\x{6c1}\\x{6c2}"       \
	"\\x{6cc}\\x{6ce}\\x{6d0}\\x{6d1}\\x{6fa}-\\x{6fc}\\x{6ff}"
#define JOIN_BEFORE                                                                                \
	"\\x{622}-\\x{625}\\x{627}\\x{629}\\x{62f}-\\x{632}\\x{648}\\x{671}-\\x{673}"              \
	"\\x{675}-\\x{677}\\x{688}-\\x{699}\\x{6c0}\\x{6c3}-\\x{6cb}\\x{6cd}\\x{6cf}"              \
	"\\x{6d2}\\x{6d3}\\x{6d5}\\x{6ee}\\x{6ef}"
/* Letters that RFC 5892 section 2.6 does not allow, and those that need a context (appendix A). */
#define EXCLUDED                                                                                   \
	"\\x{b7}\\x{375}\\x{5f3}\\x{5f4}\\x{640}\\x{7fa}\\x{302e}\\x{302f}\\x{3031}-\\x{3035}"     \
	"\\x{303b}\\x{30fb}\\x{200c}\\x{200d}"

static const char label_pattern[] =
	"^(?!\\p{M})(?!..--)"
	"(?!.*[\\x{660}-\\x{669}].*[\\x{6f0}-\\x{6f9}])"
	"(?!.*[\\x{6f0}-\\x{6f9}].*[\\x{660}-\\x{669}])"
	"(?![^\\p{Hiragana}\\p{Katakana}\\p{Han}]*\\x{30fb}[^\\p{Hiragana}\\p{Katakana}\\p{Han}]*$)"
	"(?:"
	"(?![" EXCLUDED "])[-\\p{Ll}\\p{Lo}\\p{Lm}\\p{Mn}\\p{Mc}\\p{Nd}"
	"\\x{6fd}\\x{6fe}\\x{f0b}\\x{3007}]"
	"|(?<=l)\\x{b7}(?=l)"
	"|\\x{375}(?=\\p{Greek})"
	"|(?<=\\p{Hebrew})[\\x{5f3}\\x{5f4}]"
	"|\\x{30fb}"
	"|(?<=[" VIRAMAS "])[\\x{200c}\\x{200d}]"
	"|(?<=[" JOIN_BOTH "])\\x{200c}(?=[" JOIN_BOTH JOIN_BEFORE "])"
	")+$";

/* A digit of RFC 3492 section 5, or BASE. */
static uint32_t digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return (uint32_t)(c - '0') + 26;
	if ((c | 0x20) >= 'a' && (c | 0x20) <= 'z')
		return (uint32_t)((c | 0x20) - 'a');
	return BASE;
}

/* RFC 3492 section 6.1. */
static uint32_t adapt(uint32_t delta, uint32_t points, bool is_first)
{
	uint32_t k = 0;

	delta = is_first ? delta / DAMP : delta / 2;
	delta += delta / points;
	for (; delta > (BASE - THRESHOLD_MIN) * THRESHOLD_MAX / 2; k += BASE)
		delta /= BASE - THRESHOLD_MIN;
	return k + (BASE - THRESHOLD_MIN + 1) * delta / (delta + SKEW);
}

/* A generalised variable-length integer (section 3.3) at *@at, added to *@value. */
static bool read_delta(const char **at, const char *end, uint32_t bias, uint32_t *value)
{
	uint32_t weight = 1;

	for (uint32_t k = BASE;; k += BASE) {
		uint32_t threshold = k <= bias ? THRESHOLD_MIN : k - bias;
		uint32_t digit = *at < end ? digit_value(*(*at)++) : BASE;
		uint32_t product;

		if (threshold > THRESHOLD_MAX)
			threshold = THRESHOLD_MAX;
		if (digit >= BASE || __builtin_mul_overflow(digit, weight, &product) ||
			__builtin_add_overflow(*value, product, value))
			return false;
		if (digit < threshold)
			return true;
		if (__builtin_mul_overflow(weight, BASE - threshold, &weight))
			return false;
	}
}

/* Section 6.2. Returns the number of code points, or 0. */
static uint32_t decode(const char *text, size_t size, uint32_t points[LABEL_POINTS_MAX])
{
	const char *delimiter = size > 0 ? memrchr(text, '-', size) : NULL;
	const char *end = text + size;
	uint32_t count = 0;
	uint32_t code = INITIAL_N;
	uint32_t bias = INITIAL_BIAS;
	uint32_t i = 0;

	for (; delimiter && text < delimiter; text++)
		points[count++] = (unsigned char)*text;
	if (delimiter)
		text = delimiter + 1;
	while (text < end) {
		uint32_t before = i;

		if (count == LABEL_POINTS_MAX || !read_delta(&text, end, bias, &i))
			return 0;
		count++;
		bias = adapt(i - before, count, before == 0);
		code += i / count;
		i %= count;
		if (code > CODE_POINT_MAX || (code >= 0xD800 && code <= 0xDFFF))
			return 0;
		memmove(points + i + 1, points + i, (count - 1 - i) * sizeof(*points));
		points[i++] = code;
	}
	return code == INITIAL_N && i == 0 ? 0 : count;
}

static bool matches_rules(const struct buffer *label)
{
	pcre2_match_data *match = NULL;
	PCRE2_SIZE offset;
	int error;
	int r = -1;
	pcre2_code *code = pcre2_compile((PCRE2_SPTR)label_pattern, PCRE2_ZERO_TERMINATED,
		PCRE2_UTF | PCRE2_NO_UTF_CHECK | PCRE2_DOLLAR_ENDONLY, &error, &offset, NULL);

	if (code)
		match = pcre2_match_data_create(1, NULL);
	if (match)
		r = pcre2_match(code, (PCRE2_SPTR)label->data, label->size, 0, PCRE2_NO_UTF_CHECK,
			match, NULL);
	pcre2_match_data_free(match);
	pcre2_code_free(code);
	return r >= 0;
}

bool format_is_a_label(const char *text, size_t size)
{
	cleanup(buffer_deinit) struct buffer label = {0};
	uint32_t points[LABEL_POINTS_MAX];
	uint32_t count;

	if (size > LABEL_POINTS_MAX)
		return false;
	count = decode(text, size, points);
	for (uint32_t i = 0; i < count; i++) {
		char bytes[4];

		buffer_append(&label, bytes, utf8_encode(points[i], bytes));
	}
	return count > 0 && buffer_status(&label) == 0 && matches_rules(&label);
}
