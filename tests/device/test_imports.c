// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Imported contexts (ENGINE_IMPORT) and numbers of protection domains (ENGINE_PD) for clients that ask wrongly:
 * without an engine, without an event file, after its end, for objects of another kind or file, over and over; and another
 * user who has the file.
 *
 * usage: test_imports UROCED
 */
#include <errno.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/device/client.h"

#define MANY   40
#define NOBODY 65534
#define BYTES  sizeof(struct uroce_alloc_pd_resp)

static struct daemon_proc dev;

/* The descriptor that comes with a context is closed. */
static int64_t import(int sock)
{
	struct uroce_engine_apart resp = {.fd = -1};
	int64_t ret = client_call_device(sock, UROCE_METHOD_ENGINE_IMPORT,
					 UROCE_ATTR_ENGINE_IMPORT_RESP, &resp,
					 sizeof(resp));

	if (!ret) {
		CHECK(resp.slot && resp.fd >= 0);
		close(resp.fd);
	}
	return ret;
}

static int64_t apart(int sock)
{
	struct uroce_engine_apart resp;

	return client_call_device(sock, UROCE_METHOD_ENGINE_APART,
				  UROCE_ATTR_ENGINE_APART_RESP, &resp,
				  sizeof(resp));
}

static int64_t domain(int sock, uint32_t handle, uint32_t *pdn, uint16_t bytes)
{
	struct uroce_alloc_pd_resp resp = {0};
	struct {
		struct ib_uverbs_ioctl_hdr hdr;
		struct ib_uverbs_attr attr[2];
	} cmd = {.hdr = {.length = sizeof(cmd),
			 .object_id = UVERBS_OBJECT_PD,
			 .method_id = UROCE_METHOD_ENGINE_PD,
			 .num_attrs = 2},
		 .attr = {{.attr_id = UROCE_ATTR_ENGINE_PD_HANDLE,
			   .flags = UVERBS_ATTR_F_MANDATORY,
			   .data = handle},
			  {.attr_id = UROCE_ATTR_ENGINE_PD_RESP,
			   .len = bytes,
			   .flags = UVERBS_ATTR_F_MANDATORY,
			   .data = (uintptr_t)&resp}}};
	int64_t ret = client_ioctl(sock, &cmd);

	if (pdn)
		*pdn = resp.pdn;
	return ret;
}

/* No engine; an engine without an event file, by which its process would tell of its end. */
static void test_too_early(void)
{
	int sock = client_open(&dev, "uverbs0", NULL);

	CHECK(import(sock) < 0);
	close(sock);
	sock = client_session(&dev);
	CHECK_EQ(import(sock), -EOPNOTSUPP);
	CHECK_EQ(client_open_engine(sock), 0);
	CHECK_EQ(import(sock), -EOPNOTSUPP);
	close(sock);
	client_check(&dev);
}

/* Whether the engine is in the program or in a process, and after the event file's end. */
static void test_closed(void)
{
	for (int where = 0; where < 2; where++) {
		int sock = client_session(&dev);
		int event = client_alloc_async(sock);

		CHECK_EQ(where ? apart(sock) : client_open_engine(sock), 0);
		CHECK_EQ(import(sock), 0);
		close(event);
		CHECK(import(sock) <= 0);
		close(sock);
		client_settle(&dev);
		client_check(&dev);
	}
}

/* A reply that cannot be written leaves nothing behind, and who imports often has no more than a limit. */
static void test_often(void)
{
	int sock = client_session(&dev), event = client_alloc_async(sock);
	int64_t ret;

	CHECK_EQ(client_open_engine(sock), 0);
	for (int i = 0; i < MANY; i++) {
		ret = client_call_device(sock, UROCE_METHOD_ENGINE_IMPORT,
					 UROCE_ATTR_ENGINE_IMPORT_RESP,
					 (void *)8,
					 sizeof(struct uroce_engine_apart));
		CHECK(ret < 0);
		CHECK_EQ(client_call_device(sock, UROCE_METHOD_ENGINE_IMPORT,
					    UROCE_ATTR_ENGINE_IMPORT_RESP, &ret,
					    4),
			 -EINVAL);
		ret = import(sock);
		CHECK(!ret || ret == -ENOMEM || ret == -EDQUOT ||
		      ret == -EMFILE);
	}
	close(event);
	close(sock);
	client_settle(&dev);
	sock = client_session(&dev);
	event = client_alloc_async(sock);
	CHECK_EQ(client_open_engine(sock), 0);
	CHECK_EQ(import(sock), 0);
	close(event);
	close(sock);
	client_check(&dev);
}

static uint32_t new_cq(int sock, int chan)
{
	struct ib_uverbs_create_cq req = {.cqe = 4, .comp_channel = chan};
	struct ib_uverbs_create_cq_resp resp = {0};

	CHECK_EQ(client_legacy(sock, IB_USER_VERBS_CMD_CREATE_CQ, &req,
			       sizeof(req), &resp, sizeof(resp)),
		 0);
	return resp.cq_handle;
}

static void dealloc(int sock, uint32_t pd)
{
	struct ib_uverbs_dealloc_pd req = {.pd_handle = pd};

	CHECK_EQ(client_legacy(sock, IB_USER_VERBS_CMD_DEALLOC_PD, &req,
			       sizeof(req), NULL, 0),
		 0);
}

/* Only a domain of the file has a number. */
static void test_domains(void)
{
	int sock = client_session(&dev), other = client_session(&dev);
	uint32_t pd = client_alloc_pd(sock), cq = new_cq(sock, -1), first,
		 second;

	CHECK_EQ(domain(sock, pd, &first, BYTES), 0);
	CHECK_EQ(domain(sock, pd, &second, BYTES), 0);
	CHECK(first && first == second);
	CHECK_EQ(domain(sock, cq, NULL, BYTES), -ENOENT);
	CHECK_EQ(domain(sock, UINT32_MAX, NULL, BYTES), -ENOENT);
	CHECK_EQ(domain(sock, pd, NULL, 1), -EINVAL);
	/* Handles of a file mean nothing in another. */
	CHECK_EQ(domain(other, pd, NULL, BYTES), -ENOENT);
	dealloc(sock, pd);
	CHECK_EQ(domain(sock, pd, NULL, BYTES), -ENOENT);
	close(other);
	close(sock);
	client_check(&dev);
}

/* A method of an engine with one number in. Its response is dropped. */
static int64_t about(int sock, uint16_t object, uint16_t method,
		     uint32_t number)
{
	uint64_t resp[8];
	struct {
		struct ib_uverbs_ioctl_hdr hdr;
		struct ib_uverbs_attr attr[2];
	} cmd = {.hdr = {.length = sizeof(cmd),
			 .object_id = object,
			 .method_id = method,
			 .num_attrs = 2},
		 .attr = {{.attr_id = UROCE_ATTR_ENGINE_SOCKET_INDEX,
			   .len = object == UVERBS_OBJECT_CQ ? 0 : 4,
			   .flags = UVERBS_ATTR_F_MANDATORY,
			   .data = number},
			  {.attr_id = UROCE_ATTR_ENGINE_SOCKET_RESP,
			   .len = method == UROCE_METHOD_ENGINE_SOCKET
					  ? sizeof(struct uroce_engine_socket)
				  : method == UROCE_METHOD_ENGINE_RING
					  ? sizeof(struct uroce_engine_ring)
					  : 4,
			   .flags = UVERBS_ATTR_F_MANDATORY,
			   .data = (uintptr_t)resp}}};

	return client_ioctl(sock, &cmd);
}

static int64_t event_files(int sock)
{
	struct uroce_engine_async resp;

	return client_call_device(sock, UROCE_METHOD_ENGINE_ASYNC,
				  UROCE_ATTR_ENGINE_ASYNC_RESP, &resp,
				  sizeof(resp));
}

static int64_t room(int sock)
{
	uint32_t bytes;

	return client_call_device(sock, UROCE_METHOD_ENGINE_ROOM,
				  UROCE_ATTR_ENGINE_ROOM_RESP, &bytes,
				  sizeof(bytes));
}

/* Whoever else has the file gets nothing that leads into its engine. */
static void refused(int sock, uint32_t cq)
{
	CHECK_EQ(about(sock, UVERBS_OBJECT_DEVICE, UROCE_METHOD_ENGINE_SOCKET,
		       0),
		 -EPERM);
	CHECK_EQ(about(sock, UVERBS_OBJECT_DEVICE, UROCE_METHOD_ENGINE_RING, 9),
		 -EPERM);
	CHECK_EQ(about(sock, UVERBS_OBJECT_CQ, UROCE_METHOD_ENGINE_CQ, cq),
		 -EPERM);
	CHECK_EQ(event_files(sock), -EPERM);
	CHECK_EQ(room(sock), -EPERM);
	CHECK_EQ(import(sock), -EPERM);
	CHECK_EQ(client_open_engine(sock), -EPERM);
	CHECK_EQ(apart(sock), -EPERM);
}

static void granted(int sock, uint32_t cq)
{
	CHECK_EQ(about(sock, UVERBS_OBJECT_DEVICE, UROCE_METHOD_ENGINE_SOCKET,
		       0),
		 0);
	CHECK_EQ(about(sock, UVERBS_OBJECT_CQ, UROCE_METHOD_ENGINE_CQ, cq), 0);
	CHECK_EQ(room(sock), 0);
	CHECK_EQ(event_files(sock), 0);
}

/* The file goes to another process of its user, and to one of another user. */
static void test_passed_on(void)
{
	struct ib_uverbs_create_comp_channel req = {0};
	struct ib_uverbs_create_comp_channel_resp chan;
	struct uroce_alloc_ucontext_resp ctx;
	int visible, sock, event, own, other;
	uint32_t cq;

	if (geteuid()) {
		printf("passed on: not root, so there is one user only\n");
		return;
	}
	sock = client_open(&dev, "uverbs0", &visible);
	CHECK_EQ(client_get_context(sock, &ctx), 0);
	event = client_alloc_async(sock);
	CHECK_EQ(client_open_engine(sock), 0);
	CHECK_EQ(client_legacy(sock, IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL,
			       &req, sizeof(req), &chan, sizeof(chan)),
		 0);
	cq = new_cq(sock, (int)chan.fd);
	own = client_join(&dev, visible);
	CHECK(!chmod(dev.dir, 0755));
	dev.as = NOBODY;
	other = client_join(&dev, visible);
	dev.as = 0;
	refused(other, cq);
	granted(own, cq);
	close(other);
	close(own);
	close((int)chan.fd);
	close(event);
	close(visible);
	close(sock);
	client_settle(&dev);
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CHECK(argc > 1);
	client_private_net();
	daemon_start(&dev, argv[1], 0);
	STEP(test_too_early());
	STEP(test_closed());
	STEP(test_often());
	STEP(test_domains());
	STEP(test_passed_on());
	daemon_stop(&dev);
	return cases_status();
}
