/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The library functions behind those of this library. */
#ifndef UR_CHECK_REAL_H
#define UR_CHECK_REAL_H

/*
 * The libraries by name: RTLD_NEXT does not find those that came by dlopen()
 * with RTLD_LOCAL.
 */
#define UR_VERBS  "libibverbs.so.1"
#define UR_RDMACM "librdmacm.so.1"

/* Makes a function public. */
#define UR_FRONT __attribute__((visibility("default")))

/* Returns the function, found once and kept in @cache. Ends the process with a
 * message if the library lacks it: then nobody can have called ours. */
void *ur_check_find_real(const char *library, const char *name, void **cache);

/* Does the same, but returns NULL if the library is too old for the function or
 * not loaded. */
void *ur_real_try(const char *library, const char *name, void **cache);

/* The function behind one of ours, with its type: ur_real(UR_VERBS, ibv_x). */
#define ur_real(library, function)                           \
	({                                                   \
		static void *found;                          \
		(__typeof__(&(function)))ur_check_find_real( \
			library, #function, &found);         \
	})

#endif
