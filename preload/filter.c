// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Programs with a system call filter. A filter may kill the program at an
 * unknown call, so the provider's polls, which make calls that the program does
 * not expect, must know of it in advance. They cannot ask: asking is a call.
 */
#include <stdarg.h>
#include <sys/prctl.h>

#include "preload/exit.h"
#include "preload/real.h"
#include "util/os/filtered.h"

UR_EXPORT uint32_t ur_preload_filtered;

/* libseccomp and most others install the filter by syscall(), which we do not
 * wrap; without privilege they first need PR_SET_NO_NEW_PRIVS. */
UR_EXPORT int prctl(int option, ...)
{
	unsigned long arg[4];
	va_list ap;

	va_start(ap, option);
	for (int i = 0; i < 4; i++)
		arg[i] = va_arg(ap, unsigned long);
	va_end(ap);
	if (option == PR_SET_SECCOMP || option == PR_SET_NO_NEW_PRIVS)
		__atomic_store_n(&ur_preload_filtered, 1, __ATOMIC_RELAXED);
	if (option == PR_SET_SECCOMP)
		ur_exit_first();
	return ur_real(prctl)(option, arg[0], arg[1], arg[2], arg[3]);
}
