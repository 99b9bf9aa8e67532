// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * cached_memory ROUNDS: registrations kept by libfabric's cache, whose monitor
 * (FI_MR_CACHE_MONITOR) notifies it that memory went away. Memory is what it should
 * be, registered once as long as it stays, and once more where other memory came
 * to the same address.
 */
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/check.h"

#define BYTES (300 * 1024)

static struct fid_fabric *fabric;
static struct fid_domain *domain;

static void open_domain(void)
{
	struct fi_info *hints = fi_allocinfo(), *info;

	CHECK(hints);
	hints->caps = FI_MSG | FI_RMA;
	hints->ep_attr->type = FI_EP_MSG;
	hints->fabric_attr->prov_name = strdup("verbs");
	hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_ALLOCATED |
				      FI_MR_PROV_KEY | FI_MR_VIRT_ADDR;
	CHECK_EQ(fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info), 0);
	CHECK_EQ(fi_fabric(info->fabric_attr, &fabric, NULL), 0);
	CHECK_EQ(fi_domain(fabric, info, &domain, NULL), 0);
	fi_freeinfo(hints);
	fi_freeinfo(info);
}

static struct fid_mr *reg(const uint8_t *p)
{
	struct fid_mr *mr;

	CHECK_EQ(
		fi_mr_reg(domain, p, BYTES,
			  FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE,
			  0, 0, 0, &mr, NULL),
		0);
	return mr;
}

static void fill(uint8_t *p, int salt)
{
	for (size_t i = 0; i < BYTES; i++)
		p[i] = (uint8_t)(i * 131 + (i >> 9) + (size_t)salt);
}

static void check(const uint8_t *p, int salt)
{
	for (size_t i = 0; i < BYTES; i++)
		CHECK_EQ(p[i], (uint8_t)(i * 131 + (i >> 9) + (size_t)salt));
}

/* Returns whether the second registration was the first one, kept. */
static bool twice(int salt)
{
	uint8_t *p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct fid_mr *mr;
	uint64_t key;
	bool kept;

	CHECK(p != MAP_FAILED);
	fill(p, salt);
	mr = reg(p);
	check(p, salt);
	key = fi_mr_key(mr);
	fill(p, salt + 1);
	CHECK_EQ(fi_close(&mr->fid), 0);
	check(p, salt + 1);
	mr = reg(p);
	kept = fi_mr_key(mr) == key;
	check(p, salt + 1);
	CHECK_EQ(fi_close(&mr->fid), 0);
	check(p, salt + 1);
	CHECK_EQ(munmap(p, BYTES), 0);
	/* Other memory at the same address. */
	CHECK(mmap(p, BYTES, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == p);
	fill(p, salt + 2);
	mr = reg(p);
	CHECK(fi_mr_key(mr) != key);
	check(p, salt + 2);
	CHECK_EQ(fi_close(&mr->fid), 0);
	check(p, salt + 2);
	CHECK_EQ(munmap(p, BYTES), 0);
	return kept;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 0, kept = 0;

	CHECK(rounds > 0);
	open_domain();
	for (int i = 0; i < rounds; i++)
		kept += twice(i);
	CHECK_EQ(fi_close(&domain->fid), 0);
	CHECK_EQ(fi_close(&fabric->fid), 0);
	printf("%d rounds, %d kept\n", rounds, kept);
	return 0;
}
