// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Whether a range of a client's memory is there. */
#include <errno.h>
#include "engine/ground/user.h"

/* All pages of a range up to PROBE_PAGES are probed, and some of a larger one. PAGE is the smallest
 * page size of any system; a surplus probe does no harm. */
#define PAGE	    4096u
#define PROBE_PAGES 4096u
#define LOOK_BYTES  (32u << 10)

/* Probes by reading, which changes nothing. One call reads several pages, since the
 * calls take the time. */
static int look_at_all(const struct ur_user_mem *mem, u64 addr, u64 len)
{
	u8 bytes[LOOK_BYTES];
	u64 done = 0;
	u32 n;

	for (; done < len; done += n) {
		n = (u32)ur_min_u64(len - done, sizeof(bytes));
		if (ur_user_read(mem, addr + done, bytes, n))
			return -EFAULT;
	}
	return 0;
}

/* Reads a byte of each of PROBE_PAGES pages, and the last byte. */
static int look_at_some(const struct ur_user_mem *mem, u64 addr, u64 last,
			u64 step)
{
	u8 byte;

	for (u64 a = addr; a <= last && a >= addr;
	     a = (a & ~(u64)(PAGE - 1)) + step)
		if (ur_user_read(mem, a, &byte, 1))
			return -EFAULT;
	return ur_user_read(mem, last, &byte, 1) ? -EFAULT : 0;
}

int ur_user_look(const struct ur_user_mem *mem, u64 addr, u64 len, int prot,
		 bool seen)
{
	u64 last = addr + len - 1;
	u64 pages = (last / PAGE) - (addr / PAGE) + 1;

	if (last < addr || ur_user_rights(mem, addr, len, prot))
		return -EFAULT;
	if (seen)
		return 0;
	return pages > PROBE_PAGES ? look_at_some(mem, addr, last,
						  pages / PROBE_PAGES * PAGE)
				   : look_at_all(mem, addr, len);
}
