/* SPDX-License-Identifier: Apache-2.0 */
#include "util/file/sealed_file.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../scratch.h"

TestSuite(sealed_file, .init = scratch_set_up, .fini = scratch_tear_down);

static struct sealed_file *take(const char *name)
{
	cleanup_close int file = open(scratch_path(name), O_RDONLY | O_CLOEXEC);
	struct stamp stamp;

	cr_assert_geq(file, 0);
	stamp_take_file(scratch_path(name), &stamp);
	return sealed_file_take(file, scratch_path(name), &stamp);
}

static void expect_bytes(const struct sealed_file *sealed, const char *text)
{
	char *bytes = sealed_file_map(sealed);

	cr_assert_neq(bytes, MAP_FAILED);
	cr_expect_eq(sealed->size, strlen(text));
	cr_expect_arr_eq(bytes, text, strlen(text));
	munmap(bytes, sealed->size);
}

Test(sealed_file, has_the_bytes_of_its_file_whatever_becomes_of_that)
{
	cleanup(sealed_file_cleanup) struct sealed_file *sealed = NULL;

	scratch_write("a", "first");
	sealed = take("a");
	cr_assert(sealed);
	scratch_write("a", "other and longer");
	expect_bytes(sealed, "first");
}

Test(sealed_file, cannot_be_changed)
{
	cleanup(sealed_file_cleanup) struct sealed_file *sealed = NULL;

	scratch_write("a", "first");
	sealed = take("a");
	cr_assert(sealed);
	cr_expect_eq(pwrite(sealed->fd, "x", 1, 0), -1);
	cr_expect_eq(errno, EPERM);
	cr_expect_eq(ftruncate(sealed->fd, 1), -1);
	cr_expect_eq(ftruncate(sealed->fd, 100), -1);
	cr_expect_eq(fcntl(sealed->fd, F_ADD_SEALS, 0), -1, "no seal can be added");
	cr_expect_neq(fcntl(sealed->fd, F_GETFD) & FD_CLOEXEC, 0);
}

Test(sealed_file, of_equal_bytes_is_one)
{
	cleanup(sealed_file_cleanup) struct sealed_file *first = NULL;
	cleanup(sealed_file_cleanup) struct sealed_file *same = NULL;
	cleanup(sealed_file_cleanup) struct sealed_file *other = NULL;

	scratch_write("a", "first");
	scratch_write("b", "first");
	scratch_write("c", "other");
	first = take("a");
	same = take("b");
	other = take("c");
	cr_assert(first && other);
	cr_expect_eq(first, same);
	cr_expect_neq(first, other);
	cr_expect_eq(first->references, 2);
}

Test(sealed_file, is_not_of_a_file_that_is_empty_or_too_large)
{
	scratch_write("a", "");
	cr_expect_null(take("a"));
	cr_assert_eq(truncate(scratch_path("a"), SEALED_FILE_BYTES_MAX + 1), 0);
	cr_expect_null(take("a"));
}

Test(sealed_file, is_refused_beyond_so_many)
{
	struct sealed_file *kept[SEALED_FILES_MAX];
	char text[16];

	for (size_t i = 0; i < SEALED_FILES_MAX; i++) {
		snprintf(text, sizeof(text), "%zu", i);
		scratch_write("a", text);
		kept[i] = take("a");
		cr_assert(kept[i]);
	}
	scratch_write("a", "one more");
	cr_expect_null(take("a"));
	sealed_file_unref(kept[0]);
	kept[0] = take("a");
	cr_expect(kept[0], "there is room again");
	for (size_t i = 0; i < SEALED_FILES_MAX; i++)
		sealed_file_unref(kept[i]);
}

Test(sealed_file, is_refused_beyond_so_many_bytes)
{
	struct sealed_file *kept[SEALED_FILES_BYTES_MAX / SEALED_FILE_BYTES_MAX];
	const size_t n_kept = sizeof(kept) / sizeof(*kept);

	for (size_t i = 0; i < n_kept; i++) {
		scratch_write("a", i == 0 ? "a" : i == 1 ? "b" : i == 2 ? "c" : "d");
		cr_assert_eq(truncate(scratch_path("a"), SEALED_FILE_BYTES_MAX), 0);
		kept[i] = take("a");
		cr_assert(kept[i]);
	}
	scratch_write("a", "e");
	cr_expect_null(take("a"));
	for (size_t i = 0; i < n_kept; i++)
		sealed_file_unref(kept[i]);
	sealed_file_unref(take("a"));
}
