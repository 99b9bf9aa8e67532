// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The place of a library of ours in LD_PRELOAD. */
#include "tests/check.h"
#include "util/os/sanitizer.h"

static void check(const char *first, const char *rest)
{
	char list[256];

	snprintf(list, sizeof(list), "%s%s", first, rest);
	CHECK_EQ(ur_after_sanitizers(list), strlen(first));
}

static void places(void)
{
	check("", "");
	check("", "/usr/lib/libjemalloc.so.2");
	check("", "/usr/lib/libasan/liballoc.so:other.so");
	check("libasan.so.8", "");
	check("/usr/lib/gcc/x86_64-linux-gnu/12/libasan.so:", "libx.so");
	check("/usr/lib/libtsan.so.2 ", "libx.so:liby.so");
	check("libubsan.so:liblsan.so:", "libx.so");
	check("/opt/llvm/lib/linux/libclang_rt.asan-x86_64.so:", "libx.so");
	check("libx.so:/lib/libhwasan.so.0", "");
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(places());
	return cases_status();
}
