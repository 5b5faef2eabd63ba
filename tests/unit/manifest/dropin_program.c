/* SPDX-License-Identifier: Apache-2.0 */
#include "manifest/dropin/dropin_program.h"

#include <criterion/criterion.h>
#include <elf.h>
#include <link.h>
#include <string.h>

#include "../scratch.h"
#include "util/array.h"

/* Whether a file can be run, from its first bytes. */

TestSuite(dropin_program, .init = scratch_set_up, .fini = scratch_tear_down);

#define LIBRARY "it is a shared library; a manifest of kind native makes its functions tools"
#define NO_TEXT "it is a text that does not begin with a line like #!/bin/sh"
#define MARK                                                                                       \
	"it begins with a byte order mark, so that its interpreter is not found: save it as "      \
	"UTF-8 without one"
#define CR_LF "its lines end with CR LF, so that its interpreter is not found: save it with LF"

static void expect_reason(const char *path, const void *bytes, size_t size, const char *expected)
{
	struct buffer head = {0};
	struct buffer reason = {0};

	buffer_append(&head, bytes, size);
	dropin_program_check(path, &head, &reason);
	cr_expect_str_eq(buffer_terminate(&reason), expected, "%s: %s", path, reason.data);
	buffer_deinit(&reason);
	buffer_deinit(&head);
}

Test(dropin_program, is_no_library_by_its_name)
{
	static const struct {
		const char *path;
		bool is_library;
	} rows[] = {{"/a/libz.so", true}, {"/a/libz.so.1", true}, {"/a/libz.so.1.22.333", true},
		{"/a.so/bell", false}, {"/a/libz.so.", false}, {"/a/libz.so.1.", false},
		{"/a/libz.so.x", false}, {"/a/libz.so1", false}, {"/a/also.society", false},
		{"/a/libz.sh", false}};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		expect_reason(rows[i].path, "", 0, rows[i].is_library ? LIBRARY : "");
}

Test(dropin_program, is_a_script_with_an_interpreter_or_no_text)
{
	static const struct {
		const char *bytes;
		const char *reason;
	} rows[] = {
		{"", ""},
		{"#", ""},
		{"x", ""},
		{"xy", NO_TEXT},
		{"#!", ""},
		{"#!/bin/sh", ""},
		{"#! \t/bin/sh -e\nx", ""},
		{"#!/bin/sh\r\n", CR_LF},
		{"#!\r\n", CR_LF},
		{"#!/bin/sh\nx\r\n", ""},
		{"#!/no/sh\t-e\n",
			"its interpreter /no/sh cannot be run: No such file or directory"},
		{"#!/etc/passwd", "its interpreter /etc/passwd cannot be run: Permission denied"},
		{"#!no/sh\n", ""},
		{"\xEF\xBB\xBF#!/bin/sh\n", MARK},
		{"\xEF\xBB\xBFx", MARK},
		{"\xEF\xBB\xBF", NO_TEXT},
		{"a\tb\n\xC3\xA9", NO_TEXT},
		{"a\bb", ""},
		{"a\x7f"
		 "b",
			""},
		{"\x7f"
		 "ELF",
			""},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		expect_reason("/a/bell", rows[i].bytes, strlen(rows[i].bytes), rows[i].reason);
}

Test(dropin_program, is_text_by_its_first_512_bytes)
{
	char bytes[514];

	memset(bytes, 'a', sizeof(bytes));
	bytes[511] = '\b';
	expect_reason("/a/bell", bytes, sizeof(bytes), "");
	bytes[511] = 'a';
	bytes[512] = '\b';
	expect_reason("/a/bell", bytes, sizeof(bytes), NO_TEXT);
}

/* A file of this machine's ELF. */
struct image {
	ElfW(Ehdr) header;
	ElfW(Phdr) parts[2];
	ElfW(Dyn) entries[2];
};

static void make_image(struct image *image)
{
	*image = (struct image){.header = {.e_type = ET_DYN,
					.e_phoff = offsetof(struct image, parts),
					.e_phentsize = sizeof(image->parts[0]),
					.e_phnum = 2}};
	memcpy(image->header.e_ident, ELFMAG, SELFMAG);
	image->header.e_ident[EI_CLASS] = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
	image->parts[0].p_type = PT_LOAD;
	image->parts[1].p_type = PT_DYNAMIC;
	image->parts[1].p_offset = offsetof(struct image, entries);
	image->parts[1].p_filesz = sizeof(image->entries);
	image->entries[1].d_tag = DT_FLAGS_1;
}

static void expect_image(const struct image *image, size_t head_size, bool is_library)
{
	scratch_write_bytes("bell", (const char *)image, sizeof(*image));
	expect_reason(scratch_path("bell"), image, head_size, is_library ? LIBRARY : "");
}

Test(dropin_program, is_no_shared_object_whatever_its_name)
{
	const size_t all = sizeof(struct image);
	struct image image;

	make_image(&image);
	expect_image(&image, all, true);
	expect_image(&image, offsetof(struct image, entries), true);
	expect_image(&image, offsetof(struct image, entries) - 1, false);
	expect_image(&image, sizeof(image.header) - 1, false);
	image.entries[1].d_un.d_val = DF_1_PIE;
	expect_image(&image, all, false);
	image.entries[1].d_un.d_val = DF_1_PIE | DF_1_NOW;
	expect_image(&image, all, false);
	image.entries[1].d_un.d_val = DF_1_NOW;
	expect_image(&image, all, true);
	image.entries[1] = (ElfW(Dyn)){.d_tag = DT_FLAGS, .d_un.d_val = DF_1_PIE};
	expect_image(&image, all, true);
	make_image(&image);
	image.parts[0].p_type = PT_INTERP;
	expect_image(&image, all, false);
	make_image(&image);
	image.header.e_type = ET_EXEC;
	expect_image(&image, all, false);
	make_image(&image);
	image.header.e_ident[EI_CLASS] ^= ELFCLASS64 ^ ELFCLASS32;
	expect_image(&image, all, false);
	make_image(&image);
	image.header.e_phentsize--;
	expect_image(&image, all, false);
	make_image(&image);
	image.header.e_phoff = all + 1;
	expect_image(&image, all, false);
}
