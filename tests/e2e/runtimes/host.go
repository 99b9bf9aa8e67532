// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB

// Go as a host of a library that has an engine in it, by cgo:
//
//	host - GID_INDEX GID PORT [SERVER]
//
// Every byte that is written, read and sent is looked at, in memory that Go has got from the
// system without the C library, while goroutines collect, are preempted by signals, let their stacks
// grow, and dereference nil, which Go finds by SIGSEGV. Prints "done 0".
package main

// #cgo LDFLAGS: -libverbs
// #include <stdlib.h>
// #include "native.h"
import "C"

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

const (
	rounds  = 60
	area    = 20000
	short   = 64
	out     = 0
	in      = area
	back    = 2 * area
	message = 3 * area
	got     = 4 * area
	last    = 5 * area

	send    = 1
	write   = 2
	read    = 3
	receive = 129
)

var memory []byte
var n *C.struct_native
var came [256]int

func must(ok bool, what ...any) {
	if !ok {
		panic(fmt.Sprint(what...))
	}
}

func fill(at, bytes, seed int) {
	for i := 0; i < bytes; i++ {
		memory[at+i] = byte(seed + i*7)
	}
}

func look(at, bytes, seed int) {
	for i := 0; i < bytes; i++ {
		must(memory[at+i] == byte(seed+i*7), "byte ", i, " at ", at)
	}
}

// Until one of each kind has come; the peer may be ahead.
func await(sleeps bool, kinds ...int) {
	for _, kind := range kinds {
		for came[kind] == 0 {
			var one C.int
			if sleeps {
				one = C.native_wait(n)
			} else {
				one = C.native_take(n)
			}
			must(one >= 0, "status ", -one)
			if one > 0 {
				came[one]++
			} else {
				runtime.Gosched()
			}
		}
		came[kind]--
	}
}

func round(mine, other int, sleeps bool) {
	fill(out, area, mine)
	fill(message, short, mine)
	must(C.native_write(n, out, in, area) == 0 && C.native_send(n, message, short) == 0, "post")
	await(sleeps, write, send, receive)
	look(in, area, other)
	look(got, short, other)
	must(C.native_read(n, back, out, area) == 0, "post")
	await(sleeps, read)
	look(back, area, other)
	must(C.native_receive(n, got, short) == 0 && C.native_send(n, message, short) == 0, "post")
	await(sleeps, send, receive)
	must(C.native_receive(n, last, short) == 0, "post")
}

// ---- goroutines ----

var over atomic.Bool
var all sync.WaitGroup

func again(work func()) {
	all.Add(1)
	go func() {
		defer all.Done()
		for i := 0; i < 10 || !over.Load(); i++ {
			work()
		}
	}()
}

type node struct {
	next *node
	data [200]byte
}

func allocate() {
	var first *node
	for i := 0; i < 1000; i++ {
		first = &node{next: first}
	}
	must(first.next != nil)
}

func collect() {
	runtime.GC()
	time.Sleep(5 * time.Millisecond)
}

var sum atomic.Uint64

// No call, no allocation: only a signal takes its processor.
func compute() {
	var x uint64
	for i := uint64(0); i < 20_000_000; i++ {
		x = x*31 + i
	}
	sum.Store(x)
	time.Sleep(10 * time.Millisecond)
}

func deep(depth int) int {
	var frame [256]byte
	if depth == 0 {
		return int(frame[0])
	}
	return deep(depth-1) + int(frame[depth%256])
}

func grow() {
	ended := make(chan int)
	go func() { ended <- deep(3000) }()
	must(<-ended == 0)
	time.Sleep(time.Millisecond)
}

var none *node

func dereference() {
	defer func() {
		must(recover() != nil, "a nil pointer")
		time.Sleep(time.Millisecond)
	}()
	sum.Add(uint64(none.data[100]))
}

func number(text string) C.int {
	value, err := strconv.Atoi(text)
	must(err == nil, err)
	return C.int(value)
}

func main() {
	server, mine, other := "", 1, 2
	if len(os.Args) > 5 {
		server, mine, other = os.Args[5], 2, 1
	}
	var err error
	memory, err = syscall.Mmap(-1, 0, 6*area, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_PRIVATE|syscall.MAP_ANON)
	must(err == nil, err)
	debug.SetGCPercent(10)
	to, gid := C.CString(server), C.CString(os.Args[3])
	n = C.native_open(to, number(os.Args[4]), number(os.Args[2]), gid, unsafe.Pointer(&memory[0]),
		C.size_t(len(memory)))
	C.free(unsafe.Pointer(to))
	C.free(unsafe.Pointer(gid))
	must(n != nil, "open")
	must(C.native_receive(n, got, short) == 0 && C.native_receive(n, last, short) == 0, "post")
	must(C.native_meet(n) == 0, "meet")
	for _, work := range []func(){allocate, collect, compute, grow, dereference} {
		again(work)
	}
	for i := 0; i < rounds; i++ {
		round(i*11+mine, i*11+other, i%3 == 2)
	}
	over.Store(true)
	all.Wait()
	must(C.native_meet(n) == 0 && C.native_close(n) == 0, "close")
	fmt.Println("done 0")
}
