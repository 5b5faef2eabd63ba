/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <linux/filter.h>
#include <sched.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>

#include "call/toolbox_sandbox.h"
#include "worker/sandbox/syscalls_inside.h"

/*
 * A program of the build that writes the filters of worker/sandbox/syscalls.h as C.
 *
 *   lists of calls ──▶ libseccomp ──▶ BPF ──▶ syscalls_filters.h ──▶ syscalls.c, in toolbox-host
 *
 * A filter is constant but for the number of its process. libseccomp needs longer to make it than
 * everything else that a host does before it is ready, so it is made once.
 */

#define DENY SCMP_ACT_ERRNO(EPERM)

/* A call that is denied if its argument satisfies the comparison. */
struct condition {
	int call;
	struct scmp_arg_cmp argument;
};

/* Some architectures lack some of these; their names then mean no call. */
static const int always[] = {
	/* processes: starting them */
	SCMP_SYS(fork),
	SCMP_SYS(vfork),
	SCMP_SYS(execve),
	SCMP_SYS(execveat),
	/* other processes: inspecting them, signalling them, taking their open files */
	SCMP_SYS(ptrace),
	SCMP_SYS(process_vm_readv),
	SCMP_SYS(process_vm_writev),
	SCMP_SYS(process_madvise),
	SCMP_SYS(kcmp),
	SCMP_SYS(tkill),
	SCMP_SYS(pidfd_open),
	SCMP_SYS(pidfd_send_signal),
	SCMP_SYS(pidfd_getfd),
	SCMP_SYS(perf_event_open),
	/* calls that would bypass this filter */
	SCMP_SYS(io_uring_setup),
	/* namespaces and file systems */
	SCMP_SYS(unshare),
	SCMP_SYS(setns),
	SCMP_SYS(chroot),
	SCMP_SYS(pivot_root),
	SCMP_SYS(mount),
	SCMP_SYS(umount2),
	SCMP_SYS(mount_setattr),
	SCMP_SYS(move_mount),
	SCMP_SYS(open_tree),
	SCMP_SYS(fsopen),
	SCMP_SYS(fsconfig),
	SCMP_SYS(fsmount),
	SCMP_SYS(fspick),
	SCMP_SYS(open_by_handle_at),
	SCMP_SYS(quotactl),
	SCMP_SYS(swapon),
	SCMP_SYS(swapoff),
	/* files by their path, which landlock does not restrict */
	SCMP_SYS(chmod),
	SCMP_SYS(fchmodat),
	SCMP_SYS(chown),
	SCMP_SYS(lchown),
	SCMP_SYS(fchownat),
	SCMP_SYS(utime),
	SCMP_SYS(utimes),
	SCMP_SYS(futimesat),
	SCMP_SYS(setxattr),
	SCMP_SYS(lsetxattr),
	SCMP_SYS(removexattr),
	SCMP_SYS(lremovexattr),
	/* the kernel itself */
	SCMP_SYS(bpf),
	SCMP_SYS(userfaultfd),
	SCMP_SYS(keyctl),
	SCMP_SYS(add_key),
	SCMP_SYS(request_key),
	SCMP_SYS(init_module),
	SCMP_SYS(finit_module),
	SCMP_SYS(delete_module),
	SCMP_SYS(kexec_load),
	SCMP_SYS(kexec_file_load),
	SCMP_SYS(reboot),
	SCMP_SYS(acct),
	SCMP_SYS(syslog),
	SCMP_SYS(settimeofday),
	SCMP_SYS(clock_settime),
	SCMP_SYS(adjtimex),
	SCMP_SYS(clock_adjtime),
	SCMP_SYS(sethostname),
	SCMP_SYS(setdomainname),
	SCMP_SYS(iopl),
	SCMP_SYS(ioperm),
};

/* Calls newer than libseccomp 2.5; the numbers are the same on all architectures. */
static const int newer[] = {
	452, /* fchmodat2, Linux 6.6 */
	463, /* setxattrat, 6.13 */
	466, /* removexattrat, 6.13 */
};

static int deny_each(scmp_filter_ctx filter, const int *calls, size_t n_calls)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < n_calls; i++)
		r = seccomp_rule_add(filter, DENY, calls[i], 0);
	return r;
}

/* Deny calls with certain arguments. A process may signal itself, as abort() does. */
static int deny_by_argument(scmp_filter_ctx filter)
{
	const scmp_datum_t self = SYSCALLS_SELF;
	const struct condition conditions[] = {
		{SCMP_SYS(clone), SCMP_A0_64(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0)},
		{SCMP_SYS(kill), SCMP_A0_64(SCMP_CMP_NE, self, 0)},
		{SCMP_SYS(tgkill), SCMP_A0_64(SCMP_CMP_NE, self, 0)},
		{SCMP_SYS(rt_sigqueueinfo), SCMP_A0_64(SCMP_CMP_NE, self, 0)},
		{SCMP_SYS(rt_tgsigqueueinfo), SCMP_A0_64(SCMP_CMP_NE, self, 0)},
		/* the limits of others; 0 is our own */
		{SCMP_SYS(prlimit64), SCMP_A0_64(SCMP_CMP_NE, 0, 0)},
		/* a host dies with its daemon, even if its toolbox objects */
		{SCMP_SYS(prctl), SCMP_A0_64(SCMP_CMP_EQ, PR_SET_PDEATHSIG, 0)},
		/* typing into the terminal that the daemon was started from */
		{SCMP_SYS(ioctl), SCMP_A1_64(SCMP_CMP_MASKED_EQ, 0xffffffffu, TIOCSTI)},
		/* the times of a file by its path; without a path, those of an open file */
		{SCMP_SYS(utimensat), SCMP_A1_64(SCMP_CMP_NE, 0, 0)},
	};
	int r = 0;

	for (size_t i = 0; r == 0 && i < sizeof(conditions) / sizeof(*conditions); i++)
		r = seccomp_rule_add_array(
			filter, DENY, conditions[i].call, 1, &conditions[i].argument);
	return r;
}

static int add_rules(scmp_filter_ctx filter, enum sandbox_class class, bool has_truncate)
{
	int r = deny_each(filter, always, sizeof(always) / sizeof(*always));

	r = r ? r : deny_each(filter, newer, sizeof(newer) / sizeof(*newer));
	r = r ? r : deny_by_argument(filter);
	/* A filter cannot see the flags of clone3(); after ENOSYS libc starts threads by
	 * clone(). */
	r = r ? r : seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
	if (r == 0 && class == SANDBOX_COMPUTE)
		r = seccomp_rule_add(filter, DENY, SCMP_SYS(socket), 0);
	if (r == 0 && !has_truncate)
		r = seccomp_rule_add(filter, DENY, SCMP_SYS(truncate), 0);
	return r;
}

/* Read the instructions that libseccomp exports to a temporary file. */
static int export(scmp_filter_ctx filter, struct sock_filter *ret_code, size_t *ret_n)
{
	FILE *file = tmpfile();
	int r = file ? seccomp_export_bpf(filter, fileno(file)) : -errno;

	if (r == 0) {
		rewind(file);
		*ret_n = fread(ret_code, sizeof(*ret_code), BPF_MAXINSNS, file);
		r = *ret_n > 0 && *ret_n < SYSCALLS_CODE_MAX ? 0 : -EMSGSIZE;
	}
	if (file)
		fclose(file);
	return r;
}

static int make(
	enum sandbox_class class, bool has_truncate, struct sock_filter *ret_code, size_t *ret_n)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
	int r;

	if (!filter)
		return -ENOMEM;
	/* Calls of another architecture (32-bit calls on a 64-bit machine) would not match the
	 * lists. */
	r = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, DENY);
	r = r ? r : add_rules(filter, class, has_truncate);
	r = r ? r : export(filter, ret_code, ret_n);
	seccomp_release(filter);
	return r;
}

/* Return whether the number of the process is exactly where syscalls.c looks for it. */
static bool has_places(const struct sock_filter *code, size_t n)
{
	size_t n_places = 0;
	size_t n_found = 0;

	for (size_t i = 0; i < n; i++) {
		n_found += code[i].k == SYSCALLS_SELF;
		n_places += syscalls_is_place(&code[i]);
	}
	return n_found == n_places && n_places > 0;
}

static int write_filter(const char *name, enum sandbox_class class, bool has_truncate)
{
	static struct sock_filter code[BPF_MAXINSNS];
	size_t n = 0;
	int r = make(class, has_truncate, code, &n);

	if (r == 0 && !has_places(code, n))
		r = -EINVAL;
	if (r)
		return r;
	printf("static const struct sock_filter %s[] = {\n", name);
	for (size_t i = 0; i < n; i++)
		printf("\t{0x%02x, %u, %u, 0x%08x},\n", code[i].code, code[i].jt, code[i].jf,
			code[i].k);
	printf("};\n");
	return 0;
}

int main(void)
{
	int r;

	printf("/* Written by syscalls_compile.c. */\n");
	r = write_filter("compute", SANDBOX_COMPUTE, true);
	r = r ? r : write_filter("compute_without_truncate", SANDBOX_COMPUTE, false);
	r = r ? r : write_filter("net", SANDBOX_NET, true);
	r = r ? r : write_filter("net_without_truncate", SANDBOX_NET, false);
	if (r)
		fprintf(stderr, "syscalls_compile: %s\n", strerror(-r));
	return r ? EXIT_FAILURE : EXIT_SUCCESS;
}
