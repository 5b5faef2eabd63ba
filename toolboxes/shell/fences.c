/* SPDX-License-Identifier: Apache-2.0 */
#include "fences.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#elif defined(__riscv) && __riscv_xlen == 64
#define ARCHITECTURE AUDIT_ARCH_RISCV64
#elif defined(__arm__)
#define ARCHITECTURE AUDIT_ARCH_ARM
#else
#define ARCHITECTURE 0 /* no filter is known for it */
#endif

/* System calls of x32 have this bit. */
#define X32_BIT 0x40000000u

/* The first versions of landlock that allow moving between folders, and restrict truncate(2). */
#define ABI_REFER    2
#define ABI_TRUNCATE 3

/* It is in no header: typing into a console, and more. */
#define TIOCLINUX_ 0x541C

/* The most instructions of the filter. */
#define FILTER_MAX 64

struct filter {
	struct sock_filter code[FILTER_MAX];
	unsigned short n;
};

static void add(struct filter *filter, unsigned short code, uint32_t k, uint8_t yes, uint8_t no)
{
	filter->code[filter->n++] = (struct sock_filter){.code = code, .jt = yes, .jf = no, .k = k};
}

static void load(struct filter *filter, size_t offset)
{
	add(filter, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

/* Skip the next @n instructions unless the system call is @number. */
static void if_call(struct filter *filter, uint32_t number, uint8_t n)
{
	load(filter, offsetof(struct seccomp_data, nr));
	add(filter, BPF_JMP | BPF_JEQ | BPF_K, number, 0, n);
}

static void load_argument(struct filter *filter, unsigned int index)
{
	load(filter, offsetof(struct seccomp_data, args) + sizeof(uint64_t) * index);
}

static void refuse(struct filter *filter, uint32_t error)
{
	add(filter, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error, 0, 0);
}

/* Let the call fail with EPERM if the loaded value is @value. */
static void refuse_value(struct filter *filter, uint32_t value)
{
	add(filter, BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
	refuse(filter, EPERM);
}

static int landlock_version(void)
{
	return (int)syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

/* Other numbers for the same calls would pass the filter. */
static void refuse_other_architectures(struct filter *filter)
{
	load(filter, offsetof(struct seccomp_data, arch));
	add(filter, BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0);
	add(filter, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS, 0, 0);
#ifdef __x86_64__
	load(filter, offsetof(struct seccomp_data, nr));
	add(filter, BPF_JMP | BPF_JGE | BPF_K, X32_BIT, 0, 1);
	add(filter, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS, 0, 0);
#endif
}

static void write_filter(struct filter *filter, bool has_network)
{
	refuse_other_architectures(filter);
	/* Nobody types into a terminal of others, as if a person did. */
	if_call(filter, SYS_ioctl, 5);
	load_argument(filter, 1);
	refuse_value(filter, TIOCSTI);
	refuse_value(filter, TIOCLINUX_);
	/* It makes sockets and files past all of this. */
	if_call(filter, SYS_io_uring_setup, 1);
	refuse(filter, ENOSYS);
	if (landlock_version() < ABI_TRUNCATE) {
		if_call(filter, SYS_truncate, 1);
		refuse(filter, EPERM);
#ifdef SYS_truncate64
		if_call(filter, SYS_truncate64, 1);
		refuse(filter, EPERM);
#endif
	}
	if (!has_network) {
		if_call(filter, SYS_socket, 3);
		load_argument(filter, 0);
		add(filter, BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 1, 0);
		refuse(filter, EACCES);
	}
	add(filter, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
}

/* Return 0 or a negative errno. */
static int enter_filter(bool has_network)
{
	struct filter filter = {.n = 0};
	struct sock_fprog program;

	if (ARCHITECTURE == 0)
		return -ENOSYS;
	write_filter(&filter, has_network);
	program = (struct sock_fprog){.len = filter.n, .filter = filter.code};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
		return -errno;
	return 0;
}

bool fences_enter(bool has_network, struct text *why)
{
	/* An empty network, where the user may make one; the filter closes it for all. */
	bool has_namespace = !has_network && unshare(CLONE_NEWNET) == 0;
	int r = enter_filter(has_network);

	if (r == 0)
		return true;
	text_printf(why, "system calls cannot be restricted here (seccomp: %s)%s", strerror(-r),
		has_network || has_namespace ? ""
					     : ", so the network cannot be closed, which "
					       "shell.network false asks for");
	return false;
}

/* Allow moving files, as far as the sandbox does: without a rule, each layer forbids it. */
static int allow_moving(int rules)
{
	struct landlock_path_beneath_attr root = {.allowed_access = LANDLOCK_ACCESS_FS_REFER};
	int r = 0;

	root.parent_fd = open("/", O_PATH | O_CLOEXEC);
	if (root.parent_fd < 0)
		return -errno;
	if (syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &root, 0) < 0)
		r = -errno;
	close(root.parent_fd);
	return r;
}

int fences_part(void)
{
	/* The sandbox forbids making block devices already. */
	uint64_t handled = LANDLOCK_ACCESS_FS_MAKE_BLOCK;
	bool has_refer = landlock_version() >= ABI_REFER;
	int rules;
	int r = 0;

	handled |= has_refer ? LANDLOCK_ACCESS_FS_REFER : 0;
	rules = (int)syscall(SYS_landlock_create_ruleset, &handled, sizeof(handled), 0);
	if (rules < 0)
		return -errno;
	if (has_refer)
		r = allow_moving(rules);
	if (r == 0 && syscall(SYS_landlock_restrict_self, rules, 0) < 0)
		r = -errno;
	close(rules);
	return r;
}
