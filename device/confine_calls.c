// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The system calls that uroced makes once it is confined, its own and those that
 * the C library, libnl, json-c and libsystemd make for it. Whatever the table
 * does not name fails with EPERM, which a call that was forgotten here survives;
 * what nobody calls by mistake ends the process.
 */
#include <errno.h>
#include <linux/netlink.h>
#include <sched.h>
#include <netinet/in.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include "device/confine.h"
#include "util/bytes.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

/* With any arguments. Names that this machine does not have are passed over. */
static const char *const plain[] = {
	/* memory; what may be executed is looked at below */
	"brk",
	"madvise",
	"mremap",
	"munmap",
	/* threads and time */
	"clock_getres",
	"clock_gettime",
	"clock_nanosleep",
	"exit",
	"exit_group",
	"futex",
	"get_robust_list",
	"getcpu",
	"gettid",
	"gettimeofday",
	"membarrier",
	"nanosleep",
	"restart_syscall",
	"rseq",
	"sched_getaffinity",
	"sched_getattr",
	"sched_setattr",
	"sched_yield",
	"set_robust_list",
	"time",
	"timerfd_create",
	"timerfd_settime",
	/* the same where time was 32 bits */
	"clock_getres_time64",
	"clock_gettime64",
	"clock_nanosleep_time64",
	"futex_time64",
	"ppoll_time64",
	"recvmmsg_time64",
	"rt_sigtimedwait_time64",
	"timerfd_settime64",
	/* signals that come */
	"rt_sigaction",
	"rt_sigprocmask",
	"rt_sigreturn",
	"rt_sigtimedwait",
	"sigaltstack",
	"signalfd4",
	/* who we are */
	"getegid",
	"geteuid",
	"getgid",
	"getpid",
	"getppid",
	"getrandom",
	"getuid",
	"sysinfo",
	"uname",
	/* descriptors */
	"close",
	"close_range",
	"dup",
	"dup2",
	"dup3",
	"epoll_create1",
	"epoll_ctl",
	"epoll_pwait",
	"epoll_pwait2",
	"epoll_wait",
	"eventfd2",
	"fcntl",
	"fallocate",
	"fcntl64",
	"lseek",
	"_llseek",
	"memfd_create",
	"pidfd_open",
	"pipe2",
	"poll",
	"ppoll",
	"pread64",
	"preadv",
	"pwrite64",
	"pwritev",
	"read",
	"readv",
	"write",
	"writev",
	/* files; which of them is Landlock's and the mounts' */
	"access",
	"chdir",
	"chmod",
	"faccessat",
	"faccessat2",
	"fchdir",
	"fchmod",
	"fchmodat",
	"flock",
	"fstat",
	"fstat64",
	"fstatat64",
	"fstatfs",
	"fstatfs64",
	"ftruncate",
	"ftruncate64",
	"getcwd",
	"getdents64",
	"lstat",
	"mkdir",
	"mkdirat",
	"newfstatat",
	"open",
	"openat",
	"readlink",
	"readlinkat",
	"rmdir",
	"stat",
	"statfs",
	"statx",
	"symlink",
	"symlinkat",
	"unlink",
	"unlinkat",
	/* sockets; which kinds is looked at below */
	"accept4",
	"bind",
	"connect",
	"getpeername",
	"getsockname",
	"getsockopt",
	"listen",
	"recvfrom",
	"recvmmsg",
	"recvmsg",
	"sendmmsg",
	"sendmsg",
	"sendto",
	"shutdown",
};

/* Whoever makes one of these in our name is not us any more. */
static const char *const fatal[] = {
	"add_key",
	"bpf",
	"chroot",
	"execve",
	"execveat",
	"finit_module",
	"fsmount",
	"init_module",
	"io_uring_setup",
	"keyctl",
	"mount",
	"move_mount",
	"open_by_handle_at",
	"open_tree",
	"perf_event_open",
	"pidfd_getfd",
	"pivot_root",
	"process_vm_readv",
	"process_vm_writev",
	"ptrace",
	"setns",
	"umount2",
	"unshare",
	"userfaultfd",
};

/* LeakSanitizer stops the threads as a debugger does, and both sanitizers read
 * what the kernel says of them. */
static const char *const sanitizers[] = {
	"clone3",   "fork",	 "getdents",  "kill",	     "mmap",
	"mprotect", "prctl",	 "prlimit64", "ptrace",	     "sched_getparam",
	"tgkill",   "wait4",	 "getrlimit", "personality", "mincore",
	"gettid",   "setrlimit", "clone",
};

/* <linux/in6.h>, which does not go together with <netinet/in.h>. */
#ifndef IPV6_FLOWINFO
#define IPV6_FLOWINFO	   11
#define IPV6_FLOWINFO_SEND 33
#endif

#define NAMESPACES                                                     \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | \
	 CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_PTRACE)

/* PROCMAP_QUERY of <linux/fs.h>: its size and so its number is that of the
 * structure in user_maps.c. */
#define PROCMAP_QUERY _IOC(_IOC_READ | _IOC_WRITE, 'f', 17, 104)

/* A test's daemon: a call that was forgotten above is not to go unnoticed. */
#ifdef UR_CONFINE_STRICT
#define UNKNOWN SCMP_ACT_KILL_PROCESS
#else
#define UNKNOWN SCMP_ACT_ERRNO(EPERM)
#endif

struct rule {
	const char *call;
	unsigned int n;
	struct scmp_arg_cmp arg[3];
};

#define ARG_IS(arg, value) SCMP_CMP32(arg, SCMP_CMP_EQ, value)
#define ARG_HAS(arg, mask, value) \
	SCMP_CMP64(arg, SCMP_CMP_MASKED_EQ, mask, value)

/* SOCK_CLOEXEC and SOCK_NONBLOCK go with each type. */
#define TYPE_IS(type) ARG_HAS(1, 0xf, type)

static const struct rule rules[] = {
	/* Nothing becomes code. */
	{"mmap", 1, {ARG_HAS(2, PROT_EXEC, 0)}},
	{"mmap2", 1, {ARG_HAS(2, PROT_EXEC, 0)}},
	{"mprotect", 1, {ARG_HAS(2, PROT_EXEC, 0)}},
	/* Threads of ours. */
	{"clone", 1, {ARG_HAS(0, CLONE_THREAD | NAMESPACES, CLONE_THREAD)}},
	{"sched_setaffinity", 1, {ARG_IS(0, 0)}},
	{"prctl", 1, {ARG_IS(0, PR_SET_TIMERSLACK)}},
	{"prctl", 1, {ARG_IS(0, PR_SET_NAME)}},
	/* getrlimit() */
	{"prlimit64", 2, {ARG_IS(0, 0), SCMP_CMP64(2, SCMP_CMP_EQ, 0)}},
	{"ioctl", 1, {ARG_IS(1, (u32)PROCMAP_QUERY)}},
	{"ioctl", 1, {ARG_IS(1, SIOCGIFNAME)}},
	{"ioctl", 1, {ARG_IS(1, SIOCGIFINDEX)}},
	{"ioctl", 1, {ARG_IS(1, TCGETS)}},
	/* The wire; names of interfaces and sd_notify(); clients' events. */
	{"socket", 2, {ARG_IS(0, AF_INET), TYPE_IS(SOCK_DGRAM)}},
	{"socket", 2, {ARG_IS(0, AF_INET6), TYPE_IS(SOCK_DGRAM)}},
	{"socket", 2, {ARG_IS(0, AF_UNIX), TYPE_IS(SOCK_DGRAM)}},
	{"socketpair", 1, {ARG_IS(0, AF_UNIX)}},
	{"setsockopt", 1, {ARG_IS(1, SOL_SOCKET)}},
	{"setsockopt", 1, {ARG_IS(1, IPPROTO_UDP)}},
};

/* Of RoCEv1: its frames, and the neighbours that they go to; of raw Ethernet:
 * its frames. */
static const struct rule packet_rules[] = {
	{"socket", 2, {ARG_IS(0, AF_PACKET), TYPE_IS(SOCK_DGRAM)}},
	{"socket", 2, {ARG_IS(0, AF_PACKET), TYPE_IS(SOCK_RAW)}},
	{"socket",
	 3,
	 {ARG_IS(0, AF_NETLINK), TYPE_IS(SOCK_RAW), ARG_IS(2, NETLINK_ROUTE)}},
	{"setsockopt", 1, {ARG_IS(1, SOL_PACKET)}},
	{"setsockopt", 1, {ARG_IS(1, SOL_NETLINK)}},
};

/* With CAP_NET_ADMIN others of these levels load firewall rules and IPsec
 * policies. */
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

static int add(scmp_filter_ctx ctx, u32 action, const struct rule *r)
{
	int nr = seccomp_syscall_resolve_name(r->call);

	if (nr == __NR_SCMP_ERROR)
		return 0;
	return seccomp_rule_add_array(ctx, action, nr, r->n, r->arg);
}

static int add_names(scmp_filter_ctx ctx, u32 action, const char *const *name,
		     size_t n)
{
	int err = 0;

	for (size_t i = 0; i < n && !err; i++)
		err = add(ctx, action, &(struct rule){.call = name[i]});
	return err;
}

static int add_rules(scmp_filter_ctx ctx, const struct rule *rule, size_t n)
{
	int err = 0;

	for (size_t i = 0; i < n && !err; i++)
		err = add(ctx, SCMP_ACT_ALLOW, &rule[i]);
	return err;
}

static int add_ip_options(scmp_filter_ctx ctx)
{
	int err = 0;

	for (size_t i = 0; i < UR_ARRAY_SIZE(ip_options) && !err; i++) {
		const struct rule r = {"setsockopt",
				       2,
				       {ARG_IS(1, ip_options[i].level),
					ARG_IS(2, ip_options[i].option)}};

		err = add(ctx, SCMP_ACT_ALLOW, &r);
	}
	return err;
}

/* abort() sends its signal to a thread of this process. */
static int add_abort(scmp_filter_ctx ctx)
{
	const struct rule r = {"tgkill", 1, {ARG_IS(0, (u32)getpid())}};

	return add(ctx, SCMP_ACT_ALLOW, &r);
}

static int fill(scmp_filter_ctx ctx, bool packet_sockets)
{
	int err = add_names(ctx, SCMP_ACT_ALLOW, plain, UR_ARRAY_SIZE(plain));

	if (!err && SANITIZED)
		err = add_names(ctx, SCMP_ACT_ALLOW, sanitizers,
				UR_ARRAY_SIZE(sanitizers));
	/* A rule for what holds anyhow is an error. */
	for (size_t i = 0; i < UR_ARRAY_SIZE(fatal) && !err; i++)
		if (UNKNOWN != SCMP_ACT_KILL_PROCESS &&
		    (!SANITIZED || strcmp(fatal[i], "ptrace")))
			err = add_names(ctx, SCMP_ACT_KILL_PROCESS, &fatal[i],
					1);
	if (!err)
		err = add_rules(ctx, rules, UR_ARRAY_SIZE(rules));
	if (!err && packet_sockets)
		err = add_rules(ctx, packet_rules, UR_ARRAY_SIZE(packet_rules));
	if (!err)
		err = add_ip_options(ctx);
	if (!err)
		err = add_abort(ctx);
	/* Its flags are in memory, where a filter does not look: the C library
	 * goes on to clone(). */
	if (!err && !SANITIZED)
		err = add(ctx, SCMP_ACT_ERRNO(ENOSYS),
			  &(struct rule){.call = "clone3"});
	return err;
}

int ur_confine_calls(bool packet_sockets)
{
	scmp_filter_ctx ctx = seccomp_init(UNKNOWN);
	int err;

	if (!ctx)
		return -ENOMEM;
	err = fill(ctx, packet_sockets);
	/* Every thread; the journal says which call was refused. */
	if (!err)
		err = seccomp_attr_set(ctx, SCMP_FLTATR_CTL_TSYNC, 1);
	if (!err)
		seccomp_attr_set(ctx, SCMP_FLTATR_CTL_LOG, 1);
	/* A tree in place of a list: the calls of the engine cost the same. */
	if (!err)
		seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	if (!err)
		err = seccomp_load(ctx);
	seccomp_release(ctx);
	return err;
}
