// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Memory of a GPU as the transport reaches it, over the stand-in for CUDA's library (tests/gpu): bytes that are fetched ahead
 * and written behind, whatever lags, fails, or is freed. Other threads register meanwhile.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "engine/core/engine_impl.h"
#include "engine/gpu/gpu.h"
#include "engine/gpu/runtime.h"
#include "tests/check.h"
#include "tests/gpu/cuda.h"
#include "tests/gpu/standin.h"
#include "util/rng.h"

#define BYTES (1u << 20)

static struct ur_engine engine;
static struct ur_ectx ectx = {.engine = &engine};
static struct ur_rng rng = {11};
static u8 model[BYTES], got[BYTES];

static u64 allocate(void)
{
	CUdeviceptr p;

	CHECK_EQ(cuMemAlloc_v2(&p, BYTES), 0);
	return p;
}

static struct ur_emr *attach(u64 addr)
{
	struct ur_emr *mr = calloc(1, sizeof(*mr));

	mr->ectx = &ectx;
	mr->attr.addr = addr;
	mr->attr.length = BYTES;
	mr->attr.gpu = true;
	CHECK_EQ(ur_gpu_attach(mr), 0);
	return mr;
}

static void detach(struct ur_emr *mr)
{
	ur_gpu_finish(mr);
	ur_gpu_detach(mr);
	free(mr);
}

static void begin(void)
{
	CUcontext context;

	CHECK_EQ(cuInit(0), 0);
	CHECK_EQ(cuDevicePrimaryCtxRetain(&context, 0), 0);
	CHECK_EQ(cuCtxSetCurrent(context), 0);
	standin_lag(50);
}

static void check_all(u64 addr)
{
	CHECK_EQ(cuMemcpyDtoH_v2(got, addr, BYTES), 0);
	CHECK(!memcmp(got, model, BYTES));
}

static void draw(u8 *to, u32 len)
{
	for (u32 i = 0; i < len; i++)
		to[i] = (u8)ur_rng_u64(&rng);
}

/* A message of len bytes in packets of mtu, as the transport writes it. */
static void write_message(struct ur_emr *mr, u32 off, u32 len, u32 mtu)
{
	const struct ur_mem_ops *ops = &ur_gpu_mem_ops;
	u32 at = 0, n;

	draw(model + off, len);
	for (; len - at > mtu; at += n) {
		n = mtu * (u32)ur_min_u64(1 + ur_rng_below(&rng, 16),
					  (len - at - 1) / mtu);
		if (ur_rng_below(&rng, 2)) {
			const struct ur_pieces from = {.first =
							       model + off + at,
						       .stride = mtu,
						       .len = mtu,
						       .n = n / mtu,
						       .more = true};

			CHECK_EQ(ops->write_pieces(mr, off + at, &from), 0);
		} else {
			CHECK_EQ(ops->write_more(mr, off + at, model + off + at,
						 n),
				 0);
		}
	}
	CHECK_EQ(ops->write(mr, off + at, model + off + at, len - at), 0);
}

static void read_message(struct ur_emr *mr, u32 off, u32 len, u32 mtu)
{
	const struct ur_mem_ops *ops = &ur_gpu_mem_ops;
	u32 at = ur_min_u32(mtu, len), n;
	struct ur_pieces to;

	memset(got, 0, len);
	CHECK_EQ(ops->read(mr, off, got, at), 0);
	if (at < len)
		ops->ahead(mr, off + at, len - at, got);
	for (; len - at > mtu; at += n) {
		n = mtu * (u32)ur_min_u64(1 + ur_rng_below(&rng, 16),
					  (len - at - 1) / mtu);
		to = (struct ur_pieces){.first = got + at,
					.stride = n,
					.len = n,
					.n = 1,
					.reader = got};
		CHECK_EQ(ops->read_pieces(mr, off + at, &to), 0);
		/* From there on once more, as after a packet that was lost. */
		if (!ur_rng_below(&rng, 20))
			n = 0;
	}
	CHECK_EQ(ops->read(mr, off + at, got + at, len - at), 0);
	CHECK(!memcmp(got, model + off, len));
}

static void test_messages(void)
{
	struct ur_emr *mr;
	u64 addr;

	begin();
	addr = allocate();
	mr = attach(addr);
	write_message(mr, 0, BYTES, 4096);
	for (int i = 0; i < 60; i++) {
		u32 len = 1 + (u32)ur_rng_below(&rng, BYTES / 2);
		u32 off = (u32)ur_rng_below(&rng, BYTES - len);
		u32 mtu = 256u << ur_rng_below(&rng, 5);

		if (ur_rng_below(&rng, 2))
			write_message(mr, off, len, mtu);
		else
			read_message(mr, off, len, mtu);
	}
	check_all(addr);
	detach(mr);
	ur_gpu_fini(&engine);
}

/* The copies of a message are under way together: while none ends, four pieces come ahead of who reads, and a message that
 * comes is written up to its last piece. */
static void test_overlap(void)
{
	const u32 piece = 64u << 10;
	struct ur_emr *mr;
	u64 addr;

	begin();
	addr = allocate();
	mr = attach(addr);
	draw(model, BYTES);
	CHECK_EQ(cuMemcpyHtoD_v2(addr, model, BYTES), 0);
	standin_hold(true);
	ur_gpu_mem_ops.ahead(mr, 0, BYTES, got);
	CHECK_EQ(standin_most(), 4);
	standin_hold(false);
	for (u32 at = 0; at < BYTES; at += piece) {
		const struct ur_pieces to = {.first = got,
					     .stride = piece,
					     .len = piece,
					     .n = 1,
					     .reader = got};

		CHECK_EQ(ur_gpu_mem_ops.read_pieces(mr, at, &to), 0);
		CHECK(!memcmp(got, model + at, piece));
	}
	standin_hold(true);
	draw(model, BYTES);
	for (u32 at = 0; at < BYTES - piece; at += piece)
		CHECK_EQ(ur_gpu_mem_ops.write_more(mr, at, model + at, piece),
			 0);
	CHECK_EQ(standin_most(), BYTES / piece - 1);
	standin_hold(false);
	CHECK_EQ(ur_gpu_mem_ops.write(mr, BYTES - piece, model + BYTES - piece,
				      piece),
		 0);
	check_all(addr);
	detach(mr);
	ur_gpu_fini(&engine);
}

/* Of the copies of long messages nearly all begin while another is under way, both ways. */
static void test_ratio(void)
{
	struct standin_copies n;
	struct ur_emr *mr;
	u64 addr;

	begin();
	standin_lag(2000);
	addr = allocate();
	mr = attach(addr);
	for (int reads = 0; reads < 2; reads++) {
		standin_hold(false);
		for (int i = 0; i < 8; i++) {
			if (reads) {
				const struct ur_pieces to = {.first = got,
							     .stride = BYTES,
							     .len = BYTES,
							     .n = 1,
							     .reader = got};

				ur_gpu_mem_ops.ahead(mr, 0, BYTES, got);
				CHECK_EQ(ur_gpu_mem_ops.read_pieces(mr, 0, &to),
					 0);
			} else {
				write_message(mr, 0, BYTES, 4096);
			}
		}
		n = standin_copies();
		CHECK(n.all >= 8 * BYTES / UR_GPU_PIECE_BYTES);
		CHECK(n.beside * 10 >= n.all * 8);
	}
	standin_lag(50);
	check_all(addr);
	detach(mr);
	ur_gpu_fini(&engine);
}

static void release(void)
{
	standin_hold(false);
}

static int at_a_time;

static void release_counted(void)
{
	at_a_time = standin_most();
	standin_hold(false);
}

/* A message that is sent again from some packet on is fetched ahead again, and as it is now. */
static void test_again(void)
{
	struct ur_pieces to = {.first = got,
			       .stride = 4096,
			       .len = 4096,
			       .n = 1,
			       .reader = got};
	struct ur_emr *mr;
	u64 addr;

	begin();
	addr = allocate();
	mr = attach(addr);
	ur_gpu_mem_ops.ahead(mr, 0, BYTES, got);
	for (u32 at = 0; at < 3 * UR_GPU_PIECE_BYTES; at += 4096)
		CHECK_EQ(ur_gpu_mem_ops.read_pieces(mr, at, &to), 0);
	/* That waits for all that is under way. */
	CHECK_EQ(cuMemFree_v2(allocate()), 0);
	draw(model, BYTES);
	CHECK_EQ(cuMemcpyHtoD_v2(addr, model, BYTES), 0);
	standin_hold(true);
	standin_then(release_counted);
	for (u32 at = 4096; at < BYTES; at += 4096) {
		CHECK_EQ(ur_gpu_mem_ops.read_pieces(mr, at, &to), 0);
		CHECK(!memcmp(got, model + at, 4096));
	}
	CHECK_EQ(at_a_time, 4);
	/* Beyond its end nothing is announced. */
	ur_gpu_mem_ops.ahead(mr, 0, 3 * 4096, got);
	CHECK_EQ(ur_gpu_mem_ops.read_pieces(mr, BYTES - 4096, &to), 0);
	CHECK(!memcmp(got, model + BYTES - 4096, 4096));
	detach(mr);
	ur_gpu_fini(&engine);
}

/* FLUSH awaits what is written, and frees no piece that still comes for a reader that was dropped: what is written in it next
 * would be overwritten before it is copied. */
static void test_flush_beside_dropped(void)
{
	const u32 half = BYTES / 2;
	struct ur_emr *mr;
	u64 addr;

	begin();
	addr = allocate();
	mr = attach(addr);
	draw(model, BYTES);
	CHECK_EQ(cuMemcpyHtoD_v2(addr, model, BYTES), 0);
	standin_hold(true);
	ur_gpu_mem_ops.ahead(mr, half, half, got);
	ur_gpu_mem_ops.ahead(mr, BYTES - 1, 1, got); /* from there on */
	CHECK_EQ(ur_gpu_mem_ops.flush(mr, 0, BYTES, 1), 0);
	standin_then(release);
	draw(model, half);
	for (u32 i = 0; i < UR_GPU_PIECES; i++)
		CHECK_EQ(ur_gpu_mem_ops.write_more(
				 mr, i % 8 * UR_GPU_PIECE_BYTES,
				 model + i % 8 * UR_GPU_PIECE_BYTES,
				 UR_GPU_PIECE_BYTES),
			 0);
	standin_hold(false);
	CHECK_EQ(ur_gpu_mem_ops.flush(mr, 0, BYTES, 1), 0);
	check_all(addr);
	detach(mr);
	ur_gpu_fini(&engine);
}

static void test_words(void)
{
	struct ur_emr *mr;
	u64 addr, old, v = 5;

	begin();
	addr = allocate();
	mr = attach(addr);
	CHECK_EQ(cuMemcpyHtoD_v2(addr + 8, &v, 8), 0);
	CHECK_EQ(ur_gpu_mem_ops.faa(mr, 8, 7, 0, &old), 0);
	CHECK_EQ(old, 5);
	CHECK_EQ(ur_gpu_mem_ops.cas(mr, 8, 11, UINT64_MAX, 1, UINT64_MAX, &old),
		 0);
	CHECK_EQ(old, 12);
	CHECK_EQ(ur_gpu_mem_ops.cas(mr, 8, 12, UINT64_MAX, 1, UINT64_MAX, &old),
		 0);
	CHECK_EQ(cuMemcpyDtoH_v2(&v, addr + 8, 8), 0);
	CHECK_EQ(v, 1);
	CHECK_EQ(ur_gpu_mem_ops.flush(mr, 0, 8, 1), 0);
	detach(mr);
	ur_gpu_fini(&engine);
}

/* What was freed is nobody's, also if it is another's by now. */
static void test_freed(void)
{
	struct ur_emr *mr;
	u64 addr, old;

	begin();
	addr = allocate();
	mr = attach(addr);
	write_message(mr, 0, BYTES, 1024);
	ur_gpu_mem_ops.ahead(mr, 4096, 500000, mr);
	for (int again = 0; again < 2; again++) {
		if (again)
			CHECK_EQ(allocate(), addr);
		else
			CHECK_EQ(cuMemFree_v2(addr), 0);
		CHECK_EQ(ur_gpu_mem_ops.read(mr, 4096, got, 8), -EFAULT);
		CHECK_EQ(ur_gpu_mem_ops.write(mr, 0, got, 8), -EFAULT);
		CHECK_EQ(ur_gpu_mem_ops.write_more(mr, 0, got, 8), -EFAULT);
		CHECK_EQ(ur_gpu_mem_ops.faa(mr, 0, 1, 0, &old), -EFAULT);
		CHECK_EQ(ur_gpu_mem_ops.flush(mr, 0, 8, 1), -EFAULT);
	}
	detach(mr);
	ur_gpu_fini(&engine);
}

static u64 moving;

static void move(void)
{
	standin_hold(false);
	CHECK_EQ(cuMemFree_v2(moving), 0);
	CHECK_EQ(allocate(), moving);
	memset(standin_inside(moving), 0x5a, BYTES);
}

/* A message that waits for room while the program frees its target, and allocates there anew. */
static void test_freed_meanwhile(void)
{
	struct ur_emr *mr;
	int err = 0;

	begin();
	moving = allocate();
	mr = attach(moving);
	standin_hold(true);
	standin_then(move);
	for (u32 i = 0; !err && i <= UR_GPU_PIECES * UR_GPU_PIECE_BYTES / BYTES;
	     i++)
		err = ur_gpu_mem_ops.write_more(mr, 0, model, BYTES);
	CHECK_EQ(err, -EFAULT);
	for (u32 i = 0; i < BYTES; i++)
		CHECK_EQ(*standin_inside(moving + i), 0x5a);
	detach(mr);
	ur_gpu_fini(&engine);
}

/* A copy that fails when its turn comes is an error of the message that it was of, and the context's end. */
static void test_failures(void)
{
	struct ur_emr *mr, *other;
	u64 addr;

	begin();
	addr = allocate();
	mr = attach(addr);
	standin_fail(1, false);
	CHECK_EQ(ur_gpu_mem_ops.read(mr, 0, got, 8), -EFAULT);
	CHECK_EQ(ur_gpu_mem_ops.read(mr, 0, got, 8), 0);
	standin_fail(1, true);
	standin_hold(true);
	CHECK_EQ(ur_gpu_mem_ops.write_more(mr, 0, model, 4096), 0);
	standin_hold(false);
	CHECK_EQ(ur_gpu_mem_ops.write(mr, 4096, model, 1), -EFAULT);
	CHECK_EQ(ur_gpu_mem_ops.read(mr, 0, got, 8), -EFAULT);
	standin_fail(0, false);
	CHECK_EQ(ur_gpu_mem_ops.read(mr, 0, got, 8), -EFAULT);
	other = attach(addr);
	CHECK_EQ(ur_gpu_mem_ops.read(other, 0, got, 8), 0);
	detach(mr);
	CHECK_EQ(ur_gpu_mem_ops.read(other, 0, got, 8), 0);
	detach(other);
	ur_gpu_fini(&engine);
}

/* Contexts of one GPU, of which one ends with all that it has, and another comes to its address. */
static void test_contexts(void)
{
	struct ur_emr *mr, *first, *again;
	CUcontext context, next, now;
	u64 addr;

	begin();
	CHECK_EQ(cuCtxGetCurrent(&now), 0);
	first = attach(allocate());
	CHECK_EQ(cuCtxCreate_v2(&context, 0, 0), 0);
	addr = allocate();
	mr = attach(addr);
	CHECK_EQ(cuCtxSetCurrent(now), 0);
	CHECK_EQ(ur_gpu_mem_ops.write(mr, 0, model, BYTES), 0);
	CHECK_EQ(ur_gpu_mem_ops.write(first, 0, model, BYTES), 0);
	ur_gpu_mem_ops.ahead(mr, 0, BYTES, mr);
	CHECK_EQ(cuCtxDestroy_v2(context), 0);
	CHECK_EQ(ur_gpu_mem_ops.read(mr, 0, got, 8), -EFAULT);
	CHECK_EQ(ur_gpu_mem_ops.write(mr, 0, got, 8), -EFAULT);
	CHECK_EQ(ur_gpu_mem_ops.write(first, 0, got, 8), 0);
	CHECK_EQ(cuCtxCreate_v2(&next, 0, 0), 0);
	CHECK(next == context);
	CHECK_EQ(allocate(), addr);
	CHECK_EQ(ur_gpu_mem_ops.read(mr, 0, got, 8), -EFAULT);
	again = attach(addr);
	CHECK_EQ(ur_gpu_mem_ops.write(again, 0, model, BYTES), 0);
	check_all(addr);
	detach(mr);
	CHECK_EQ(ur_gpu_mem_ops.read(again, 0, got, 8), 0);
	detach(again);
	detach(first);
	CHECK_EQ(cuCtxDestroy_v2(next), 0);
	ur_gpu_fini(&engine);
}

/* Whatever attribute is wrong, and wherever a call fails, the memory is refused, or a request fails. */
static void test_lies(void)
{
	static const int what[] = {1, 2, 7, 9, 11, 12};
	static const u64 values[] = {0, 1, 2, 0x1234, UINT64_MAX};
	struct ur_emr *mr;
	u64 addr, old;

	begin();
	addr = allocate();
	for (u32 i = 0; i < UR_ARRAY_SIZE(what) * UR_ARRAY_SIZE(values); i++) {
		standin_lie(what[i / UR_ARRAY_SIZE(values)],
			    values[i % UR_ARRAY_SIZE(values)]);
		mr = calloc(1, sizeof(*mr));
		mr->ectx = &ectx;
		mr->attr.addr = addr;
		mr->attr.length = 2 * BYTES;
		if (ur_gpu_attach(mr)) {
			free(mr);
			continue;
		}
		/* A length that is none is an error of the access. */
		CHECK_EQ(ur_gpu_mem_ops.read(mr, 2 * BYTES - 8, got, 8),
			 -EFAULT);
		CHECK_EQ(ur_gpu_mem_ops.write(mr, BYTES, model, 8), -EFAULT);
		CHECK_EQ(ur_gpu_mem_ops.faa(mr, BYTES, 1, 0, &old), -EFAULT);
		detach(mr);
	}
	standin_lie(0, 0);
	detach(attach(addr));
	ur_gpu_fini(&engine);
}

static void test_breaks(void)
{
	CUcontext now;
	bool hit = true;
	u64 addr;

	begin();
	addr = allocate();
	CHECK_EQ(cuCtxGetCurrent(&now), 0);
	for (int n = 1; hit; n++) {
		struct ur_emr *mr = calloc(1, sizeof(*mr));
		int mode = 0;

		mr->ectx = &ectx;
		mr->attr.addr = addr;
		mr->attr.length = BYTES;
		standin_break(n);
		if (ur_gpu_attach(mr)) {
			free(mr);
		} else {
			ur_gpu_mem_ops.write(mr, 0, model, 100000);
			ur_gpu_mem_ops.read(mr, 0, got, 100000);
			detach(mr);
		}
		hit = !standin_break(0);
		CHECK(n < 10000);
		/* A failed call may leave a context pushed and the capture mode changed. */
		while (standin_thread().depth > 1)
			CHECK_EQ(cuCtxPopCurrent_v2(&now), 0);
		CHECK_EQ(cuThreadExchangeStreamCaptureMode(&mode), 0);
	}
	ur_gpu_fini(&engine);
}

/* One thread registers memory while the engine's thread copies. */
static bool ends;

static void *registers(void *arg)
{
	const u64 *addr = arg;
	CUcontext context;

	CHECK_EQ(cuDevicePrimaryCtxRetain(&context, 1), 0);
	CHECK_EQ(cuCtxSetCurrent(context), 0);
	while (!__atomic_load_n(&ends, __ATOMIC_RELAXED)) {
		u64 other = allocate();
		struct ur_emr *far = attach(other), *near = attach(*addr);

		CHECK_EQ(ur_gpu_check(*addr, BYTES), 0);
		CHECK(ur_gpu_is_there());
		ur_gpu_detach(near);
		ur_gpu_detach(far);
		free(near);
		free(far);
		CHECK_EQ(cuMemFree_v2(other), 0);
	}
	return NULL;
}

static void test_threads(void)
{
	struct ur_emr *mr;
	pthread_t thread;
	u64 addr;

	begin();
	addr = allocate();
	mr = attach(addr);
	ends = false;
	CHECK(!pthread_create(&thread, NULL, registers, &addr));
	write_message(mr, 0, BYTES, 4096);
	for (int i = 0; i < 30; i++) {
		write_message(mr, 0, BYTES / 2, 4096);
		read_message(mr, 0, BYTES / 2, 4096);
	}
	__atomic_store_n(&ends, true, __ATOMIC_RELAXED);
	CHECK(!pthread_join(thread, NULL));
	check_all(addr);
	detach(mr);
	ur_gpu_fini(&engine);
}

static void test_refused(void)
{
	struct ur_emr mr = {.ectx = &ectx};
	u64 addr;

	begin();
	addr = allocate();
	CHECK_EQ(ur_gpu_check(addr, BYTES), 0);
	CHECK_EQ(ur_gpu_check(addr + 1, BYTES), -EFAULT);
	CHECK_EQ(ur_gpu_check(addr, 0), -EFAULT);
	CHECK_EQ(ur_gpu_check((uintptr_t)model, BYTES), -EFAULT);
	mr.attr.addr = addr + 1;
	mr.attr.length = BYTES;
	CHECK_EQ(ur_gpu_attach(&mr), -EFAULT);
	setenv("UROCE_GPU", "off", 1);
	CHECK(!ur_gpu_is_there());
	CHECK_EQ(ur_gpu_check(addr, BYTES), -EFAULT);
	ur_gpu_fini(&engine);
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(test_messages());
	CASE(test_overlap());
	CASE(test_ratio());
	CASE(test_again());
	CASE(test_flush_beside_dropped());
	CASE(test_words());
	CASE(test_freed());
	CASE(test_freed_meanwhile());
	CASE(test_failures());
	CASE(test_contexts());
	CASE(test_lies());
	CASE(test_breaks());
	CASE(test_threads());
	CASE(test_refused());
	return cases_status();
}
