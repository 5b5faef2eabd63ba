/* SPDX-License-Identifier: Apache-2.0 */
#include <asm/termbits.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <sched.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "util/array.h"
#include "worker/sandbox/syscalls_inside.h"

/*
 * A program of the build to write the filters of worker/sandbox/syscalls.h as C, and with the
 * argument `names` the names of all calls, for host/refusal.c.
 *
 *   lists of calls ──▶ one action for each number ──▶ BPF ──▶ syscalls_filters.h ──▶ syscalls.c
 *
 * A filter is a binary search over ranges of numbers with the same action, followed by one block
 * for each call whose arguments decide:
 *
 *   another architecture, x32              ─▶ EPERM
 *   clone3(), and numbers above the newest ─▶ ENOSYS: libc then uses an older call
 *   a call of the lists                    ─▶ allowed, or its block
 *   any other call                         ─▶ EPERM
 *
 * The kernel answers for a call without a block from a bitmap. A filter is constant but for the
 * number of its process.
 *
 * libseccomp names the calls here; its own code generator (seccomp_export_bpf()) is not used. On
 * machines with a second way to socket(), as socketcall() of 32-bit x86, libseccomp refuses an
 * exact rule with conditions for socket(), and any other rule lets socketcall() make sockets of all
 * families. The answers for another architecture, x32 and newer numbers would still be written by
 * hand, and the filter of net_unix would have 601 instructions instead of 494.
 */

/* The newest call known here, file_setattr of Linux 6.17. Numbers from 424 on are the same on all
 * architectures. */
#define NEWEST 469

/* Numbers from here on are calls of x32, with another meaning. */
#define X32_BIT 0x40000000u

#define REFUSE SYSCALLS_REFUSE
#define ABSENT (SECCOMP_RET_ERRNO | ENOSYS)

/* The most instructions a conditional jump can skip. */
#define JUMP_MAX 255

#define VALUES_MAX 48
#define BLOCKS_MAX 64

#define LOW_WORD  (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 0u : 4u)
#define HIGH_WORD (4u - LOW_WORD)

/* A class as the filters distinguish it. */
struct variant {
	const char *name;
	bool has_net;
	bool has_unix;
	bool has_write;    /* files may be written below some path */
	bool has_truncate; /* and landlock restricts truncating */
};

/* Names of calls. Calls newer than libseccomp have their number: 453 is map_shadow_stack, 454
 * futex_wake, 455 futex_wait, 456 futex_requeue, 462 mseal. Some architectures lack some calls. */
static const char of_compute[] =
	/* memory */
	"brk mmap mmap2 munmap mremap mprotect pkey_alloc pkey_free pkey_mprotect madvise "
	"msync mincore mlock mlock2 munlock mlockall munlockall membarrier get_mempolicy "
	"set_mempolicy mbind 453 462 "
	/* time */
	"time times gettimeofday clock_gettime clock_gettime64 clock_getres clock_getres_time64 "
	"clock_nanosleep clock_nanosleep_time64 nanosleep alarm getitimer setitimer timer_create "
	"timer_settime timer_settime64 timer_gettime timer_gettime64 timer_getoverrun timer_delete "
	"timerfd_create timerfd_settime timerfd_settime64 timerfd_gettime timerfd_gettime64 "
	/* its own threads */
	"clone exit exit_group futex futex_time64 futex_waitv 454 455 456 set_robust_list "
	"set_tid_address rseq arch_prctl prctl gettid getcpu sched_yield sched_getaffinity "
	"sched_setaffinity sched_getattr sched_getparam sched_setparam sched_getscheduler "
	"sched_setscheduler sched_get_priority_max sched_get_priority_min "
	"sched_rr_get_interval sched_rr_get_interval_time64 getpriority setpriority "
	/* its own signals, limits and identity; it has no children to wait for */
	"rt_sigaction rt_sigprocmask rt_sigpending rt_sigsuspend rt_sigtimedwait "
	"rt_sigtimedwait_time64 rt_sigreturn sigreturn sigaltstack restart_syscall pause "
	"kill tgkill rt_sigqueueinfo rt_tgsigqueueinfo wait4 waitid getrlimit ugetrlimit "
	"setrlimit prlimit64 getrusage getpid getppid getpgid getpgrp getsid getuid getuid32 "
	"geteuid geteuid32 getgid getgid32 getegid getegid32 getresuid getresuid32 getresgid "
	"getresgid32 getgroups getgroups32 capget personality uname sysinfo getrandom "
	/* files, restricted by landlock when they are opened, made or removed */
	"open openat openat2 creat mkdir mkdirat mknod mknodat rmdir unlink unlinkat rename "
	"renameat renameat2 link linkat symlink symlinkat "
	/* files by their path, not restricted by landlock: looking */
	"stat stat64 lstat lstat64 newfstatat fstatat64 statx statfs statfs64 access "
	"faccessat faccessat2 readlink readlinkat getcwd chdir fchdir umask "
	/* open files */
	"close close_range read readv pread64 preadv preadv2 write writev pwrite64 pwritev "
	"pwritev2 lseek _llseek fstat fstat64 fstatfs fstatfs64 getdents getdents64 ftruncate "
	"ftruncate64 fallocate fadvise64 fadvise64_64 arm_fadvise64_64 readahead fsync fdatasync "
	"sync_file_range sync_file_range2 fgetxattr flistxattr flock fcntl fcntl64 ioctl dup dup2 "
	"dup3 pipe pipe2 sendfile sendfile64 splice tee vmsplice copy_file_range "
	/* waiting for them */
	"poll ppoll ppoll_time64 select _newselect pselect6 pselect6_time64 epoll_create "
	"epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2 eventfd eventfd2 "
	"signalfd signalfd4 "
	/* connected sockets: the wire, and pairs */
	"socketpair sendto sendmsg recvfrom recvmsg shutdown getsockopt setsockopt "
	"getsockname getpeername";

static const char of_net[] =
	"socket connect bind listen accept accept4 sendmmsg recvmmsg recvmmsg_time64";

/* Changes without a file open for writing: landlock does not restrict them. */
static const char of_write[] = "fchmod fchown fchown32 fsetxattr fremovexattr";

static const char of_truncate[] = "truncate truncate64";

/* The kernel does not know clone3(): a filter cannot see its flags, and libc then uses clone(). */
static const char of_absent[] = "clone3";

/* ── calls whose arguments decide ────────────────────────────────────────────────────────────── */

enum word {
	LOW, /* all the kernel sees of an int */
	HIGH,
};

/* An argument and its values, in 32 bits after @mask (0: all bits). A call is allowed if each of
 * its conditions holds, or a condition marked `enough` holds after the others before it. */
struct condition {
	int call;
	unsigned int argument;
	enum word word;
	uint32_t mask;
	bool is_enough;
	unsigned int n_values;
	uint32_t values[VALUES_MAX];
};

#define COUNT(...)  (sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))
#define VALUES(...) .n_values = COUNT(__VA_ARGS__), .values = {__VA_ARGS__}

#define MUST(name, at, ...)                                                                        \
	{                                                                                          \
		.call = SCMP_SYS(name), .argument = (at), VALUES(__VA_ARGS__)                      \
	}
#define MUST_MASKED(name, at, bits, ...)                                                           \
	{                                                                                          \
		.call = SCMP_SYS(name), .argument = (at), .mask = (bits), VALUES(__VA_ARGS__)      \
	}
#define MAY(name, at, ...)                                                                         \
	{                                                                                          \
		.call = SCMP_SYS(name), .argument = (at), .is_enough = true, VALUES(__VA_ARGS__)   \
	}
/* A pointer has both words. */
#define MUST_BE_NULL(name, at)                                                                     \
	{.call = SCMP_SYS(name), .argument = (at), VALUES(0)},                                     \
	{                                                                                          \
		.call = SCMP_SYS(name), .argument = (at), .word = HIGH, VALUES(0)                  \
	}

/* Without these flags clone() makes a thread of this process, in its namespaces. */
#define OTHER_CLONES                                                                               \
	(CLONE_PTRACE | CLONE_UNTRACED | CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS |            \
		CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET)

/* The sign of an int. */
#define SIGN 0x80000000u

#define SOCKET_TYPE 0xfu

/* The group of an ioctl's number, and the groups of devices for a toolbox. */
#define IOCTL_GROUP 0xff00u
#define SOUND       0x4100u, 0x5500u, 0x5700u
#define VIDEO       0x5600u, 0x6400u
#define INPUT       0x4500u, 0x4800u
#define BUSES       0x0700u, 0x6b00u, 0xb400u /* I²C, SPI, GPIO */

/* Options of newer headers. */
#define SET_VMA         0x53564d41u
#define SET_MDWE        65u
#define GET_MDWE        66u
#define DONTNEED_LOCKED 24u
#define COLLAPSE        25u
#define GUARD_INSTALL   102u
#define GUARD_REMOVE    103u

static const struct condition of_all[] = {
	MUST_MASKED(clone, 0, CLONE_THREAD | OTHER_CLONES, CLONE_THREAD),
	/* a process may signal itself, as abort() does */
	MUST(kill, 0, SYSCALLS_SELF),
	MUST(tgkill, 0, SYSCALLS_SELF),
	MUST(rt_sigqueueinfo, 0, SYSCALLS_SELF),
	MUST(rt_tgsigqueueinfo, 0, SYSCALLS_SELF),
	/* its own limits; setting them never raises the hard ones without a privilege */
	MUST(prlimit64, 0, 0, SYSCALLS_SELF),
	/* its own scheduling: not in real time, and not ahead of others */
	MUST(sched_setaffinity, 0, 0, SYSCALLS_SELF),
	MUST(sched_setparam, 0, 0, SYSCALLS_SELF),
	MUST(sched_setscheduler, 0, 0, SYSCALLS_SELF),
	MUST(sched_setscheduler, 1, SCHED_OTHER),
	MUST(setpriority, 0, PRIO_PROCESS),
	MUST(setpriority, 1, 0, SYSCALLS_SELF),
	MUST_MASKED(setpriority, 2, SIGN, 0),
	/* asking */
	MUST(personality, 0, 0xffffffffu),
	/* not MADV_REMOVE: the daemon reads the ring of answers (wire/ring.h), and must not meet a
	 * hole there for which no memory is left */
	MUST(madvise, 2, MADV_NORMAL, MADV_RANDOM, MADV_SEQUENTIAL, MADV_WILLNEED, MADV_DONTNEED,
		MADV_FREE, MADV_DONTFORK, MADV_DOFORK, MADV_MERGEABLE, MADV_UNMERGEABLE,
		MADV_HUGEPAGE, MADV_NOHUGEPAGE, MADV_DONTDUMP, MADV_DODUMP, MADV_WIPEONFORK,
		MADV_KEEPONFORK, MADV_COLD, MADV_PAGEOUT, MADV_POPULATE_READ, MADV_POPULATE_WRITE,
		DONTNEED_LOCKED, COLLAPSE, GUARD_INSTALL, GUARD_REMOVE),
	/* not the signal for the end of a host with its daemon, and not the permission to look into
	 * the host */
	MUST(prctl, 0, PR_SET_NAME, PR_GET_NAME, PR_GET_PDEATHSIG, PR_GET_DUMPABLE, PR_GET_KEEPCAPS,
		PR_GET_SECCOMP, PR_CAPBSET_READ, PR_GET_SECUREBITS, PR_SET_TIMERSLACK,
		PR_GET_TIMERSLACK, PR_SET_NO_NEW_PRIVS, PR_GET_NO_NEW_PRIVS, PR_GET_TID_ADDRESS,
		PR_SET_THP_DISABLE, PR_GET_THP_DISABLE, PR_GET_CHILD_SUBREAPER,
		PR_GET_SPECULATION_CTRL, PR_SVE_SET_VL, PR_SVE_GET_VL, PR_PAC_RESET_KEYS,
		PR_SET_TAGGED_ADDR_CTRL, PR_GET_TAGGED_ADDR_CTRL, PR_GET_TSC, PR_SET_FP_MODE,
		PR_GET_FP_MODE, SET_VMA, SET_MDWE, GET_MDWE),
	/* no devices; landlock refuses them, too */
	MUST_MASKED(mknod, 1, S_IFMT, 0, S_IFREG, S_IFIFO),
	MUST_MASKED(mknodat, 2, S_IFMT, 0, S_IFREG, S_IFIFO),
	/* not its owner and its signal: the owner may be any process of the user */
	MUST(fcntl, 1, F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_GETLK,
		F_SETLK, F_SETLKW, F_OFD_GETLK, F_OFD_SETLK, F_OFD_SETLKW, F_GETOWN, F_GETSIG,
		F_SETPIPE_SZ, F_GETPIPE_SZ, F_ADD_SEALS, F_GET_SEALS, F_GET_RW_HINT, F_SET_RW_HINT,
		F_GET_FILE_RW_HINT, F_SET_FILE_RW_HINT),
	/* the requests of any file, of serial ports, and of reading a network interface; no typing
	 * into a terminal, freezing of a file system, or change of an interface */
	MAY(ioctl, 1, FIONREAD, FIONBIO, FIOASYNC, FIOCLEX, FIONCLEX, FIOQSIZE, TCGETS, TCGETS2,
		TCSETS, TCSETSW, TCSETSF, TCSETS2, TCSETSW2, TCSETSF2, TCSBRK, TCSBRKP, TCXONC,
		TCFLSH, TIOCEXCL, TIOCNXCL, TIOCOUTQ, TIOCGWINSZ, TIOCMGET, TIOCMBIS, TIOCMBIC,
		TIOCMSET, FICLONE, FICLONERANGE, SIOCATMARK, SIOCGIFNAME, SIOCGIFCONF, SIOCGIFFLAGS,
		SIOCGIFADDR, SIOCGIFDSTADDR, SIOCGIFBRDADDR, SIOCGIFNETMASK, SIOCGIFMETRIC,
		SIOCGIFMTU, SIOCGIFHWADDR, SIOCGIFINDEX, SIOCGIFTXQLEN),
	MUST_MASKED(ioctl, 1, IOCTL_GROUP, SOUND, VIDEO, INPUT, BUSES),
};

/* The times of an open file. */
static const struct condition with_write[] = {
	MUST_BE_NULL(utimensat, 1),
	MUST_BE_NULL(utimensat_time64, 1),
};

/* Pairs of stream sockets cannot send anywhere else. */
static const struct condition without_unix[] = {
	MUST(socketpair, 0, AF_UNIX),
	MUST_MASKED(socketpair, 1, SOCKET_TYPE, SOCK_STREAM),
};

static const struct condition without_net[] = {
	MUST_BE_NULL(sendto, 4),
};

/* TCP and UDP. */
static const struct condition with_net[] = {
	MUST(socket, 0, AF_INET, AF_INET6),
	MUST_MASKED(socket, 1, SOCKET_TYPE, SOCK_STREAM, SOCK_DGRAM),
	MUST(socket, 2, 0, IPPROTO_TCP, IPPROTO_UDP),
};

/* The protocol of a unix socket is 0, or its family. */
static const struct condition with_unix[] = {
	MUST(socketpair, 0, AF_UNIX),
	MUST(socket, 0, AF_INET, AF_INET6, AF_UNIX),
	MUST_MASKED(socket, 1, SOCKET_TYPE, SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET),
	MUST(socket, 2, 0, AF_UNIX, IPPROTO_TCP, IPPROTO_UDP),
};

/* Class compute with unix sockets: no other. */
static const struct condition with_unix_alone[] = {
	MUST(socketpair, 0, AF_UNIX),
	MUST(socket, 0, AF_UNIX),
	MUST_MASKED(socket, 1, SOCKET_TYPE, SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET),
	MUST(socket, 2, 0, AF_UNIX),
};

/* ── the program ─────────────────────────────────────────────────────────────────────────────── */

/* The code being written, and the code for each number. */
struct filter {
	struct sock_filter code[BPF_MAXINSNS];
	size_t n;
	uint32_t actions[NEWEST + 2]; /* a return value, or BLOCK + an index of blocks */
	struct condition blocks[BLOCKS_MAX];
	size_t n_blocks;
};

/* No return value of a filter is as large. */
#define BLOCK 0xffff0000u

static void emit(struct filter *filter, unsigned int code, uint32_t k, size_t jt, size_t jf)
{
	if (filter->n >= BPF_MAXINSNS || jt > JUMP_MAX || jf > JUMP_MAX) {
		fprintf(stderr, "syscalls_compile: the filter is too large\n");
		exit(EXIT_FAILURE);
	}
	filter->code[filter->n++] =
		(struct sock_filter){(unsigned short)code, (unsigned char)jt, (unsigned char)jf, k};
}

static void emit_return(struct filter *filter, uint32_t value)
{
	emit(filter, BPF_RET | BPF_K, value, 0, 0);
}

static void emit_load(struct filter *filter, size_t offset)
{
	emit(filter, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

/*
 *   load, mask
 *   is it value 1? ── yes ──┐
 *   …                       │
 *   is it value n? ── yes ──┤
 *   refuse                  │  (after an `enough` condition: skip the next one, which allows)
 *   the next condition  ◀───┘
 */
static void emit_condition(struct filter *filter, const struct condition *condition)
{
	size_t n = condition->n_values;

	emit_load(filter, offsetof(struct seccomp_data, args) +
				  condition->argument * sizeof(uint64_t) +
				  (condition->word == LOW ? LOW_WORD : HIGH_WORD));
	if (condition->mask)
		emit(filter, BPF_ALU | BPF_AND | BPF_K, condition->mask, 0, 0);
	for (size_t i = 0; i < n; i++)
		emit(filter, BPF_JMP | BPF_JEQ | BPF_K, condition->values[i], n - i, 0);
	if (condition->is_enough) {
		emit(filter, BPF_JMP | BPF_JA, 1, 0, 0);
		emit_return(filter, SECCOMP_RET_ALLOW);
	} else {
		emit_return(filter, REFUSE);
	}
}

/* Write the block of a call: all of its conditions. */
static void emit_block(struct filter *filter, int call)
{
	for (size_t i = 0; i < filter->n_blocks; i++)
		if (filter->blocks[i].call == call)
			emit_condition(filter, &filter->blocks[i]);
	emit_return(filter, SECCOMP_RET_ALLOW);
}

/* Write the search among the ranges of numbers from @first to @last, each a place in @starts. */
static void emit_search(struct filter *filter, const uint32_t *starts, size_t first, size_t last)
{
	size_t middle = first + (last - first + 1) / 2;
	uint32_t action = filter->actions[starts[first]];
	size_t branch;

	if (first == last && action < BLOCK) {
		emit_return(filter, action);
	} else if (first == last) {
		/* The distance is known when the blocks have been written. */
		emit(filter, BPF_JMP | BPF_JA, action, 0, 0);
	} else {
		branch = filter->n;
		emit(filter, BPF_JMP | BPF_JGE | BPF_K, starts[middle], 0, 0);
		emit_search(filter, starts, first, middle - 1);
		if (filter->n - branch - 1 > JUMP_MAX)
			exit(EXIT_FAILURE);
		filter->code[branch].jt = (unsigned char)(filter->n - branch - 1);
		emit_search(filter, starts, middle, last);
	}
}

/* Return whether @i is the first condition of its call. */
static bool is_first(const struct filter *filter, size_t i)
{
	for (size_t before = 0; before < i; before++)
		if (filter->blocks[before].call == filter->blocks[i].call)
			return false;
	return true;
}

/* Write the blocks, and the distances of the jumps to them. */
static void emit_blocks(struct filter *filter)
{
	size_t n_search = filter->n;

	for (size_t i = 0; i < filter->n_blocks; i++) {
		size_t place = filter->n;

		if (!is_first(filter, i))
			continue;
		emit_block(filter, filter->blocks[i].call);
		for (size_t at = 0; at < n_search; at++)
			if (filter->code[at].code == (BPF_JMP | BPF_JA) &&
				filter->code[at].k == BLOCK + i)
				filter->code[at].k = (uint32_t)(place - at - 1);
	}
}

/* Return the number of the call @name, -1 on an architecture that lacks the call. libseccomp
 * resolves some names as parts of socketcall() and ipc(), though they have numbers of their own. */
static int find_number(const char *name)
{
	static char *names[NEWEST + 1];

	for (int number = 0; number <= NEWEST; number++) {
		if (!names[number])
			names[number] = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, number);
		if (names[number] && strcmp(names[number], name) == 0)
			return number;
	}
	if (seccomp_syscall_resolve_name(name) != __NR_SCMP_ERROR)
		return -1;
	fprintf(stderr, "syscalls_compile: there is no call '%s'\n", name);
	exit(EXIT_FAILURE);
}

/* Set the action of the calls in @names. */
static void set_calls(struct filter *filter, const char *names, uint32_t action)
{
	char name[64];
	int length;

	for (; sscanf(names, "%63s%n", name, &length) == 1; names += length) {
		int number = isdigit((unsigned char)*name) ? atoi(name) : find_number(name);

		if (number >= 0)
			filter->actions[number] = action;
	}
}

static void add_conditions(struct filter *filter, const struct condition *conditions, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (conditions[i].call < 0)
			continue;
		if (filter->n_blocks == BLOCKS_MAX)
			exit(EXIT_FAILURE);
		filter->blocks[filter->n_blocks++] = conditions[i];
	}
	for (size_t i = 0; i < filter->n_blocks; i++)
		if (is_first(filter, i))
			filter->actions[filter->blocks[i].call] = BLOCK + (uint32_t)i;
}

#define CONDITIONS(list) add_conditions(filter, list, ARRAY_SIZE(list))

static void decide(struct filter *filter, const struct variant *variant)
{
	for (size_t i = 0; i <= NEWEST; i++)
		filter->actions[i] = REFUSE;
	filter->actions[NEWEST + 1] = ABSENT;
	set_calls(filter, of_absent, ABSENT);
	set_calls(filter, of_compute, SECCOMP_RET_ALLOW);
	if (variant->has_write)
		set_calls(filter, of_write, SECCOMP_RET_ALLOW);
	if (variant->has_truncate)
		set_calls(filter, of_truncate, SECCOMP_RET_ALLOW);
	CONDITIONS(of_all);
	if (variant->has_write)
		CONDITIONS(with_write);
	if (variant->has_net || variant->has_unix)
		set_calls(filter, of_net, SECCOMP_RET_ALLOW);
	else
		CONDITIONS(without_net);
	if (!variant->has_unix)
		CONDITIONS(without_unix);
	if (variant->has_unix && !variant->has_net)
		CONDITIONS(with_unix_alone);
	else if (variant->has_unix)
		CONDITIONS(with_unix);
	else if (variant->has_net)
		CONDITIONS(with_net);
}

static void make(struct filter *filter, const struct variant *variant)
{
	uint32_t starts[NEWEST + 2];
	size_t n_ranges = 0;

	decide(filter, variant);
	for (uint32_t number = 0; number <= NEWEST + 1; number++)
		if (number == 0 || filter->actions[number] != filter->actions[number - 1])
			starts[n_ranges++] = number;
	emit_load(filter, offsetof(struct seccomp_data, arch));
	emit(filter, BPF_JMP | BPF_JEQ | BPF_K, seccomp_arch_native(), 1, 0);
	emit_return(filter, REFUSE);
	emit_load(filter, offsetof(struct seccomp_data, nr));
	emit(filter, BPF_JMP | BPF_JGE | BPF_K, X32_BIT, 0, 1);
	emit_return(filter, REFUSE);
	emit_search(filter, starts, 0, n_ranges - 1);
	emit_blocks(filter);
}

/* Return whether the number of the process is exactly where syscalls.c looks for it. */
static bool has_places(const struct filter *filter)
{
	size_t n_places = 0;
	size_t n_found = 0;

	for (size_t i = 0; i < filter->n; i++) {
		n_found += filter->code[i].k == SYSCALLS_SELF;
		n_places += syscalls_is_place(&filter->code[i]);
	}
	return n_found == n_places && n_places > 0;
}

static bool write_filter(const struct variant *variant)
{
	static struct filter filter;

	filter = (struct filter){0};
	make(&filter, variant);
	if (filter.n >= SYSCALLS_CODE_MAX || !has_places(&filter))
		return false;
	printf("static const struct sock_filter %s[] = {\n", variant->name);
	for (size_t i = 0; i < filter.n; i++)
		printf("\t{0x%02x, %u, %u, 0x%08x},\n", filter.code[i].code, filter.code[i].jt,
			filter.code[i].jf, filter.code[i].k);
	printf("};\n");
	return true;
}

static int write_names(void)
{
	printf("/* Written by syscalls_compile.c. */\n");
	printf("static const uint32_t syscall_architecture = 0x%08x;\n", seccomp_arch_native());
	printf("static const char *const syscall_names[%d] = {\n", NEWEST + 1);
	for (int number = 0; number <= NEWEST; number++) {
		char *name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, number);

		if (name)
			printf("\t[%d] = \"%s\",\n", number, name);
		free(name);
	}
	printf("};\n");
	return EXIT_SUCCESS;
}

static int write_filters(void)
{
	static const struct variant variants[] = {
		{.name = "compute", .has_write = true, .has_truncate = true},
		{.name = "compute_without_truncate", .has_write = true},
		{.name = "compute_without_write"},
		{.name = "compute_unix", .has_unix = true, .has_write = true, .has_truncate = true},
		{.name = "compute_unix_without_truncate", .has_unix = true, .has_write = true},
		{.name = "compute_unix_without_write", .has_unix = true},
		{.name = "net", .has_net = true, .has_write = true, .has_truncate = true},
		{.name = "net_without_truncate", .has_net = true, .has_write = true},
		{.name = "net_without_write", .has_net = true},
		{.name = "net_unix",
			.has_net = true,
			.has_unix = true,
			.has_write = true,
			.has_truncate = true},
		{.name = "net_unix_without_truncate",
			.has_net = true,
			.has_unix = true,
			.has_write = true},
		{.name = "net_unix_without_write", .has_net = true, .has_unix = true},
	};

	printf("/* Written by syscalls_compile.c. */\n");
	printf("static const uint32_t syscalls_architecture = 0x%08x;\n", seccomp_arch_native());
	for (size_t i = 0; i < ARRAY_SIZE(variants); i++) {
		if (write_filter(&variants[i]))
			continue;
		fprintf(stderr, "syscalls_compile: cannot write '%s'\n", variants[i].name);
		return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	return argc > 1 && strcmp(argv[1], "names") == 0 ? write_names() : write_filters();
}
