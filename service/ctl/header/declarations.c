/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/header/declarations.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/header/ctype.h"
#include "ctl/header/parser.h"
#include "util/array.h"
#include "util/cleanup.h"

/* The most tokens between the brackets of an array: each use of its type has their text again. */
#define COUNT_TOKENS_MAX 64

/* ── types ───────────────────────────────────────────────────────────────────────────────────── */

static struct c_type *new_type(
	struct c_parser *parser, enum c_kind kind, const struct c_type *of, const char *name)
{
	struct c_type *type;

	if (of && of->depth >= C_DEPTH_MAX)
		parser_fail(parser);
	if (parser->error)
		return NULL;
	type = parser_allocate(parser, sizeof(*type));
	if (type)
		*type = (struct c_type){.kind = kind,
			.of = of,
			.name = name,
			.count = "",
			.depth = (uint16_t)(of ? of->depth + 1 : 0)};
	return type;
}

/* The words of a basic type, in any order. */
struct words {
	unsigned int n; /* all of them */
	unsigned int n_long;
	bool is_short, is_char, is_signed, is_unsigned, is_float, is_double, is_bool, is_void;
	bool is_int, is_other;
};

static const char *const other_words[] = {"_Complex", "__complex__", "__complex", "__int128",
	"__int128_t", "__uint128_t", "_Float16", "_Float32", "_Float64", "_Float128", "_Float32x",
	"_Float64x", "__float128", "__builtin_va_list", "_Decimal32", "_Decimal64", "_Decimal128",
	"__bf16", "__fp16"};

/* Take the current token if it is a word of a basic type. */
static bool take_basic_word(struct c_parser *parser, struct words *words)
{
	const struct {
		const char *text;
		bool *is_there;
	} table[] = {{"short", &words->is_short}, {"char", &words->is_char},
		{"int", &words->is_int}, {"signed", &words->is_signed},
		{"__signed__", &words->is_signed}, {"__signed", &words->is_signed},
		{"unsigned", &words->is_unsigned}, {"float", &words->is_float},
		{"double", &words->is_double}, {"_Bool", &words->is_bool},
		{"void", &words->is_void}};

	if (parser_is(parser, "long")) {
		words->n_long++;
	} else if (parser_is_word(parser, other_words, ARRAY_SIZE(other_words))) {
		words->is_other = true;
	} else {
		size_t i = 0;

		while (i < ARRAY_SIZE(table) && !parser_is(parser, table[i].text))
			i++;
		if (i == ARRAY_SIZE(table))
			return false;
		*table[i].is_there = true;
	}
	words->n++;
	parser_advance(parser);
	return true;
}

/* Return the integer type of @words. */
static struct c_type *make_integer(struct c_parser *parser, const struct words *words)
{
	static const struct {
		const char *names[2]; /* signed, unsigned */
		uint8_t bytes;
	} table[] = {
		{{"signed char", "unsigned char"}, sizeof(char)},
		{{"short", "unsigned short"}, sizeof(short)},
		{{"int", "unsigned int"}, sizeof(int)},
		{{"long", "unsigned long"}, sizeof(long)},
		{{"long long", "unsigned long long"}, sizeof(long long)},
	};
	size_t row = words->is_char    ? 0
		     : words->is_short ? 1
				       : 2 + (words->n_long > 2 ? 2 : words->n_long);
	struct c_type *type =
		new_type(parser, C_INTEGER, NULL, table[row].names[words->is_unsigned]);

	if (!type)
		return NULL;
	type->is_char = words->is_char;
	type->bytes = table[row].bytes;
	type->is_signed = !words->is_unsigned;
	if (words->is_char && !words->is_signed && !words->is_unsigned) {
		type->name = "char";
		type->is_signed = CHAR_MIN < 0;
	}
	return type;
}

static struct c_type *make_basic(struct c_parser *parser, const struct words *words)
{
	struct c_type *type;

	if (words->is_other)
		return new_type(parser, C_OTHER, NULL, "a type that no tool can have");
	if (words->is_void)
		return new_type(parser, C_VOID, NULL, "void");
	if (words->is_bool)
		return new_type(parser, C_BOOL, NULL, "_Bool");
	if (!words->is_float && !words->is_double)
		return make_integer(parser, words);
	type = new_type(parser, C_FLOAT, NULL,
		words->is_float ? "float"
		: words->n_long ? "long double"
				: "double");
	if (type)
		type->bytes = words->is_float ? sizeof(float)
			      : words->n_long ? sizeof(long double)
					      : sizeof(double);
	return type;
}

/* ── constant expressions ────────────────────────────────────────────────────────────────────── */

static const struct c_type *parse_type_name(struct c_parser *parser);
static bool begins_type(const struct c_parser *parser);

struct value {
	uint64_t bits;
	bool is_known;
	bool is_unsigned; /* it comes from an unsigned number */
};

static struct value parse_binary(struct c_parser *parser, int least);

static struct value parse_number(struct c_parser *parser)
{
	const struct c_token *word = parser_token(parser);
	char text[32];
	char *end;
	struct value value = {0};

	if (word->length < sizeof(text)) {
		memcpy(text, parser->tokens->text + word->offset, word->length);
		text[word->length] = '\0';
		value.bits = strtoull(text, &end, 0);
		value.is_known = end[strspn(end, "uUlL")] == '\0';
		value.is_unsigned = strpbrk(end, "uU") || value.bits > INT64_MAX;
	}
	parser_advance(parser);
	return value;
}

/* Return the value of a character without an escape; any other is unknown. */
static struct value parse_character(struct c_parser *parser)
{
	const struct c_token *word = parser_token(parser);
	const char *text = parser->tokens->text + word->offset;
	struct value value = {.bits = (unsigned char)text[1],
		.is_known = word->length == 3 && *text == '\'' && text[1] != '\\'};

	parser_advance(parser);
	return value;
}

static struct value parse_sizeof(struct c_parser *parser)
{
	const struct c_type *type = NULL;
	uint64_t size;

	parser_expect(parser, "(");
	if (!parser->error && begins_type(parser))
		type = parse_type_name(parser);
	else
		parser_fail(parser);
	parser_expect(parser, ")");
	size = parser->error ? 0 : c_type_size(type);
	return (struct value){size, size > 0, true};
}

static struct value parse_name_value(struct c_parser *parser)
{
	const struct c_name *name = parser_known_name(parser);
	struct value value = {0};

	if (name && name->enumerator)
		value = (struct value){.bits = (uint64_t)name->enumerator->value,
			.is_known = name->enumerator->is_known};
	parser_advance(parser);
	return value;
}

static struct value parse_unary(struct c_parser *parser)
{
	struct value value = {0};

	if (!parser_open(parser))
		return value;
	if (parser_take(parser, "-")) {
		value = parse_unary(parser);
		value.bits = -value.bits;
	} else if (parser_take(parser, "~")) {
		value = parse_unary(parser);
		value.bits = ~value.bits;
	} else if (parser_take(parser, "!")) {
		value = parse_unary(parser);
		value.bits = !value.bits;
	} else if (parser_take(parser, "+")) {
		value = parse_unary(parser);
	} else if (parser_take(parser, "sizeof")) {
		value = parse_sizeof(parser);
	} else if (parser_take(parser, "(")) {
		bool is_cast = begins_type(parser);

		if (is_cast)
			parse_type_name(parser);
		else
			value = parse_binary(parser, 0);
		parser_expect(parser, ")");
		if (is_cast)
			value = parse_unary(parser);
	} else if (parser_token(parser)->kind == C_TOKEN_NUMBER) {
		value = parse_number(parser);
	} else if (parser_token(parser)->kind == C_TOKEN_TEXT) {
		value = parse_character(parser);
	} else if (parser_token(parser)->kind == C_TOKEN_NAME) {
		value = parse_name_value(parser);
	} else {
		parser_fail(parser);
	}
	parser->n_open--;
	return value;
}

/* Operators by their strength. Comparisons are signed: enumerators are ints. */
static const struct op {
	const char *text;
	int strength;
} operators[] = {{"||", 1}, {"&&", 2}, {"|", 3}, {"^", 4}, {"&", 5}, {"==", 6}, {"!=", 6}, {"<", 7},
	{">", 7}, {"<=", 7}, {">=", 7}, {"<<", 8}, {">>", 8}, {"+", 9}, {"-", 9}, {"*", 10},
	{"/", 10}, {"%", 10}};

static uint64_t apply_operator(const char *text, uint64_t a, uint64_t b)
{
	switch (text[0]) {
	case '|':
		return text[1] ? a || b : a | b;
	case '&':
		return text[1] ? a && b : a & b;
	case '^':
		return a ^ b;
	case '=':
		return a == b;
	case '!':
		return a != b;
	case '<':
		if (text[1] == '<')
			return b < 64 ? a << b : 0;
		return text[1] ? (int64_t)a <= (int64_t)b : (int64_t)a < (int64_t)b;
	case '>':
		if (text[1] == '>')
			return b < 64 ? (uint64_t)((int64_t)a >> b) : 0;
		return text[1] ? (int64_t)a >= (int64_t)b : (int64_t)a > (int64_t)b;
	case '+':
		return a + b;
	case '-':
		return a - b;
	case '*':
		return a * b;
	case '/':
		/* By 0 it is 0, and unknown. By -1 it is the product, also of the least number. */
		return b + 1 < 2 ? a * b : (uint64_t)((int64_t)a / (int64_t)b);
	default:
		return b + 1 < 2 ? 0 : (uint64_t)((int64_t)a % (int64_t)b);
	}
}

/* Return whether apply_operator() has the value that C has. It takes a large unsigned number for a
 * negative one, and in C the other operand becomes unsigned, too. */
static bool is_computed(const struct op *op, const struct value *a, const struct value *b)
{
	bool has_sign = (int64_t)a->bits < 0 || (int64_t)b->bits < 0;
	bool asks_sign = strchr("<>/%", *op->text) && strcmp(op->text, "<<") != 0;

	if (!a->is_known || !b->is_known || (strchr("/%", *op->text) && b->bits == 0))
		return false;
	return !asks_sign || !has_sign || !(a->is_unsigned || b->is_unsigned);
}

static struct value parse_binary(struct c_parser *parser, int least)
{
	struct value left = parse_unary(parser);

	while (!parser->error) {
		const struct op *op = operators;
		struct value right;

		while (op < operators + ARRAY_SIZE(operators) && !parser_is(parser, op->text))
			op++;
		if (op == operators + ARRAY_SIZE(operators) || op->strength <= least)
			break;
		parser_advance(parser);
		right = parse_binary(parser, op->strength);
		left.is_known = is_computed(op, &left, &right);
		left.is_unsigned = left.is_unsigned || right.is_unsigned;
		left.bits = apply_operator(op->text, left.bits, right.bits);
	}
	return left;
}

/* Evaluate the tokens up to one of the marks @stops, a text of single characters, outside of
 * parentheses. An expression that is not understood is unknown, and no error. */
static struct value evaluate(struct c_parser *parser, const char *stops)
{
	size_t begin = parser->at;
	size_t end;
	struct value value;

	while (!parser->error && !parser_is_end(parser)) {
		const struct c_token *mark = parser_token(parser);

		if (mark->length == 1 && strchr(stops, parser->tokens->text[mark->offset]))
			break;
		if (parser_opens(parser))
			parser_skip_balanced(parser);
		else
			parser_advance(parser);
	}
	end = parser->at;
	if (parser->error || begin == end)
		return (struct value){0};
	parser->at = begin;
	value = parse_binary(parser, 0);
	if (parser->error == PARSE_E_SYNTAX || parser->at != end)
		value.is_known = false;
	if (parser->error == PARSE_E_SYNTAX)
		parser->error = 0;
	parser->at = end;
	return value;
}

/* ── structs and enums ───────────────────────────────────────────────────────────────────────── */

struct specifiers {
	struct c_type *type;
	bool is_typedef;
	bool is_static;
};

static void parse_specifiers(struct c_parser *parser, struct specifiers *ret_specifiers);
static struct c_type *parse_declarator(
	struct c_parser *parser, struct c_type *base, const char **ret_name, size_t *ret_at);

static void add_field(struct c_parser *parser, struct c_record *record, const char *name,
	const struct c_type *type, bool is_bits)
{
	struct c_field *fields =
		parser_grow(parser, record->fields, record->n_fields, sizeof(*record->fields));

	if (!fields)
		return;
	record->fields = fields;
	fields[record->n_fields++] = (struct c_field){name, type, is_bits};
}

/* Read the members of one declaration in a struct. */
static void parse_members(struct c_parser *parser, struct c_record *record)
{
	struct specifiers specifiers;

	parse_specifiers(parser, &specifiers);
	if (!parser->error && parser_is(parser, ";"))
		add_field(parser, record, NULL, specifiers.type, false);
	while (!parser->error && !parser_is(parser, ";")) {
		const char *name = NULL;
		struct c_type *type = specifiers.type;
		bool is_bits;

		if (!parser_is(parser, ":"))
			type = parse_declarator(parser, specifiers.type, &name, NULL);
		is_bits = parser_take(parser, ":");
		if (is_bits)
			evaluate(parser, ",;");
		parser_skip_attributes(parser);
		if (!parser->error)
			add_field(parser, record, name, type, is_bits);
		if (!parser_take(parser, ","))
			break;
	}
	parser_expect(parser, ";");
}

static void parse_record_body(struct c_parser *parser, struct c_record *record)
{
	while (!parser->error && !parser_take(parser, "}"))
		if (!parser_take(parser, ";"))
			parse_members(parser, record);
}

static void parse_enum_body(struct c_parser *parser, struct c_record *record)
{
	struct value next = {.is_known = true};

	while (!parser->error && !parser_take(parser, "}")) {
		struct c_enumerator *items = parser_grow(parser, record->enumerators,
			record->n_enumerators, sizeof(*record->enumerators));
		struct c_name *name = NULL;

		if (parser_token(parser)->kind != C_TOKEN_NAME)
			parser_fail(parser);
		else
			name = parser_add_name(parser, SPACE_ORDINARY, parser_token_text(parser));
		if (parser->error || !items || !name)
			return;
		parser_advance(parser);
		parser_skip_attributes(parser);
		if (parser_take(parser, "="))
			next = evaluate(parser, ",}");
		record->enumerators = items;
		items[record->n_enumerators] =
			(struct c_enumerator){name->text, (int64_t)next.bits, next.is_known};
		name->enumerator = parser_allocate(parser, sizeof(*name->enumerator));
		if (name->enumerator)
			memcpy((void *)name->enumerator, &items[record->n_enumerators],
				sizeof(*items));
		record->n_enumerators++;
		next.bits++;
		if (!parser_take(parser, ",") && !parser_is(parser, "}"))
			parser_fail(parser);
	}
}

/* Return the type of the tag, or one without a tag for NULL. */
static struct c_type *tag_type(struct c_parser *parser, enum c_kind kind, const char *tag)
{
	struct c_name *name = tag ? parser_add_name(parser, SPACE_TAG, tag) : NULL;
	struct c_type *type;

	if (parser->error || (name && name->type && name->type->kind != kind))
		return parser_fail(parser), NULL;
	type = new_type(parser, kind, NULL, tag);
	if (!type)
		return NULL;
	if (name && name->type) {
		type->record = name->type->record;
		return type;
	}
	type->record = parser_allocate(parser, sizeof(*type->record));
	if (!type->record)
		return NULL;
	*type->record = (struct c_record){.tag = tag};
	if (name)
		name->type = type;
	return type;
}

/* Read a struct, a union or an enum after its word. */
static struct c_type *parse_record(struct c_parser *parser, enum c_kind kind)
{
	const char *tag = NULL;
	const struct c_token *begin;
	struct c_type *type;

	parser_skip_attributes(parser);
	if (!parser->error && parser_token(parser)->kind == C_TOKEN_NAME) {
		tag = parser_token_text(parser);
		parser_advance(parser);
	}
	type = tag_type(parser, kind, tag);
	if (!type || !parser_is(parser, "{")) {
		if (type && !tag)
			parser_fail(parser);
		return type;
	}
	if (!parser_open(parser))
		return NULL;
	begin = parser_token(parser);
	parser_advance(parser);
	if (type->record->is_complete)
		parser_fail(parser);
	else if (kind == C_ENUM)
		parse_enum_body(parser, type->record);
	else
		parse_record_body(parser, type->record);
	if (!parser->error && kind != C_ENUM)
		c_record_measure(type->record, kind == C_UNION);
	if (!parser->error)
		type->record->is_complete = true;
	type->record->file = parser->tokens->files[begin->file];
	type->record->line = begin->line;
	parser->n_open--;
	parser_skip_attributes(parser);
	return type;
}

/* ── specifiers ──────────────────────────────────────────────────────────────────────────────── */

static const char *const qualifiers[] = {"volatile", "__volatile__", "__volatile", "restrict",
	"__restrict", "__restrict__", "_Atomic", "extern", "inline", "__inline", "__inline__",
	"_Noreturn", "register", "auto", "_Thread_local", "__thread", "__extension__", "_Nonnull",
	"_Nullable", "noreturn"};
static const char *const const_words[] = {"const", "__const", "__const__"};
static const char *const type_words[] = {"struct", "union", "enum", "long", "short", "char", "int",
	"signed", "__signed__", "__signed", "unsigned", "float", "double", "_Bool", "void",
	"typeof", "__typeof__", "__typeof"};

static bool is_const_word(const struct c_parser *parser)
{
	return parser_is_word(parser, const_words, ARRAY_SIZE(const_words));
}

static bool begins_type(const struct c_parser *parser)
{
	return is_const_word(parser) ||
	       parser_is_word(parser, type_words, ARRAY_SIZE(type_words)) ||
	       parser_is_word(parser, qualifiers, ARRAY_SIZE(qualifiers)) ||
	       parser_is_word(parser, other_words, ARRAY_SIZE(other_words)) ||
	       parser_known_typedef(parser);
}

static struct c_type *parse_typeof(struct c_parser *parser)
{
	parser_advance(parser);
	if (parser_is(parser, "("))
		parser_skip_balanced(parser);
	else
		parser_fail(parser);
	return new_type(parser, C_OTHER, NULL, "typeof(...)");
}

static struct c_type *parse_named(struct c_parser *parser, const struct c_type *meaning)
{
	const char *name = parser_token_text(parser);

	parser_advance(parser);
	return new_type(parser, C_NAMED, meaning, name);
}

/* Take a storage class, a qualifier or an attribute. Return whether there was one. */
static bool take_qualifier(struct c_parser *parser, struct specifiers *specifiers, bool *is_const)
{
	if (is_const_word(parser))
		*is_const = true;
	else if (parser_is(parser, "typedef"))
		specifiers->is_typedef = true;
	else if (parser_is(parser, "static"))
		specifiers->is_static = true;
	else if (!parser_is_word(parser, qualifiers, ARRAY_SIZE(qualifiers)))
		return parser_skip_attribute(parser);
	parser_advance(parser);
	return true;
}

static void parse_specifiers(struct c_parser *parser, struct specifiers *ret_specifiers)
{
	struct specifiers specifiers = {0};
	struct words words = {0};
	bool is_const = false;

	while (!parser->error && !parser_is_end(parser)) {
		const struct c_type *meaning;

		if (take_qualifier(parser, &specifiers, &is_const))
			continue;
		if (!specifiers.type && take_basic_word(parser, &words))
			continue;
		if (specifiers.type || words.n > 0)
			break;
		meaning = parser_known_typedef(parser);
		if (meaning)
			specifiers.type = parse_named(parser, meaning);
		else if (parser_take(parser, "struct"))
			specifiers.type = parse_record(parser, C_STRUCT);
		else if (parser_take(parser, "union"))
			specifiers.type = parse_record(parser, C_UNION);
		else if (parser_take(parser, "enum"))
			specifiers.type = parse_record(parser, C_ENUM);
		else if (parser_is(parser, "typeof") || parser_is(parser, "__typeof__") ||
			 parser_is(parser, "__typeof"))
			specifiers.type = parse_typeof(parser);
		else
			break;
	}
	if (!parser->error && words.n > 0)
		specifiers.type = make_basic(parser, &words);
	if (!specifiers.type)
		parser_fail(parser);
	else
		specifiers.type->is_const |= is_const;
	*ret_specifiers = specifiers;
}

/* ── declarators ─────────────────────────────────────────────────────────────────────────────── */

static void add_parameter(struct c_parser *parser, struct c_type *function, const char *name,
	const struct c_type *type)
{
	struct c_parameter *parameters = parser_grow(
		parser, (void *)function->parameters, function->n_parameters, sizeof(*parameters));

	if (!parameters)
		return;
	function->parameters = parameters;
	parameters[function->n_parameters++] = (struct c_parameter){name, type};
}

/* Read the parameters up to the closing parenthesis. */
static void parse_parameters(struct c_parser *parser, struct c_type *function)
{
	while (!parser->error && !parser_take(parser, ")")) {
		struct specifiers specifiers;
		const char *name = NULL;
		const struct c_type *type;

		if (parser_take(parser, "...")) {
			function->is_variadic = true;
			parser_expect(parser, ")");
			return;
		}
		parse_specifiers(parser, &specifiers);
		type = parser->error ? NULL
				     : parse_declarator(parser, specifiers.type, &name, NULL);
		parser_skip_attributes(parser);
		if (parser->error || !type)
			return;
		if (type->kind == C_VOID && !name && function->n_parameters == 0 &&
			parser_is(parser, ")"))
			continue;
		add_parameter(parser, function, name, type);
		if (!parser_take(parser, ",") && !parser_is(parser, ")"))
			parser_fail(parser);
	}
}

/* Read what follows a name: the brackets of arrays, the parameters of a function. */
static struct c_type *parse_suffixes(struct c_parser *parser, struct c_type *base)
{
	struct c_type *type;

	if (!parser_open(parser))
		return NULL;
	if (parser_take(parser, "(")) {
		struct c_type *function = new_type(parser, C_FUNCTION, NULL, NULL);

		if (!function)
			return NULL;
		parse_parameters(parser, function);
		parser_skip_attributes(parser);
		type = parser->error ? NULL : parse_suffixes(parser, base);
		if (type)
			function->of = type;
		if (type && type->depth >= C_DEPTH_MAX)
			parser_fail(parser);
		else if (type)
			function->depth = (uint16_t)(type->depth + 1);
		type = parser->error ? NULL : function;
	} else if (parser_is(parser, "[") && !parser_skip_attribute(parser)) {
		size_t begin;
		struct value n;
		const char *count;

		parser_advance(parser);
		while (parser_is(parser, "static") || is_const_word(parser) ||
			parser_is_word(parser, qualifiers, ARRAY_SIZE(qualifiers)))
			parser_advance(parser);
		begin = parser->at;
		n = evaluate(parser, "]");
		if (parser->at - begin > COUNT_TOKENS_MAX)
			parser_fail(parser);
		count = parser->error ? NULL : parser_copy_tokens(parser, begin, parser->at);
		parser_expect(parser, "]");
		type = parse_suffixes(parser, base);
		type = type ? new_type(parser, C_ARRAY, type, NULL) : NULL;
		if (type) {
			type->count = count ? count : "";
			type->n_elements = n.is_known ? n.bits : 0;
		}
	} else {
		type = base;
	}
	parser->n_open--;
	return parser->error ? NULL : type;
}

static struct c_type *parse_pointers(struct c_parser *parser, struct c_type *base)
{
	while (!parser->error && base) {
		if (parser_take(parser, "*") || parser_take(parser, "^")) {
			base = new_type(parser, C_POINTER, base, NULL);
		} else if (is_const_word(parser)) {
			if (base->kind == C_POINTER)
				base->is_const = true;
			parser_advance(parser);
		} else if (parser_is_word(parser, qualifiers, ARRAY_SIZE(qualifiers))) {
			parser_advance(parser);
		} else if (!parser_skip_attribute(parser)) {
			break;
		}
	}
	return parser->error ? NULL : base;
}

/* Return whether the parenthesis here begins a declarator, not parameters. */
static bool is_nested(struct c_parser *parser)
{
	bool is_one;

	if (!parser_is(parser, "("))
		return false;
	parser->at++;
	is_one = parser_is(parser, "*") || parser_is(parser, "^") || parser_is(parser, "(") ||
		 parser_is(parser, "[") || parser_is_attribute(parser) ||
		 (parser_token(parser)->kind == C_TOKEN_NAME && !begins_type(parser));
	parser->at--;
	return is_one;
}

/* Read a declarator around @base. *ret_name (NULL: abstract) and *ret_at, the token of the name,
 * are of its innermost part. A nested declarator is read after its suffixes, which are nearer to
 * the base. */
static struct c_type *parse_declarator(
	struct c_parser *parser, struct c_type *base, const char **ret_name, size_t *ret_at)
{
	struct c_type *type = parse_pointers(parser, base);
	size_t begin;
	size_t end;

	if (!type || !parser_open(parser))
		return NULL;
	if (is_nested(parser)) {
		begin = parser->at + 1;
		parser_skip_balanced(parser);
		type = parse_suffixes(parser, type);
		end = parser->at;
		parser->at = begin;
		type = type ? parse_declarator(parser, type, ret_name, ret_at) : NULL;
		if (type)
			parser_expect(parser, ")");
		parser->at = end;
	} else {
		if (parser_token(parser)->kind == C_TOKEN_NAME) {
			*ret_name = parser_token_text(parser);
			if (ret_at)
				*ret_at = parser->at;
			parser_advance(parser);
			parser_skip_attributes(parser);
		}
		type = parse_suffixes(parser, type);
	}
	parser->n_open--;
	return parser->error ? NULL : type;
}

static const struct c_type *parse_type_name(struct c_parser *parser)
{
	struct specifiers specifiers;
	const char *name = NULL;

	parse_specifiers(parser, &specifiers);
	return parser->error ? NULL : parse_declarator(parser, specifiers.type, &name, NULL);
}

/* ── declarations ────────────────────────────────────────────────────────────────────────────── */

static void keep_typedef(struct c_parser *parser, const char *text, const struct c_type *type)
{
	struct c_name *name = parser_add_name(parser, SPACE_ORDINARY, text);

	if (!name || name->type)
		return;
	name->type = type;
	if (type->record && !type->record->alias)
		type->record->alias = name->text;
}

/* Keep a function. A second declaration of a name is not read: a compiler holds both to each other.
 * @at: the token of its name. */
static void keep_function(struct c_parser *parser, const char *text, const struct c_type *type,
	const struct specifiers *specifiers, size_t at)
{
	struct c_declarations *all = parser->all;
	struct c_name *name = parser_add_name(parser, SPACE_ORDINARY, text);
	const struct c_token *word = &parser->tokens->items[at];

	if (!name || name->function || name->type)
		return;
	if (array_grow(all->functions, all->n_functions) < 0) {
		parser->error = -ENOMEM;
		return;
	}
	name->function = parser_allocate(parser, sizeof(*name->function));
	if (!name->function)
		return;
	*name->function = (struct c_function){
		.name = name->text,
		.type = type,
		.file = parser->tokens->files[word->file],
		.file_number = word->file,
		.line = word->line,
		.comment = C_COMMENT_NONE,
		.comment_after = C_COMMENT_NONE,
		.is_static = specifiers->is_static,
	};
	all->functions[all->n_functions++] = name->function;
}

/* Read one declarator of a declaration and what may follow it. */
static void parse_one(struct c_parser *parser, const struct specifiers *specifiers)
{
	const char *name = NULL;
	size_t at = parser->at;
	struct c_type *type = parse_declarator(parser, specifiers->type, &name, &at);

	parser_skip_attributes(parser);
	if (parser->error)
		return;
	if (!name)
		parser_fail(parser);
	else if (specifiers->is_typedef)
		keep_typedef(parser, name, type);
	else if (c_type_resolve(type)->kind == C_FUNCTION)
		keep_function(parser, name, c_type_resolve(type), specifiers, at);
	if (parser_take(parser, "="))
		evaluate(parser, ",;");
}

static void parse_declaration(struct c_parser *parser)
{
	struct specifiers specifiers;

	if (parser_take(parser, ";"))
		return;
	if (parser_take(parser, "_Static_assert") || parser_take(parser, "static_assert")) {
		if (parser_is(parser, "("))
			parser_skip_balanced(parser);
		parser_expect(parser, ";");
		return;
	}
	if (parser_skip_attribute(parser) && parser_take(parser, ";"))
		return;
	parse_specifiers(parser, &specifiers);
	while (!parser->error && !parser_is(parser, ";")) {
		parse_one(parser, &specifiers);
		if (!parser->error && parser_is(parser, "{")) {
			parser_skip_balanced(parser);
			return;
		}
		if (!parser_take(parser, ","))
			break;
	}
	parser_expect(parser, ";");
}

/* Go to the end of the declaration that began at the token @begin and was not understood. */
static void recover(struct c_parser *parser, size_t begin)
{
	parser->error = 0;
	parser->n_open = 0;
	parser->at = begin;
	parser->all->n_skipped++;
	while (!parser_is_end(parser)) {
		bool is_body = parser_is(parser, "{");

		if (parser_take(parser, ";"))
			return;
		if (parser_opens(parser))
			parser_skip_balanced(parser);
		else
			parser_advance(parser);
		parser->error = 0;
		/* A body ends a function; after a struct's body its declarators follow. */
		if (is_body && !parser_is(parser, ";") && begins_type(parser))
			return;
	}
}

/* Note the surroundings of the functions from @first on, which one declaration has. */
static void keep_surroundings(struct c_parser *parser, size_t first, size_t begin)
{
	struct c_declarations *all = parser->all;

	for (size_t i = first; i < all->n_functions; i++) {
		struct c_function *function = all->functions[i];

		function->comment = parser->tokens->items[begin].comment;
		function->comment_after = parser_token(parser)->first_comment;
		function->is_deprecated = parser->is_deprecated;
	}
}

static int cleanup_parser(struct c_parser *parser)
{
	if (parser->error >= 0)
		return 0;
	c_declarations_deinit(parser->all);
	return parser->error;
}

int c_declarations_read(const struct c_tokens *tokens, struct c_declarations *ret_declarations)
{
	struct c_parser parser = {.tokens = tokens, .all = ret_declarations};

	*ret_declarations = (struct c_declarations){0};
	while (parser.error == 0 && !parser_is_end(&parser)) {
		size_t begin = parser.at;
		size_t first = ret_declarations->n_functions;

		parser.is_deprecated = false;
		parser.n_open = 0;
		parse_declaration(&parser);
		if (parser.error == PARSE_E_SYNTAX)
			recover(&parser, begin);
		keep_surroundings(&parser, first, begin);
	}
	return cleanup_parser(&parser);
}

void c_declarations_deinit(struct c_declarations *declarations)
{
	parser_release(declarations);
	free(declarations->functions);
	*declarations = (struct c_declarations){0};
}

const struct c_function *c_find_function(
	const struct c_declarations *declarations, const char *name)
{
	const struct c_name *found = parser_find_name(declarations, SPACE_ORDINARY, name);

	return found ? found->function : NULL;
}

const struct c_type *c_find_typedef(const struct c_declarations *declarations, const char *name)
{
	const struct c_name *found = parser_find_name(declarations, SPACE_ORDINARY, name);

	return found ? found->type : NULL;
}

const struct c_enumerator *c_find_enumerator(
	const struct c_declarations *declarations, const char *name)
{
	const struct c_name *found = parser_find_name(declarations, SPACE_ORDINARY, name);

	return found ? found->enumerator : NULL;
}

const struct c_type *c_find_tag(const struct c_declarations *declarations, const char *tag)
{
	const struct c_name *found = parser_find_name(declarations, SPACE_TAG, tag);

	return found ? found->type : NULL;
}
