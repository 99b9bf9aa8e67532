/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Calls from control to the engine. An object's control half defines a function
 * that the engine shall run, and a typed call of it:
 *
 *	static int set_limit(struct ur_engine *engine, struct ur_esrq *srq,
 *			     u32 limit)
 *	{
 *		...
 *	}
 *	UR_ENGINE_CALL(2, set_limit, struct ur_esrq *, u32);
 *
 * The last line gives the number of arguments after the engine and their types,
 * and defines call_set_limit(), which takes the same arguments as set_limit(),
 * has the engine run set_limit() with them, waits, and returns its result. The
 * caller waits, so a pointer to its stack is a valid argument.
 */
#ifndef UR_ENGINE_CORE_CALL_H
#define UR_ENGINE_CORE_CALL_H

#include <errno.h>
#include <stddef.h>

struct ur_engine;

/*
 * Runs fn(engine, arg) as the engine: on the engine's thread, or on the caller's
 * while that thread sleeps. Returns what fn returns. Any thread but the engine's.
 */
int ur_engine_call(struct ur_engine *engine,
		   int (*fn)(struct ur_engine *engine, void *arg), void *arg);

/* m(type, name) for each of n types, with names that differ. */
#define UR_CALL_0(m, ...)
#define UR_CALL_1(m, t)	     m(t, a)
#define UR_CALL_2(m, t, ...) m(t, b) UR_CALL_1(m, __VA_ARGS__)
#define UR_CALL_3(m, t, ...) m(t, c) UR_CALL_2(m, __VA_ARGS__)
#define UR_CALL_4(m, t, ...) m(t, d) UR_CALL_3(m, __VA_ARGS__)
#define UR_CALL_5(m, t, ...) m(t, e) UR_CALL_4(m, __VA_ARGS__)

#define UR_CALL_MEMBER(type, name)    type name;
#define UR_CALL_PARAMETER(type, name) , type name
#define UR_CALL_VALUE(type, name)     name,
#define UR_CALL_ARGUMENT(type, name)  , args->name

/* clang-format off */
#define UR_ENGINE_FUNCTION(n, fn, ...)					\
	struct fn##_args { UR_CALL_##n(UR_CALL_MEMBER, ##__VA_ARGS__) };	\
	static int run_##fn(struct ur_engine *engine, void *arg)	\
	{								\
		const struct fn##_args *args = arg;			\
									\
		(void)args; /* it may be empty */			\
		return fn(engine UR_CALL_##n(UR_CALL_ARGUMENT, ##__VA_ARGS__)); \
	}
#define UR_ENGINE_CALL(n, fn, ...)					\
	UR_ENGINE_FUNCTION(n, fn, ##__VA_ARGS__)			\
	static int call_##fn(struct ur_engine *engine			\
			     UR_CALL_##n(UR_CALL_PARAMETER, ##__VA_ARGS__)) \
	{								\
		struct fn##_args args = {UR_CALL_##n(UR_CALL_VALUE, ##__VA_ARGS__)}; \
									\
		return ur_engine_call(engine, run_##fn, &args);		\
	}								\
	struct ur_engine /* the caller's semicolon ends it */
/* clang-format on */

#endif
