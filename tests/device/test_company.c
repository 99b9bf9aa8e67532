// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A file of every kind is open on the device (company.h), and commands that report
 * on the device or change it look at all of them: none is taken for one of another
 * kind.
 *
 * usage: test_company UROCED
 */
#include <errno.h>
#include <rdma/rdma_netlink.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/device/client.h"
#include "tests/device/company.h"

static struct daemon_proc dev;

static int connect_to(const void *arg)
{
	return client_connect(arg);
}

static struct company company = {
	.connect = connect_to,
	.arg = &dev,
	.device = "uroce0",
	.full = true,
};

/* Waits until the connections of client_check() have ended: who closes one does not
 * wait for it. */
static void settle(struct company *c)
{
	while (company_count(c, "ctx") > 1)
		usleep(1000);
}

/* It has these numbers of each, and the umad file has nothing of them. */
static void check_numbers(struct company *c)
{
	settle(c);
	CHECK_EQ(company_count(c, "ctx"), 1);
	CHECK_EQ(company_count(c, "pd"), 1);
	CHECK_EQ(company_count(c, "qp"), 3);
	CHECK_EQ(company_count(c, "cm_id"), 2);
	CHECK_EQ(company_list(c, RDMA_NLDEV_CMD_RES_CTX_GET), 1);
	CHECK_EQ(company_list(c, RDMA_NLDEV_CMD_RES_QP_GET), 3);
	CHECK_EQ(company_list(c, RDMA_NLDEV_CMD_RES_PD_GET), 1);
	CHECK_EQ(company_list(c, RDMA_NLDEV_CMD_RES_CQ_GET), 1);
	CHECK_EQ(company_list(c, RDMA_NLDEV_CMD_RES_SRQ_GET), 1);
	CHECK_EQ(company_list(c, RDMA_NLDEV_CMD_RES_MR_GET), 0);
	CHECK_EQ(company_list(c, RDMA_NLDEV_CMD_RES_CM_ID_GET), 2);
}

static void test_netlink(void)
{
	check_numbers(&company);
	client_check(&dev);
}

static void test_status(void)
{
	CHECK(company_status_has(&company, "qps", "\"type\":\"UD\""));
	CHECK(company_status_has(&company, "pds", "\"pdn\""));
	CHECK(company_status_has(&company, "cqs", "\"entries\""));
	CHECK(company_status_has(&company, "cm_ids", "\"port_space\""));
	CHECK(company_status_has(&company, "", "\"umad0\"") ||
	      company_status_has(&company, "", "\"sessions\""));
	client_check(&dev);
}

static void test_settings(void)
{
	CHECK_EQ(company_set(&company, "ttl", "9"), 0);
	CHECK_EQ(company_set(&company, "tclass", "32"), 0);
	CHECK_EQ(company_set(&company, "ecn", "0"), 0);
	CHECK_EQ(company_set(&company, "record", "off"), 0);
	CHECK_EQ(company_set(&company, "record", "256"), 0);
	client_check(&dev);
}

/* A user may ask, and sees of it that it is there. */
static void test_other_user(void)
{
	struct company other = company;

	if (geteuid()) {
		printf("other user: not root, so there is one user only\n");
		return;
	}
	CHECK(!chmod(dev.dir, 0755));
	dev.as = 65534;
	other.plain = true;
	close(company.nl_sock);
	company_ask_anew(&other);
	settle(&other);
	CHECK_EQ(company_count(&other, "ctx"), 1);
	CHECK_EQ(company_count(&other, "qp"), 3);
	CHECK_EQ(company_list(&other, RDMA_NLDEV_CMD_RES_QP_GET), 0);
	CHECK_EQ(company_list(&other, RDMA_NLDEV_CMD_RES_CTX_GET), 1);
	CHECK(company_status_has(&other, "qps", "\"hidden\":true"));
	CHECK_EQ(company_set(&other, "ttl", "9"), -EACCES);
	close(other.nl_sock);
	dev.as = 0;
	company_ask_anew(&company);
	check_numbers(&company);
}

static int64_t change(uint64_t what, const char *name)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_LINK, .link.what = what};
	int sock, fd;

	dev.admin = true;
	sock = client_connect(&dev);
	dev.admin = false;
	snprintf(msg.name, sizeof(msg.name), "%s", name);
	client_send(sock, &msg, NULL, 0);
	CHECK(!client_recv(sock, &msg, &fd));
	close(sock);
	return msg.ret;
}

/* The connections of its files end, and nothing else does. */
static void test_removed(void)
{
	struct company next = company;
	char byte;

	CHECK_EQ(change(UROCE_TUN_LINK_DEL, "uroce0"), 0);
	CHECK_EQ(recv(company.verbs_sock, &byte, 1, 0), 0);
	if (UROCE_WITH_UMAD)
		CHECK_EQ(recv(company.umad_sock, &byte, 1, 0), 0);
	CHECK_EQ(company_count(&company, "ctx"), 0);
	CHECK_EQ(change(UROCE_TUN_LINK_ADD, "lo uroce0"), 0);
	company_open(&next);
	company_look(&next);
	CHECK_EQ(company_count(&next, "ctx"), 1);
	company_close(&company);
	company_close(&next);
	client_settle(&dev);
	company_open(&company);
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CHECK(argc > 1);
	client_private_net();
	daemon_start(&dev, argv[1], 0);
	company_open(&company);
	STEP(test_netlink());
	STEP(test_status());
	STEP(test_settings());
	STEP(test_other_user());
	company_look(&company);
	STEP(test_removed());
	company_close(&company);
	client_settle(&dev);
	daemon_stop(&dev);
	return cases_status();
}
