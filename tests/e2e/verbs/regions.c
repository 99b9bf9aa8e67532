// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Registrations that are refused, and what is left of the one before. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "bench.h"

#define RW (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE)

static void write_works(struct bench *t, uint8_t value)
{
	memset(t->a.buf, value, 64);
	CHECK_EQ(post_rdma(&t->a, IBV_WR_RDMA_WRITE, (uintptr_t)t->b.buf,
			   t->b.mr->rkey, 64),
		 0);
	expect_wc(t->a.cq, IBV_WC_SUCCESS);
	CHECK_EQ(t->b.buf[63], value);
}

static void reg_refused(void)
{
	uint8_t *p = aligned_alloc(4096, 8192);
	struct bench t;

	bench_bare(&t);
	CHECK(p);
	memset(p, 0, 8192);
	/* Another place within the page. */
	CHECK(!ibv_reg_mr_iova2(t.pd, p, 4096, 0x10001, RW));
	CHECK_EQ(errno, EINVAL);
	/* Remote stores without local ones; a right nobody knows. */
	CHECK(!ibv_reg_mr(t.pd, p, 4096, IBV_ACCESS_REMOTE_WRITE));
	CHECK(!ibv_reg_mr(t.pd, p, 4096, IBV_ACCESS_REMOTE_ATOMIC));
	CHECK(!ibv_reg_mr(t.pd, p, 4096, RW | 1 << 19));
	/* Beyond the end of everything, there and for the peer. */
	CHECK(!ibv_reg_mr_iova2(t.pd, p, 8192, ~0ull - 4095, RW));
	CHECK(!ibv_reg_mr(t.pd, (void *)~0xfffull, 8192, RW));
	free(p);
	CHECK(!ibv_dealloc_pd(t.pd));
	ibv_close_device(t.ctx);
}

/* From the middle of a page to the middle of another: where the bytes go. */
static void unaligned(void)
{
	uint8_t *p = aligned_alloc(4096, 16384);
	struct ibv_mr *mr;
	struct bench t;

	CHECK(p);
	memset(p, 0, 16384);
	bench_open(&t, 64);
	mr = ibv_reg_mr(t.pd, p + 100, 8000, RW);
	CHECK(mr);
	memset(t.a.buf, 7, 8000);
	CHECK_EQ(post_rdma(&t.a, IBV_WR_RDMA_WRITE, (uintptr_t)p + 100,
			   mr->rkey, 8000),
		 0);
	expect_wc(t.a.cq, IBV_WC_SUCCESS);
	for (int i = 0; i < 16384; i++)
		CHECK_EQ(p[i], i >= 100 && i < 8100 ? 7 : 0);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	bench_close(&t);
	free(p);
}

static uint8_t *new_pages(int prot)
{
	uint8_t *p = mmap(NULL, 8192, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(p != MAP_FAILED);
	return p;
}

/* Nobody does with the program's memory things that it could not do itself. */
static void without_rights(void)
{
	static const uint8_t text[8192] __attribute__((aligned(4096))) = "text";
	uint8_t *p = new_pages(PROT_READ | PROT_WRITE);
	struct ibv_mr *mr;
	struct bench t;

	bench_bare(&t);
	CHECK(!ibv_reg_mr(t.pd, (void *)(uintptr_t)text, 4096, RW));
	CHECK_EQ(errno, EFAULT);
	mr = ibv_reg_mr(t.pd, (void *)(uintptr_t)text, 4096,
			IBV_ACCESS_REMOTE_READ);
	CHECK(mr);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	memset(p, 1, 8192);
	CHECK(!mprotect(p, 8192, PROT_READ));
	for (int bit = 0; bit < 2; bit++) {
		CHECK(!ibv_reg_mr(t.pd, p, 8192,
				  bit ? RW : IBV_ACCESS_LOCAL_WRITE));
		CHECK_EQ(errno, EFAULT);
	}
	CHECK(!mprotect(p, 8192, PROT_NONE));
	for (int bit = 0; bit < 3; bit++) {
		CHECK(!ibv_reg_mr(t.pd, p, 8192,
				  bit == 2 ? RW
				  : bit	   ? IBV_ACCESS_REMOTE_READ
					   : 0));
		CHECK_EQ(errno, EFAULT);
	}
	CHECK_EQ(munmap(p, 8192), 0);
	CHECK_EQ(ibv_dealloc_pd(t.pd), 0);
	ibv_close_device(t.ctx);
}

/* Whether protections can be asked for at each access: Linux 6.11. */
static void need_query(void)
{
	uint64_t query[13] = {sizeof(query), 0, (uintptr_t)&query};
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC), ret;

	CHECK(fd >= 0);
	ret = ioctl(fd, _IOWR('f', 17, query), query);
	close(fd);
	if (ret)
		SKIP("this kernel's /proc/PID/maps answers no questions");
}

/* Posts a WRITE of 64 bytes of 'value' there; its status. */
static enum ibv_wc_status try_write(struct bench *t, const uint8_t *to,
				    const struct ibv_mr *mr, uint8_t value)
{
	struct ibv_wc wc;

	memset(t->a.buf, value, 64);
	CHECK_EQ(post_rdma(&t->a, IBV_WR_RDMA_WRITE, (uintptr_t)to, mr->rkey,
			   64),
		 0);
	wc = wait_wc(t->a.cq);
	return wc.status;
}

static bool has_own_engine(void)
{
	const char *place = getenv("UROCE_ENGINE");

	return !place || strcmp(place, "device");
}

/* Rights that go away after the registration: the pages that were registered
 * may be written to, as if pinned, or none; what is at the address now is not. */
static void rights_lost(void)
{
	bool own = has_own_engine();

	need_query();
	for (int what = 0; what < 3; what++) {
		uint8_t *p = new_pages(PROT_READ | PROT_WRITE), *q;
		/* In a page of its own, too small to be moved. */
		size_t len = what == 2 ? 8192 : 64;
		struct ibv_mr *mr;
		struct bench t;

		bench_open(&t, 64);
		memset(p, 1, 8192);
		mr = ibv_reg_mr(t.pd, p, len, RW | IBV_ACCESS_REMOTE_READ);
		CHECK(mr);
		CHECK_EQ(try_write(&t, p, mr, 5), IBV_WC_SUCCESS);
		CHECK_EQ(p[63], 5);
		if (what == 0) {
			CHECK(!mprotect(p, 8192, PROT_READ));
			CHECK_EQ(try_write(&t, p, mr, 7) == IBV_WC_SUCCESS,
				 own);
			CHECK_EQ(p[0], own ? 7 : 5);
		} else {
			/* Other memory, read-only. */
			q = new_pages(PROT_READ | PROT_WRITE);
			memset(q, 9, 8192);
			CHECK(!mprotect(q, 8192, PROT_READ));
			CHECK(mremap(q, 8192, 8192,
				     MREMAP_MAYMOVE | MREMAP_FIXED, p) == p);
			try_write(&t, p, mr, 7);
			CHECK_EQ(p[0], 9);
			CHECK_EQ(p[63], 9);
		}
		CHECK_EQ(ibv_dereg_mr(mr), 0);
		CHECK_EQ(p[0], what ? 9 : own ? 7 : 5);
		CHECK_EQ(munmap(p, 8192), 0);
		bench_close(&t);
	}
}

#define PINNED	 (16u << 12)
#define PINNED_2 (PINNED / 2)

static uint8_t *new_memory(bool shared, int *fd)
{
	uint8_t *p;

	*fd = shared ? memfd_create("pinned", 0) : -1;
	CHECK(!shared || (*fd >= 0 && !ftruncate(*fd, PINNED)));
	p = mmap(NULL, PINNED, PROT_READ | PROT_WRITE,
		 shared ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, *fd, 0);
	CHECK(p != MAP_FAILED);
	memset(p, 1, PINNED);
	return p;
}

static enum ibv_wc_status try_op(struct bench *t, enum ibv_wr_opcode op,
				 uint8_t *here, const struct ibv_mr *mine,
				 uint8_t *there, const struct ibv_mr *its,
				 uint32_t len)
{
	struct ibv_sge sge = {(uintptr_t)here, len, mine->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge,
				 .num_sge = 1,
				 .opcode = op,
				 .send_flags = IBV_SEND_SIGNALED},
			   *bad;
	struct ibv_wc wc;

	if (op == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = (uintptr_t)there;
		wr.wr.atomic.rkey = its->rkey;
		wr.wr.atomic.compare_add = 1;
	} else {
		wr.wr.rdma.remote_addr = (uintptr_t)there;
		wr.wr.rdma.rkey = its->rkey;
	}
	CHECK_EQ(ibv_post_send(t->a.qp, &wr, &bad), 0);
	wc = wait_wc(t->a.cq);
	return wc.status;
}

/* The other end may be in another context, whose engine is another. */
static void write_protected(bool shared)
{
	uint8_t *from, *to;
	struct ibv_mr *a, *b;
	struct bench t;
	int fd, fd2;

	bench_open(&t, 64);
	from = new_memory(false, &fd2);
	to = new_memory(shared, &fd);
	a = ibv_reg_mr(t.pd, from, PINNED, RW);
	b = ibv_reg_mr(t.pd, to, PINNED,
		       RW | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
	CHECK(a && b);
	/* Half of it, from the middle of a page on. */
	CHECK(!mprotect(to, PINNED_2, PROT_READ));
	memset(from, 7, PINNED);
	CHECK_EQ(try_op(&t, IBV_WR_RDMA_WRITE, from, a, to + 100, b,
			PINNED - 100),
		 IBV_WC_SUCCESS);
	for (uint32_t i = 0; i < PINNED; i++)
		CHECK_EQ(to[i], i < 100 ? 1 : 7);
	CHECK_EQ(try_op(&t, IBV_WR_ATOMIC_FETCH_AND_ADD, from, a, to + 4096, b,
			8),
		 IBV_WC_SUCCESS);
	CHECK_EQ(to[4096], 8);
	CHECK_EQ(from[0], 7);
	CHECK(!mprotect(to, PINNED, PROT_NONE));
	CHECK_EQ(try_op(&t, IBV_WR_RDMA_READ, from, a, to, b, PINNED),
		 IBV_WC_SUCCESS);
	for (uint32_t i = 0; i < PINNED; i++)
		CHECK_EQ(from[i], i < 100 ? 1 : i == 4096 ? 8 : 7);
	/* It is protected all the same, and the program may write again. */
	CHECK(!mprotect(to, PINNED, PROT_READ | PROT_WRITE));
	memset(to, 3, PINNED);
	CHECK_EQ(try_op(&t, IBV_WR_RDMA_READ, from, a, to, b, PINNED),
		 IBV_WC_SUCCESS);
	CHECK_EQ(from[PINNED - 1], 3);
	CHECK_EQ(ibv_dereg_mr(a), 0);
	CHECK_EQ(ibv_dereg_mr(b), 0);
	munmap(from, PINNED);
	munmap(to, PINNED);
	if (fd >= 0)
		close(fd);
	bench_close(&t);
}

/* Whatever comes to the address of memory that was protected is another's: a file that is to be read, and a library's
 * pages. */
static void write_another(bool was_shared, bool shared)
{
	int fd, fd2 = memfd_create("another", 0);
	struct ibv_mr *a, *b;
	uint8_t *p, c;
	struct bench t;

	bench_open(&t, 64);
	p = new_memory(was_shared, &fd);
	a = ibv_reg_mr(t.pd, t.a.buf, 64, RW);
	b = ibv_reg_mr(t.pd, p, PINNED, RW);
	CHECK(a && b && fd2 >= 0 && !ftruncate(fd2, PINNED));
	CHECK(!mprotect(p, PINNED, PROT_READ));
	memset(t.a.buf, 7, 64);
	CHECK_EQ(try_op(&t, IBV_WR_RDMA_WRITE, t.a.buf, a, p, b, 64),
		 IBV_WC_SUCCESS);
	CHECK_EQ(p[0], 7);
	CHECK(mmap(p, PINNED, PROT_READ,
		   MAP_FIXED | (shared ? MAP_SHARED : MAP_PRIVATE), fd2,
		   0) == p);
	CHECK(try_op(&t, IBV_WR_RDMA_WRITE, t.a.buf, a, p, b, 64) !=
	      IBV_WC_SUCCESS);
	CHECK_EQ(p[0], 0);
	CHECK(pread(fd2, &c, 1, 0) == 1 && !c);
	CHECK_EQ(ibv_dereg_mr(a), 0);
	CHECK_EQ(ibv_dereg_mr(b), 0);
	munmap(p, PINNED);
	close(fd2);
	if (fd >= 0)
		close(fd);
	bench_close(&t);
}

/* Registered memory is protected, as by who looks for changed pages: its pages are the engine's still. */
static void rights_taken(void)
{
	if (!has_own_engine())
		SKIP("the engine is the device's");
	write_protected(false);
	write_another(false, false);
	write_another(false, true);
	need_query();
	write_protected(true);
	write_another(true, false);
	write_another(true, true);
}

/* On-demand memory is what it is at the time. */
static void rights_on_demand(void)
{
	static const int prot[] = {PROT_READ | PROT_WRITE, PROT_READ,
				   PROT_NONE};

	need_query();
	for (int i = 0; i < 3; i++) {
		for (int read = 0; read < 2; read++) {
			bool may = !i || (i == 1 && read);
			uint8_t *p = new_pages(PROT_READ | PROT_WRITE);
			struct ibv_mr *mr;
			struct bench t;

			bench_open(&t, 64);
			memset(p, 3, 8192);
			mr = ibv_reg_mr(t.pd, p, 8192,
					RW | IBV_ACCESS_REMOTE_READ |
						IBV_ACCESS_ON_DEMAND);
			CHECK(mr);
			CHECK(!mprotect(p, 8192, prot[i]));
			memset(t.a.buf, 4, 64);
			CHECK_EQ(post_rdma(&t.a,
					   read ? IBV_WR_RDMA_READ
						: IBV_WR_RDMA_WRITE,
					   (uintptr_t)p, mr->rkey, 64),
				 0);
			CHECK_EQ(wait_wc(t.a.cq).status == IBV_WC_SUCCESS, may);
			CHECK(!mprotect(p, 8192, PROT_READ));
			CHECK_EQ(p[0], may && !read ? 4 : 3);
			CHECK_EQ(t.a.buf[0], may && read ? 3 : 4);
			CHECK_EQ(ibv_dereg_mr(mr), 0);
			CHECK_EQ(munmap(p, 8192), 0);
			bench_close(&t);
		}
	}
}

/* A domain is busy as long as it has a window. */
static void window_holds(void)
{
	struct ibv_pd *pd;
	struct ibv_mw *mw;
	struct bench t;

	bench_bare(&t);
	pd = ibv_alloc_pd(t.ctx);
	CHECK(pd);
	mw = ibv_alloc_mw(pd, IBV_MW_TYPE_1);
	CHECK(mw);
	CHECK_EQ(ibv_dealloc_pd(pd), EBUSY);
	CHECK_EQ(ibv_dealloc_mw(mw), 0);
	CHECK_EQ(ibv_dealloc_pd(pd), 0);
	CHECK(!ibv_dealloc_pd(t.pd));
	ibv_close_device(t.ctx);
}

/* A change that is refused leaves the region as it was. */
static void rereg_refused(void)
{
	const int trans = IBV_REREG_MR_CHANGE_TRANSLATION;
	const int access = IBV_REREG_MR_CHANGE_ACCESS;
	struct bench t;

	bench_open(&t, 64);
	CHECK(ibv_rereg_mr(t.b.mr, access, NULL, NULL, 0,
			   IBV_ACCESS_REMOTE_WRITE));
	write_works(&t, 1);
	CHECK(ibv_rereg_mr(t.b.mr, access, NULL, NULL, 0, RW | 1 << 19));
	write_works(&t, 2);
	CHECK(ibv_rereg_mr(t.b.mr, trans, NULL, (void *)~0xfffull, 8192, 0));
	write_works(&t, 3);
	/* Nothing is there. */
	CHECK(ibv_rereg_mr(t.b.mr, trans, NULL, (void *)4096, 8192, 0));
	write_works(&t, 4);
	bench_close(&t);
}

/* A process that imports the region sees it as it is now. */
static void rereg_seen(void)
{
	uint8_t *other = aligned_alloc(4096, 8192);
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct bench t;

	CHECK(other);
	memset(other, 0, 8192);
	bench_open(&t, 64);
	CHECK_EQ(ibv_rereg_mr(t.b.mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL,
			      other, 8192, 0),
		 0);
	ctx = ibv_import_device(dup(t.ctx->cmd_fd));
	CHECK(ctx);
	pd = ibv_import_pd(ctx, t.pd->handle);
	CHECK(pd);
	mr = ibv_import_mr(pd, t.b.mr->handle);
	CHECK(mr);
	CHECK_EQ(mr->length, 8192);
	CHECK_EQ(mr->lkey, t.b.mr->lkey);
	CHECK_EQ(mr->rkey, t.b.mr->rkey);
	/* As good as the one it is. */
	CHECK_EQ(post_rdma(&t.a, IBV_WR_RDMA_WRITE, (uintptr_t)other, mr->rkey,
			   64),
		 0);
	expect_wc(t.a.cq, IBV_WC_SUCCESS);
	ibv_unimport_mr(mr);
	CHECK(!ibv_import_mr(pd, t.b.mr->handle + 1000));
	ibv_unimport_pd(pd);
	ibv_close_device(ctx);
	bench_close(&t);
	free(other);
}

static void dm_refused(void)
{
	const unsigned int zero = IBV_ACCESS_ZERO_BASED;
	struct ibv_alloc_dm_attr attr = {.length = 16 << 20};
	struct ibv_mr *mr;
	struct ibv_dm *dm, *more;
	struct bench t;

	bench_bare(&t);
	dm = ibv_alloc_dm(t.ctx, &attr);
	CHECK(dm);
	attr.length = 4096;
	CHECK(!ibv_alloc_dm(t.ctx, &attr));
	CHECK(!ibv_reg_dm_mr(t.pd, dm, 0, 4096, RW));
	CHECK(!ibv_reg_dm_mr(t.pd, dm, 0, 4096,
			     zero | IBV_ACCESS_REMOTE_WRITE));
	CHECK(!ibv_reg_dm_mr(t.pd, dm, 0, 4096, zero | RW | 1 << 19));
	CHECK(!ibv_reg_dm_mr(t.pd, dm, (16 << 20) - 4096, 8192, zero | RW));
	mr = ibv_reg_dm_mr(t.pd, dm, (16 << 20) - 4096, 4096, zero | RW);
	CHECK(mr);
	/* It is where it is. */
	CHECK(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			   IBV_ACCESS_LOCAL_WRITE));
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	CHECK_EQ(ibv_free_dm(dm), 0);
	more = ibv_alloc_dm(t.ctx, &attr);
	CHECK(more);
	CHECK_EQ(ibv_free_dm(more), 0);
	CHECK(!ibv_dealloc_pd(t.pd));
	ibv_close_device(t.ctx);
}

/* The importer of device memory finds there what its owner has written. */
static void dm_imported(void)
{
	struct ibv_alloc_dm_attr attr = {.length = 4096};
	struct ibv_context *ctx;
	struct ibv_dm *dm, *other;
	uint64_t word = 0x1122334455667788;
	struct bench t;

	bench_bare(&t);
	dm = ibv_alloc_dm(t.ctx, &attr);
	CHECK(dm);
	CHECK_EQ(ibv_memcpy_to_dm(dm, 64, &word, sizeof(word)), 0);
	ctx = ibv_import_device(dup(t.ctx->cmd_fd));
	CHECK(ctx);
	other = ibv_import_dm(ctx, dm->handle);
	CHECK(other);
	word = 0;
	CHECK_EQ(ibv_memcpy_from_dm(&word, other, 64, sizeof(word)), 0);
	CHECK(word == 0x1122334455667788);
	word = 0;
	CHECK_EQ(ibv_memcpy_from_dm(&word, dm, 64, sizeof(word)), 0);
	CHECK(word == 0x1122334455667788);
	ibv_unimport_dm(other);
	CHECK_EQ(ibv_close_device(ctx), 0);
	CHECK_EQ(ibv_free_dm(dm), 0);
	CHECK(!ibv_dealloc_pd(t.pd));
	ibv_close_device(t.ctx);
}

static struct ibv_mr *of_file(struct bench *t, uint64_t off, size_t len,
			      uint64_t iova, int fd, int access)
{
	return ibv_reg_dmabuf_mr(t->pd, off, len, iova, fd, access);
}

static void dmabuf_refused(void)
{
	int fd = memfd_create("sealed", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int loose = memfd_create("loose", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct ibv_mr *mr;
	struct bench t;

	CHECK(fd >= 0 && !ftruncate(fd, 65536));
	CHECK(loose >= 0 && !ftruncate(loose, 65536));
	CHECK(!fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK));
	bench_bare(&t);
	/* A file that could shrink under the device, or is no memory at all. */
	CHECK(!of_file(&t, 0, 4096, 0, loose, RW));
	CHECK_EQ(errno, EOPNOTSUPP);
	CHECK(!of_file(&t, 0, 4096, 0, file, RW));
	CHECK_EQ(errno, EOPNOTSUPP);
	CHECK(!of_file(&t, 0, 0, 0, file, 0));
	CHECK_EQ(errno, EOPNOTSUPP);
	/* A number that no file has. */
	CHECK(!of_file(&t, 0, 4096, 0, 1 << 29, RW));
	CHECK_EQ(errno, EOPNOTSUPP);
	/* Beyond its end, or that of everything. */
	CHECK(!of_file(&t, 61440, 4097, 0, fd, RW));
	CHECK(!of_file(&t, ~0xfffull, 8192, 0, fd, RW));
	CHECK(!of_file(&t, 1ull << 62, 4096, 0, fd, RW));
	CHECK(!of_file(&t, 0, 4096, 1, fd, RW));
	CHECK(!of_file(&t, 0, 4096, 0, fd, RW | IBV_ACCESS_ON_DEMAND));
	CHECK_EQ(errno, EOPNOTSUPP);
	mr = of_file(&t, 61440, 4096, 0, fd, RW);
	CHECK(mr);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	close(fd);
	close(loose);
	close(file);
	CHECK(!ibv_dealloc_pd(t.pd));
	ibv_close_device(t.ctx);
}

const struct verbs_test region_tests[] = {
	{"reg_refused", reg_refused},
	{"unaligned", unaligned},
	{"window_holds", window_holds},
	{"rereg_refused", rereg_refused},
	{"rereg_seen", rereg_seen},
	{"dm_refused", dm_refused},
	{"dm_imported", dm_imported},
	{"dmabuf_refused", dmabuf_refused},
	{"without_rights", without_rights},
	{"rights_lost", rights_lost},
	{"rights_taken", rights_taken},
	{"rights_on_demand", rights_on_demand},
	{0},
};
