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
 *
 * A thread that acts for a user releases the control lock while it waits for an
 * engine that a user's memory may delay. Others can take the lock then, so the
 * caller must keep the objects of the call from them.
 */
int ur_engine_call(struct ur_engine *engine,
		   int (*fn)(struct ur_engine *engine, void *arg), void *arg);

/*
 * Does the same, with a time limit if the engine serves one user alone, whose memory
 * may delay it. The engine gets a copy of the size bytes at arg. The caller waits at
 * most 50 ms, or not at all in the second after the engine was late. Returns what fn
 * returns, with its bytes copied back to arg, or -ETIME: the engine will run fn later,
 * before any later call. With the control lock.
 *
 * UR_ENGINE_ORDER(), with the arguments of UR_ENGINE_CALL(), defines order_set_limit()
 * and the like, which returns 0 in place of -ETIME. Its arguments may point to objects
 * that a later call ends.
 */
int ur_engine_ask(struct ur_engine *engine,
		  int (*fn)(struct ur_engine *engine, void *arg), void *arg,
		  size_t size);

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
#define UR_ENGINE_ORDER(n, fn, ...)					\
	UR_ENGINE_FUNCTION(n, fn, ##__VA_ARGS__)			\
	static int order_##fn(struct ur_engine *engine			\
			      UR_CALL_##n(UR_CALL_PARAMETER, ##__VA_ARGS__)) \
	{								\
		struct fn##_args args = {UR_CALL_##n(UR_CALL_VALUE, ##__VA_ARGS__)}; \
		int ret = ur_engine_ask(engine, run_##fn, &args, sizeof(args)); \
									\
		return ret == -ETIME ? 0 : ret;				\
	}								\
	struct ur_engine /* the caller's semicolon ends it */
/* clang-format on */

#endif
