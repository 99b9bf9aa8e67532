// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The copying instructions. The C library's memcpy() would do, but we must know where its
 * instructions are. All stores are aligned, so that the end of a cache line divides none, and
 * ascend, since programs poll the last byte of a WRITE. The stores of ur_copy_string() have no
 * order, except the last ones.
 */
#include "preload/copy.h"

/* clang-format off */
#if defined(__x86_64__) && !defined(__ILP32__)

#ifdef __CET__
#define ENTRY "endbr64\n"
#else
#define ENTRY ""
#endif

/* Begins a function in the section. */
#define FUNCTION(name)                                                         \
	".balign 64\n"                                                         \
	".globl " name "\n"                                                    \
	".hidden " name "\n"                                                   \
	".type " name ", @function\n"                                          \
	name ":\n"                                                             \
	".cfi_startproc\n"                                                     \
	ENTRY
#define END(name)                                                              \
	".cfi_endproc\n"                                                       \
	".size " name ", . - " name "\n"
#define LABEL(name)                                                            \
	".globl " name "\n"                                                    \
	".hidden " name "\n"                                                   \
	name ":\n"

/* Copies one piece by a register of its size. */
#define PIECE(bytes, mov, reg)                                                 \
	mov " (%rsi), " reg "\n"                                               \
	mov " " reg ", (%rdi)\n"                                               \
	"add $" bytes ", %rsi\n"                                               \
	"add $" bytes ", %rdi\n"

/* Copies a piece if that bit of the target's address is set. */
#define ALIGN(bytes, mov, reg, label)                                          \
	"test $" bytes ", %dil\n"                                              \
	"jz " label "f\n"                                                      \
	PIECE(bytes, mov, reg)                                                 \
	"sub $" bytes ", %rdx\n"                                               \
	label ":\n"

/* Copies a piece if that bit of the remaining length is set. */
#define REST(bytes, mov, reg, label)                                           \
	"test $" bytes ", %dl\n"                                               \
	"jz " label "f\n"                                                      \
	PIECE(bytes, mov, reg)                                                 \
	label ":\n"

/* Copies all remaining pieces of that size. */
#define LOOP(bytes, mov, reg, label)                                           \
	label ": cmp $" bytes ", %rdx\n"                                       \
	"jb 20f\n"                                                             \
	PIECE(bytes, mov, reg)                                                 \
	"sub $" bytes ", %rdx\n"                                               \
	"jmp " label "b\n"

/* rdi: to, rsi: from, rdx: len; result in eax */
__asm__(".pushsection .text.ur_copy, \"ax\", @progbits\n"
	LABEL("ur_copy_begin")
	FUNCTION("ur_copy")
	"cmp $16, %rdx\n"
	"jb 10f\n"
	"test $15, %dil\n"
	"jnz 5f\n"
	/* The target is aligned to 16 bytes. */
	"1: sub $64, %rdx\n"
	"jb 3f\n"
	"2: movups (%rsi), %xmm0\n"
	"movups 16(%rsi), %xmm1\n"
	"movups 32(%rsi), %xmm2\n"
	"movups 48(%rsi), %xmm3\n"
	"movaps %xmm0, (%rdi)\n"
	"movaps %xmm1, 16(%rdi)\n"
	"movaps %xmm2, 32(%rdi)\n"
	"movaps %xmm3, 48(%rdi)\n"
	"add $64, %rsi\n"
	"add $64, %rdi\n"
	"sub $64, %rdx\n"
	"jae 2b\n"
	/* The low bits of rdx are the remaining length; 64 too many were
	 * subtracted. */
	"3: test $32, %dl\n"
	"jz 4f\n"
	"movups (%rsi), %xmm0\n"
	"movups 16(%rsi), %xmm1\n"
	"movaps %xmm0, (%rdi)\n"
	"movaps %xmm1, 16(%rdi)\n"
	"add $32, %rsi\n"
	"add $32, %rdi\n"
	"4:\n"
	REST("16", "movups", "%xmm0", "6")
	"jmp 20f\n"
	"5:\n"
	ALIGN("1", "movb", "%al", "7")
	ALIGN("2", "movw", "%ax", "7")
	ALIGN("4", "movl", "%eax", "7")
	ALIGN("8", "movq", "%rax", "7")
	"jmp 1b\n"
	/* Fewer than 16 bytes. */
	"10: test $7, %dil\n"
	"jz 20f\n"
	"test $1, %dil\n"
	"jnz 13f\n"
	"test $2, %dil\n"
	"jnz 12f\n"
	LOOP("4", "movl", "%eax", "11")
	LOOP("2", "movw", "%ax", "12")
	LOOP("1", "movb", "%al", "13")
	/* The target is aligned to the remaining length. */
	"20:\n"
	REST("8", "movq", "%rax", "21")
	REST("4", "movl", "%eax", "21")
	REST("2", "movw", "%ax", "21")
	REST("1", "movb", "%al", "21")
	"xor %eax, %eax\n"
	"ret\n"
	END("ur_copy")
	/* Does the same past the caches, for pieces of 64 bytes. */
	FUNCTION("ur_copy_away")
	"test $15, %dil\n"
	"jnz ur_copy\n"
	"sub $64, %rdx\n"
	"jb 3b\n"
	"1: movups (%rsi), %xmm0\n"
	"movups 16(%rsi), %xmm1\n"
	"movups 32(%rsi), %xmm2\n"
	"movups 48(%rsi), %xmm3\n"
	"movntps %xmm0, (%rdi)\n"
	"movntps %xmm1, 16(%rdi)\n"
	"movntps %xmm2, 32(%rdi)\n"
	"movntps %xmm3, 48(%rdi)\n"
	"add $64, %rsi\n"
	"add $64, %rdi\n"
	"sub $64, %rdx\n"
	"jae 1b\n"
	"sfence\n"
	"jmp 3b\n"
	END("ur_copy_away")
	/* Copies all but the last 64 to 71 bytes by the string instruction. Other
	 * processors see its stores as aligned ones of 8 bytes, and later stores after
	 * them. */
	FUNCTION("ur_copy_string")
	ALIGN("1", "movb", "%al", "1")
	ALIGN("2", "movw", "%ax", "1")
	ALIGN("4", "movl", "%eax", "1")
	"leaq -64(%rdx), %rcx\n"
	"andl $7, %edx\n"
	"addq $64, %rdx\n"
	"shrq $3, %rcx\n"
	"rep movsq\n"
	"jmp ur_copy\n"
	END("ur_copy_string")
	/* rdi: at, rsi: old, rdx: value */
	FUNCTION("ur_copy_swap")
	"movq (%rsi), %rax\n"
	"lock cmpxchgq %rdx, (%rdi)\n"
	"movq %rax, (%rsi)\n"
	"setne %al\n"
	"movzbl %al, %eax\n"
	"ret\n"
	LABEL("ur_copy_end")
	LABEL("ur_copy_fault")
	"movl $-14, %eax\n" /* -EFAULT */
	"ret\n"
	END("ur_copy_swap")
	".popsection\n");

#elif UR_COPY_HERE

#define FUNCTION(name)                                                         \
	".balign 64\n"                                                         \
	".globl " name "\n"                                                    \
	".hidden " name "\n"                                                   \
	".type " name ", %function\n"                                          \
	name ":\n"                                                             \
	".cfi_startproc\n"                                                     \
	"hint #34\n" /* bti c */
#define END(name)                                                              \
	".cfi_endproc\n"                                                       \
	".size " name ", . - " name "\n"
#define LABEL(name)                                                            \
	".globl " name "\n"                                                    \
	".hidden " name "\n"                                                   \
	name ":\n"

#define ALIGN(bit, bytes, load, store, reg, label)                             \
	"tbz x0, #" bit ", " label "f\n"                                       \
	load " " reg ", [x1], #" bytes "\n"                                    \
	store " " reg ", [x0], #" bytes "\n"                                   \
	"sub x2, x2, #" bytes "\n"                                             \
	label ":\n"

/* Copies the rest, each piece after all before it. */
#define REST(bit, bytes, load, store, reg, label)                              \
	"tbz x2, #" bit ", " label "f\n"                                       \
	load " " reg ", [x1], #" bytes "\n"                                    \
	"dmb ishst\n"                                                          \
	store " " reg ", [x0], #" bytes "\n"                                   \
	label ":\n"

#define LOOP(bytes, load, store, reg, label)                                   \
	label ": cmp x2, #" bytes "\n"                                         \
	"b.lo 20f\n"                                                           \
	load " " reg ", [x1], #" bytes "\n"                                    \
	"dmb ishst\n"                                                          \
	store " " reg ", [x0], #" bytes "\n"                                   \
	"sub x2, x2, #" bytes "\n"                                             \
	"b " label "b\n"

/* x0: to, x1: from, x2: len; result in w0. Up to eight bytes remain for the
 * end, where the order of stores is kept. */
__asm__(".pushsection .text.ur_copy, \"ax\", %progbits\n"
	LABEL("ur_copy_begin")
	FUNCTION("ur_copy")
	"cmp x2, #16\n"
	"b.lo 10f\n"
	ALIGN("0", "1", "ldrb", "strb", "w3", "7")
	ALIGN("1", "2", "ldrh", "strh", "w3", "7")
	ALIGN("2", "4", "ldr", "str", "w3", "7")
	ALIGN("3", "8", "ldr", "str", "x3", "7")
	"1: cmp x2, #64\n"
	"b.ls 3f\n"
	"2: ldp q0, q1, [x1], #32\n"
	"ldp q2, q3, [x1], #32\n"
	"stp q0, q1, [x0], #32\n"
	"stp q2, q3, [x0], #32\n"
	"sub x2, x2, #64\n"
	"cmp x2, #64\n"
	"b.hi 2b\n"
	"3: cmp x2, #8\n"
	"b.ls 20f\n"
	"ldr x3, [x1], #8\n"
	"str x3, [x0], #8\n"
	"sub x2, x2, #8\n"
	"b 3b\n"
	"10: tst x0, #7\n"
	"b.eq 20f\n"
	"tbnz x0, #0, 13f\n"
	"tbnz x0, #1, 12f\n"
	LOOP("4", "ldr", "str", "w3", "11")
	LOOP("2", "ldrh", "strh", "w3", "12")
	LOOP("1", "ldrb", "strb", "w3", "13")
	"20:\n"
	REST("3", "8", "ldr", "str", "x3", "21")
	REST("2", "4", "ldr", "str", "w3", "21")
	REST("1", "2", "ldrh", "strh", "w3", "21")
	REST("0", "1", "ldrb", "strb", "w3", "21")
	"mov w0, #0\n"
	"ret\n"
	END("ur_copy")
	/* x0: at, x1: old, x2: value */
	FUNCTION("ur_copy_swap")
	"ldr x3, [x1]\n"
	"1: ldaxr x4, [x0]\n"
	"cmp x4, x3\n"
	"b.ne 2f\n"
	"stlxr w5, x2, [x0]\n"
	"cbnz w5, 1b\n"
	"mov w0, #0\n"
	"ret\n"
	"2: clrex\n"
	"str x4, [x1]\n"
	"mov w0, #1\n"
	"ret\n"
	LABEL("ur_copy_end")
	LABEL("ur_copy_fault")
	"mov w0, #-14\n" /* -EFAULT */
	"ret\n"
	END("ur_copy_swap")
	".popsection\n");

#endif
/* clang-format on */
