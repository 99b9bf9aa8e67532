// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* System calls that are allowed, or end the process, whatever their arguments. */
#include "device/confine/confine_names.h"
#include "util/bytes.h"

static const char *const plain[] = {
	/* memory; confine_calls.c forbids executable memory */
	"brk", "madvise", "mremap", "munmap",
	/* threads and time */
	"clock_getres", "clock_gettime", "clock_nanosleep", "exit",
	"exit_group", "futex", "get_robust_list", "getcpu", "gettid",
	"gettimeofday", "membarrier", "nanosleep", "restart_syscall", "rseq",
	"sched_getaffinity", "sched_getattr", "sched_setaffinity",
	"sched_setattr", "sched_yield", "set_robust_list", "time",
	"timerfd_create", "timerfd_settime",
	/* likewise on machines that had 32-bit time */
	"clock_getres_time64", "clock_gettime64", "clock_nanosleep_time64",
	"futex_time64", "ppoll_time64", "recvmmsg_time64",
	"rt_sigtimedwait_time64", "timerfd_settime64",
	/* received signals */
	"rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "rt_sigtimedwait",
	"sigaltstack", "signalfd4",
	/* our identity */
	"getegid", "geteuid", "getgid", "getpid", "getppid", "getrandom",
	"getuid", "sysinfo", "uname",
	/* descriptors */
	"close", "close_range", "dup", "dup2", "dup3", "epoll_create1",
	"epoll_ctl", "epoll_pwait", "epoll_pwait2", "epoll_wait", "eventfd2",
	"fcntl", "fallocate", "fcntl64", "lseek", "_llseek", "memfd_create",
	"pidfd_open", "pipe2", "poll", "ppoll", "pread64", "preadv", "preadv2",
	"pwrite64", "pwritev", "read", "readv", "write", "writev",
	/* files; Landlock and the mounts restrict which */
	"access", "chdir", "chmod", "faccessat", "faccessat2", "fchdir",
	"fchmod", "fchmodat", "flock", "fstat", "fstat64", "fstatat64",
	"fstatfs", "fstatfs64", "ftruncate", "ftruncate64", "getcwd",
	"getdents64", "lstat", "mkdir", "mkdirat", "name_to_handle_at",
	"newfstatat", "open", "openat", "readlink", "readlinkat", "rename",
	"renameat", "renameat2", "rmdir", "stat", "statfs", "statx", "symlink",
	"symlinkat", "unlink", "unlinkat",
	/* sockets; confine_calls.c restricts their kinds */
	"accept4", "bind", "connect", "getpeername", "getsockname",
	"getsockopt", "listen", "recvfrom", "recvmmsg", "recvmsg", "sendmmsg",
	"sendmsg", "sendto", "shutdown"};

static const char *const fatal[] = {"add_key",
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
				    "userfaultfd"};

static const char *const sanitizers[] = {
	"clone3",    "fork",	       "getdents",     "kill",
	"mmap",	     "mprotect",       "prctl",	       "prlimit64",
	"ptrace",    "sched_getparam", "tgkill",       "wait4",
	"getrlimit", "personality",    "mincore",      "gettid",
	"setrlimit", "clone",	       "rseq",	       "set_robust_list",
	"nanosleep", "sched_yield",    "gettimeofday", "clock_nanosleep",
};

static const char *const keeper[] = {
	"accept4",	  "brk",	  "clock_gettime", "close",
	"exit",		  "exit_group",	  "fstat",	   "fstat64",
	"futex",	  "getegid",	  "geteuid",	   "getpid",
	"getrandom",	  "getsockopt",	  "gettid",	   "madvise",
	"mremap",	  "munmap",	  "newfstatat",	   "poll",
	"ppoll",	  "ppoll_time64", "recvmsg",	   "restart_syscall",
	"rt_sigprocmask", "rt_sigreturn", "sendmsg",	   "sigaltstack",
	"statx",	  "write",
};

const struct ur_call_names ur_calls_plain = {plain, UR_ARRAY_SIZE(plain)};
const struct ur_call_names ur_calls_fatal = {fatal, UR_ARRAY_SIZE(fatal)};
const struct ur_call_names ur_calls_sanitizers = {sanitizers,
						  UR_ARRAY_SIZE(sanitizers)};
const struct ur_call_names ur_calls_keeper = {keeper, UR_ARRAY_SIZE(keeper)};
