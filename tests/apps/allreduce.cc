// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Gloo's allreduces of old, which are those its ibverbs transport can do: ring,
 * ring in chunks, halving and doubling, each up to 4 MiB, every element looked
 * at. Then each is measured, and rank 0 says
 *	good 4 ranks, ring 12.3 chunked 12.3 doubling 12.3 MB/s
 * allreduce ibverbs GID-INDEX|tcp ADDRESS RANK RANKS STORE ROUNDS: the ranks
 * meet by files in the folder STORE.
 */
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>
#include <unistd.h>

#include <gloo/allreduce_halving_doubling.h>
#include <gloo/allreduce_ring.h>
#include <gloo/allreduce_ring_chunked.h>
#include <gloo/barrier_all_to_one.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/ibverbs/device.h>
#include <gloo/transport/tcp/device.h>

using Context = std::shared_ptr<gloo::Context>;
using Elements = std::vector<int32_t>;

static int rank, ranks;

static int32_t pattern(int of, size_t i, int round)
{
	return (int32_t)(i % 9973) * (of + 1) + round;
}

static void fill(Elements &e, int round)
{
	for (size_t i = 0; i < e.size(); i++)
		e[i] = pattern(rank, i, round);
}

static void check(const char *what, const Elements &e, int round)
{
	for (size_t i = 0; i < e.size(); i++) {
		int32_t sum = 0;

		for (int k = 0; k < ranks; k++)
			sum += pattern(k, i, round);
		if (e[i] == sum)
			continue;
		std::printf("rank %d: %s of %zu: element %zu is %d, not %d\n",
			    rank, what, e.size(), i, e[i], sum);
		std::exit(1);
	}
}

/* MB/s of elements reduced by the last of the sizes. */
template <class Algorithm>
static double run(const Context &context, const char *what, int rounds)
{
	auto &barrier = *new gloo::BarrierAllToOne(context);
	double rate = 0;

	for (size_t n : {1, 1000, 65537, 1 << 20}) {
		auto &e = *new Elements(n);
		/* Never destroyed: its buffers cannot be while the last
		 * completions of their sends are not looked at. */
		auto &allreduce = *new Algorithm(
			context, std::vector<int32_t *>{e.data()}, (int)n);
		std::chrono::duration<double> took(0);

		for (int round = 0; round < rounds; round++) {
			fill(e, round);
			barrier.run();
			auto start = std::chrono::steady_clock::now();
			allreduce.run();
			took += std::chrono::steady_clock::now() - start;
			check(what, e, round);
		}
		rate = n * sizeof(int32_t) * rounds / took.count() / 1e6;
	}
	return rate;
}

static std::shared_ptr<gloo::transport::Device> device(char **argv)
{
	if (std::string(argv[1]) == "tcp") {
		gloo::transport::tcp::attr attr(argv[2]);

		return gloo::transport::tcp::CreateDevice(attr);
	}
	gloo::transport::ibverbs::attr attr;

	attr.name = "uroce0";
	attr.port = 1;
	attr.index = std::atoi(argv[2]);
	return gloo::transport::ibverbs::CreateDevice(attr);
}

int main(int argc, char **argv)
{
	if (argc != 7)
		return 2;
	rank = std::atoi(argv[3]);
	ranks = std::atoi(argv[4]);
	gloo::rendezvous::FileStore store(argv[5]);
	auto context = std::make_shared<gloo::rendezvous::Context>(rank, ranks);
	auto dev = device(argv);
	int rounds = std::atoi(argv[6]);

	context->connectFullMesh(store, dev);
	double ring =
		run<gloo::AllreduceRing<int32_t>>(context, "ring", rounds);
	double chunked = run<gloo::AllreduceRingChunked<int32_t>>(
		context, "chunked ring", rounds);
	double doubling = run<gloo::AllreduceHalvingDoubling<int32_t>>(
		context, "halving and doubling", rounds);
	if (rank == 0)
		std::printf("good %d ranks, ring %.1f chunked %.1f "
			    "doubling %.1f MB/s\n",
			    ranks, ring, chunked, doubling);
	std::fflush(stdout);
	/* Nobody leaves, nor takes his connections away, before all are done. */
	std::vector<std::string> all;

	for (int k = 0; k < ranks; k++)
		all.push_back("done" + std::to_string(k));
	store.set(all[rank], {1});
	store.wait(all);
	_exit(0);
}
