/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The functions that this library stands in front of. */
#ifndef UR_CHECK_REAL_H
#define UR_CHECK_REAL_H

/*
 * The libraries as the program has them. They may have come by dlopen() with
 * names of their own (RTLD_LOCAL), where RTLD_NEXT does not lead.
 */
#define UR_VERBS  "libibverbs.so.1"
#define UR_RDMACM "librdmacm.so.1"

/* Makes a function public. */
#define UR_FRONT __attribute__((visibility("default")))

/* Returns the function, found once and kept in @cache. Ends the process, with a
 * message, where the library has none: then nobody can have called ours. */
void *ur_check_find_real(const char *library, const char *name, void **cache);

/* The same, but returns NULL where the library has none: one that is older than the
 * function, or is not in the process. */
void *ur_real_try(const char *library, const char *name, void **cache);

/* The function behind one of ours, with its type: ur_real(UR_VERBS, ibv_x). */
#define ur_real(library, function)                           \
	({                                                   \
		static void *found;                          \
		(__typeof__(&(function)))ur_check_find_real( \
			library, #function, &found);         \
	})

#endif
