/* SPDX-License-Identifier: Apache-2.0 */
#include "bus/listener.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "../scratch.h"

#define PATIENCE_MS 60000

static struct loop *loop;
static struct listener *listener;
static unsigned int n_accepted;

static void set_up(void)
{
	scratch_set_up();
	cr_assert_eq(loop_new(&loop), 0);
}

static void tear_down(void)
{
	listener_free(listener);
	loop_free(loop);
	scratch_tear_down();
}

TestSuite(listener, .init = set_up, .fini = tear_down, .timeout = 120);

static void on_accepted(void *data, int fd)
{
	(void)data;
	n_accepted++;
	close(fd);
	loop_stop(loop);
}

static int listen_at(const char *name, struct listener **ret)
{
	return listener_new_unix(loop, scratch_path(name), on_accepted, NULL, ret);
}

static struct sockaddr_un name_of(const char *name)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", scratch_path(name));
	return address;
}

/* Leave the file of a socket that has no listener. */
static void leave_socket(const char *name)
{
	struct sockaddr_un address = name_of(name);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	cr_assert_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	close(fd);
}

static int connect_to(const char *name)
{
	struct sockaddr_un address = name_of(name);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	cr_assert_eq(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

/* Expect that a client is accepted. The probe of a second listener is accepted, too. */
static void expect_accepted(const char *name)
{
	unsigned int before = n_accepted;
	int fd = connect_to(name);

	cr_expect_eq(loop_run(loop, PATIENCE_MS), 0);
	cr_expect_gt(n_accepted, before);
	close(fd);
}

Test(listener, takes_the_place_of_a_socket_that_nobody_listens_to)
{
	struct stat file;

	leave_socket("door");
	cr_assert_eq(listen_at("door", &listener), 0);
	expect_accepted("door");
	cr_assert_eq(stat(scratch_path("door"), &file), 0);
	cr_expect_eq(file.st_mode & 07777, 0660u);
}

Test(listener, leaves_a_socket_to_its_listener)
{
	struct listener *other = NULL;

	cr_assert_eq(listen_at("door", &listener), 0);
	cr_expect_eq(listen_at("door", &other), -EADDRINUSE);
	cr_expect_null(other);
	expect_accepted("door");
}

Test(listener, leaves_a_file_that_is_no_socket)
{
	struct stat file;

	scratch_write("door", "text");
	cr_expect_eq(listen_at("door", &listener), -EADDRINUSE);
	leave_socket("stale");
	cr_assert_eq(symlink(scratch_path("stale"), scratch_path("link")), 0);
	cr_expect_eq(listen_at("link", &listener), -EADDRINUSE);
	cr_assert_eq(stat(scratch_path("door"), &file), 0);
	cr_expect_eq(file.st_size, 4);
	cr_expect_eq(lstat(scratch_path("link"), &file), 0);
	cr_expect_eq(lstat(scratch_path("stale"), &file), 0);
}

Test(listener, reports_a_path_that_cannot_be_used)
{
	char name[200] = "";

	cr_expect_eq(listen_at("none/door", &listener), -ENOENT);
	memset(name, 'x', sizeof(name) - 1);
	cr_expect_eq(listen_at(name, &listener), -ENAMETOOLONG);
}

Test(listener, removes_its_file_and_no_other)
{
	struct stat file;

	cr_assert_eq(listen_at("door", &listener), 0);
	listener_free(take_ptr(listener));
	cr_expect(lstat(scratch_path("door"), &file) < 0);

	cr_assert_eq(listen_at("door", &listener), 0);
	cr_assert_eq(rename(scratch_path("door"), scratch_path("moved")), 0);
	leave_socket("door");
	listener_free(take_ptr(listener));
	cr_expect_eq(lstat(scratch_path("door"), &file), 0);
}

/* The number that the next descriptor will have. */
static int next_descriptor(void)
{
	int fd = dup(STDIN_FILENO);

	close(fd);
	return fd;
}

Test(listener, goes_on_when_descriptors_had_run_out)
{
	struct rlimit limit;
	struct rlimit few;
	int fd;

	cr_assert_eq(listen_at("door", &listener), 0);
	fd = connect_to("door");
	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	few = (struct rlimit){(rlim_t)next_descriptor(), limit.rlim_max};
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	cr_expect_eq(loop_run(loop, 10), -ETIME);
	cr_expect_eq(n_accepted, 0u);
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	cr_expect_eq(loop_run(loop, PATIENCE_MS), 0);
	cr_expect_eq(n_accepted, 1u);
	close(fd);
}

Test(listener, reports_an_address_that_cannot_be_used)
{
	struct bus_address address = {.host = "127.0.0.1"};
	struct bus_address no_address = {.host = "no name at all"};
	struct listener *other = NULL;

	cr_assert_eq(listener_new(loop, &address, on_accepted, NULL, &listener), 0);
	cr_expect_neq(address.port, 0);
	cr_expect_eq(listener_new(loop, &address, on_accepted, NULL, &other), -EADDRINUSE);
	cr_expect_eq(listener_new(loop, &no_address, on_accepted, NULL, &other), -EADDRNOTAVAIL);
	cr_expect_null(other);
}
