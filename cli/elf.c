// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Reads the headers of a program file: whether it has a dynamic linker, and
 * whether the kernel would ignore LD_PRELOAD for it.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "cli/elf.h"

static int find_program(const char *program, char *path, size_t size)
{
	const char *dirs = getenv("PATH");

	if (strchr(program, '/') || !dirs) {
		snprintf(path, size, "%s", program);
		return access(path, X_OK);
	}
	while (*dirs) {
		size_t len = strcspn(dirs, ":");

		snprintf(path, size, "%.*s/%s", (int)len, dirs, program);
		if (access(path, X_OK) == 0)
			return 0;
		dirs += len + (dirs[len] == ':');
	}
	snprintf(path, size, "%s", program);
	return -1;
}

static enum ur_elf look(int fd)
{
	struct stat st;
	Elf64_Ehdr eh;
	Elf64_Phdr ph;

	if (pread(fd, &eh, sizeof(eh), 0) != sizeof(eh) ||
	    memcmp(eh.e_ident, ELFMAG, SELFMAG) ||
	    eh.e_ident[EI_CLASS] != ELFCLASS64 || eh.e_phentsize != sizeof(ph))
		return UR_ELF_OTHER;
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
			return UR_ELF_DYNAMIC;
	}
	return UR_ELF_STATIC;
}

enum ur_elf ur_elf_kind(const char *program, char *path, size_t size)
{
	enum ur_elf kind;
	int fd;

	if (find_program(program, path, size))
		return UR_ELF_MISSING;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return UR_ELF_OTHER;
	kind = look(fd);
	close(fd);
	return kind;
}

static bool has_name(const char *file, size_t size, const char *name)
{
	/* The string table has the name with a NUL before and behind it. */
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
