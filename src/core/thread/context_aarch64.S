/* SPDX-License-Identifier: Apache-2.0 */
/*
 * context_aarch64.S - see context.h.
 *
 * A saved context, from its stack pointer up (AAPCS64 callee-saved registers, and the control of
 * floating-point numbers, which is rarely written, as that takes long):
 *     0   x19 x20 x21 x22 x23 x24 x25 x26 x27 x28
 *    80   x29 x30
 *    96   d8 d9 d10 d11 d12 d13 d14 d15
 *   160   fpcr (8 bytes), 8 unused
 *   176
 */
    .text

    .globl  ski_context_switch
    .hidden ski_context_switch
    .type   ski_context_switch, %function
    .balign 64
ski_context_switch:
    .cfi_startproc
    hint    #34                 /* bti c */
    sub     sp, sp, #176
    mrs     x10, fpcr
    stp     x19, x20, [sp, #0]
    stp     x21, x22, [sp, #16]
    stp     x23, x24, [sp, #32]
    stp     x25, x26, [sp, #48]
    stp     x27, x28, [sp, #64]
    stp     x29, x30, [sp, #80]
    stp     d8, d9, [sp, #96]
    stp     d10, d11, [sp, #112]
    stp     d12, d13, [sp, #128]
    stp     d14, d15, [sp, #144]
    str     x10, [sp, #160]
    mov     x9, sp
    str     x9, [x0]
    mov     sp, x1
    ldr     x11, [sp, #160]
    cmp     x10, x11
    b.eq    1f
    msr     fpcr, x11
1:  ldp     x19, x20, [sp, #0]
    ldp     x21, x22, [sp, #16]
    ldp     x23, x24, [sp, #32]
    ldp     x25, x26, [sp, #48]
    ldp     x27, x28, [sp, #64]
    ldp     x29, x30, [sp, #80]
    ldp     d8, d9, [sp, #96]
    ldp     d10, d11, [sp, #112]
    ldp     d12, d13, [sp, #128]
    ldp     d14, d15, [sp, #144]
    add     sp, sp, #176
    ret
    .cfi_endproc
    .size   ski_context_switch, . - ski_context_switch

/* x0 = top, x1 = fn, x2 = arg */
    .globl  ski_context_make
    .hidden ski_context_make
    .type   ski_context_make, %function
ski_context_make:
    .cfi_startproc
    hint    #34
    and     x0, x0, #-16
    sub     x0, x0, #176
    mrs     x10, fpcr
    str     x10, [x0, #160]
    stp     x1, x2, [x0, #0]    /* x19 = fn, x20 = arg */
    adr     x9, context_entry
    stp     xzr, x9, [x0, #80]  /* x29 = 0, x30 = entry */
    ret
    .cfi_endproc
    .size   ski_context_make, . - ski_context_make

    .type   context_entry, %function
context_entry:
    .cfi_startproc
    .cfi_undefined x30          /* backtraces end here */
    hint    #36                 /* bti j */
    mov     x0, x20
    blr     x19
    brk     #0
    .cfi_endproc
    .size   context_entry, . - context_entry

    .section .note.GNU-stack, "", %progbits
