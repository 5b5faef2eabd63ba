/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/sandbox/landlock.h"

#include <asm/termbits.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/fs.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../scratch.h"
#include "host/refusal.h"
#include "worker/sandbox/syscalls.h"

/*
 * The attempts to leave the classes compute and net, one row each (docs/sandbox.md): by a child
 * that has entered the sandbox, as root and as a plain user, with the landlock of this kernel, with
 * the one in Linux 5.19 (Debian 12), and without. No attempt may succeed, and none may end the
 * child.
 */

#define LIMIT 300

/* An id that owns nothing. */
#define PLAIN_USER 65534

/* Placeholders in the arguments of a row. */
#define PARENT 0x7a000001L
#define PATH   0x7a000003L
#define PIPE   0x7a000004L
#define READ   0x7a000005L

/* The high half of an int's register, which the kernel does not see; nothing on 32-bit machines. */
#define HIGH_BITS ((long)(1ULL << 32))

enum expected {
	REFUSED,       /* EPERM in both classes */
	NOT_COMPUTE,   /* EPERM in compute; the other class may */
	NOT_READER,    /* EPERM without `write` */
	ABSENT,        /* ENOSYS, as on an older kernel */
	FILES,         /* an error if there is landlock */
	FILES_OR_CALL, /* an error in any case */
	WRITER,        /* 0 with `write` */
	ALLOWED,       /* 0 */
};

struct attempt {
	const char *name;
	int (*try)(void); /* return an errno; NULL: the call below */
	enum expected expected;
	long number;
	long arguments[6];
};

static char bytes[256];
static int ends[2];
static int readable;
static char secret[384];
static char own[384];

/* ── attempts that take more than one call ───────────────────────────────────────────────────── */

static int error_of(long result)
{
	return result < 0 ? errno : 0;
}

/* Define an attempt of one call. */
#define ATTEMPT(name, call)                                                                        \
	static int name(void)                                                                      \
	{                                                                                          \
		return call;                                                                       \
	}

#ifdef __x86_64__
/* The calls of 32-bit programs have other numbers. */
static int call_32_bit(int number)
{
	int result;

	__asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(0), "c"(0) : "memory");
	return result < 0 ? -result : 0;
}

ATTEMPT(get_pid_in_32_bit, call_32_bit(20))
ATTEMPT(fork_in_32_bit, call_32_bit(2))
#endif

/* The sockets of the log, of systemd's journal and of its notifications are such. */
static int send_to_path(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fds[2];

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/socket", scratch_folder);
	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, fds) < 0)
		return errno;
	return error_of(sendto(fds[0], "x", 1, 0, (struct sockaddr *)&address, sizeof(address)));
}

/* The owner of an open file is sent a signal of choice when it can be read. */
static int signal_by_input(void)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) < 0)
		return -1;
	if (fcntl(fds[0], F_SETOWN, getppid()) < 0 || fcntl(fds[0], F_SETSIG, SIGURG) < 0 ||
		fcntl(fds[0], F_SETFL, O_ASYNC) < 0)
		return errno;
	return error_of(write(fds[1], "x", 1));
}

static int open_with(const char *path, int flags)
{
	return error_of(open(path, flags | O_CLOEXEC, 0600));
}

ATTEMPT(read_secret, open_with(secret, O_RDONLY))
ATTEMPT(write_secret, open_with(secret, O_WRONLY))
ATTEMPT(list_folder, open_with(scratch_folder, O_RDONLY | O_DIRECTORY))
ATTEMPT(list_home, open_with("/home", O_RDONLY | O_DIRECTORY))
ATTEMPT(make_file, open_with(scratch_path("new"), O_WRONLY | O_CREAT))
ATTEMPT(make_unnamed_file, open_with(scratch_folder, O_WRONLY | O_TMPFILE))
ATTEMPT(make_shared_memory, open_with("/dev/shm/toolboxd-attempt", O_RDWR | O_CREAT))
ATTEMPT(make_folder, error_of(mkdir(scratch_path("folder"), 0700)))
ATTEMPT(make_fifo, error_of(mkfifo(scratch_path("fifo"), 0600)))
ATTEMPT(make_link, error_of(link(secret, scratch_path("link"))))
ATTEMPT(make_symlink, error_of(symlink("/etc/passwd", scratch_path("symlink"))))
ATTEMPT(rename_secret, error_of(rename(secret, scratch_path("renamed"))))
ATTEMPT(remove_secret, error_of(unlink(secret)))
ATTEMPT(remove_folder, error_of(rmdir(scratch_path("empty"))))
ATTEMPT(cut_secret, error_of(truncate(secret, 0)))
ATTEMPT(read_passwd, open_with("/etc/passwd", O_RDONLY))

#ifndef __SANITIZE_ADDRESS__
/* The sanitizers read their own process. */
ATTEMPT(read_own_environment, open_with("/proc/self/environ", O_RDONLY))
#endif

static int open_of_parent(const char *name, int flags)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", getppid(), name);
	return open_with(path, flags);
}

ATTEMPT(read_environment, open_of_parent("environ", O_RDONLY))
ATTEMPT(write_memory, open_of_parent("mem", O_RDWR))
ATTEMPT(list_processes, open_with("/proc", O_RDONLY | O_DIRECTORY))
ATTEMPT(read_system, open_with("/sys/kernel", O_RDONLY | O_DIRECTORY))
ATTEMPT(open_terminal, open_with("/dev/tty", O_RDWR))

/* ── a process's own affairs, which libraries rely on ────────────────────────────────────────── */

static void *end_thread(void *data)
{
	return data;
}

static int start_thread(void)
{
	pthread_t thread;
	int r = pthread_create(&thread, NULL, end_thread, NULL);

	return r ? r : pthread_join(thread, NULL);
}

static int bind_to_processors(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) < 0
		       ? errno
		       : error_of(sched_setaffinity(0, sizeof(set), &set));
}

static int be_scheduled_normally(void)
{
	const struct sched_param parameters = {0};

	return error_of(sched_setscheduler(0, SCHED_OTHER, &parameters));
}

/* The nicest: the tests may run with a lower priority themselves, and none gets that back. */
ATTEMPT(be_nice, error_of(setpriority(PRIO_PROCESS, 0, 19)))

static int arm_timer(void)
{
	const struct itimerspec never = {.it_value.tv_sec = 1000};
	timer_t timer;

	if (timer_create(CLOCK_MONOTONIC, NULL, &timer) < 0 ||
		timer_settime(timer, 0, &never, NULL) < 0)
		return errno;
	return error_of(timer_delete(timer));
}

static int wait_for_files(void)
{
	struct epoll_event event = {.events = EPOLLIN};
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	int fd = eventfd(0, EFD_CLOEXEC);
	sigset_t none;

	sigemptyset(&none);
	if (epoll < 0 || fd < 0 || timerfd_create(CLOCK_MONOTONIC, 0) < 0 ||
		signalfd(-1, &none, 0) < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) < 0)
		return errno;
	return error_of(epoll_wait(epoll, &event, 1, 0));
}

static int talk_in_pair(void)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0 ||
		send(fds[0], "x", 1, 0) < 0)
		return errno;
	return error_of(recv(fds[1], bytes, 1, 0));
}

static int use_pipe(void)
{
	int fds[2];
	int waiting;

	if (pipe2(fds, O_CLOEXEC) < 0 || fcntl(fds[0], F_SETFL, O_NONBLOCK) < 0 ||
		fcntl(fds[0], F_GETFL) < 0 || fcntl(fds[0], F_DUPFD_CLOEXEC, 3) < 0)
		return errno;
	return error_of(ioctl(fds[0], FIONREAD, &waiting));
}

static void ignore(int signal)
{
	(void)signal;
}

static int signal_itself(void)
{
	signal(SIGUSR1, ignore);
	return raise(SIGUSR1) ? errno : error_of(kill(getpid(), SIGUSR1));
}

static int limit_itself(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) < 0 ? errno
						    : error_of(setrlimit(RLIMIT_NOFILE, &limit));
}

static int make_code(void)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return errno;
	return error_of(mprotect(page, 4096, PROT_READ | PROT_EXEC));
}

ATTEMPT(name_itself, error_of(prctl(PR_SET_NAME, "attempt")))
ATTEMPT(use_null, open_with("/dev/null", O_RDWR))

static int look_at_file(void)
{
	struct stat status;

	return error_of(stat("/etc/passwd", &status));
}

static int use_own_file(void)
{
	const struct flock lock = {.l_type = F_WRLCK};
	int fd = open(scratch_path("own/file"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, "x", 1) < 0 || ftruncate(fd, 0) < 0 || fchmod(fd, 0600) < 0 ||
		futimens(fd, NULL) < 0 || fcntl(fd, F_SETLK, &lock) < 0 || fsync(fd) < 0)
		return errno;
	return error_of(unlink(scratch_path("own/file")));
}

static int make_own_fifo(void)
{
	if (mkfifo(scratch_path("own/fifo"), 0600) < 0)
		return errno;
	return error_of(unlink(scratch_path("own/fifo")));
}

/* ── the table ───────────────────────────────────────────────────────────────────────────────── */

#define ROW(name, expected)                                                                        \
	{                                                                                          \
#name, name, expected, 0,                                                          \
		{                                                                                  \
			0                                                                          \
		}                                                                                  \
	}
#define CALL_AS(name, expected, call, ...)                                                         \
	{                                                                                          \
		name, NULL, expected, SYS_##call,                                                  \
		{                                                                                  \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}
#define CALL(call, ...) CALL_AS(#call, REFUSED, call, __VA_ARGS__)
#define NUMBERED(name, call, ...)                                                                  \
	{                                                                                          \
		name, NULL, REFUSED, call,                                                         \
		{                                                                                  \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}

static const struct attempt attempts[] = {
	/* processes: starting them */
	CALL(clone, SIGCHLD),
	CALL_AS("clone, high bits", REFUSED, clone, SIGCHLD | HIGH_BITS),
	CALL_AS("clone of a thread into a namespace", REFUSED, clone,
		CLONE_THREAD | CLONE_SIGHAND | CLONE_VM | CLONE_NEWNS),
	CALL_AS("clone3", ABSENT, clone3, (long)bytes, 64),
	CALL(execve, (long)"/bin/true", 0, 0),
	CALL(execveat, AT_FDCWD, (long)"/bin/true", 0, 0, 0),
	/* signalling others */
	CALL(kill, PARENT, 0),
	CALL_AS("kill of all", REFUSED, kill, -1, 0),
	CALL_AS("kill of init", REFUSED, kill, 1, 0),
	CALL_AS("kill of its group", REFUSED, kill, 0, 0),
	CALL_AS("kill, high bits", REFUSED, kill, PARENT | HIGH_BITS, 0),
	CALL(tkill, PARENT, 0),
	CALL(tgkill, PARENT, PARENT, 0),
	CALL(rt_sigqueueinfo, PARENT, 0, (long)bytes),
	CALL(rt_tgsigqueueinfo, PARENT, PARENT, 0, (long)bytes),
	CALL(pidfd_open, PARENT, 0),
	CALL(pidfd_send_signal, 0, 0, 0, 0),
	CALL(pidfd_getfd, 0, 0, 0),
	ROW(signal_by_input, REFUSED),
	CALL_AS("fcntl F_SETOWN", REFUSED, fcntl, PIPE, F_SETOWN, PARENT),
	CALL_AS("fcntl F_SETOWN, high bits", REFUSED, fcntl, PIPE, F_SETOWN | HIGH_BITS, PARENT),
	CALL_AS("fcntl F_SETSIG", REFUSED, fcntl, PIPE, F_SETSIG, SIGKILL),
	CALL_AS("fcntl F_SETOWN_EX", REFUSED, fcntl, PIPE, F_SETOWN_EX, (long)bytes),
	CALL_AS("fcntl F_NOTIFY", REFUSED, fcntl, PIPE, F_NOTIFY, 0),
	CALL_AS("fcntl F_SETLEASE", REFUSED, fcntl, PIPE, F_SETLEASE, F_UNLCK),
	CALL_AS("ioctl FIOSETOWN", REFUSED, ioctl, PIPE, FIOSETOWN, (long)bytes),
	CALL_AS("ioctl FIOSETOWN, high bits", REFUSED, ioctl, PIPE, FIOSETOWN | HIGH_BITS,
		(long)bytes),
	CALL_AS("ioctl SIOCSPGRP", REFUSED, ioctl, PIPE, SIOCSPGRP, (long)bytes),
	/* looking into others */
	CALL(ptrace, 0x4206, PARENT, 0, 0),
	CALL(process_vm_readv, PARENT, 0, 0, 0, 0, 0),
	CALL(process_vm_writev, PARENT, 0, 0, 0, 0, 0),
	CALL(process_madvise, 0, 0, 0, 0, 0),
	NUMBERED("process_mrelease", 448, 0, 0),
	CALL(kcmp, PARENT, PARENT, 0, 0, 0),
	CALL(perf_event_open, 0, 0, 0, -1, 0),
	CALL(migrate_pages, PARENT, 0, 0, 0),
	CALL(move_pages, PARENT, 0, 0, 0, 0, 0),
	/* the scheduling and the limits of others, and real time */
	CALL(prlimit64, PARENT, RLIMIT_NOFILE, 0, (long)bytes),
	CALL_AS("sched_setscheduler of another", REFUSED, sched_setscheduler, PARENT, 0,
		(long)bytes),
	CALL_AS("sched_setscheduler to idle", REFUSED, sched_setscheduler, 0, SCHED_IDLE,
		(long)bytes),
	CALL_AS("sched_setscheduler to real time", REFUSED, sched_setscheduler, 0, SCHED_FIFO,
		(long)bytes),
	CALL(sched_setparam, PARENT, (long)bytes),
	CALL(sched_setattr, 0, (long)bytes, 0),
	CALL(sched_setaffinity, PARENT, sizeof(bytes), (long)bytes),
	CALL_AS("setpriority of another", REFUSED, setpriority, PRIO_PROCESS, PARENT, 0),
	CALL_AS("setpriority of its user", REFUSED, setpriority, PRIO_USER, 0, 1),
	CALL_AS("setpriority above others", REFUSED, setpriority, PRIO_PROCESS, 0, -20),
	CALL(ioprio_set, 1, PARENT, 0),
	/* outliving the daemon, and what it is itself */
	CALL_AS("prctl PR_SET_PDEATHSIG", REFUSED, prctl, PR_SET_PDEATHSIG, 0),
	CALL_AS("prctl PR_SET_PDEATHSIG, high bits", REFUSED, prctl, PR_SET_PDEATHSIG | HIGH_BITS,
		0),
	CALL_AS("prctl PR_SET_DUMPABLE", REFUSED, prctl, PR_SET_DUMPABLE, 1),
	CALL_AS("prctl PR_SET_PTRACER", REFUSED, prctl, PR_SET_PTRACER, -1),
	CALL_AS("prctl PR_SET_CHILD_SUBREAPER", REFUSED, prctl, PR_SET_CHILD_SUBREAPER, 1),
	CALL_AS("prctl PR_SET_SECCOMP", REFUSED, prctl, PR_SET_SECCOMP, 2, 0),
	CALL_AS("prctl PR_SET_MM", REFUSED, prctl, PR_SET_MM, 0, 0, 0, 0),
	CALL_AS("prctl of the future", REFUSED, prctl, 1000, 0),
	CALL(seccomp, 0, 0, 0),
	CALL(setsid, 0),
	CALL(setpgid, 0, 0),
	CALL(setuid, 0),
	CALL(setgid, 0),
	CALL(setresuid, -1, -1, -1),
	CALL(setresgid, -1, -1, -1),
	CALL(setgroups, 0, 0),
	CALL(capset, 0, 0),
	CALL(personality, 0),
	/* memory without a limit, and memory of others */
	CALL_AS("madvise MADV_REMOVE", REFUSED, madvise, 0, 0, MADV_REMOVE),
	CALL_AS("madvise MADV_REMOVE, high bits", REFUSED, madvise, 0, 0, MADV_REMOVE | HIGH_BITS),
	CALL_AS("madvise MADV_DONTNEED", ALLOWED, madvise, 0, 0, MADV_DONTNEED),
	CALL(memfd_create, (long)"x", 0),
	NUMBERED("memfd_secret", 447, 0),
	CALL(userfaultfd, 0),
	CALL(shmget, 0, 4096, 01600),
	CALL(shmat, 0, 0, 0),
	CALL(shmctl, 0, 0, 0),
	CALL(semget, 0, 1, 01600),
#ifdef SYS_semop /* i386 has ipc(2) alone */
	CALL(semop, 0, 0, 0),
	CALL(semtimedop, 0, 0, 0, 0),
#endif
	CALL(semctl, 0, 0, 0, 0),
	CALL(msgget, 0, 01600),
	CALL(msgsnd, 0, 0, 0, 0),
	CALL(msgrcv, 0, 0, 0, 0, 0),
	CALL(msgctl, 0, 0, 0),
	CALL(mq_open, (long)"toolboxd", O_CREAT | O_RDWR, 0600, 0),
	CALL(mq_unlink, (long)"toolboxd"),
	/* calls that a filter does not see */
	CALL(io_uring_setup, 4, (long)bytes),
	CALL(io_uring_enter, -1, 0, 0, 0, 0, 0),
	CALL(io_uring_register, -1, 0, 0, 0),
	CALL(io_setup, 1, (long)bytes),
	/* namespaces and file systems */
	CALL(unshare, CLONE_NEWUSER),
	CALL(setns, -1, 0),
	CALL(chroot, (long)"/"),
	CALL(pivot_root, (long)"/", (long)"/"),
	CALL(mount, 0, 0, 0, 0, 0),
	CALL(umount2, 0, 0),
	CALL(mount_setattr, -1, 0, 0, 0, 0),
	CALL(move_mount, -1, 0, -1, 0, 0),
	CALL(open_tree, AT_FDCWD, (long)"/", 0),
	CALL(fsopen, (long)"tmpfs", 0),
	CALL(fsconfig, -1, 0, 0, 0, 0),
	CALL(fsmount, -1, 0, 0),
	CALL(fspick, AT_FDCWD, (long)"/", 0),
	CALL(open_by_handle_at, AT_FDCWD, (long)bytes, 0),
	CALL(name_to_handle_at, AT_FDCWD, (long)"/", (long)bytes, (long)bytes, 0),
	CALL(quotactl, 0, 0, 0, 0),
	NUMBERED("quotactl_fd", 443, -1, 0, 0, 0),
	NUMBERED("statmount", 457, (long)bytes, (long)bytes, sizeof(bytes), 0),
	NUMBERED("listmount", 458, (long)bytes, (long)bytes, 1, 0),
	NUMBERED("open_tree_attr", 467, AT_FDCWD, (long)"/", 0, 0, 0),
	CALL(swapon, 0, 0),
	CALL(swapoff, 0),
	CALL(sync, 0),
	CALL(syncfs, PIPE),
	CALL_AS("ioctl FIFREEZE", REFUSED, ioctl, PIPE, (long)FIFREEZE, 0),
	CALL_AS("ioctl FS_IOC_SETFLAGS", REFUSED, ioctl, PIPE, FS_IOC_SETFLAGS, (long)bytes),
	/* files by their path, which landlock does not restrict */
	CALL(fchmodat, AT_FDCWD, PATH, 0600),
	NUMBERED("fchmodat2", 452, AT_FDCWD, PATH, 0600, 0),
	CALL(fchownat, AT_FDCWD, PATH, -1, -1, 0),
	CALL(utimensat, AT_FDCWD, PATH, 0, 0),
	CALL(setxattr, PATH, (long)"user.x", (long)bytes, 1, 0),
	CALL(lsetxattr, PATH, (long)"user.x", (long)bytes, 1, 0),
	CALL(removexattr, PATH, (long)"user.x"),
	CALL(lremovexattr, PATH, (long)"user.x"),
	CALL(getxattr, PATH, (long)"user.x", (long)bytes, 1),
	CALL(listxattr, PATH, (long)bytes, 1),
	NUMBERED("setxattrat", 463, AT_FDCWD, PATH, 0, (long)"user.x", (long)bytes, 16),
	NUMBERED("getxattrat", 464, AT_FDCWD, PATH, 0, (long)"user.x", (long)bytes, 16),
	NUMBERED("removexattrat", 466, AT_FDCWD, PATH, 0, (long)"user.x"),
	NUMBERED("file_getattr", 468, AT_FDCWD, PATH, (long)bytes, 24, 0),
	NUMBERED("file_setattr", 469, AT_FDCWD, PATH, (long)bytes, 24, 0),
	CALL_AS("mknodat of a device", REFUSED, mknodat, AT_FDCWD, PATH, S_IFCHR, 0x103),
	/* files that were opened for reading, which landlock does not restrict either */
	CALL_AS("fchmod", NOT_READER, fchmod, READ, 0666),
	CALL_AS("fchown", NOT_READER, fchown, READ, -1, -1),
	CALL_AS("futimens", NOT_READER, utimensat, READ, 0, 0),
	CALL_AS("fsetxattr", NOT_READER, fsetxattr, READ, (long)"user.x", (long)bytes, 1, 0),
	CALL_AS("fremovexattr", NOT_READER, fremovexattr, READ, (long)"user.x"),
	/* learning of changes */
	CALL(inotify_init1, 0),
	CALL(inotify_add_watch, -1, PATH, 1),
	CALL(fanotify_init, 0, 0),
	CALL(fanotify_mark, -1, 0, 0, 0, 0),
	/* the kernel itself */
	CALL(bpf, 0, 0, 0),
	CALL(keyctl, 0, 0, 0, 0, 0),
	CALL(add_key, (long)"user", (long)"x", (long)bytes, 1, -2),
	CALL(request_key, (long)"user", (long)"x", 0, 0),
	CALL(init_module, 0, 0, 0),
	CALL(finit_module, -1, 0, 0),
	CALL(delete_module, 0, 0),
	CALL(kexec_load, 0, 0, 0, 0),
	CALL(reboot, 0, 0, 0, 0),
	CALL(acct, 1),
	CALL(syslog, 10, 0, 0),
	CALL(settimeofday, 0, 0),
	CALL(clock_settime, CLOCK_REALTIME, 0),
	CALL(adjtimex, (long)bytes),
	CALL(clock_adjtime, CLOCK_REALTIME, 0),
	CALL(sethostname, 1, 1),
	CALL(setdomainname, 1, 1),
	NUMBERED("lsm_set_self_attr", 460, 0, 0, 0, 0),
	CALL_AS("ioctl TIOCSTI", REFUSED, ioctl, PIPE, TIOCSTI, (long)bytes),
	CALL_AS("ioctl TIOCSTI, high bits", REFUSED, ioctl, PIPE, TIOCSTI | HIGH_BITS, (long)bytes),
	CALL_AS("ioctl TIOCLINUX", REFUSED, ioctl, PIPE, TIOCLINUX, (long)bytes),
	CALL_AS("a call of the future", ABSENT, clone3, 0), /* its number: below */
#ifdef __x86_64__
	CALL(fork, 0),
	CALL(inotify_init, 0),
	CALL(chmod, PATH, 0600),
	CALL(chown, PATH, -1, -1),
	CALL(lchown, PATH, -1, -1),
	CALL(utime, PATH, 0),
	CALL(utimes, PATH, 0),
	CALL(futimesat, AT_FDCWD, PATH, 0),
	CALL(iopl, 0),
	CALL(ioperm, 0, 0, 0),
	CALL(modify_ldt, 0, 0, 0),
	CALL(kexec_file_load, -1, -1, 0, 0, 0),
	NUMBERED("getpid of x32", 0x40000000 | 39, 0),
	NUMBERED("fork of x32", 0x40000000 | 57, 0),
	ROW(get_pid_in_32_bit, REFUSED),
	ROW(fork_in_32_bit, REFUSED),
#endif
	/* the network */
	CALL_AS("socket of TCP", NOT_COMPUTE, socket, AF_INET, SOCK_STREAM, 0),
	CALL_AS("socket of UDP", NOT_COMPUTE, socket, AF_INET6, SOCK_DGRAM, IPPROTO_UDP),
	CALL_AS("socket of MPTCP", REFUSED, socket, AF_INET, SOCK_STREAM, 262),
	CALL_AS("socket of SCTP", REFUSED, socket, AF_INET, SOCK_STREAM, IPPROTO_SCTP),
	CALL_AS("socket of ICMP", REFUSED, socket, AF_INET, SOCK_DGRAM, IPPROTO_ICMP),
	CALL_AS("socket of raw IP", REFUSED, socket, AF_INET, SOCK_RAW, IPPROTO_UDP),
	CALL_AS("socket of raw IP, high bits", REFUSED, socket, AF_INET, SOCK_RAW | HIGH_BITS,
		IPPROTO_UDP),
	CALL_AS("socket of unix", REFUSED, socket, AF_UNIX, SOCK_STREAM, 0),
	CALL_AS("socket of unix, high bits", REFUSED, socket, AF_UNIX | HIGH_BITS, SOCK_STREAM, 0),
	CALL_AS("socket of unix datagrams", REFUSED, socket, AF_UNIX, SOCK_DGRAM, 0),
	CALL_AS("socket of netlink", REFUSED, socket, AF_NETLINK, SOCK_RAW, 0),
	CALL_AS("socket of packets", REFUSED, socket, AF_PACKET, SOCK_RAW, 0),
	CALL_AS("socket of virtual machines", REFUSED, socket, AF_VSOCK, SOCK_STREAM, 0),
	CALL_AS("socket of the kernel's ciphers", REFUSED, socket, AF_ALG, SOCK_SEQPACKET, 0),
	CALL_AS("socket of Bluetooth", REFUSED, socket, AF_BLUETOOTH, SOCK_RAW, 0),
	CALL_AS("socketpair of datagrams", REFUSED, socketpair, AF_UNIX, SOCK_DGRAM, 0,
		(long)bytes),
	CALL_AS("socketpair of datagrams, high bits", REFUSED, socketpair, AF_UNIX,
		SOCK_DGRAM | HIGH_BITS, 0, (long)bytes),
	CALL_AS("socketpair of packets", REFUSED, socketpair, AF_UNIX, SOCK_SEQPACKET, 0,
		(long)bytes),
	ROW(send_to_path, REFUSED),
	CALL_AS("sendto an address", NOT_COMPUTE, sendto, PIPE, (long)bytes, 1, 0, (long)bytes, 16),
	CALL_AS("connect", NOT_COMPUTE, connect, PIPE, (long)bytes, 16),
	CALL_AS("bind", NOT_COMPUTE, bind, PIPE, (long)bytes, 16),
	CALL_AS("listen", NOT_COMPUTE, listen, PIPE, 1),
	CALL_AS("accept4", NOT_COMPUTE, accept4, PIPE, 0, 0, 0),
	CALL_AS("sendmmsg", NOT_COMPUTE, sendmmsg, PIPE, (long)bytes, 0, 0),
	CALL_AS("ioctl SIOCSIFFLAGS", REFUSED, ioctl, PIPE, SIOCSIFFLAGS, (long)bytes),
	/* files */
	ROW(read_secret, FILES),
	ROW(write_secret, FILES),
	ROW(list_folder, FILES),
	ROW(list_home, FILES),
	ROW(make_file, FILES),
	ROW(make_unnamed_file, FILES),
	ROW(make_shared_memory, FILES),
	ROW(make_folder, FILES),
	ROW(make_fifo, FILES),
	ROW(make_link, FILES),
	ROW(make_symlink, FILES),
	ROW(rename_secret, FILES),
	ROW(remove_secret, FILES),
	ROW(remove_folder, FILES),
	ROW(read_passwd, FILES),
#ifndef __SANITIZE_ADDRESS__
	ROW(read_own_environment, FILES),
#endif
	ROW(read_environment, FILES),
	ROW(write_memory, FILES),
	ROW(list_processes, FILES),
	ROW(read_system, FILES),
	ROW(open_terminal, FILES),
	ROW(cut_secret, FILES_OR_CALL),
	/* a process's own affairs */
	ROW(start_thread, ALLOWED),
	ROW(bind_to_processors, ALLOWED),
	ROW(be_scheduled_normally, ALLOWED),
	ROW(be_nice, ALLOWED),
	ROW(arm_timer, ALLOWED),
	ROW(wait_for_files, ALLOWED),
	ROW(talk_in_pair, ALLOWED),
	ROW(use_pipe, ALLOWED),
	ROW(signal_itself, ALLOWED),
	ROW(limit_itself, ALLOWED),
	ROW(make_code, ALLOWED),
	ROW(name_itself, ALLOWED),
	ROW(use_null, ALLOWED),
	ROW(look_at_file, ALLOWED),
	ROW(use_own_file, WRITER),
	ROW(make_own_fifo, WRITER),
};

#define N_ATTEMPTS (sizeof(attempts) / sizeof(*attempts))

/* ── the child ───────────────────────────────────────────────────────────────────────────────── */

static long fill(long argument)
{
	switch (argument & ~HIGH_BITS) {
	case PARENT:
		return (argument & HIGH_BITS) | getppid();
	case PATH:
		return (long)secret;
	case PIPE:
		return ends[0];
	case READ:
		return readable;
	default:
		return argument;
	}
}

static int attempt(const struct attempt *attempt)
{
	const long *a = attempt->arguments;
	long number = strcmp(attempt->name, "a call of the future") == 0 ? 1000 : attempt->number;

	errno = 0;
	if (attempt->try)
		return attempt->try();
	return error_of(syscall(
		number, fill(a[0]), fill(a[1]), fill(a[2]), fill(a[3]), fill(a[4]), fill(a[5])));
}

/* The sandbox, the user, and the results. */
struct setting {
	enum sandbox_class class;
	int abi;
	bool has_write;
	bool is_plain;
	bool has_listener; /* the parent's part is done by a thread that has not entered */
	int *results;      /* shared with the child */
};

#define NOT_ENTERED 2

static const struct landlock_places no_places;

/* Refuse what comes to the listener whose number is written to the pipe. */
static void *refuse_all(void *pipe)
{
	char text[REFUSAL_TEXT_BYTES];
	int listener;

	if (read(*(int *)pipe, &listener, sizeof(listener)) != sizeof(listener))
		return NULL;
	for (;;) {
		int r = refusal_answer(listener, text);

		if (r < 0 && r != -ENOENT && r != -EINTR)
			return NULL;
	}
}

/* Enter with a listener, if there is to be one. */
static void restrict_calls(const struct setting *setting, const struct toolbox_sandbox *sandbox)
{
	bool has_truncate = setting->abi == 0 || setting->abi >= 3;
	static int numbers[2];
	int listener = -1;
	pthread_t thread;

	if (!setting->has_listener) {
		if (syscalls_restrict(sandbox, has_truncate, NULL) != 0)
			_exit(NOT_ENTERED);
		return;
	}
	if (pipe2(numbers, O_CLOEXEC) < 0 ||
		pthread_create(&thread, NULL, refuse_all, &numbers[0]) != 0 ||
		syscalls_restrict(sandbox, has_truncate, &listener) != 0 || listener < 0 ||
		write(numbers[1], &listener, sizeof(listener)) != sizeof(listener))
		_exit(NOT_ENTERED);
}

__attribute__((noreturn)) static void try_all(const struct setting *setting)
{
	char *folder = own;
	const struct toolbox_sandbox sandbox = {
		.class = setting->class, .write = {.list = {&folder, setting->has_write}}};
	struct landlock_failure failure;

	readable = open(secret, O_RDONLY | O_CLOEXEC);
	if (readable < 0)
		_exit(NOT_ENTERED);
	if (setting->is_plain &&
		(setgroups(0, NULL) < 0 || setresgid(PLAIN_USER, PLAIN_USER, PLAIN_USER) < 0 ||
			setresuid(PLAIN_USER, PLAIN_USER, PLAIN_USER) < 0))
		_exit(NOT_ENTERED);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || pipe2(ends, O_CLOEXEC) < 0)
		_exit(NOT_ENTERED);
	if (setting->abi > 0 &&
		landlock_enter(setting->abi, &sandbox, &no_places, NULL, &failure) != 0)
		_exit(NOT_ENTERED);
	restrict_calls(setting, &sandbox);
	for (size_t i = 0; i < N_ATTEMPTS; i++)
		if (attempts[i].expected != FILES || setting->abi > 0)
			setting->results[i] = attempt(&attempts[i]);
	_exit(0);
}

static bool is_expected(const struct setting *setting, const struct attempt *attempt, int result)
{
	switch (attempt->expected) {
	case REFUSED:
		return result == EPERM;
	case NOT_COMPUTE:
		return setting->class != SANDBOX_COMPUTE || result == EPERM;
	case NOT_READER:
		return setting->has_write || result == EPERM;
	case ABSENT:
		return result == ENOSYS;
	case FILES:
	case FILES_OR_CALL:
		return setting->abi == 0 || result != 0;
	case WRITER:
		return !setting->has_write || result == 0;
	default:
		return result == 0;
	}
}

static void expect_all(
	enum sandbox_class class, int abi, bool has_write, bool is_plain, bool has_listener)
{
	struct setting setting = {.class = class,
		.abi = abi,
		.has_write = has_write,
		.is_plain = is_plain,
		.has_listener = has_listener};
	size_t size = N_ATTEMPTS * sizeof(int);
	int status;
	pid_t pid;

	setting.results =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cr_assert_neq(setting.results, MAP_FAILED);
	memset(setting.results, -1, size);
	pid = fork();
	if (pid == 0)
		try_all(&setting);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(WIFEXITED(status), "the child died by signal %d", WTERMSIG(status));
	cr_assert_eq(WEXITSTATUS(status), 0, "the sandbox was not entered");
	for (size_t i = 0; i < N_ATTEMPTS; i++)
		cr_expect(is_expected(&setting, &attempts[i], setting.results[i]),
			"%s: %s, in class %s %s `write`, landlock %d, as %s%s", attempts[i].name,
			strerror(setting.results[i]), sandbox_class_name(class),
			has_write ? "with" : "without", abi,
			is_plain ? "a plain user" : "the user of the test",
			has_listener ? ", with a listener" : "");
	munmap(setting.results, size);
}

/* Any user may change the folders and files, so only the sandbox refuses an attempt. */
static void expect_all_as(bool is_plain)
{
	int newest = landlock_abi();

	scratch_write("secret", "x");
	scratch_write("own/data", "x");
	cr_assert_eq(mkdir(scratch_path("empty"), 0777), 0);
	snprintf(secret, sizeof(secret), "%s/secret", scratch_folder);
	snprintf(own, sizeof(own), "%s/own", scratch_folder);
	chmod(scratch_folder, 0777);
	chmod(secret, 0666);
	chmod(own, 0777);
	for (enum sandbox_class class = SANDBOX_COMPUTE; class <= SANDBOX_NET; class ++) {
		expect_all(class, 0, true, is_plain, false);
		if (newest >= 2)
			expect_all(class, 2, true, is_plain, false);
		if (newest > 2)
			expect_all(class, newest, true, is_plain, false);
		expect_all(class, newest, false, is_plain, false);
		expect_all(class, newest, true, is_plain, true);
		expect_all(class, newest, false, is_plain, true);
	}
}

TestSuite(attempts, .init = scratch_set_up, .fini = scratch_tear_down, .timeout = LIMIT);

Test(attempts, of_the_user_of_the_test_fail)
{
	expect_all_as(false);
}

Test(attempts, of_a_plain_user_fail)
{
	if (geteuid() != 0)
		cr_skip_test("only root can become a plain user");
	expect_all_as(true);
}
