/* SPDX-License-Identifier: Apache-2.0 */
/* kvs.c - see kvs.h.  A hash table with chaining; the number of buckets is a power of two and is
 * doubled when there are more entries than buckets. */
#include "protocol/kvs.h"

#include <string.h>

#include "base/assert.h"
#include "base/memory.h"

struct kvs_entry {
    struct kvs_entry  *next;
    struct ski_control head;      /* of the answer                     */
    char              *value;     /* NULL: not put yet                 */
    int               *requester; /* the requests that wait for it     */
    int                waiting;
};

struct kvs {
    struct kvs_entry **bucket;
    size_t             buckets, count, most;
    kvs_answer_fn     *answer;
    void              *arg;
};

struct kvs *kvs_create(size_t most, kvs_answer_fn *answer, void *arg)
{
    struct kvs *kvs = ski_calloc(1, sizeof *kvs);

    *kvs        = (struct kvs){.buckets = 64, .most = most, .answer = answer, .arg = arg};
    kvs->bucket = ski_calloc(kvs->buckets, sizeof(struct kvs_entry *));
    return kvs;
}

void kvs_destroy(struct kvs *kvs)
{
    for (size_t i = 0; i < kvs->buckets; i++)
        while (kvs->bucket[i]) {
            struct kvs_entry *gone = kvs->bucket[i];

            kvs->bucket[i] = gone->next;
            free(gone->value);
            free(gone->requester);
            free(gone);
        }
    free(kvs->bucket);
    free(kvs);
}

static struct kvs_entry **kvs_bucket(const struct kvs *kvs, const struct ski_control *head)
{
    uint32_t hash = (uint32_t)head->process * UINT32_C(0x9e3779b1);

    for (const char *c = head->key; *c; c++)
        hash = (hash ^ (unsigned char)*c) * UINT32_C(0x01000193);
    return &kvs->bucket[(hash ^ hash >> 15) & (kvs->buckets - 1)];
}

static void kvs_grow(struct kvs *kvs)
{
    struct kvs_entry **old = kvs->bucket;
    size_t             n   = kvs->buckets;

    kvs->buckets = 2 * n;
    kvs->bucket  = ski_calloc(kvs->buckets, sizeof(struct kvs_entry *));
    for (size_t i = 0; i < n; i++)
        for (struct kvs_entry *entry = old[i], *next; entry; entry = next) {
            struct kvs_entry **at = kvs_bucket(kvs, &entry->head);

            next        = entry->next;
            entry->next = *at;
            *at         = entry;
        }
    free(old);
}

/* Returns the entry of a key, added if it is new; NULL if the store is full. */
static struct kvs_entry *kvs_find_or_add(struct kvs *kvs, const struct ski_control *head)
{
    struct kvs_entry *entry = *kvs_bucket(kvs, head), **at;

    while (entry &&
           (entry->head.process != head->process || strcmp(entry->head.key, head->key) != 0))
        entry = entry->next;
    if (entry || kvs->count == kvs->most)
        return entry;
    if (++kvs->count > kvs->buckets)
        kvs_grow(kvs);
    entry            = ski_calloc(1, sizeof *entry);
    entry->head      = *head;
    entry->head.kind = SKI_CONTROL_VALUE;
    at               = kvs_bucket(kvs, head);
    entry->next      = *at;
    *at              = entry;
    ski_assert(kvs->count <= kvs->most && kvs->count <= kvs->buckets);
    return entry;
}

/* Makes an entry wait for the value of a later phase. */
static void kvs_entry_renew(struct kvs_entry *entry, uint32_t phase)
{
    free(entry->value);
    entry->value      = NULL;
    entry->head.phase = phase;
    entry->waiting    = 0; /* a request of the phase before has no receiver left */
}

bool kvs_put(struct kvs *kvs, const struct ski_control *head, const char *value)
{
    struct kvs_entry *entry = kvs_find_or_add(kvs, head);

    if (entry && head->phase > entry->head.phase)
        kvs_entry_renew(entry, head->phase);
    if (!entry || entry->value || head->phase < entry->head.phase)
        return false;
    entry->head.bytes = head->bytes;
    entry->value      = ski_malloc(head->bytes + 1); /* one byte more: never NULL */
    memcpy(entry->value, value, head->bytes);
    for (int i = 0; i < entry->waiting; i++)
        kvs->answer(kvs->arg, entry->requester[i], &entry->head, entry->value);
    free(entry->requester);
    entry->requester = NULL;
    entry->waiting   = 0;
    return true;
}

enum kvs_result kvs_get(struct kvs *kvs, const struct ski_control *head, int requester)
{
    struct kvs_entry *entry = kvs_find_or_add(kvs, head);

    if (!entry || head->phase < entry->head.phase)
        return KVS_FULL;
    if (head->phase > entry->head.phase)
        kvs_entry_renew(entry, head->phase);
    if (entry->value) {
        kvs->answer(kvs->arg, requester, &entry->head, entry->value);
        return KVS_ANSWERED;
    }
    if ((entry->waiting & (entry->waiting - 1)) ==
        0) /* the array is full: its size is 0 or a power of two */
        entry->requester =
            ski_realloc(entry->requester, (2 * (size_t)entry->waiting + 1) * sizeof(int));
    entry->requester[entry->waiting++] = requester;
    return entry->waiting == 1 ? KVS_FIRST : KVS_WAITING;
}

bool kvs_decode(uint32_t kind, int processes, const char *data, size_t bytes,
                struct ski_control *head)
{
    if (bytes < sizeof *head)
        return false;
    memcpy(head, data, sizeof *head);
    return head->kind == kind && head->bytes == bytes - sizeof *head &&
           head->bytes <= SKI_CONTROL_MAX && (kind != SKI_CONTROL_GET || head->bytes == 0) &&
           head->process >= 0 && head->process < processes && head->key[0] &&
           memchr(head->key, '\0', sizeof head->key);
}
