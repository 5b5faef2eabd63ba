/* SPDX-License-Identifier: Apache-2.0 */
#include "util/cleanup.h"
#include "util/process/send_fd.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

/* A socket whose two ends are both ours. */
static int ends[2];

static void set_up(void)
{
	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
}

static void tear_down(void)
{
	close(ends[0]);
	close(ends[1]);
}

TestSuite(send_fd, .init = set_up, .fini = tear_down, .timeout = 60);

/* Return how many descriptors this process has. */
static int count_descriptors(void)
{
	int n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

Test(send_fd, gives_the_file_itself_which_closes_on_exec)
{
	int file = memfd_create("passed", 0);
	char text[8] = "";
	int fd = -1;

	cr_assert_eq(write(file, "hello", 5), 5);
	cr_assert_eq(pass_send(ends[0], "x", 1, file), 0);
	cr_assert_eq(pass_receive(ends[1], &fd), 0);
	cr_expect_neq(fd, file);
	cr_expect(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	cr_expect_eq(pread(fd, text, sizeof(text) - 1, 0), 5);
	cr_expect_str_eq(text, "hello");
	cr_expect_geq(fcntl(file, F_GETFD), 0, "it stays open here");
	close(fd);
	close(file);
}

Test(send_fd, sends_bytes_without_a_descriptor)
{
	char bytes[8] = "";

	cr_assert_eq(pass_send(ends[0], "hello", 5, -1), 0);
	cr_expect_eq(read(ends[1], bytes, sizeof(bytes)), 5);
	cr_expect_eq(memcmp(bytes, "hello", 5), 0);
}

Test(send_fd, receives_nothing_where_no_descriptor_came)
{
	int fd = 77;

	cr_assert_eq(pass_send(ends[0], "x", 1, -1), 0);
	cr_expect_eq(pass_receive(ends[1], &fd), -EPROTO);
	close(ends[0]);
	cr_expect_eq(pass_receive(ends[1], &fd), -EPROTO, "the other end is closed");
	cr_expect_eq(fd, 77, "written only on success");
}

Test(send_fd, fails_with_the_error_of_the_socket)
{
	int fd = 77;

	cr_expect_eq(pass_send(-1, "x", 1, -1), -EBADF);
	cr_expect_eq(pass_receive(-1, &fd), -EBADF);
	cr_expect_eq(pass_send(ends[0], "x", 1, 1000), -EBADF, "no such descriptor");
	close(ends[1]);
	cr_expect_eq(pass_send(ends[0], "x", 1, -1), -EPIPE, "and without SIGPIPE");
}

Test(send_fd, does_not_take_less_than_all_bytes_for_success)
{
	const size_t size = 16 << 20;
	cleanup_free char *bytes = calloc(1, size);

	cr_assert_not_null(bytes);
	cr_assert_eq(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
	cr_expect_eq(pass_send(ends[0], bytes, size, -1), -EPROTO);
	cr_expect_eq(pass_send(ends[0], bytes, size, -1), -EAGAIN);
}

static void send_two(void)
{
	union {
		char bytes[CMSG_SPACE(2 * sizeof(int))];
		struct cmsghdr align;
	} control = {0};
	struct iovec part = {(char[]){'x'}, 1};
	struct msghdr message = {.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control)};
	struct cmsghdr *first = CMSG_FIRSTHDR(&message);
	int both[] = {ends[0], ends[1]};

	first->cmsg_level = SOL_SOCKET;
	first->cmsg_type = SCM_RIGHTS;
	first->cmsg_len = CMSG_LEN(sizeof(both));
	memcpy(CMSG_DATA(first), both, sizeof(both));
	cr_assert_eq(sendmsg(ends[0], &message, 0), 1);
}

/* A peer may send more than it should: no descriptor may stay open for it. */
Test(send_fd, keeps_no_more_than_one_descriptor)
{
	int before = count_descriptors();
	int fd = -1;
	int r;

	send_two();
	r = pass_receive(ends[1], &fd);
	if (r == 0)
		close(fd);
	cr_expect_eq(count_descriptors(), before, "%d", r);
}

/* One of two descriptors fits below the limit: it comes with the failure, and can be closed. */
Test(send_fd, reports_the_descriptors_of_a_failure)
{
	struct rlimit limit = {.rlim_max = RLIM_INFINITY};
	int spare = dup(ends[0]);
	int fds[PASS_FDS_MAX];
	size_t n_fds;
	char byte;

	send_two();
	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = (rlim_t)spare + 1;
	close(spare);
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	cr_expect_eq(pass_receive_all(ends[1], &byte, 1, 0, fds, &n_fds), -1);
	cr_expect_eq(errno, ENOMEM);
	cr_assert_eq(n_fds, 1);
	cr_expect_eq(close(fds[0]), 0);
}
