/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <time.h>

#include "util/cleanup.h"
#include "util/file/stamp.h"

/* A file whose inode changed @age_s ago. */
static struct stat file_of_age(time_t age_s)
{
	return (struct stat){
		.st_size = 100,
		.st_dev = 1,
		.st_ino = 2,
		.st_mtim = {.tv_sec = 1000},
		.st_ctim = {.tv_sec = time(NULL) - age_s},
	};
}

static bool proves_same(struct stat before, struct stat now)
{
	struct stamp stamps[2];

	stamp_take(&before, &stamps[0]);
	stamp_take(&now, &stamps[1]);
	return stamp_proves_same(&stamps[0], &stamps[1]);
}

Test(stamp, proves_that_a_file_at_rest_is_the_same)
{
	struct stat file = file_of_age(60);

	cr_expect(proves_same(file, file));
}

Test(stamp, proves_nothing_of_a_file_that_was_just_written)
{
	struct stat file = file_of_age(0);

	cr_expect_not(proves_same(file, file));
}

Test(stamp, of_the_future_proves_nothing)
{
	struct stat file = file_of_age(-1000);

	cr_expect_not(proves_same(file, file));
}

Test(stamp, sees_whatever_is_different)
{
	struct stat file = file_of_age(60);
	struct stat other = file;

	other.st_size++;
	cr_expect_not(proves_same(file, other));
	other = file;
	other.st_ino++;
	cr_expect_not(proves_same(file, other));
	other = file;
	other.st_dev++;
	cr_expect_not(proves_same(file, other));
	other = file;
	other.st_mtim.tv_nsec++;
	cr_expect_not(proves_same(file, other));
	other = file;
	other.st_ctim.tv_nsec++;
	cr_expect_not(proves_same(file, other), "touched back to its old time");
}

Test(stamp, of_now_is_between_two_looks_at_the_clock)
{
	int64_t before = (int64_t)time(NULL);
	int64_t now = stamp_now_ns();
	int64_t after = (int64_t)time(NULL);

	/* time() may lag by a tick of the kernel. */
	cr_expect_geq(now / 1000000000, before);
	cr_expect_leq(now / 1000000000, after + 1);
}

Test(stamp, has_a_digest_of_each_part)
{
	const struct stamp stamp = {
		.size = 1, .device = 2, .inode = 3, .changed_ns = 4, .noted_ns = 5};
	struct stamp others[5];
	uint64_t digest = stamp_fold(9, &stamp);

	for (size_t i = 0; i < 5; i++)
		others[i] = stamp;
	others[0].size++;
	others[1].device++;
	others[2].inode++;
	others[3].changed_ns++;
	others[4].noted_ns++;
	for (size_t i = 0; i < 5; i++)
		cr_expect_neq(stamp_fold(9, &others[i]), digest, "%zu", i);
	cr_expect_neq(stamp_fold(8, &stamp), digest);
	cr_expect_eq(stamp_fold(9, &stamp), digest);
}

Test(stamp, writes_a_time_in_milliseconds)
{
	cleanup(buffer_deinit) struct buffer text = {0};

	stamp_write_time(&text, INT64_C(1764250201) * 1000000000 + 20999999);
	cr_expect_str_eq(buffer_terminate(&text), "2025-11-27T13:30:01.020Z");
}
