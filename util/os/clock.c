// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The kernel's clock without the C library: a program may replace the C library's by a clock that
 * stands still or runs at another pace (libfaketime). The kernel's function is in a library that it
 * maps into every process (vdso(7)).
 */
#include "util/os/clock.h"

#include <elf.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef __aarch64__
#define NAME "__kernel_clock_gettime"
#else
#define NAME "__vdso_clock_gettime"
#endif

typedef int clock_fn(clockid_t id, struct timespec *ts);

static int ask_kernel(clockid_t id, struct timespec *ts)
{
	return (int)syscall(SYS_clock_gettime, id, ts);
}

struct tables {
	const ElfW(Sym) * symbols;
	const char *names;
};

/* Finds the tables of the library; *base: its address minus the one that it was linked for. */
static struct tables find_tables(const ElfW(Ehdr) * elf, uintptr_t *base)
{
	const ElfW(Phdr) *p = (void *)((uintptr_t)elf + elf->e_phoff);
	const ElfW(Dyn) *dyn = NULL;
	struct tables t = {0};

	*base = 0;
	for (int i = 0; i < elf->e_phnum; i++, p++) {
		if (p->p_type == PT_LOAD && !*base)
			*base = (uintptr_t)elf + p->p_offset - p->p_vaddr;
		if (p->p_type == PT_DYNAMIC)
			dyn = (void *)((uintptr_t)elf + p->p_offset);
	}
	for (; dyn && dyn->d_tag != DT_NULL; dyn++) {
		if (dyn->d_tag == DT_SYMTAB)
			t.symbols = (void *)(*base + dyn->d_un.d_ptr);
		if (dyn->d_tag == DT_STRTAB)
			t.names = (void *)(*base + dyn->d_un.d_ptr);
	}
	return t;
}

/* The names follow the symbols, as linkers place them. */
static clock_fn *find_function(void)
{
	const ElfW(Ehdr) *elf = (void *)getauxval(AT_SYSINFO_EHDR);
	uintptr_t base;
	struct tables t;

	if (!elf || memcmp(elf->e_ident, ELFMAG, SELFMAG))
		return ask_kernel;
	t = find_tables(elf, &base);
	if (!t.symbols || !t.names)
		return ask_kernel;
	for (const ElfW(Sym) *s = t.symbols; (const char *)(s + 1) <= t.names;
	     s++)
		if (s->st_shndx != SHN_UNDEF &&
		    !strcmp(t.names + s->st_name, NAME))
			return (clock_fn *)(base + s->st_value);
	return ask_kernel;
}

void ur_kernel_clock(clockid_t id, struct timespec *ts)
{
	static clock_fn *_Atomic found;
	clock_fn *fn = atomic_load_explicit(&found, memory_order_relaxed);

	if (__builtin_expect(!fn, 0)) {
		fn = find_function();
		atomic_store_explicit(&found, fn, memory_order_relaxed);
	}
	if (fn(id, ts))
		ask_kernel(id, ts);
}

void ur_nap_ns(u64 ns)
{
	const struct timespec ts = {.tv_sec = (time_t)(ns / 1000000000u),
				    .tv_nsec = (long)(ns % 1000000000u)};

	syscall(SYS_nanosleep, &ts, NULL);
}
