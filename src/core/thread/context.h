/* SPDX-License-Identifier: Apache-2.0 */
/*
 * context.h - switching stacks, in assembly (context_aarch64.S, context_x86_64.S).
 *
 * A context is a stack pointer: all that a C function may expect to find unchanged after a call is
 * saved on the stack itself.
 */
#ifndef SKI_CONTEXT_H
#define SKI_CONTEXT_H

/** Saves the calling context in *@p from and continues at @p to, which a switch saved or
 *  ski_context_make() made. */
void ski_context_switch(void **from, void *to);

/** Makes a context that calls @p fn(@p arg), which must not return, on the stack that ends at @p
 * top. */
void *ski_context_make(void *top, void (*fn)(void *arg), void *arg);

#endif
