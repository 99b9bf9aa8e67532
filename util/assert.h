/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Invariants that no input can break. No packet, ring entry, command or file
 * may make one fail: bad input is refused with an error. A broken invariant is
 * a bug of ours, and the process ends at once, with the place, the rule and the
 * device on stderr (doc/decisions.md).
 *
 * UR_CHECKED is defined in debug, sanitizer and fuzz builds, and for the
 * libraries that simulation, scenarios and fuzz replays link.
 */
#ifndef UR_UTIL_ASSERT_H
#define UR_UTIL_ASSERT_H

/* the device (or seed) that this thread works for; NULL: none */
extern _Thread_local const char *ur_assert_about;

/* Prints place, rule and device in one line on stderr, and aborts. */
_Noreturn void ur_assert_failed(const char *file, int line, const char *rule)
	__attribute__((cold));

/* Is checked in every build, also in the shipped daemon: for use off the path
 * of each packet, and where a violation would write out of bounds. */
#define ur_assert(cond)                \
	(__builtin_expect(!!(cond), 1) \
		 ? (void)0             \
		 : ur_assert_failed(__FILE__, __LINE__, #cond))

/* Fails if check, which names the first broken rule, is not NULL. */
#define ur_assert_rules(check)                                            \
	do {                                                              \
		const char *ur_broken_ = (check);                         \
		if (ur_broken_)                                           \
			ur_assert_failed(__FILE__, __LINE__, ur_broken_); \
	} while (0)

/* The same two for the path of each packet: only in checked builds. */
#ifdef UR_CHECKED
#define ur_assert_hot(cond)	   ur_assert(cond)
#define ur_assert_rules_hot(check) ur_assert_rules(check)
#else
#define ur_assert_hot(cond)	   ((void)sizeof(!(cond)))
#define ur_assert_rules_hot(check) ((void)sizeof(check))
#endif

#endif
