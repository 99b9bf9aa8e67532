// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Passes the device on to child processes, whose environment many launchers
 * make up. Uses only the stack, since it may run in a vfork() child.
 */
#include <alloca.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include "preload/exec.h"
#include "preload/forks.h"
#include "preload/real.h"
#include "util/os/sanitizer.h"

#define OURS	"liburoce-preload"
#define PRELOAD "LD_PRELOAD="

static const char *const names[] = {PRELOAD,
				    "UROCE_RUN_DIR=", "RDMAV_DRIVERS="};
#define KEPT ((int)(sizeof(names) / sizeof(*names)))

/* "NAME=value" in the environment at the start; empty if it was missing */
static char kept[KEPT][4096];

static const char *find_variable(char *const *envp, const char *name)
{
	size_t len = strlen(name);

	for (; envp && *envp; envp++)
		if (strncmp(*envp, name, len) == 0)
			return *envp;
	return NULL;
}

void ur_exec_init(void)
{
	const char *preload = find_variable(environ, PRELOAD);

	if (!preload || !strstr(preload, OURS))
		return;
	for (int i = 0; i < KEPT; i++) {
		const char *text = find_variable(environ, names[i]);

		if (text && strlen(text) < sizeof(kept[i]))
			strcpy(kept[i], text);
	}
}

/* Returns the bytes for a completed copy of @envp; 0 if it is complete. */
static size_t size_completed(char *const *envp)
{
	const char *preload = find_variable(envp, PRELOAD);
	size_t count = 0;

	if (!*kept[0] || (preload && strstr(preload, OURS)))
		return 0;
	while (envp && envp[count])
		count++;
	return (count + (size_t)KEPT + 1) * sizeof(char *) +
	       (preload ? strlen(preload) + strlen(kept[0]) + 3 : 0);
}

/* Writes LD_PRELOAD with our library first, but behind a sanitizer's
 * runtime. */
static void put_preload(char *text, const char *theirs)
{
	size_t len = strlen(PRELOAD), first = ur_after_sanitizers(theirs);

	memcpy(text, PRELOAD, len);
	memcpy(text + len, theirs, first);
	len += first;
	if (first && text[len - 1] != ':' && text[len - 1] != ' ')
		text[len++] = ':';
	strcpy(text + len, kept[0] + strlen(PRELOAD));
	if (theirs[first]) {
		strcat(text, ":");
		strcat(text, theirs + first);
	}
}

static char **complete(char *const *envp, char **to)
{
	size_t count = 0, len = strlen(PRELOAD);
	const char *theirs = find_variable(envp, PRELOAD);
	char **at = to, *text;

	while (envp && envp[count])
		count++;
	text = (char *)(to + count + KEPT + 1);
	for (; envp && *envp; envp++) {
		if (*envp != theirs) {
			*at++ = *envp;
			continue;
		}
		put_preload(text, theirs + len);
		*at++ = text;
	}
	*at = NULL;
	for (int i = theirs ? 1 : 0; i < KEPT; i++) {
		if (*kept[i] && !find_variable(to, names[i])) {
			*at++ = kept[i];
			*at = NULL;
		}
	}
	return to;
}

/* Evaluates to @envp, or a completed copy of it on the caller's stack. */
#define COMPLETED(envp)                                                  \
	({                                                               \
		size_t size_ = size_completed(envp);                     \
                                                                         \
		size_ ? complete(envp, alloca(size_)) : (char **)(envp); \
	})

UR_EXPORT int execve(const char *path, char *const argv[], char *const envp[])
{
	ur_forks_last();
	return ur_real(execve)(path, argv, COMPLETED(envp));
}

UR_EXPORT int execvpe(const char *file, char *const argv[], char *const envp[])
{
	ur_forks_last();
	return ur_real(execvpe)(file, argv, COMPLETED(envp));
}

UR_EXPORT int execv(const char *path, char *const argv[])
{
	return execve(path, argv, environ);
}

UR_EXPORT int execvp(const char *file, char *const argv[])
{
	return execvpe(file, argv, environ);
}

UR_EXPORT int execveat(int dirfd, const char *path, char *const argv[],
		       char *const envp[], int flags)
{
	ur_forks_last();
	return ur_real(execveat)(dirfd, path, argv, COMPLETED(envp), flags);
}

UR_EXPORT int fexecve(int fd, char *const argv[], char *const envp[])
{
	ur_forks_last();
	return ur_real(fexecve)(fd, argv, COMPLETED(envp));
}

static size_t count_args(va_list from)
{
	size_t count = 1;
	va_list ap;

	va_copy(ap, from);
	while (va_arg(ap, char *))
		count++;
	va_end(ap);
	return count;
}

/* Calls exec with the arguments from arg on as a vector on the caller's stack. envp: the environment;
 * may take the next argument from ap. */
#define EXEC_LIST(exec, path, arg, envp)                   \
	({                                                 \
		va_list ap;                                \
		char **argv_, **envp_;                     \
		size_t n_, i_ = 0;                         \
                                                           \
		va_start(ap, arg);                         \
		n_ = count_args(ap);                       \
		argv_ = alloca((n_ + 1) * sizeof(char *)); \
		argv_[i_++] = (char *)(uintptr_t)(arg);    \
		while (i_ <= n_)                           \
			argv_[i_++] = va_arg(ap, char *);  \
		envp_ = (envp);                            \
		va_end(ap);                                \
		exec(path, argv_, envp_);                  \
	})

UR_EXPORT int execl(const char *path, const char *arg, ...)
{
	return EXEC_LIST(execve, path, arg, environ);
}

UR_EXPORT int execlp(const char *file, const char *arg, ...)
{
	return EXEC_LIST(execvpe, file, arg, environ);
}

UR_EXPORT int execle(const char *path, const char *arg, ...)
{
	return EXEC_LIST(execve, path, arg, va_arg(ap, char **));
}

UR_EXPORT int posix_spawn(pid_t *restrict pid, const char *restrict path,
			  const posix_spawn_file_actions_t *restrict actions,
			  const posix_spawnattr_t *restrict attr,
			  char *const argv[], char *const envp[])
{
	return ur_real(posix_spawn)(pid, path, actions, attr, argv,
				    COMPLETED(envp));
}

UR_EXPORT int posix_spawnp(pid_t *restrict pid, const char *restrict file,
			   const posix_spawn_file_actions_t *restrict actions,
			   const posix_spawnattr_t *restrict attr,
			   char *const argv[], char *const envp[])
{
	return ur_real(posix_spawnp)(pid, file, actions, attr, argv,
				     COMPLETED(envp));
}
