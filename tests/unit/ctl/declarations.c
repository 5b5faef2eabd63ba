/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/header/declarations.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
