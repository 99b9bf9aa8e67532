// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The one system call instruction that all of kernel.h uses. On other machines
 * than x86-64 it is the C library's syscall().
 */
#include <errno.h>
#include <unistd.h>

#include "kernel.h"

#if defined(__x86_64__) && defined(__LP64__)
/* Number in rax, arguments in rdi rsi rdx r10 r8 r9; rcx and r11 are lost
 * (System V ABI, AMD64 supplement, A.2.1). */
s64 ur_kernel(long nr, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f)
{
	register u64 r10 __asm__("r10") = d;
	register u64 r8 __asm__("r8") = e;
	register u64 r9 __asm__("r9") = f;
	s64 ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8),
			   "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}
#else
/* Nobody is known to replace this one. */
s64 ur_kernel(long nr, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f)
{
	long ret = syscall(nr, a, b, c, d, e, f);

	return ret == -1 ? -errno : ret;
}
#endif
