/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Finds out which machine this program is for and what runs it. qemu-user runs
 * programs of another machine on the host's kernel, and lacks some system calls
 * or answers them itself: a test of those finds that out here and says so.
 */
#ifndef UR_TESTS_MACHINE_H
#define UR_TESTS_MACHINE_H

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The linker's: this program's own header. */
extern const Elf64_Ehdr __ehdr_start
	__attribute__((weak, visibility("hidden")));

/* e_machine of an ELF file of 64 bits; -1: no such file. */
static inline int elf_machine(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf64_Ehdr h;
	bool whole = fd >= 0 && read(fd, &h, sizeof(h)) == sizeof(h);

	if (fd >= 0)
		close(fd);
	return whole ? h.e_machine : -1;
}

static inline bool is_own_machine(const char *path)
{
	return elf_machine(path) == __ehdr_start.e_machine;
}

/* Is the program that the kernel runs another one, of another machine? The
 * thread's file has its name, where an emulator answers for the process's. */
static inline bool is_emulated(void)
{
	char exe[64];

	snprintf(exe, sizeof(exe), "/proc/self/task/%ld/exe",
		 syscall(SYS_gettid));
	return !is_own_machine(exe);
}

#endif
