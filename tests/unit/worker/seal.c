/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../scratch.h"
#include "guest.h"
#include "util/file/file.h"

/* A loaded library stays as it was, whatever happens to its file. */

#define LIMIT       300
#define LIBRARY_MAX (64u << 20)

TestSuite(seal, .init = scratch_set_up, .fini = scratch_tear_down, .timeout = LIMIT);

/* Copy the library of `behave` as `mine.so`, followed by @more, which the linker never reads. */
static void copy_library(const char *more)
{
	cleanup(buffer_deinit) struct buffer bytes = {0};

	cr_assert_eq(file_read(TEST_TOOLBOX_DIR "/libtest_behave.so", LIBRARY_MAX, &bytes), 0);
	buffer_append_string(&bytes, more);
	scratch_write_bytes("mine.so", bytes.data, bytes.size);
}

/* Start a host over the library, with a copy of the file at @copied, or with none. */
static void start(struct guest *guest, const char *class, const char *copied)
{
	struct guest_options options = {.copied = copied};
	char load[512];

	snprintf(load, sizeof(load),
		"{\"kind\":\"native\",\"library\":\"%s\",\"sandbox\":{\"class\":\"%s\"},\"tools\":["
		"{\"symbol\":"
		"\"same_i8\",\"parameters\":[{\"name\":\"value\",\"type\":\"i8\"}],\"returns\":{"
		"\"type\":\"i8\"}}]}",
		scratch_path("mine.so"), class);
	guest_start_load(guest, load, &options);
	cr_assert_eq(guest->n_loaded, 1, "%s", guest->message.data ? guest->message.data : "");
}

/* Overwrite the bytes of the file itself, as a compiler or a careless copy does. */
static void spoil_library(void)
{
	int fd = open(scratch_path("mine.so"), O_WRONLY | O_CLOEXEC);
	struct stat status;
	static const char nothing[4096];

	cr_assert_geq(fd, 0);
	cr_assert_eq(fstat(fd, &status), 0);
	for (off_t at = 0; at < status.st_size; at += (off_t)sizeof(nothing))
		cr_assert_eq(pwrite(fd, nothing, sizeof(nothing), at), (ssize_t)sizeof(nothing));
	cr_assert_eq(ftruncate(fd, 100), 0);
	close(fd);
}

static void expect_answer(struct guest *guest)
{
	static const char arguments[] = "{\"value\":7}";

	const struct host_call call = {.arguments = arguments, .size = strlen(arguments)};

	cr_assert_eq(host_invoke(guest->host, ++guest->call_id, &call), 0);
	guest_wait(guest);
	cr_expect_eq(guest->n_answers, 1);
	cr_expect_str_eq(guest->answer.data, "{\"result\":7}");
}

Test(seal, keeps_the_code_when_the_file_is_written_over)
{
	static const char *const classes[] = {"compute", "none"};

	for (size_t i = 0; i < sizeof(classes) / sizeof(*classes); i++) {
		struct guest guest = {0};

		copy_library("");
		start(&guest, classes[i], scratch_path("mine.so"));
		cr_expect(strstr(guest.loaded.data, "\"sealed\":true"), "%s", guest.loaded.data);
		spoil_library();
		expect_answer(&guest);
		guest_stop(&guest);
	}
}

Test(seal, tells_the_path_and_not_the_copy)
{
	struct guest guest = {0};

	copy_library("");
	start(&guest, "compute", scratch_path("mine.so"));
	cr_expect(strstr(guest.loaded.data, scratch_path("mine.so")), "%s", guest.loaded.data);
	guest_stop(&guest);
}

Test(seal, loads_the_copy_whatever_the_file_is)
{
	struct guest guest = {0};

	scratch_write("mine.so", "no library");
	start(&guest, "compute", TEST_TOOLBOX_DIR "/libtest_behave.so");
	cr_expect(strstr(guest.loaded.data, "\"sealed\":true"), "%s", guest.loaded.data);
	expect_answer(&guest);
	guest_stop(&guest);
}

Test(seal, is_not_of_a_library_without_a_copy)
{
	struct guest guest = {0};

	copy_library("");
	start(&guest, "compute", NULL);
	cr_expect(strstr(guest.loaded.data, "\"sealed\":false"), "%s", guest.loaded.data);
	expect_answer(&guest);
	guest_stop(&guest);
}

Test(seal, is_not_of_a_copy_that_cannot_be_loaded)
{
	struct guest guest = {0};

	copy_library("");
	scratch_write("junk.so", "no library");
	start(&guest, "compute", scratch_path("junk.so"));
	cr_expect(strstr(guest.loaded.data, "\"sealed\":false"), "%s", guest.loaded.data);
	expect_answer(&guest);
	guest_stop(&guest);
}

Test(seal, is_not_of_libraries_of_the_dynamic_linker)
{
	struct guest guest = {0};

	guest_start_load(
		&guest, "{\"kind\":\"native\",\"library\":\"libm.so.6\",\"tools\":[]}", NULL);
	cr_expect(strstr(guest.loaded.data, "\"sealed\":false"), "%s", guest.loaded.data);
	guest_stop(&guest);
}

Test(seal, says_what_is_wrong_with_the_file_itself)
{
	struct guest guest = {0};
	char load[256];

	scratch_write("mine.so", "no library");
	snprintf(load, sizeof(load), "{\"kind\":\"native\",\"library\":\"%s\",\"tools\":[]}",
		scratch_path("mine.so"));
	guest_start_load(&guest, load, NULL);
	cr_assert_eq(guest.n_ends, 1);
	cr_expect_eq(guest.end.reason, HOST_REFUSED);
	cr_expect(strstr(guest.message.data, scratch_path("mine.so")), "%s", guest.message.data);
	cr_expect(strstr(guest.message.data, "file too short"), "%s", guest.message.data);
	guest_stop(&guest);
}
