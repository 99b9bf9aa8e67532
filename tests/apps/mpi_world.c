// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * An MPI program that looks at every byte: allreduce, alltoall, neighbours in
 * a ring, windows with put, get and accumulate, each up to 4 MiB. Then it
 * measures an alltoall, and says
 *	good 4 ranks, 123.4 MB/s
 * mpi_world ROUNDS [leave]: so many alltoalls are measured. With `leave` it
 * ends without MPI_Finalize(), for a library that cannot finish.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LARGEST (4 << 20)

static int rank, ranks;
static const int sizes[] = {4, 2048, 70004, 1 << 20, LARGEST};

static uint8_t *bytes(size_t n)
{
	uint8_t *p = malloc(n);

	if (!p) {
		perror("malloc");
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	return p;
}

/* Byte i of what `from` has for `to` in this step. */
static uint8_t pattern(int from, int to, int step, size_t i)
{
	return (uint8_t)(i * 7 + (i >> 8) * 13 + from * 31 + to * 57 +
			 step * 3);
}

static void fill(uint8_t *p, size_t n, int to, int step)
{
	for (size_t i = 0; i < n; i++)
		p[i] = pattern(rank, to, step, i);
}

static void check(const char *what, const uint8_t *p, size_t n, int from,
		  int to, int step)
{
	for (size_t i = 0; i < n; i++) {
		if (p[i] == pattern(from, to, step, i))
			continue;
		printf("rank %d: %s of %zu bytes from %d: byte %zu is %02x\n",
		       rank, what, n, from, i, p[i]);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
}

static void allreduce(int size)
{
	int n = size / 4;
	int32_t *in = (void *)bytes(size), *out = (void *)bytes(size);

	for (int i = 0; i < n; i++)
		in[i] = i * (rank + 1);
	MPI_Allreduce(in, out, n, MPI_INT32_T, MPI_SUM, MPI_COMM_WORLD);
	for (int i = 0; i < n; i++) {
		if (out[i] == i * (ranks * (ranks + 1) / 2))
			continue;
		printf("rank %d: allreduce of %d: element %d is %d\n", rank, n,
		       i, out[i]);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	free(in);
	free(out);
}

static void alltoall(int size)
{
	uint8_t *in = bytes((size_t)size * ranks);
	uint8_t *out = bytes((size_t)size * ranks);

	for (int k = 0; k < ranks; k++)
		fill(in + (size_t)k * size, size, k, 1);
	MPI_Alltoall(in, size, MPI_BYTE, out, size, MPI_BYTE, MPI_COMM_WORLD);
	for (int k = 0; k < ranks; k++)
		check("alltoall", out + (size_t)k * size, size, k, rank, 1);
	free(in);
	free(out);
}

/* Buffers that are gone afterwards: each round registers others. */
static void ring(int size)
{
	int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks;
	uint8_t *in = bytes(size), *out = bytes(size);

	fill(in, size, next, 2);
	MPI_Sendrecv(in, size, MPI_BYTE, next, 5, out, size, MPI_BYTE, last, 5,
		     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	check("sendrecv", out, size, last, rank, 2);
	free(in);
	free(out);
}

static void window(int size)
{
	int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks;
	int after = (rank + 2) % ranks;
	uint8_t *base, *in = bytes(size), *out = bytes(size);
	int64_t one = 1, *sum;
	MPI_Win w, counter;

	MPI_Win_allocate(size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &w);
	fill(in, size, next, 3);
	MPI_Win_fence(0, w);
	MPI_Put(in, size, MPI_BYTE, next, 0, size, MPI_BYTE, w);
	MPI_Win_fence(0, w);
	check("put", base, size, last, rank, 3);
	MPI_Win_fence(0, w);
	MPI_Get(out, size, MPI_BYTE, after, 0, size, MPI_BYTE, w);
	MPI_Win_fence(0, w);
	check("get", out, size, (after + ranks - 1) % ranks, after, 3);
	MPI_Win_free(&w);

	MPI_Win_allocate(8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &sum, &counter);
	*sum = 0;
	MPI_Win_fence(0, counter);
	for (int k = 0; k < ranks; k++)
		MPI_Accumulate(&one, 1, MPI_INT64_T, k, 0, 1, MPI_INT64_T,
			       MPI_SUM, counter);
	MPI_Win_fence(0, counter);
	if (*sum != ranks) {
		printf("rank %d: accumulate: %d is %lld\n", rank, ranks,
		       (long long)*sum);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	MPI_Win_free(&counter);
	free(in);
	free(out);
}

/* MB/s that all ranks together send to others. */
static double measure(int rounds)
{
	const int size = 256 << 10;
	uint8_t *in = bytes((size_t)size * ranks);
	uint8_t *out = bytes((size_t)size * ranks);
	double start;

	for (int k = 0; k < ranks; k++)
		fill(in + (size_t)k * size, size, k, 4);
	MPI_Alltoall(in, size, MPI_BYTE, out, size, MPI_BYTE, MPI_COMM_WORLD);
	MPI_Barrier(MPI_COMM_WORLD);
	start = MPI_Wtime();
	for (int n = 0; n < rounds; n++)
		MPI_Alltoall(in, size, MPI_BYTE, out, size, MPI_BYTE,
			     MPI_COMM_WORLD);
	MPI_Barrier(MPI_COMM_WORLD);
	start = MPI_Wtime() - start;
	for (int k = 0; k < ranks; k++)
		check("measured alltoall", out + (size_t)k * size, size, k,
		      rank, 4);
	free(in);
	free(out);
	return (double)size * ranks * (ranks - 1) * rounds / start / 1e6;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 10;
	double rate;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		allreduce(sizes[i]);
		alltoall(sizes[i]);
		ring(sizes[i]);
		window(sizes[i]);
	}
	rate = measure(rounds);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		printf("good %d ranks, %.1f MB/s\n", ranks, rate);
	fflush(stdout);
	if (argc > 2 && !strcmp(argv[2], "leave")) {
		MPI_Barrier(MPI_COMM_WORLD);
		_exit(0);
	}
	MPI_Finalize();
	return 0;
}
