/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The cases of an application with the library loaded, in front of the fake
 * device: called one after the other in one process, and leaving it no
 * descriptor. */
#ifndef UR_TESTS_PRELOAD_CASES_H
#define UR_TESTS_PRELOAD_CASES_H

#include <sys/stat.h>

#define NODE "/dev/infiniband/uverbs0"
#define CM   "/dev/infiniband/rdma_cm"
#define UMAD "/dev/infiniband/umad0"
#define CA   "/sys/class/infiniband/uroce0"

/* Opens NODE. */
int open_node(void);
/* It is NODE's. */
void check_cdev(const struct stat *st);
/* Until the device of fd has that many files open. */
void wait_files(int fd, int count);
/* The rest was run, and this could not be: the program ends with 77. */
void leave_out(const char *what);

/* tree.c */
void test_stat(void);
void test_tree(void);
void test_access(void);
void test_counters(void);
/* commands.c */
void test_ioctl(void);
void test_known_events(void);
void test_closed_unnoticed(void);
void test_no_room(void);
void test_mmap(void);
void test_events(void);
void test_rdma_cm(void);
/* copies.c */
void test_event_fork(void);
void test_dup(void);
void test_fork(void);
void test_threads(void);
/* netlink.c */
void test_netlink(void);
/* ends.c */
void test_ends(void);
/* closing.c */
void test_closing(void);
/* hidden.c */
void test_hidden_numbers(void);
/* reply_cache.c */
void test_reply_cache(void);
void test_reply_cache_spare(void);
void test_events_ahead(void);

#endif
