/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <fenv.h>
#include <stdint.h>

#ifdef __x86_64__
#include <xmmintrin.h>
#endif

/*
 * How this thread rounds numbers, which exceptions trap, and whether tiny numbers become zero. A
 * function of a library may leave the mode changed, and each number read or written later would
 * differ. So it is put back after each call.
 *
 * fegetenv() takes 150 ns and more, too long for a call: it also saves the status of old
 * instructions. Here only the control registers are read, in 2 ns, and they are written only if
 * they differ.
 */
struct float_mode {
#ifdef __x86_64__
	uint32_t sse;
	uint16_t x87;
#elif defined(__aarch64__)
	uint64_t fpcr;
#else
	int rounding;
#endif
};

#ifdef __x86_64__
/* Bits of MXCSR for past events. */
#define FLOAT_MODE_FLAGS 0x3fu
#endif

static inline struct float_mode float_mode_get(void)
{
	struct float_mode mode;

#ifdef __x86_64__
	mode.sse = _mm_getcsr() & ~FLOAT_MODE_FLAGS;
	__asm__ volatile("fnstcw %0" : "=m"(mode.x87));
#elif defined(__aarch64__)
	__asm__ volatile("mrs %0, fpcr" : "=r"(mode.fpcr));
#else
	mode.rounding = fegetround();
#endif
	return mode;
}

/* Put back @mode, if another one is in force. */
static inline void float_mode_restore(struct float_mode mode)
{
	struct float_mode now = float_mode_get();

#ifdef __x86_64__
	/* Set flags would trap if their exceptions do: they are cleared. */
	if (now.sse != mode.sse)
		_mm_setcsr(mode.sse);
	if (now.x87 != mode.x87)
		__asm__ volatile("fnclex\n\tfldcw %0" : : "m"(mode.x87));
#elif defined(__aarch64__)
	if (now.fpcr != mode.fpcr)
		__asm__ volatile("msr fpcr, %0" : : "r"(mode.fpcr));
#else
	if (now.rounding != mode.rounding)
		fesetround(mode.rounding);
#endif
}
