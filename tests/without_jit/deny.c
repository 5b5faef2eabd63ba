/* SPDX-License-Identifier: Apache-2.0 */
#include "deny.h"

#include <errno.h>
#include <seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/shm.h>

/* linux/prctl.h of Linux 6.3 */
#ifndef PR_SET_MDWE
#define PR_SET_MDWE              65
#define PR_MDWE_REFUSE_EXEC_GAIN 1
#endif

#define MEMORY_BYTES 4096

/* Refuse @call with EPERM when all of @bits are set in its argument @argument. A call that this
 * architecture does not have needs no rule. */
static int refuse_bits(scmp_filter_ctx filter, int call, unsigned int argument, scmp_datum_t bits)
{
	return seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), call, 1,
		SCMP_CMP(argument, SCMP_CMP_MASKED_EQ, bits, bits));
}

/* 0 or a negative errno. */
static int load_filter(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
	int r = filter ? 0 : -ENOMEM;

	if (r == 0)
		r = refuse_bits(filter, SCMP_SYS(mmap), 2, PROT_EXEC | PROT_WRITE);
	if (r == 0)
		r = refuse_bits(filter, SCMP_SYS(mmap2), 2, PROT_EXEC | PROT_WRITE);
	if (r == 0)
		r = refuse_bits(filter, SCMP_SYS(mprotect), 2, PROT_EXEC);
	if (r == 0)
		r = refuse_bits(filter, SCMP_SYS(pkey_mprotect), 2, PROT_EXEC);
	if (r == 0)
		r = refuse_bits(filter, SCMP_SYS(shmat), 2, SHM_EXEC);
	if (r == 0)
		r = seccomp_load(filter);
	seccomp_release(filter);
	return r;
}

/* Return whether memory can be had that is executable, and is or was writable. */
static bool has_machine_code(void)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS;
	void *both = mmap(NULL, MEMORY_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC, flags, -1, 0);
	void *written = mmap(NULL, MEMORY_BYTES, PROT_READ | PROT_WRITE, flags, -1, 0);
	bool can_be_run = written == MAP_FAILED ||
			  mprotect(written, MEMORY_BYTES, PROT_READ | PROT_EXEC) == 0;

	if (written != MAP_FAILED)
		munmap(written, MEMORY_BYTES);
	if (both != MAP_FAILED)
		munmap(both, MEMORY_BYTES);
	return both != MAP_FAILED || can_be_run;
}

bool deny_machine_code(void)
{
	int r = load_filter();

	if (r < 0)
		fprintf(stderr, "without-jit: seccomp: %s\n", strerror(-r));
	/* Refused with EINVAL by an older kernel. */
	if (prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0) < 0 && errno != EINVAL)
		fprintf(stderr, "without-jit: PR_SET_MDWE: %s\n", strerror(errno));
	if (!has_machine_code())
		return true;
	fputs("without-jit: memory can still be written and executed\n", stderr);
	return false;
}
