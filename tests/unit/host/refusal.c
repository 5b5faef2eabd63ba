/* SPDX-License-Identifier: Apache-2.0 */
#include "host/refusal.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "syscall_names.h"

static void expect_description(const struct seccomp_data *call, const char *expected)
{
	char text[REFUSAL_TEXT_BYTES];

	memset(text, 'x', sizeof(text));
	refusal_describe(call, text);
	cr_expect_str_eq(text, expected);
}

/* Fail unless a call of @number with these arguments is described so. */
static void expect(
	int number, uint64_t first, uint64_t second, uint64_t third, const char *expected)
{
	const struct seccomp_data call = {
		.nr = number, .arch = syscall_architecture, .args = {first, second, third}};

	expect_description(&call, expected);
}

Test(refusal, names_the_call_and_the_arguments_that_decide)
{
	expect(SYS_getpid, 1, 2, 3, "getpid");
	expect(SYS_ioctl, 1, 0x5412, 3, "ioctl(…, 0x5412)");
	expect(SYS_fcntl, 1, 1033, 3, "fcntl(…, 1033)");
	expect(SYS_prctl, 38, 2, 3, "prctl(38)");
	expect(SYS_socket, AF_INET, SOCK_STREAM, 0, "socket(AF_INET, SOCK_STREAM)");
	expect(SYS_socket, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0,
		"socket(AF_UNIX, SOCK_DGRAM)");
	expect(SYS_socketpair, AF_NETLINK, SOCK_RAW, 15, "socketpair(AF_NETLINK, SOCK_RAW, 15)");
	expect(SYS_socket, AF_BLUETOOTH, SOCK_SEQPACKET, 2147483648,
		"socket(AF_BLUETOOTH, SOCK_SEQPACKET, 2147483648)");
	expect(SYS_socket, AF_CAN, 15, 0, "socket(AF_CAN, 15)");
	expect(SYS_socket, 255, 0, 1, "socket(255, 0, 1)");
	/* As the kernel, which sees ints. */
	expect(SYS_socket, UINT64_C(0x100000000) + AF_INET6, UINT64_C(0x100000000) + SOCK_STREAM, 0,
		"socket(AF_INET6, SOCK_STREAM)");
}

Test(refusal, numbers_a_call_without_a_name)
{
	expect(100000, 1, 2, 3, "system call 100000");
	expect(-1, 1, 2, 3, "system call 4294967295");
}

Test(refusal, knows_the_calls_of_one_architecture)
{
	const struct seccomp_data call = {.nr = SYS_getpid, .arch = syscall_architecture + 1};

	expect_description(&call, "a system call of another architecture");
}

Test(refusal, tells_what_is_no_listener)
{
	char text[REFUSAL_TEXT_BYTES] = "";
	int fd = eventfd(0, EFD_CLOEXEC);

	cr_expect_eq(refusal_answer(fd, text), -ENOTTY);
	cr_expect_str_eq(text, "");
	close(fd);
}
