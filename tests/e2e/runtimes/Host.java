// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// Java as a host of a library that has an engine in it, by JNI and a direct buffer:
//
//	java Host LIBRARY GID_INDEX GID PORT [SERVER]
//
// Every byte that is written, read and sent is looked at, while other threads make the collector
// move what there is, and run into what the virtual machine finds by SIGSEGV: null references, and
// the end of a stack. Prints "done 0".
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.concurrent.atomic.AtomicInteger;

public class Host {
	static final int ROUNDS = 150, AREA = 20000, SHORT = 64;
	static final int OUT = 0, IN = AREA, BACK = 2 * AREA, MESSAGE = 3 * AREA, GOT = 4 * AREA,
			 LAST = 5 * AREA;
	static final int SEND = 1, WRITE = 2, READ = 3, RECEIVE = 129;

	static native long open(String server, int port, int gidIndex, String gid, ByteBuffer buffer);
	static native int send(long n, int at, int bytes);
	static native int receive(long n, int at, int bytes);
	static native int write(long n, int at, int remote, int bytes);
	static native int read(long n, int at, int remote, int bytes);
	static native int take(long n, boolean sleeps);
	static native int meet(long n);
	static native int close(long n);

	static final ByteBuffer memory = ByteBuffer.allocateDirect(6 * AREA);
	static final int[] came = new int[256];
	static long n;

	static void must(boolean ok, String what) {
		if (!ok)
			throw new IllegalStateException(what);
	}

	static void fill(int at, int bytes, int seed) {
		for (int i = 0; i < bytes; i++)
			memory.put(at + i, (byte)(seed + i * 7));
	}

	static void look(int at, int bytes, int seed) {
		for (int i = 0; i < bytes; i++)
			must(memory.get(at + i) == (byte)(seed + i * 7), "byte " + i + " at " + at);
	}

	// Until one of each kind has come; the peer may be ahead.
	static void await(boolean sleeps, int... kinds) {
		for (int kind : kinds) {
			while (came[kind] == 0) {
				int got = take(n, sleeps);
				must(got >= 0, "status " + -got);
				if (got > 0)
					came[got]++;
			}
			came[kind]--;
		}
	}

	static void round(int mine, int other, boolean sleeps) {
		fill(OUT, AREA, mine);
		fill(MESSAGE, SHORT, mine);
		must(write(n, OUT, IN, AREA) == 0 && send(n, MESSAGE, SHORT) == 0, "post");
		await(sleeps, WRITE, SEND, RECEIVE);
		look(IN, AREA, other);
		look(GOT, SHORT, other);
		must(read(n, BACK, OUT, AREA) == 0, "post");
		await(sleeps, READ);
		look(BACK, AREA, other);
		must(receive(n, GOT, SHORT) == 0 && send(n, MESSAGE, SHORT) == 0, "post");
		await(sleeps, SEND, RECEIVE);
		must(receive(n, LAST, SHORT) == 0, "post");
	}

	// ---- other threads ----

	static class Node {
		Node next;
		byte[] data = new byte[200];
	}

	static volatile boolean over;
	static volatile Throwable wrong;

	interface Work {
		void once();
	}

	static Thread again(AtomicInteger times, Work work) {
		Thread t = new Thread(() -> {
			try {
				while (!over || times.get() < 10) {
					work.once();
					times.incrementAndGet();
				}
			} catch (Throwable e) {
				wrong = e;
			}
		});
		t.start();
		return t;
	}

	static void allocate() {
		Node first = null;
		for (int i = 0; i < 2000; i++) {
			Node node = new Node();
			node.next = i % 3 == 0 ? null : first;
			first = node;
		}
		pause(1);
	}

	static void collect() {
		System.gc();
		pause(20);
	}

	static int lengthOf(Node node) {
		return node.data.length;
	}

	// Compiled, a null reference is a load that fails.
	static void dereference() {
		int caught = 0;
		for (int i = 0; i < 1000; i++) {
			try {
				lengthOf(i % 50 == 7 ? null : new Node());
			} catch (NullPointerException e) {
				caught++;
			}
		}
		must(caught == 20, "null references");
		pause(1);
	}

	static int recurse(int depth) {
		return depth < 0 ? 0 : recurse(depth + 1) + 1;
	}

	static void overflow() {
		try {
			recurse(0);
			must(false, "a stack without an end");
		} catch (StackOverflowError e) {
			pause(20);
		}
	}

	static void pause(int ms) {
		try {
			Thread.sleep(ms);
		} catch (InterruptedException e) {
			Thread.currentThread().interrupt();
		}
	}

	public static void main(String[] args) throws Exception {
		String server = args.length > 4 ? args[4] : "";
		int mine = server.isEmpty() ? 1 : 2, other = 3 - mine;
		var threads = new ArrayList<Thread>();
		var times = new ArrayList<AtomicInteger>();

		System.load(args[0]);
		n = open(server, Integer.parseInt(args[3]), Integer.parseInt(args[1]), args[2], memory);
		must(n != 0, "open");
		must(receive(n, GOT, SHORT) == 0 && receive(n, LAST, SHORT) == 0, "post");
		must(meet(n) == 0, "meet");
		for (Work work : new Work[] {Host::allocate, Host::collect, Host::dereference,
					     Host::overflow}) {
			times.add(new AtomicInteger());
			threads.add(again(times.get(times.size() - 1), work));
		}
		for (int i = 0; i < ROUNDS; i++)
			round(i * 11 + mine, i * 11 + other, i % 3 == 2);
		over = true;
		for (Thread t : threads)
			t.join();
		if (wrong != null)
			throw new Exception(wrong);
		must(meet(n) == 0 && close(n) == 0, "close");
		System.out.println("done 0");
	}
}
