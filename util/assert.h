/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Rules that nobody outside can break. No packet, ring entry, command or file
 * may make one fail: bad input is refused with an error instead. A rule that
 * fails is a mistake of ours, and the process ends at once, with the place, the
 * rule and the device on stderr (doc/decisions.md).
 *
 * UR_CHECKED is defined in debug, sanitizer and fuzz builds, and for the
 * libraries that simulation, scenarios and fuzz replays link.
 */
#ifndef UR_UTIL_ASSERT_H
#define UR_UTIL_ASSERT_H

/* The device (or seed) that this thread works for; NULL: none. */
extern _Thread_local const char *ur_assert_about;

/* Prints place, rule and device in one line on stderr, and aborts. */
_Noreturn void ur_assert_failed(const char *file, int line, const char *rule)
	__attribute__((cold));

/* Holds in every build, the shipped daemon's too: for use off the path of each
 * packet, and where a broken rule would be a write out of bounds. */
#define ur_assert(cond)                \
	(__builtin_expect(!!(cond), 1) \
		 ? (void)0             \
		 : ur_assert_failed(__FILE__, __LINE__, #cond))

/* A check that names the first broken rule, or NULL. */
#define ur_assert_rules(check)                                            \
	do {                                                              \
		const char *ur_broken_ = (check);                         \
		if (ur_broken_)                                           \
			ur_assert_failed(__FILE__, __LINE__, ur_broken_); \
	} while (0)

/* The same two on the path of each packet: in checked builds alone. */
#ifdef UR_CHECKED
#define ur_assert_hot(cond)	   ur_assert(cond)
#define ur_assert_rules_hot(check) ur_assert_rules(check)
#else
#define ur_assert_hot(cond)	   ((void)sizeof(!(cond)))
#define ur_assert_rules_hot(check) ((void)sizeof(check))
#endif

#endif
