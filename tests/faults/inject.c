// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Linked into uroced_faults with the linker's --wrap: each of these functions
 * fails once, when the test says so, as it would in a process that has run into
 * a limit, and is the C library's otherwise.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <netlink/route/addr.h>
#include <netlink/route/route.h>
#include <netlink/socket.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "tests/faults/inject.h"

extern const char __executable_start;
static struct inject *page;

__attribute__((constructor)) static void find_page(void)
{
	const char *fd = getenv(INJECT_ENV);
	void *p;

	if (!fd)
		return;
	p = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED,
		 atoi(fd), 0);
	if (p == MAP_FAILED)
		abort();
	page = p;
}

static int fails(const char *what, int err, const char *caller)
{
	if (!page ||
	    atomic_load_explicit(&page->left, memory_order_relaxed) <= 0)
		return 0;
	if (atomic_fetch_sub(&page->left, 1) != 1)
		return 0;
	strncpy(page->what, what, sizeof(page->what) - 1);
	page->caller = (uintptr_t)(caller - &__executable_start);
	errno = err;
	atomic_store(&page->err, err);
	return 1;
}

/* TYPE NAME(PARAMETERS), called with ARGUMENTS, or BAD and ERR. */
#define WRAP(type, name, bad, err, parameters, arguments)           \
	type __real_##name parameters;                              \
	type __wrap_##name parameters;                              \
	type __wrap_##name parameters                               \
	{                                                           \
		if (fails(#name, err, __builtin_return_address(0))) \
			return bad;                                 \
		return __real_##name arguments;                     \
	}

WRAP(void *, malloc, NULL, ENOMEM, (size_t n), (n))
WRAP(void *, calloc, NULL, ENOMEM, (size_t n, size_t each), (n, each))
WRAP(void *, realloc, NULL, ENOMEM, (void *p, size_t n), (p, n))
WRAP(int, posix_memalign, ENOMEM, ENOMEM, (void **p, size_t align, size_t n),
     (p, align, n))
WRAP(void *, mmap, MAP_FAILED, ENOMEM,
     (void *addr, size_t len, int prot, int flags, int fd, off_t off),
     (addr, len, prot, flags, fd, off))
WRAP(int, socket, -1, EMFILE, (int domain, int type, int protocol),
     (domain, type, protocol))
WRAP(int, socketpair, -1, EMFILE,
     (int domain, int type, int protocol, int pair[2]),
     (domain, type, protocol, pair))
WRAP(int, eventfd, -1, EMFILE, (unsigned int count, int flags), (count, flags))
WRAP(int, memfd_create, -1, EMFILE, (const char *name, unsigned int flags),
     (name, flags))
WRAP(int, epoll_create1, -1, EMFILE, (int flags), (flags))
WRAP(int, accept4, -1, EMFILE,
     (int sock, struct sockaddr *addr, socklen_t *len, int flags),
     (sock, addr, len, flags))
WRAP(FILE *, fopen, NULL, EMFILE, (const char *path, const char *mode),
     (path, mode))
WRAP(DIR *, opendir, NULL, EMFILE, (const char *path), (path))
WRAP(int, pthread_create, EAGAIN, EAGAIN,
     (pthread_t * thread, const pthread_attr_t *attr, void *(*fn)(void *),
      void *arg),
     (thread, attr, fn, arg))
WRAP(struct nl_sock *, nl_socket_alloc, NULL, ENOMEM, (void), ())
WRAP(int, rtnl_addr_alloc_cache, -NLE_NOMEM, ENOMEM,
     (struct nl_sock * sock, struct nl_cache **cache), (sock, cache))
WRAP(int, rtnl_route_alloc_cache, -NLE_NOMEM, ENOMEM,
     (struct nl_sock * sock, int family, int flags, struct nl_cache **cache),
     (sock, family, flags, cache))
WRAP(struct json_object *, json_object_new_object, NULL, ENOMEM, (void), ())
WRAP(struct json_object *, json_object_new_array, NULL, ENOMEM, (void), ())
WRAP(struct json_object *, json_object_new_boolean, NULL, ENOMEM, (json_bool v),
     (v))
WRAP(struct json_object *, json_object_new_uint64, NULL, ENOMEM, (uint64_t v),
     (v))
WRAP(struct json_object *, json_object_new_string, NULL, ENOMEM,
     (const char *s), (s))
WRAP(const char *, json_object_to_json_string_ext, NULL, ENOMEM,
     (struct json_object * o, int flags), (o, flags))

int __real_epoll_ctl(int epfd, int op, int fd, struct epoll_event *ev);
int __wrap_epoll_ctl(int epfd, int op, int fd, struct epoll_event *ev);

/* Taking one off needs no memory. */
int __wrap_epoll_ctl(int epfd, int op, int fd, struct epoll_event *ev)
{
	if (op == EPOLL_CTL_ADD &&
	    fails("epoll_ctl", ENOMEM, __builtin_return_address(0)))
		return -1;
	return __real_epoll_ctl(epfd, op, fd, ev);
}

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);

int __wrap_open(const char *path, int flags, ...)
{
	va_list ap;
	int mode;

	if (fails("open", EMFILE, __builtin_return_address(0)))
		return -1;
	va_start(ap, flags);
	mode = flags & O_CREAT ? va_arg(ap, int) : 0;
	va_end(ap);
	return __real_open(path, flags, mode);
}
