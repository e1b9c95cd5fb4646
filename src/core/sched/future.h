/* SPDX-License-Identifier: Apache-2.0 */
/*
 * future.h - futures, and the completions that are chained to them.
 *
 * A *continuation* is a completion that happens when one future is set (then), all of several
 * (all), or the first of several (any).  It has a link in the list of each of these futures; a PE
 * keeps all its continuations in a list, so that those that never happen are freed at its end.
 */
#ifndef SKI_FUTURE_H
#define SKI_FUTURE_H

#include <stdbool.h>

#include <skua/completion.h>
#include <skua/message.h>

struct ski_pe;

/** Takes ownership of @p result and sets @p future of @p self to what follows its first
 *  SKI_COMPLETE_MIN bytes; wakes the waiters of the future and performs the completions chained
 *  to it. */
void ski_future_set(struct ski_pe *self, skua_future *future, skua_msg *result);

/** Returns whether completions are chained to a future for whose address @p moves returns true:
 * their records stay on this PE, so the future must not move. */
bool ski_futures_chained(const struct ski_pe *self, bool (*moves)(const void *at, void *arg),
                         void                *arg);

/** Frees the continuations of a PE that ends. */
void ski_futures_destroy(struct ski_pe *self);

#endif
