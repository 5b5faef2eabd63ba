/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/sandbox/syscalls.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/array.h"
#include "util/assert.h"
#include "worker/sandbox/syscalls_inside.h"
#include "syscalls_filters.h"

/* worker/sandbox/syscalls_compile.c made the filters from its lists of allowed calls. This writes
 * the number of the process into one, because a process may signal itself, and lets refused calls
 * wait for a listener, if there is to be one. */

#define FILTER(name)                                                                               \
	{                                                                                          \
		(name), ARRAY_SIZE(name)                                                           \
	}

struct filter {
	const struct sock_filter *code;
	size_t n;
};

/* The changes to files allowed by a filter. */
enum changes {
	WITHOUT_WRITE,    /* only writing to files open for it */
	WITHOUT_TRUNCATE, /* all but truncating by path */
	ALL,
};

static const struct filter of_compute[] = {
	FILTER(compute_without_write), FILTER(compute_without_truncate), FILTER(compute)};
static const struct filter of_compute_unix[] = {FILTER(compute_unix_without_write),
	FILTER(compute_unix_without_truncate), FILTER(compute_unix)};
static const struct filter of_net[] = {
	FILTER(net_without_write), FILTER(net_without_truncate), FILTER(net)};
static const struct filter of_net_unix[] = {
	FILTER(net_unix_without_write), FILTER(net_unix_without_truncate), FILTER(net_unix)};

static const struct filter *find_filter(const struct toolbox_sandbox *sandbox, bool has_truncate)
{
	enum changes changes = has_truncate ? ALL : WITHOUT_TRUNCATE;

	if (sandbox->write.list.n_items == 0)
		changes = WITHOUT_WRITE;
	if (sandbox->class == SANDBOX_COMPUTE)
		return sandbox->has_unix ? &of_compute_unix[changes] : &of_compute[changes];
	return sandbox->has_unix ? &of_net_unix[changes] : &of_net[changes];
}

/* Install @filter for this process. With @has_listener the refused calls wait for the answer of a
 * listener: return its descriptor. Else return 0, or a negative errno. */
static int install(const struct filter *filter, bool has_listener)
{
	unsigned int flags = has_listener ? SECCOMP_FILTER_FLAG_NEW_LISTENER : 0;
	struct sock_filter code[SYSCALLS_CODE_MAX];
	struct sock_fprog program = {.len = (unsigned short)filter->n, .filter = code};
	long r;

	memcpy(code, filter->code, filter->n * sizeof(*code));
	for (size_t i = 0; i < filter->n; i++) {
		if (syscalls_is_place(&code[i]))
			code[i].k = (uint32_t)getpid();
		if (has_listener && syscalls_is_refusal(&code[i]))
			code[i].k = SECCOMP_RET_USER_NOTIF;
	}
	r = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
	return r < 0 ? -errno : (int)r;
}

int syscalls_restrict(const struct toolbox_sandbox *sandbox, bool has_truncate, int *ret_listener)
{
	const struct filter *filter = find_filter(sandbox, has_truncate);
	int fd = ret_listener ? install(filter, true) : -1;

	/* An older kernel has no listeners, and a container may have one of its own. */
	if (fd < 0)
		return install(filter, false);
	*ret_listener = fd;
	return 0;
}

/*
 *   another architecture? ── yes ──▶ allow
 *   number 1? ── yes ──┐
 *   …                  │
 *   number n? ── yes ──┤
 *   allow              │
 *   wait  ◀────────────┘
 */
int syscalls_trace(const int *numbers, size_t n, int *ret_listener)
{
	struct sock_filter code[SYSCALLS_CODE_MAX] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, syscalls_architecture, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	};
	struct sock_fprog program = {.len = 4, .filter = code};
	long r;

	check(n < UINT8_MAX);
	for (size_t i = 0; i < n; i++)
		code[program.len++] = (struct sock_filter)BPF_JUMP(
			BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)numbers[i], (unsigned char)(n - i), 0);
	code[program.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	code[program.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
	r = syscall(
		SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
	if (r < 0)
		return -errno;
	*ret_listener = (int)r;
	return 0;
}
