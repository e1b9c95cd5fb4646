/* SPDX-License-Identifier: Apache-2.0 */
/*
 * context_x86_64.S - see context.h.
 *
 * A saved context, from its stack pointer up (System V ABI callee-saved state):
 *     0   mxcsr (4 bytes), x87 control word (2), 2 unused
 *     8   the stack protector's canary
 *    16   r15 r14 r13 r12 rbx rbp
 *    64   return address
 *
 * The compiler's stack protector compares the canary of a frame with the word at %fs:40, which differs
 * between processes.  It belongs to the context, so that a stack may continue in another process.
 */
    .text

    .globl  ski_context_switch
    .hidden ski_context_switch
    .type   ski_context_switch, @function
    .balign 64
ski_context_switch:
    .cfi_startproc
    endbr64
    pushq   %rbp
    pushq   %rbx
    pushq   %r12
    pushq   %r13
    pushq   %r14
    pushq   %r15
    pushq   %fs:40
    subq    $8, %rsp
    stmxcsr (%rsp)
    fnstcw  4(%rsp)
    movq    %rsp, (%rdi)
    movq    %rsi, %rsp
    ldmxcsr (%rsp)
    fldcw   4(%rsp)
    addq    $8, %rsp
    popq    %fs:40
    popq    %r15
    popq    %r14
    popq    %r13
    popq    %r12
    popq    %rbx
    popq    %rbp
    ret
    .cfi_endproc
    .size   ski_context_switch, . - ski_context_switch

/* rdi = top, rsi = fn, rdx = arg */
    .globl  ski_context_make
    .hidden ski_context_make
    .type   ski_context_make, @function
ski_context_make:
    .cfi_startproc
    endbr64
    andq    $-16, %rdi
    leaq    -88(%rdi), %rax     /* entry finds the stack 16-byte aligned */
    stmxcsr (%rax)
    fnstcw  4(%rax)
    movq    %fs:40, %rcx
    movq    %rcx, 8(%rax)
    movq    %rdx, 32(%rax)      /* r13 = arg */
    movq    %rsi, 40(%rax)      /* r12 = fn */
    movq    $0, 56(%rax)        /* rbp = 0 */
    leaq    context_entry(%rip), %rcx
    movq    %rcx, 64(%rax)
    ret
    .cfi_endproc
    .size   ski_context_make, . - ski_context_make

    .type   context_entry, @function
context_entry:
    .cfi_startproc
    .cfi_undefined %rip         /* backtraces end here */
    endbr64
    movq    %r13, %rdi
    callq   *%r12
    ud2
    .cfi_endproc
    .size   context_entry, . - context_entry

    .section .note.GNU-stack, "", @progbits
