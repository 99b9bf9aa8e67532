// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The system calls of the confined uroced, its own and those of the C library, libnl,
 * json-c and libsystemd. A call that is not in the table fails with EPERM, so that a
 * forgotten one does no harm; a call that no mistake of ours can make ends the process.
 */
#include <errno.h>
#include <linux/if_packet.h>
#include <linux/netlink.h>
#include <linux/sockios.h>
#include <sched.h>
#include <netinet/in.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include "device/confine/confine.h"
#include "device/confine/confine_names.h"
#include "util/bytes.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

/* From <linux/in6.h>, which conflicts with <netinet/in.h>. */
#ifndef IPV6_FLOWINFO
#define IPV6_FLOWINFO	   11
#define IPV6_FLOWINFO_SEND 33
#endif

#define NAMESPACES                                                     \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | \
	 CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_PTRACE)

/* PROCMAP_QUERY of <linux/fs.h>. Its number depends on the size of the structure in
 * user_maps.c. */
#define PROCMAP_QUERY _IOC(_IOC_READ | _IOC_WRITE, 'f', 17, 104)

/* In tests a call that was forgotten above must be noticed. */
#ifdef UR_CONFINE_STRICT
#define UNKNOWN SCMP_ACT_KILL_PROCESS
#else
#define UNKNOWN SCMP_ACT_ERRNO(EPERM)
#endif

struct call_rule {
	const char *call;
	unsigned int n;
	struct scmp_arg_cmp arg[3];
};

#define ARG_IS(arg, value) SCMP_CMP32(arg, SCMP_CMP_EQ, value)
#define ARG_HAS(arg, mask, value) \
	SCMP_CMP64(arg, SCMP_CMP_MASKED_EQ, mask, value)

/* SOCK_CLOEXEC and SOCK_NONBLOCK are allowed with each type. */
#define TYPE_IS(type) ARG_HAS(1, 0xf, type)

/* Rules about memory, the first of the table. */
#define MEMORY_RULES 3

static const struct call_rule rules[] = {
	/* No executable mappings. */
	{"mmap", 1, {ARG_HAS(2, PROT_EXEC, 0)}},
	{"mmap2", 1, {ARG_HAS(2, PROT_EXEC, 0)}},
	{"mprotect", 1, {ARG_HAS(2, PROT_EXEC, 0)}},
	/* Threads only. */
	{"clone", 1, {ARG_HAS(0, CLONE_THREAD | NAMESPACES, CLONE_THREAD)}},
	{"prctl", 1, {ARG_IS(0, PR_SET_TIMERSLACK)}},
	{"prctl", 1, {ARG_IS(0, PR_SET_NAME)}},
	/* getrlimit() */
	{"prlimit64", 2, {ARG_IS(0, 0), SCMP_CMP64(2, SCMP_CMP_EQ, 0)}},
	{"ioctl", 1, {ARG_IS(1, (u32)PROCMAP_QUERY)}},
	/* for kernels without SO_NETNS_COOKIE: see client_rights.c */
	{"ioctl", 1, {ARG_IS(1, SIOCGSKNS)}},
	{"ioctl", 1, {ARG_IS(1, SIOCGIFNAME)}},
	{"ioctl", 1, {ARG_IS(1, SIOCGIFINDEX)}},
	{"ioctl", 1, {ARG_IS(1, SIOCGIFFLAGS)}},
	{"ioctl", 1, {ARG_IS(1, TCGETS)}},
	{"ioctl", 1, {ARG_IS(1, SIOCOUTQ)}},
	/* The wire; names of interfaces and sd_notify(); clients' events. */
	{"socket", 2, {ARG_IS(0, AF_INET), TYPE_IS(SOCK_DGRAM)}},
	{"socket", 2, {ARG_IS(0, AF_INET6), TYPE_IS(SOCK_DGRAM)}},
	{"socket", 2, {ARG_IS(0, AF_UNIX), TYPE_IS(SOCK_DGRAM)}},
	{"socketpair", 1, {ARG_IS(0, AF_UNIX)}},
	{"setsockopt", 1, {ARG_IS(1, SOL_SOCKET)}},
	{"setsockopt", 1, {ARG_IS(1, IPPROTO_UDP)}},
	/* Groups of RoCEv1 and raw Ethernet, on packet sockets that exist. */
	{"setsockopt",
	 2,
	 {ARG_IS(1, SOL_PACKET), ARG_IS(2, PACKET_ADD_MEMBERSHIP)}},
	{"setsockopt",
	 2,
	 {ARG_IS(1, SOL_PACKET), ARG_IS(2, PACKET_DROP_MEMBERSHIP)}},
	/* Neighbour events, on the existing netlink socket. */
	{"setsockopt",
	 2,
	 {ARG_IS(1, SOL_NETLINK), ARG_IS(2, NETLINK_ADD_MEMBERSHIP)}},
	{"setsockopt",
	 2,
	 {ARG_IS(1, SOL_NETLINK), ARG_IS(2, NETLINK_DROP_MEMBERSHIP)}},
};

/* Calls for frames of RoCEv1 and their neighbours, and of raw Ethernet. */
static const struct call_rule packet_rules[] = {
	{"socket", 2, {ARG_IS(0, AF_PACKET), TYPE_IS(SOCK_DGRAM)}},
	{"socket", 2, {ARG_IS(0, AF_PACKET), TYPE_IS(SOCK_RAW)}},
	{"socket",
	 3,
	 {ARG_IS(0, AF_NETLINK), TYPE_IS(SOCK_RAW), ARG_IS(2, NETLINK_ROUTE)}},
	{"setsockopt", 1, {ARG_IS(1, SOL_PACKET)}},
	{"setsockopt", 1, {ARG_IS(1, SOL_NETLINK)}},
};

/* Allowed options. With CAP_NET_ADMIN other options of these levels can load firewall rules
 * and IPsec policies. */
static const struct {
	u32 level, option;
} ip_options[] = {
	{IPPROTO_IP, IP_ADD_MEMBERSHIP},
	{IPPROTO_IP, IP_MTU_DISCOVER},
	{IPPROTO_IP, IP_MULTICAST_IF},
	{IPPROTO_IP, IP_MULTICAST_LOOP},
	{IPPROTO_IP, IP_PKTINFO},
	{IPPROTO_IP, IP_RECVTOS},
	{IPPROTO_IP, IP_RECVTTL},
	{IPPROTO_IP, IP_TOS},
	{IPPROTO_IP, IP_TTL},
	{IPPROTO_IPV6, IPV6_ADD_MEMBERSHIP},
	{IPPROTO_IPV6, IPV6_AUTOFLOWLABEL},
	{IPPROTO_IPV6, IPV6_FLOWINFO},
	{IPPROTO_IPV6, IPV6_FLOWINFO_SEND},
	{IPPROTO_IPV6, IPV6_MTU_DISCOVER},
	{IPPROTO_IPV6, IPV6_MULTICAST_IF},
	{IPPROTO_IPV6, IPV6_MULTICAST_LOOP},
	{IPPROTO_IPV6, IPV6_RECVHOPLIMIT},
	{IPPROTO_IPV6, IPV6_RECVPKTINFO},
	{IPPROTO_IPV6, IPV6_RECVTCLASS},
	{IPPROTO_IPV6, IPV6_TCLASS},
	{IPPROTO_IPV6, IPV6_UNICAST_HOPS},
	{IPPROTO_IPV6, IPV6_V6ONLY},
};

static const struct call_rule clone3 = {.call = "clone3"};

static int add_rule(scmp_filter_ctx ctx, u32 action, const struct call_rule *r)
{
	int nr = seccomp_syscall_resolve_name(r->call);

	if (nr == __NR_SCMP_ERROR)
		return 0;
	return seccomp_rule_add_array(ctx, action, nr, r->n, r->arg);
}

static int add_names(scmp_filter_ctx ctx, const struct ur_call_names *names)
{
	int err = 0;

	for (size_t i = 0; i < names->count && !err; i++)
		err = add_rule(ctx, SCMP_ACT_ALLOW,
			       &(struct call_rule){.call = names->name[i]});
	return err;
}

static int add_fatal(scmp_filter_ctx ctx)
{
	int err = 0;

	/* libseccomp refuses a rule equal to the default action. */
	if (UNKNOWN == SCMP_ACT_KILL_PROCESS)
		return 0;
	for (size_t i = 0; i < ur_calls_fatal.count && !err; i++) {
		const char *name = ur_calls_fatal.name[i];

		if (!SANITIZED || strcmp(name, "ptrace"))
			err = add_rule(ctx, SCMP_ACT_KILL_PROCESS,
				       &(struct call_rule){.call = name});
	}
	return err;
}

static int add_rules(scmp_filter_ctx ctx, const struct call_rule *rule,
		     size_t n)
{
	int err = 0;

	for (size_t i = 0; i < n && !err; i++)
		err = add_rule(ctx, SCMP_ACT_ALLOW, &rule[i]);
	return err;
}

static int add_ip_options(scmp_filter_ctx ctx)
{
	int err = 0;

	for (size_t i = 0; i < UR_ARRAY_SIZE(ip_options) && !err; i++) {
		const struct call_rule r = {"setsockopt",
					    2,
					    {ARG_IS(1, ip_options[i].level),
					     ARG_IS(2, ip_options[i].option)}};

		err = add_rule(ctx, SCMP_ACT_ALLOW, &r);
	}
	return err;
}

/* abort() sends its signal to a thread of this process. */
static int add_abort(scmp_filter_ctx ctx)
{
	const struct call_rule r = {"tgkill", 1, {ARG_IS(0, (u32)getpid())}};

	return add_rule(ctx, SCMP_ACT_ALLOW, &r);
}

static int fill(scmp_filter_ctx ctx, bool packet_sockets)
{
	int err = add_names(ctx, &ur_calls_plain);

	if (!err && SANITIZED)
		err = add_names(ctx, &ur_calls_sanitizers);
	if (!err)
		err = add_fatal(ctx);
	if (!err)
		err = add_rules(ctx, rules, UR_ARRAY_SIZE(rules));
	if (!err && packet_sockets)
		err = add_rules(ctx, packet_rules, UR_ARRAY_SIZE(packet_rules));
	if (!err)
		err = add_ip_options(ctx);
	if (!err)
		err = add_abort(ctx);
	if (!err && !SANITIZED)
		err = add_rule(ctx, SCMP_ACT_ALLOW, &clone3);
	return err;
}

/* Loads the filter in every thread, and frees ctx. */
static int load(scmp_filter_ctx ctx, int err)
{
	if (!err)
		err = seccomp_attr_set(ctx, SCMP_FLTATR_CTL_TSYNC, 1);
	/* A tree in place of a list makes all calls equally fast. */
	if (!err)
		seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	if (!err)
		err = seccomp_load(ctx);
	seccomp_release(ctx);
	return err;
}

/*
 * A filter cannot see the flags of clone3(), which are in memory. So clone3() is refused,
 * and the C library falls back to clone(). A second filter, which does not log, keeps this
 * call of every new thread out of the journal.
 */
static int refuse_clone3(void)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ALLOW);

	if (!ctx)
		return -ENOMEM;
	return load(ctx, add_rule(ctx, SCMP_ACT_ERRNO(ENOSYS), &clone3));
}

int ur_confine_calls(bool packet_sockets)
{
	scmp_filter_ctx ctx = seccomp_init(UNKNOWN);
	int err;

	if (!ctx)
		return -ENOMEM;
	err = fill(ctx, packet_sockets);
	if (!err && !SANITIZED)
		err = refuse_clone3();
	/* Refused calls are logged in the journal. */
	if (!err)
		seccomp_attr_set(ctx, SCMP_FLTATR_CTL_LOG, 1);
	return load(ctx, err);
}

/* Only existing sockets, and memory that is not executable. */
int ur_confine_keeper_calls(void)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_KILL_PROCESS);
	int err;

	if (!ctx)
		return -ENOMEM;
	err = add_names(ctx, &ur_calls_keeper);
	if (!err && SANITIZED)
		err = add_names(ctx, &ur_calls_sanitizers);
	if (!err && !SANITIZED)
		err = add_rules(ctx, rules, MEMORY_RULES);
	if (!err)
		err = add_abort(ctx);
	return load(ctx, err);
}
