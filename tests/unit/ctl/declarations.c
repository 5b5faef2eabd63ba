/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/header/declarations.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scarce.h"
#include "util/array.h"
#include "util/cleanup.h"

TestSuite(ctl_declarations, .timeout = 20);

struct read {
	struct c_tokens tokens;
	struct c_declarations all;
};

static void read_deinit(struct read *read)
{
	c_declarations_deinit(&read->all);
	c_tokens_deinit(&read->tokens);
}

static struct read read_text(const char *text)
{
	struct read read;

	cr_assert_eq(c_tokens_read(text, strlen(text), &read.tokens), 0);
	cr_assert_eq(c_declarations_read(&read.tokens, &read.all), 0);
	return read;
}

/* Expect the functions of @text, each written as in @functions, with newlines. */
static void expect(const char *text, const char *functions)
{
	cleanup(read_deinit) struct read read = read_text(text);
	cleanup(buffer_deinit) struct buffer out = {0};

	for (size_t i = 0; i < read.all.n_functions; i++) {
		buffer_append_string(&out, i > 0 ? "\n" : "");
		c_function_write(read.all.functions[i]->type, read.all.functions[i]->name, &out);
	}
	cr_expect_str_eq(buffer_terminate(&out), functions);
	cr_expect_eq(read.all.n_skipped, 0, "%s", text);
}

Test(ctl_declarations, reads_functions)
{
	expect("int a(void); extern char *b(const char *text, unsigned long int n);",
		"int a(void)\nchar *b(const char *, unsigned long)");
	expect("void old();", "void old(void)");
	expect("int one(int), two(char);", "int one(int)\nint two(char)");
	expect("int print(const char *format, ...);", "int print(const char *, ...)");
	expect("int (parenthesized)(int);", "int parenthesized(int)");
	expect("long long unsigned f(short int, signed char, long double);",
		"unsigned long long f(short, signed char, long double)");
}

Test(ctl_declarations, reads_declarators_from_the_inside)
{
	expect("void (*signal(int n, void (*handler)(int)))(int);",
		"void (*signal(int, void (*)(int)))(int)");
	expect("int rows(double (*matrix)[3], char names[4][8], int open[]);",
		"int rows(double (*)[3], char [4][8], int [])");
	expect("char *const *list(char const *const a[static 2]);",
		"char *const *list(const char *const [2])");
	expect("int (*(*f(void))[5])(int);", "int (*(*f(void))[5])(int)");
	expect("int f(int (int), int ());", "int f(int (int), int (void))");
}

Test(ctl_declarations, skips_what_is_no_part_of_a_type)
{
	expect("extern __inline __attribute__((__gnu_inline__)) int f(int x) { return x ? 1 : 2; }"
	       "int g(int) __asm__(\"\" \"g64\") __attribute__ ((__nothrow__, nonnull (1)));",
		"int f(int)\nint g(int)");
	expect("_Static_assert(sizeof(int) == 4, \"int\"); [[nodiscard]] int f(void);"
	       "int value = 3 * (4 + 5), other[] = {1, 2};;",
		"int f(void)");
	expect("__extension__ typedef struct { int a[2]; } s; int f(s *__restrict p);",
		"int f(s *)");
	expect("static int hidden(void) { for (;;) { } } int after(void);",
		"int hidden(void)\nint after(void)");
	expect("# 3 \"a.h\"\n#pragma once\nint f(/* why */ int); // end", "int f(int)");
}

Test(ctl_declarations, knows_typedefs_and_names_that_hide_them)
{
	expect("typedef unsigned int uint; typedef uint *uintp; int f(uint uint, uintp);",
		"int f(uint, uintp)");
	expect("typedef int callback(void *); int f(callback *c); callback g;",
		"int f(callback *)\nint g(void *)");
	expect("typedef struct s s; int f(const s *s);", "int f(const s *)");
}

Test(ctl_declarations, recovers_after_a_declaration_that_is_not_understood)
{
	cleanup(read_deinit) struct read read =
		read_text("int a(void); int broken(unknown_type x); @ nonsense { ; } int b(void);");

	cr_expect(c_find_function(&read.all, "a") != NULL);
	cr_expect(c_find_function(&read.all, "b") != NULL);
	cr_expect_null(c_find_function(&read.all, "broken"));
	cr_expect_geq(read.all.n_skipped, 1);
}

Test(ctl_declarations, keeps_the_place_of_a_function)
{
	cleanup(read_deinit) struct read read =
		read_text("# 1 \"/usr/include/x.h\" 1 3\n\n/* About f.\n */\nint\nf(void);\n"
			  "# 90 \"y.h\" 2\nint g(void) __attribute__((deprecated));");
	const struct c_function *f = c_find_function(&read.all, "f");
	const struct c_function *g = c_find_function(&read.all, "g");

	cr_assert(f && g);
	cr_expect_str_eq(f->file, "/usr/include/x.h");
	cr_expect_eq(f->line, 5);
	cr_expect_neq(f->comment, C_COMMENT_NONE);
	cr_expect(!f->is_deprecated);
	cr_expect_str_eq(g->file, "y.h");
	cr_expect_eq(g->line, 90);
	cr_expect_eq(g->comment, C_COMMENT_NONE);
	cr_expect(g->is_deprecated);
}

/* A text of @n times @part around nothing. */
static char *repeat(const char *begin, const char *part, size_t n, const char *end)
{
	struct buffer text = {0};

	buffer_append_string(&text, begin);
	for (size_t i = 0; i < n; i++)
		buffer_append_string(&text, part);
	buffer_append_string(&text, end);
	return buffer_take(&text, NULL);
}

static void expect_value(const struct read *read, const char *name, int64_t value)
{
	const struct c_enumerator *enumerator = c_find_enumerator(&read->all, name);

	cr_assert(enumerator, "%s", name);
	cr_expect(enumerator->is_known, "%s", name);
	cr_expect_eq(enumerator->value, value, "%s: %ld, not %ld", name, (long)enumerator->value,
		(long)value);
}

Test(ctl_declarations, computes_enumerators)
{
	cleanup(read_deinit) struct read read = read_text(
		"enum e { A, B = 5, C, D = (1 << 4) | B, E = -1, F = ~0 & 0xffU, G = 'x',"
		" H = (int)(2 + 3 * 4) / 2, I = sizeof(long) == 8 ? 1 : 2, J = A == 0 && B > C,"
		" K = sizeof(char *), L = unknown };");

	expect_value(&read, "A", 0);
	expect_value(&read, "C", 6);
	expect_value(&read, "D", 21);
	expect_value(&read, "E", -1);
	expect_value(&read, "F", 255);
	expect_value(&read, "G", 'x');
	expect_value(&read, "H", 7);
	expect_value(&read, "J", 0);
	expect_value(&read, "K", sizeof(char *));
	/* A condition is not computed, and is not taken for something else. */
	cr_expect(!c_find_enumerator(&read.all, "I")->is_known);
	cr_expect(!c_find_enumerator(&read.all, "L")->is_known);
}

Test(ctl_declarations, computes_each_operator_as_c_does)
{
	static const struct {
		const char *text;
		int64_t value;
	} cases[] = {
		{"0 || 2", 1},
		{"0 || 0", 0},
		{"2 && 4", 1},
		{"2 && 0", 0},
		{"6 | 3", 7},
		{"6 ^ 3", 5},
		{"6 & 3", 2},
		{"2 == 2", 1},
		{"2 == 3", 0},
		{"2 != 2", 0},
		{"-2 < 1", 1},
		{"1 < 1", 0},
		{"1 <= 1", 1},
		{"1 <= -1", 0},
		{"1 > -2", 1},
		{"1 > 1", 0},
		{"1 >= 1", 1},
		{"-1 >= 1", 0},
		{"3 << 62", INT64_C(-4611686018427387904)},
		{"1 << 64", 0},
		{"256 >> 4", 16},
		{"-8 >> 1", -4},
		{"1 >> 64", 0},
		{"2 - 3 - 4", -5},
		{"-2 * 3", -6},
		{"-6 / 2", -3},
		{"7 / -2", -3},
		{"6 / -1", -6},
		{"7 % -1", 0},
		{"-7 % 3", -1},
		{"(1 << 63) / -1", INT64_MIN},
		{"(1 << 63) % -1", 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char text[64];
		struct read read;

		snprintf(text, sizeof(text), "enum e { A = %s };", cases[i].text);
		read = read_text(text);
		expect_value(&read, "A", cases[i].value);
		read_deinit(&read);
	}
}

/* An unsigned operand is a large number, and no negative one. */
Test(ctl_declarations, does_not_know_what_only_unsigned_operands_decide)
{
	static const char *const cases[] = {"0xffffffffffffffff >> 60", "(1ull << 63) >> 60",
		"~0u >> 28", "-6u / 2", "7 % -2u", "-1 < 1u", "(sizeof(int) - 6) / 2"};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char text[64];
		struct read read;

		snprintf(text, sizeof(text), "enum e { A = %s, B = 8u / 2 };", cases[i]);
		read = read_text(text);
		cr_expect_not(c_find_enumerator(&read.all, "A")->is_known, "%s", cases[i]);
		expect_value(&read, "B", 4);
		read_deinit(&read);
	}
}

/* Expect the value of @expression, or none. */
static void expect_known(const char *expression, bool is_known, int64_t value)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	const struct c_enumerator *found;
	struct read read;

	buffer_printf(&text,
		"typedef int t; typedef struct s { char c[3]; } s; enum { FOUR = 4, UNKNOWN = x };"
		"enum e { A = %s, B = 7 };",
		expression);
	read = read_text(buffer_terminate(&text));
	found = c_find_enumerator(&read.all, "A");
	cr_assert(found, "%s", expression);
	cr_expect_eq(found->is_known, is_known, "%s", expression);
	if (is_known)
		cr_expect_eq(found->value, value, "%s: %ld", expression, (long)found->value);
	expect_value(&read, "B", 7);
	read_deinit(&read);
}

Test(ctl_declarations, computes_each_operand_as_c_does)
{
	static const struct {
		const char *text;
		int64_t value;
	} cases[] = {
		{"0x10", 16},
		{"010", 8},
		{"3uL", 3},
		{"3LLU", 3},
		{"0x7fffffffffffffff", INT64_MAX},
		{"0000000000000000000000000000012", 10},
		{"'a'", 'a'},
		{"sizeof(short)", 2},
		{"sizeof(const int)", 4},
		{"sizeof(volatile char)", 1},
		{"sizeof(t)", 4},
		{"sizeof(struct s)", 3},
		{"sizeof(s *)", 8},
		{"sizeof(char[2][3])", 6},
		{"FOUR", 4},
		{"+FOUR", 4},
		{"-FOUR", -4},
		{"~FOUR", -5},
		{"!FOUR", 0},
		{"!0", 1},
		{"- -1", 1},
		{"(t)5", 5},
		{"(unsigned char)5", 5},
		{"(const t *)5", 5},
		{"((5))", 5},
		{"(5) + 1", 6},
		{"0u / 2", 0},
		{"0 > 1u", 0},
	};
	static const char *const unknown[] = {"1.5", "1e", "0b2", "1f",
		"00000000000000000000000000000012", "'\\n'", "'ab'", "\"a\"", "\"\"",
		"sizeof(void)", "sizeof(unknown)", "sizeof FOUR", "sizeof(__int128)", "UNKNOWN",
		"UNKNOWN + 1", "1 + UNKNOWN", "x", "f(1)", "1 2", "1 +", "1 ? 2 : 3", "1 / 0",
		"1 % 0"};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		expect_known(cases[i].text, true, cases[i].value);
	for (size_t i = 0; i < ARRAY_SIZE(unknown); i++)
		expect_known(unknown[i], false, 0);
}

Test(ctl_declarations, binds_operators_as_c_does)
{
	static const struct {
		const char *text;
		int64_t value;
	} cases[] = {
		/* The order of two operators decides each value. */
		{"1 || 0 && 0", 1},
		{"0 && 0 | 1", 0},
		{"1 | 2 ^ 3", 1},
		{"1 ^ 3 & 2", 3},
		{"0 & 1 == 0", 0},
		{"2 == 1 < 2", 0},
		{"0 < 1 << 0", 1},
		{"3 < 1 << 2", 1},
		{"1 << 1 + 1", 4},
		{"1 + 2 * 3", 7},
		{"8 - 2 - 1", 5},
		{"16 / 4 / 2", 2},
		{"17 % 10 % 4", 3},
		{"2 * 9 / 6", 3},
		{"9 / 2 * 2", 8},
		{"-1 + 2", 1},
		{"!1 + 1", 1},
		{"1 << 3 >> 1", 4},
		{"5 > 4 > 3", 0},
		{"1 == 1 != 0", 1},
		{"3 >= 2 + 1", 1},
		{"2 <= 1 + 0", 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		expect_known(cases[i].text, true, cases[i].value);
}

/* Only depth is bounded. */
Test(ctl_declarations, reads_as_many_parts_as_there_are)
{
	static const char *const texts[][3] = {{"int f(int a", ", int (*a)[2]", ");"},
		{"struct s { int a; ", "struct { int b; } c; ", "}; int f(struct s *s);"},
		{"enum e { A = 1", ", A = (1 + -(2))", "}; int f(enum e e);"},
		{"int a", ", (*(b))[1][2]", "; int f(void);"},
		{"int f(int a[1", " + ((1))", "], int b[sizeof(int)]);"}};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		cleanup_free char *text = repeat(texts[i][0], texts[i][1],
			i + 1 < ARRAY_SIZE(texts) ? 300 : 10, texts[i][2]);
		cleanup(read_deinit) struct read read = read_text(text);

		cr_expect(c_find_function(&read.all, "f") != NULL, "%s", texts[i][1]);
		cr_expect_eq(read.all.n_skipped, 0, "%s", texts[i][1]);
	}
}

Test(ctl_declarations, goes_on_from_each_enumerator)
{
	cleanup(read_deinit) struct read read = read_text(
		"enum { A = 3, B, C __attribute__((deprecated)) = -2, D, E = x, F, G = 9, H, };"
		"enum empty { };");

	expect_value(&read, "B", 4);
	expect_value(&read, "C", -2);
	expect_value(&read, "D", -1);
	cr_expect_not(c_find_enumerator(&read.all, "E")->is_known);
	cr_expect_not(c_find_enumerator(&read.all, "F")->is_known);
	expect_value(&read, "H", 10);
	cr_expect(c_find_tag(&read.all, "empty")->record->is_complete);
	cr_expect_eq(read.all.n_skipped, 0);
}

Test(ctl_declarations, reads_every_word_of_a_basic_type)
{
	static const char *const types[][2] = {
		{"int", "int"},
		{"signed", "int"},
		{"__signed__ int", "int"},
		{"__signed", "int"},
		{"unsigned", "unsigned int"},
		{"int unsigned", "unsigned int"},
		{"short", "short"},
		{"unsigned short int", "unsigned short"},
		{"long", "long"},
		{"long int", "long"},
		{"long unsigned", "unsigned long"},
		{"long long int", "long long"},
		{"long unsigned long", "unsigned long long"},
		{"char", "char"},
		{"signed char", "signed char"},
		{"char unsigned", "unsigned char"},
		{"float", "float"},
		{"double", "double"},
		{"long double", "long double"},
		{"double long", "long double"},
		{"_Bool", "_Bool"},
		{"__int128", "a type that no tool can have"},
		{"float _Complex", "a type that no tool can have"},
		{"typeof(1 + (2))", "typeof(...)"},
		{"__typeof__(x)", "typeof(...)"},
		{"const volatile int", "const int"},
		{"int __const", "const int"},
		{"_Atomic int", "int"},
		{"struct s", "struct s"},
		{"union u", "union u"},
		{"enum e", "enum e"},
		{"t", "t"},
		{"const t", "const t"},
		{"t const", "const t"},
		{"struct { int a; }", "struct {...}"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		char text[128];
		char expected[128];

		snprintf(text, sizeof(text), "typedef int t; %s f(void);", types[i][0]);
		snprintf(expected, sizeof(expected), "%s f(void)", types[i][1]);
		expect(text, expected);
	}
}

Test(ctl_declarations, knows_the_size_and_the_sign_of_a_number)
{
	static const struct {
		const char *type;
		unsigned int bytes;
		bool is_signed;
		bool is_char;
	} cases[] = {{"signed char", 1, true, true}, {"unsigned char", 1, false, true},
		{"short", 2, true, false}, {"unsigned", 4, false, false}, {"int", 4, true, false},
		{"long", 8, true, false}, {"unsigned long long", 8, false, false},
		{"char", 1, CHAR_MIN < 0, true}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char text[64];
		const struct c_type *type;
		struct read read;

		snprintf(text, sizeof(text), "typedef %s t;", cases[i].type);
		read = read_text(text);
		type = c_find_typedef(&read.all, "t");
		cr_expect_eq(type->bytes, cases[i].bytes, "%s", cases[i].type);
		cr_expect_eq(type->is_signed, cases[i].is_signed, "%s", cases[i].type);
		cr_expect_eq(type->is_char, cases[i].is_char, "%s", cases[i].type);
		read_deinit(&read);
	}
}

Test(ctl_declarations, skips_a_declaration_that_is_no_c)
{
	static const char *const cases[] = {"unknown x;", "int f(int a b);", "int f(,);",
		"int f(..., int);", "int f(int a int b);", "int f(int, unknown);",
		"typeof x f(void);", "struct ;", "struct s { int a } x;",
		"struct s { int a; }; struct s { int b; };", "struct s; union s *u;", "enum { 1 };",
		"enum { A B };", "enum { , };", "static_assert(1) int x;", "int;int f(void) int;",
		"* f(void);", "int *;", "int f(void) __attribute__ 3;"};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup(buffer_deinit) struct buffer text = {0};
		struct read read;

		buffer_printf(&text, "%s ; int after(void);", cases[i]);
		read = read_text(buffer_terminate(&text));
		cr_expect_geq(read.all.n_skipped, 1, "%s", cases[i]);
		cr_expect(c_find_function(&read.all, "after") != NULL, "%s", cases[i]);
		read_deinit(&read);
	}
}

Test(ctl_declarations, goes_on_behind_a_body_that_it_does_not_understand)
{
	cleanup(read_deinit) struct read read =
		read_text("unknown f(int x) { return (1); } int g(void);"
			  "struct { unknown x; } h(void), *i; int j(void);"
			  "int k(unknown) { if (1) { } } ; int l(void); int m(");

	cr_expect(c_find_function(&read.all, "g") != NULL);
	cr_expect(c_find_function(&read.all, "j") != NULL);
	cr_expect(c_find_function(&read.all, "l") != NULL);
	cr_expect_null(c_find_function(&read.all, "h"));
	cr_expect_null(c_find_function(&read.all, "m"));
	cr_expect_eq(read.all.n_skipped, 4);
}

Test(ctl_declarations, keeps_the_first_meaning_of_a_name)
{
	cleanup(read_deinit) struct read read = read_text(
		"typedef int t; typedef long t; int f(int); int f(long, long); int t(void);"
		"typedef struct { int a; } first, second; typedef first third;"
		"enum e { A }; struct e *g(void); static int h(void) { return 0; } int i(void);");

	cr_expect_str_eq(c_find_typedef(&read.all, "t")->name, "int");
	cr_expect_eq(c_find_function(&read.all, "f")->type->n_parameters, 1);
	cr_expect_null(c_find_function(&read.all, "t"));
	cr_expect_str_eq(c_find_typedef(&read.all, "second")->record->alias, "first");
	cr_expect_str_eq(c_find_typedef(&read.all, "third")->name, "first");
	cr_expect_null(c_find_function(&read.all, "g"), "a tag has one kind");
	cr_expect(c_find_function(&read.all, "h")->is_static);
	cr_expect_not(c_find_function(&read.all, "i")->is_static);
	cr_expect_null(c_find_function(&read.all, "A"));
	cr_expect_null(c_find_function(&read.all, "none"));
	cr_expect_null(c_find_enumerator(&read.all, "none"));
	cr_expect_null(c_find_typedef(&read.all, "e"));
	cr_expect_null(c_find_tag(&read.all, "first"));
}

Test(ctl_declarations, keeps_the_surroundings_of_each_function)
{
	cleanup(read_deinit) struct read read =
		read_text("/* 0 */ int a(void), b(void); /* 1 */ /* 2 */ int c(void)"
			  " __attribute__((__deprecated__(\"no\"))); int d(void) "
			  "__attribute__((x(\"deprecated\")));"
			  "[[deprecated]] int e(void); int f(void);");
	static const struct {
		const char *name;
		uint32_t comment;
		uint32_t after;
		bool is_deprecated;
	} cases[] = {{"a", 0, 1, false}, {"b", 0, 1, false}, {"c", 2, C_COMMENT_NONE, true},
		{"d", C_COMMENT_NONE, C_COMMENT_NONE, false},
		{"e", C_COMMENT_NONE, C_COMMENT_NONE, true},
		{"f", C_COMMENT_NONE, C_COMMENT_NONE, false}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct c_function *function = c_find_function(&read.all, cases[i].name);

		cr_assert(function, "%s", cases[i].name);
		cr_expect_eq(function->comment, cases[i].comment, "%s", cases[i].name);
		cr_expect_eq(function->comment_after, cases[i].after, "%s", cases[i].name);
		cr_expect_eq(function->is_deprecated, cases[i].is_deprecated, "%s", cases[i].name);
	}
}

Test(ctl_declarations, tells_a_declarator_in_parentheses_from_parameters)
{
	expect("typedef int t; int f(int (t), int (x), int (*y), int (t, t));",
		"int f(int (t), int, int *, int (t, t))");
	expect("int ((f))(void); int (__attribute__((x)) g)(int);", "int f(void)\nint g(int)");
	expect("int f(int (const int), int (void), int (...));",
		"int f(int (const int), int (void), int (...))");
	expect("int f(int *restrict const *x, char *const volatile, int ^block);",
		"int f(int *const *, char *const, int *)");
	expect("int f __attribute__((x)) (int a __attribute__((y)));", "int f(int)");
	expect("int f(int a[const 2], int b[restrict static 3], int c[][4]);",
		"int f(int [2], int [3], int [][4])");
}

Test(ctl_declarations, reads_the_fields_of_a_struct)
{
	cleanup(read_deinit) struct read read = read_text(
		"struct s { int a, *b; char name[2 * 8]; unsigned bits : 3, : 0; struct s *next;"
		" union { int u; }; void (*call)(struct s *); } __attribute__((packed));"
		"typedef struct { int x; } unnamed;");
	const struct c_type *s = c_find_tag(&read.all, "s");
	const struct c_type *unnamed = c_find_typedef(&read.all, "unnamed");

	cr_assert(s && s->kind == C_STRUCT && s->record->is_complete);
	cr_assert_eq(s->record->n_fields, 8);
	cr_expect_str_eq(s->record->fields[1].name, "b");
	cr_expect_eq(s->record->fields[1].type->kind, C_POINTER);
	cr_expect_eq(s->record->fields[2].type->n_elements, 16);
	cr_expect(s->record->fields[3].is_bits);
	cr_expect_null(s->record->fields[6].name);
	cr_assert(unnamed);
	cr_expect_str_eq(unnamed->record->alias, "unnamed");
}

Test(ctl_declarations, writes_a_bound_of_several_lines_in_one)
{
	expect("int f(const char s[\n  1 /* one */\n + 2\n]);", "int f(const char [1 + 2])");
}

Test(ctl_declarations, knows_what_standard_input_includes)
{
	const char text[] = "# 0 \"<stdin>\"\n# 1 \"<built-in>\" 1\n# 1 \"<stdin>\" 2\n"
			    "# 1 \"/usr/include/sys/time.h\" 1 3 4\n# 1 \"/in/it.h\" 1 3 4\n"
			    "# 9 \"/usr/include/sys/time.h\" 2 3 4\nint a;\n# 2 \"<stdin>\" 2\n"
			    "# 1 \"/usr/include/time.h\" 1 3 4\nint b;\n";
	struct c_tokens tokens;

	cr_assert_eq(c_tokens_read(text, sizeof(text) - 1, &tokens), 0);
	cr_assert_eq(tokens.n_includes, 2);
	cr_expect_eq(tokens.includes[0].line, 1);
	cr_expect_str_eq(tokens.files[tokens.includes[0].file], "/usr/include/sys/time.h");
	cr_expect_eq(tokens.includes[1].line, 2);
	cr_expect_str_eq(tokens.files[tokens.includes[1].file], "/usr/include/time.h");
	c_tokens_deinit(&tokens);
}

Test(ctl_declarations, reads_many_names_of_files)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	struct c_tokens tokens;

	for (size_t i = 0; i < 2 * 100000; i++)
		buffer_printf(&text, "# 1 \"f%zu\"\n", i / 2);
	cr_assert(buffer_terminate(&text));
	cr_assert_eq(c_tokens_read(text.data, text.size, &tokens), 0);
	cr_expect_eq(tokens.n_files, 100000 + 1);
	c_tokens_deinit(&tokens);
}

Test(ctl_declarations, writes_the_meaning_of_a_typedef_and_not_of_all_within)
{
	cleanup(buffer_deinit) struct buffer text = {0};
	cleanup(buffer_deinit) struct buffer out = {0};

	buffer_append_string(&text, "typedef int t0;");
	for (int i = 1; i <= 40; i++)
		buffer_printf(&text, "typedef int (*t%d)(t%d, t%d);", i, i - 1, i - 1);
	cr_assert(buffer_terminate(&text));
	cleanup(read_deinit) struct read read = read_text(text.data);

	c_type_write_resolved(c_find_typedef(&read.all, "t40"), &out);
	cr_expect_str_eq(buffer_terminate(&out), "int (*)(t39, t39)");
}

Test(ctl_declarations, refuses_depth_without_end)
{
	static const char *const texts[][3] = {{"int ", "*", " f(void);"}, {"int ", "(", ""},
		{"int f", "(int (*)", ""}, {"", "struct {", ""}, {"int a", "[2]", ";"},
		{"enum { A = ", "-", "1 };"}, {"enum { A = ", "(", ""},
		{"enum { A = 1", "+1", "};"}, {"", "__attribute__((", ""}, {"int ", "(*", ""}};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		cleanup_free char *text = repeat(texts[i][0], texts[i][1], 100000, texts[i][2]);
		cleanup(read_deinit) struct read read = read_text(text);

		cr_expect_null(c_find_function(&read.all, "f"));
	}
}

Test(ctl_declarations, reads_every_beginning_of_a_header)
{
	static const char text[] =
		"# 1 \"x.h\"\ntypedef struct a { int b[3]; } a_t; enum e { X = (1 << 2), Y };\n"
		"/* doc */ extern a_t *(*f(int (*cb)(void *), ...))[4] __attribute__((x(\"y\")));";

	for (size_t size = 0; size < sizeof(text); size++) {
		/* A read past the end is seen: no NUL follows. */
		cleanup_free char *part = malloc(size ? size : 1);
		struct read read;

		memcpy(part, text, size);
		cr_assert_eq(c_tokens_read(part, size, &read.tokens), 0);
		cr_assert_eq(c_declarations_read(&read.tokens, &read.all), 0);
		read_deinit(&read);
	}
}

Test(ctl_declarations, skips_an_array_with_a_long_count)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	buffer_append_string(&text, "int a(int x[1");
	for (int i = 0; i < 31; i++)
		buffer_append_string(&text, "+1");
	buffer_append_string(&text, "]); int b(int x[1");
	for (int i = 0; i < 32; i++)
		buffer_append_string(&text, "+1");
	buffer_append_string(&text, "]); int c(void);");
	cleanup(read_deinit) struct read read = read_text(buffer_terminate(&text));

	cr_expect(c_find_function(&read.all, "a") != NULL);
	cr_expect_null(c_find_function(&read.all, "b"));
	cr_expect(c_find_function(&read.all, "c") != NULL);
	cr_expect_eq(read.all.n_skipped, 1);
}

Test(ctl_declarations, bounds_the_text)
{
	cleanup_free char *text = calloc(1, C_TEXT_BYTES_MAX + 1);
	struct c_tokens tokens;

	cr_assert(text);
	cr_expect_eq(c_tokens_read(text, C_TEXT_BYTES_MAX + 1, &tokens), C_TOKENS_E_SIZE);
}

Test(ctl_declarations, are_read_whole_or_not_at_all_when_memory_is_short)
{
	static const char text[] = "# 1 \"x.h\"\n# 1 \"<stdin>\"\n# 1 \"/y.h\" 1\n/* One. */ "
				   "typedef struct a { int b[1 + 2]; "
				   "} a_t; enum e { X, Y }; a_t *(*f(int (*call)(void *), enum e "
				   "e))[4]; int g(a_t *a);";

	for (size_t n = 0; scarce_once_after(n); n++) {
		struct read read = {0};
		int r = c_tokens_read(text, strlen(text), &read.tokens);

		if (r == 0) {
			r = c_declarations_read(&read.tokens, &read.all);
			cr_expect_eq(r, scarce_has_failed() ? -ENOMEM : 0, "%zu", n);
		} else {
			cr_expect(scarce_has_failed() && r == -ENOMEM, "%zu", n);
		}
		if (r == 0)
			cr_expect(c_find_function(&read.all, "g") != NULL);
		read_deinit(&read);
	}
}
