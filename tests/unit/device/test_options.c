// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The configuration file: what is taken, and what is no file for us. */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "device/options.h"
#include "util/bytes.h"
#include "tests/check.h"

static struct ur_daemon_options o;

static int parse(const char *text)
{
	char name[] = "/tmp/uroce-conf.XXXXXX", option[] = "--config",
	     self[] = "uroced";
	char *argv[] = {self, option, name, NULL};
	int fd = mkstemp(name), err;

	CHECK(fd >= 0);
	CHECK_EQ(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	optind = 1;
	err = ur_daemon_options_parse(3, argv, &o);
	unlink(name);
	return err;
}

/* Switches of parts that the build may leave out. */
static const char *switch_of(bool has)
{
	return has ? "yes" : "no";
}

static void test_good(void)
{
	char text[400];

	snprintf(
		text, sizeof(text),
		"# all\n\n netdev = eth0 \nnetdev=eth1\nnetdev=eth0\n"
		"run-dir=/run/x\nroce-v1=%s\nraw-ethernet=%s\ncm-mode=v%d\nuser-share=25\nspeed=100000\nisolation=user\n"
		"confine=no\nengines=99\nuser-engines=no\nverbose=no",
		switch_of(UROCE_WITH_ROCE_V1), switch_of(UROCE_WITH_RAW_PACKET),
		UROCE_WITH_ROCE_V1 ? 1 : 2);
	CHECK_EQ(parse(text), 0);
	CHECK_EQ(o.n_netdevs, 2);
	CHECK(!strcmp(o.netdev[0], "eth0") && !strcmp(o.netdev[1], "eth1"));
	CHECK(!strcmp(o.run_dir, "/run/x"));
	CHECK_EQ(o.roce_v1, UROCE_WITH_ROCE_V1);
	CHECK_EQ(o.raw_ethernet, UROCE_WITH_RAW_PACKET);
	CHECK_EQ(o.cm_mode, UROCE_WITH_ROCE_V1 ? 1 : 2);
	CHECK_EQ(o.user_share, 25);
	CHECK_EQ(o.speed, 100000);
	CHECK_EQ(o.isolation, UR_ISOLATION_USER);
	CHECK_EQ(o.confine, UR_CONFINE_NO);
	CHECK_EQ(o.verbose, 0);
}

static void test_parts(void)
{
	CHECK_EQ(parse("roce-v1=yes"), UROCE_WITH_ROCE_V1 ? 0 : -EINVAL);
	CHECK_EQ(parse("raw-ethernet=yes"),
		 UROCE_WITH_RAW_PACKET ? 0 : -EINVAL);
}

static void test_set(void)
{
	CHECK_EQ(parse("set = eth0 tclass 106\nset=*  ttl  7"), 0);
	CHECK_EQ(o.n_sets, 2);
	CHECK(!strcmp(o.set[0], "eth0 tclass 106"));
	CHECK_EQ(parse("set = eth0 tclass"), -EINVAL);
}

/* Names go with the netdev before them; the first that was given stays. */
static void test_names(void)
{
	char words[][24] = {"uroced", "--netdev", "eth0",     "--name",
			    "mlx5_0", "--netdev", "eth1",     "--netdev",
			    "eth0",   "--only",	  "--netdev", "eth2",
			    "--name", "rxe_0",	  "--name",   "again"};
	char *argv[UR_ARRAY_SIZE(words) + 1] = {0};

	CHECK_EQ(parse("netdev = eth0 \t mlx5_0 \nnetdev=eth1\n"
		       "netdev=eth0 other\nnetdev=eth2 x\nonly=yes"),
		 0);
	CHECK_EQ(o.n_netdevs, 3);
	CHECK(!strcmp(o.name[0], "mlx5_0") && !*o.name[1]);
	CHECK(!strcmp(o.netdev[2], "eth2") && !strcmp(o.name[2], "x"));
	CHECK_EQ(o.only, 1);
	for (size_t i = 0; i < UR_ARRAY_SIZE(words); i++)
		argv[i] = words[i];
	optind = 1;
	CHECK_EQ(ur_daemon_options_parse(14, argv, &o), 0);
	CHECK_EQ(o.n_netdevs, 3);
	CHECK(!strcmp(o.name[0], "mlx5_0") && !*o.name[1]);
	CHECK(!strcmp(o.name[2], "rxe_0") && o.only == 1);
	/* A name for the default netdev; two for one; one that is too long. */
	optind = 1;
	argv[1] = argv[3];
	argv[2] = argv[4];
	CHECK_EQ(ur_daemon_options_parse(3, argv, &o), 0);
	CHECK(o.n_netdevs == 0 && !strcmp(o.name[0], "mlx5_0"));
	optind = 1;
	CHECK_EQ(ur_daemon_options_parse(5, argv, &o), -EINVAL);
	CHECK_EQ(parse("netdev=eth0 12345678901234567890123456789012"),
		 -EINVAL);
}

/* The engine's: each has a range, and no other name or form is taken. */
static void test_engine(void)
{
	static const char *const good[] = {
		"cc=1",
		"cc=0",
		"hold=0,gso=0,gro=1,loop=0,coalesce=0,credits=0,ooo=0",
		"fast=0,trains=1,spin_us=0,slice_us=0,tx_bytes=16384",
		"spin_us=1000000,slice_us=100000,tx_bytes=16777216",
	};
	static const char *const bad[] = {
		"cc=5",
		"cc=",
		"cc",
		"cc=-1",
		"cc=+1",
		"cc= 1",
		"cc=1x",
		"cc=yes",
		"Cc=1",
		"ccc=1",
		"bogus=1",
		"hold=2",
		"spin_us=1000001",
		"spin_us=-1",
		"spin_us=4294967297",
		"spin_us=18446744073709551617",
		"spin_us=5x",
		"slice_us=100001",
		"tx_bytes=16383",
		"tx_bytes=16777217",
		"cc=1,,hold=1",
		",cc=1",
		"cc=1 hold=1",
		"cc=1;hold=1",
	};
	char text[200];

	for (size_t i = 0; i < UR_ARRAY_SIZE(good); i++) {
		snprintf(text, sizeof(text), "netdev=eth0\nengine-opt=%s\n",
			 good[i]);
		CHECK_EQ(parse(text), 0);
		CHECK(!strcmp(o.engine, good[i]));
	}
	for (size_t i = 0; i < UR_ARRAY_SIZE(bad); i++) {
		snprintf(text, sizeof(text), "netdev=eth0\nengine-opt=%s\n",
			 bad[i]);
		CHECK_EQ(parse(text), -EINVAL);
	}
}

/* A line is a line, however long. */
static void test_long(void)
{
	char text[3000];
	size_t n;

	for (n = 500; n < 1100; n += 3) {
		memset(text, 'x', n);
		text[0] = '#';
		strcpy(text + n, "\nnetdev=eth0\n");
		CHECK_EQ(parse(text), 0);
		CHECK_EQ(o.n_netdevs, 1);
	}
	strcpy(text, "netdev=");
	memset(text + 7, 'e', 2000);
	text[2007] = '\0';
	CHECK_EQ(parse(text), -EINVAL);
	memset(text, ' ', 600);
	strcpy(text + 600, "netdev=eth0");
	CHECK_EQ(parse(text), 0);
	CHECK(!strcmp(o.netdev[0], "eth0"));
}

static void test_bad(void)
{
	static const char *const bad[] = {
		"netdev",
		"netdev=",
		"=eth0",
		"nodev=eth0",
		"roce-v1=2",
		"cm-mode=v3",
		"verbose=",
		"user-share=0",
		"isolation=users",
		"isolation=",
		"user-share=101",
		"speed=0",
		"speed=1000001",
		"user-share=+5",
		"user-share=5%",
		"user-share=",
		"group=",
		"netdev=1234567890123456",
		"netdev=eth0\n\nx",
		"only=1",
		"netdev= mlx5_0 12345678901234567890123456789012",
		"roce-v1=YES",
	};

	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK_EQ(parse(bad[i]), -EINVAL);
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(test_good());
	CASE(test_parts());
	CASE(test_set());
	CASE(test_names());
	CASE(test_engine());
	CASE(test_long());
	CASE(test_bad());
	return cases_status();
}
