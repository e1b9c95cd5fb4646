/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kvs.h - the key-value store through which the processes of a job exchange addresses (boot/boot.h,
 * the control connection): values under (process, key), and the requests that wait for values that
 * have not been put yet.  A value belongs to a phase of the job and replaces that of the phase
 * before.
 *
 * The launcher keeps all values.  An agent caches the values that its processes have put or
 * requested (kvs_proxy.h), so each host requests each key from the launcher once.
 */
#ifndef SKUARUN_KVS_H
#define SKUARUN_KVS_H

#include <stdbool.h>

#include "boot/boot.h"

/** The number of keys a process may have, on average. */
#define KVS_KEYS_PER_PROCESS 64

struct kvs;

/** Sends a value to @p requester; @p head is a SKI_CONTROL_VALUE. */
typedef void kvs_answer_fn(void *arg, int requester, const struct ski_control *head,
                           const char *value);

/** Creates a store for at most @p most keys, of all processes together. */
struct kvs *kvs_create(size_t most, kvs_answer_fn *answer, void *arg);

/** Frees the store.  Waiting requests are dropped. */
void kvs_destroy(struct kvs *kvs);

/** Stores a value and answers the requests that wait for it.  Returns false if the key has a value
 * of this phase or a later one already, or the store is full. */
bool kvs_put(struct kvs *kvs, const struct ski_control *head, const char *value);

enum kvs_result {
    KVS_FULL, /* or the request is of a phase that is over */
    KVS_ANSWERED,
    KVS_FIRST,   /* the request waits, and is the first that waits for this key */
    KVS_WAITING, /* the request waits, as others do                             */
};

/** Answers @p requester, now or when the value is put. */
enum kvs_result kvs_get(struct kvs *kvs, const struct ski_control *head, int requester);

/** Copies the head of a control record into @p head and checks it: it is of @p kind, names a
 * process of a job of @p processes and a terminated key, and its length is right.  Returns false if
 * not. */
bool kvs_decode(uint32_t kind, int processes, const char *data, size_t bytes,
                struct ski_control *head);

#endif
