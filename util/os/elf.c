// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Reads the headers of a program file: whether it has a dynamic linker, and
 * whether the kernel would ignore LD_PRELOAD for it.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "util/os/elf.h"

static int try_file(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return -errno;
	return S_ISDIR(st.st_mode) || access(path, X_OK) ? -EACCES : 0;
}

/* An empty name in PATH is the current directory. */
int ur_program_find(const char *program, char *path, size_t size)
{
	const char *dirs = getenv("PATH"), *end;
	int err, found = -ENOENT;

	snprintf(path, size, "%s", program);
	if (!*program)
		return -ENOENT;
	if (strchr(program, '/'))
		return try_file(path);
	if (!dirs)
		dirs = "/bin:/usr/bin";
	for (; dirs; dirs = *end ? end + 1 : NULL) {
		end = strchrnul(dirs, ':');
		snprintf(path, size, "%.*s%s%s", (int)(end - dirs), dirs,
			 end > dirs ? "/" : "", program);
		err = try_file(path);
		if (!err)
			return 0;
		if (err == -EACCES)
			found = err;
	}
	snprintf(path, size, "%s", program);
	return found;
}

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
#endif

/* The dynamic linker's name shows the C library. */
static bool is_musl(int fd, const Elf64_Phdr *ph)
{
	char name[64] = "";
	size_t n =
		ph->p_filesz < sizeof(name) ? ph->p_filesz : sizeof(name) - 1;

	return pread(fd, name, n, (off_t)ph->p_offset) > 0 &&
	       strstr(name, "/ld-musl");
}

static enum ur_elf look(int fd)
{
	struct stat st;
	Elf64_Ehdr eh = {0};
	Elf64_Phdr ph;

	if (pread(fd, &eh, sizeof(eh), 0) < SELFMAG + 1 ||
	    memcmp(eh.e_ident, ELFMAG, SELFMAG))
		return UR_ELF_OTHER;
	if (eh.e_ident[EI_CLASS] != ELFCLASS64 || eh.e_phentsize != sizeof(ph))
		return UR_ELF_FOREIGN;
#ifdef MACHINE
	if (eh.e_machine != MACHINE)
		return UR_ELF_FOREIGN;
#endif
	if (fstat(fd, &st) == 0 &&
	    (((st.st_mode & S_ISUID) && st.st_uid != geteuid()) ||
	     ((st.st_mode & S_ISGID) && st.st_gid != getegid()) ||
	     (geteuid() && fgetxattr(fd, "security.capability", NULL, 0) > 0)))
		return UR_ELF_PRIVILEGED;
	for (int i = 0; i < eh.e_phnum; i++) {
		off_t at = (off_t)eh.e_phoff + i * (off_t)sizeof(ph);

		if (pread(fd, &ph, sizeof(ph), at) != sizeof(ph))
			return UR_ELF_OTHER;
		if (ph.p_type == PT_INTERP)
			return is_musl(fd, &ph) ? UR_ELF_MUSL : UR_ELF_DYNAMIC;
	}
	return UR_ELF_STATIC;
}

enum ur_elf ur_elf_kind(const char *program, char *path, size_t size)
{
	enum ur_elf kind;
	int fd = ur_program_find(program, path, size);

	if (fd)
		return fd == -EACCES ? UR_ELF_DENIED : UR_ELF_MISSING;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return UR_ELF_OTHER;
	kind = look(fd);
	close(fd);
	return kind;
}

static bool has_name(const char *file, size_t size, const char *name)
{
	/* In the string table the name stands between two NULs. */
	return memmem(file, size, name, strlen(name + 1) + 2) != NULL;
}

bool ur_elf_opens_libraries(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool found = false;
	struct stat st;
	char *file;

	if (fd >= 0 && !fstat(fd, &st) && st.st_size > 0) {
		file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE,
			    fd, 0);
		if (file != MAP_FAILED) {
			found = has_name(file, (size_t)st.st_size,
					 "\0dlopen") ||
				has_name(file, (size_t)st.st_size, "\0dlmopen");
			munmap(file, (size_t)st.st_size);
		}
	}
	if (fd >= 0)
		close(fd);
	return found;
}
