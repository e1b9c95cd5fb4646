/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sort.c - histogram sort of keys that are distributed over all PEs, by a group.
 *
 * Every member generates keys and sorts them.  Member 0 searches for *splitters*, keys that divide
 * all keys into equal shares: it broadcasts guesses, a reduction counts the keys below each guess,
 * and bisection continues until every share is within one percent.  Then each member sends every
 * other the keys of its share, all sort the received keys, and checksums compare them with the
 * original keys.
 *
 * usage: sort [keys per PE] [seed]
 */
#include <skua/skua.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sort_splitter {
    uint64_t low, high; /* bounds of the splitter */
    uint64_t key;       /* the guess */
};

/* A checksum of keys that does not depend on their order. */
struct sort_checksum {
    uint64_t count, sum, product;
};

/* The result of a member. */
struct sort_share {
    int32_t              pe, sorted;
    uint64_t             first, last;
    struct sort_checksum before, now;
};

struct sorter {
    uint64_t            *keys;
    size_t               count;
    struct sort_checksum before;
    skua_msg           **parts;    /* the keys of this member's share, by sender */
    int                  received; /* number of parts received */

    /* Members that only member 0 uses. */
    struct sort_splitter *splitter;
    int                   rounds;
    double                started;
};

static skua_collection sorters; /* read-only */
static size_t          keys_each = 100000;
static uint64_t        seed      = 1;

static skua_class sorter_class;
static skua_entry histogram_entry, probe_entry, exchange_entry, part_entry, finish_entry;

/* ---- keys ------------------------------------------------------------------------ */

/* The finaliser of splitmix64 (Sebastiano Vigna). */
static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* A key is the bitwise and of two random numbers, so small keys are frequent. */
static void make_keys(uint64_t *keys, size_t count)
{
    uint64_t x = mix(seed + (uint64_t)skua_pe());

    for (size_t i = 0; i < count; i++, x += UINT64_C(0x9e3779b97f4a7c15))
        keys[i] = mix(x) & mix(~x);
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static struct sort_checksum checksum_of(const uint64_t *keys, size_t count)
{
    struct sort_checksum checksum = {count, 0, 1};

    for (size_t i = 0; i < count; i++) {
        checksum.sum += keys[i];
        checksum.product *= 2 * mix(keys[i]) + 1;
    }
    return checksum;
}

/* Returns how many of the sorted keys are less than @p key. */
static size_t count_below(const struct sorter *s, uint64_t key)
{
    size_t low = 0, high = s->count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (s->keys[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- splitters --------------------------------------------------------------------- */

/* Broadcasts the guesses or, if all are good enough, the splitters. */
static void send_guesses(struct sorter *s, bool found)
{
    size_t    count = (size_t)skua_pes() - 1;
    uint64_t *keys  = malloc((count + 1) * sizeof *keys);

    for (size_t i = 0; i < count; i++)
        keys[i] = s->splitter[i].key;
    skua_invoke_all(sorters, found ? exchange_entry : probe_entry, keys, count * sizeof *keys);
    free(keys);
}

/* Runs on all members: contributes the number of keys below each guess. */
static void on_probe(void *self, const void *data, size_t bytes)
{
    const uint64_t *guess  = data;
    size_t          count  = bytes / sizeof *guess;
    int64_t        *counts = calloc(count + 1, sizeof *counts);

    for (size_t i = 0; i < count; i++)
        counts[i] = (int64_t)count_below(self, guess[i]);
    skua_contribute(self, SKUA_SUM, SKUA_INT64, counts, count,
                    skua_done_invoke(skua_member(sorters, 0), histogram_entry));
    free(counts);
}

/* Returns true if a guess with @p error keys too many below it is good enough; otherwise improves
 * it. */
static bool refine(struct sort_splitter *splitter, int64_t error)
{
    int64_t allowed = (int64_t)(keys_each / 100);

    if (llabs(error) <= allowed || splitter->high - splitter->low <= 1)
        return true;
    if (error > 0)
        splitter->high = splitter->key;
    else
        splitter->low = splitter->key;
    splitter->key = splitter->low + (splitter->high - splitter->low) / 2;
    return false;
}

/* Runs on member 0 with the total number of keys below each guess. */
static void on_histogram(void *self, const void *data, size_t bytes)
{
    struct sorter *s      = self;
    const int64_t *counts = data;
    bool           found  = true;

    s->rounds++;
    for (size_t i = 0; i < bytes / sizeof *counts; i++)
        found &= refine(&s->splitter[i], counts[i] - (int64_t)((i + 1) * keys_each));
    send_guesses(s, found);
}

/* ---- exchange ------------------------------------------------------------------------ */

/* Sends each member the keys between two splitters: one message, even if there are none. */
static void on_exchange(void *self, const void *data, size_t bytes)
{
    struct sorter  *s        = self;
    const uint64_t *splitter = data;
    int             pes      = skua_pes();
    size_t          from     = 0, to;

    (void)bytes;
    for (int pe = 0; pe < pes; pe++, from = to) {
        skua_msg *msg;

        to  = pe + 1 < pes ? count_below(s, splitter[pe]) : s->count;
        msg = skua_msg_alloc((to - from) * sizeof *s->keys);
        memcpy(skua_msg_data(msg), s->keys + from, (to - from) * sizeof *s->keys);
        skua_invoke(skua_member(sorters, pe), part_entry, msg);
    }
}

/* Replaces the keys of this member by the received ones. */
static void merge_parts(struct sorter *s)
{
    size_t bytes = 0, at = 0;

    for (int pe = 0; pe < skua_pes(); pe++)
        bytes += skua_msg_size(s->parts[pe]);
    s->count = bytes / sizeof *s->keys;
    s->keys  = realloc(s->keys, bytes + 1);
    for (int pe = 0; pe < skua_pes(); pe++) {
        memcpy((char *)s->keys + at, skua_msg_data(s->parts[pe]), skua_msg_size(s->parts[pe]));
        at += skua_msg_size(s->parts[pe]);
        skua_msg_free(s->parts[pe]);
    }
    qsort(s->keys, s->count, sizeof *s->keys, compare);
}

static bool is_sorted(const struct sorter *s)
{
    for (size_t i = 1; i < s->count; i++)
        if (s->keys[i - 1] > s->keys[i])
            return false;
    return true;
}

/* A member's part for itself arrives after all of its keys have been sent. */
static void on_part(void *self, skua_msg *msg)
{
    struct sorter    *s     = self;
    struct sort_share share = {.pe = skua_pe(), .before = s->before};

    s->parts[s->received++] = msg;
    if (s->received < skua_pes())
        return;
    merge_parts(s);
    share.sorted = is_sorted(s);
    share.now    = checksum_of(s->keys, s->count);
    if (s->count > 0) {
        share.first = s->keys[0];
        share.last  = s->keys[s->count - 1];
    }
    skua_contribute(self, SKUA_CONCAT, SKUA_BYTE, &share, sizeof share,
                    skua_done_invoke(skua_member(sorters, 0), finish_entry));
}

/* ---- check and report ----------------------------------------------------------------------- */

static int compare_shares(const void *a, const void *b)
{
    return ((const struct sort_share *)a)->pe - ((const struct sort_share *)b)->pe;
}

static void add_checksum(struct sort_checksum *to, const struct sort_checksum *from)
{
    to->count += from->count;
    to->sum += from->sum;
    to->product *= from->product;
}

/* Returns true if the shares, ordered by PE, are one sorted sequence of the original keys. */
static bool is_correct(const struct sort_share *share, size_t count, uint64_t *largest)
{
    struct sort_checksum before = {0, 0, 1}, now = {0, 0, 1};
    uint64_t             last  = 0;
    bool                 right = count == (size_t)skua_pes();

    for (size_t i = 0; i < count; i++) {
        right &= share[i].sorted && (share[i].now.count == 0 || share[i].first >= last);
        last     = share[i].now.count ? share[i].last : last;
        *largest = share[i].now.count > *largest ? share[i].now.count : *largest;
        add_checksum(&before, &share[i].before);
        add_checksum(&now, &share[i].now);
    }
    return right && before.count == now.count && before.sum == now.sum &&
           before.product == now.product;
}

/* Runs on member 0 for the share of each member; shares arrive in any order. */
static void on_finish(void *self, const void *data, size_t bytes)
{
    struct sorter     *s       = self;
    double             seconds = skua_time() - s->started;
    struct sort_share *share   = malloc(bytes);
    uint64_t           largest = 0;
    bool               right;

    memcpy(share, data, bytes);
    qsort(share, bytes / sizeof *share, sizeof *share, compare_shares);
    right = is_correct(share, bytes / sizeof *share, &largest);
    printf("%zu keys on %d PEs in %.3f s: %d histograms, largest share %.3f of the mean, %s\n",
           keys_each * (size_t)skua_pes(), skua_pes(), seconds, s->rounds,
           (double)largest / (double)keys_each, right ? "sorted" : "WRONG");
    free(share);
    skua_exit(right ? 0 : 1);
}

/* ---- creation and deletion ------------------------------------------------------------------ */

static void construct(void *self, const void *data, size_t bytes)
{
    struct sorter *s   = self;
    int            pes = skua_pes();

    (void)data, (void)bytes;
    s->started = skua_time();
    s->count   = keys_each;
    s->keys    = malloc(keys_each * sizeof *s->keys);
    s->parts   = malloc((size_t)pes * sizeof *s->parts);
    make_keys(s->keys, keys_each);
    s->before = checksum_of(s->keys, keys_each);
    qsort(s->keys, s->count, sizeof *s->keys, compare);
    if (skua_pe() != 0)
        return;
    s->splitter = calloc((size_t)pes, sizeof *s->splitter);
    for (int i = 0; i < pes; i++)
        s->splitter[i] = (struct sort_splitter){0, UINT64_MAX, UINT64_MAX / 2};
    send_guesses(s, false);
}

static void destroy(void *self)
{
    struct sorter *s = self;

    free(s->keys);
    free(s->parts);
    free(s->splitter);
}

static void begin(int argc, char **argv) /* runs on PE 0 */
{
    if (argc > 1)
        keys_each = strtoul(argv[1], NULL, 10);
    if (argc > 2)
        seed = strtoul(argv[2], NULL, 10);
    if (argc > 3 || keys_each < 1 || keys_each > 1000000000) {
        fprintf(stderr, "usage: sort [keys per PE] [seed]\n");
        skua_exit(2);
        return;
    }
    sorters = skua_group_create(sorter_class, NULL, 0);
}

int main(int argc, char **argv)
{
    sorter_class    = skua_class_register(&(skua_class_def){.name      = "sorter",
                                                            .bytes     = sizeof(struct sorter),
                                                            .construct = construct,
                                                            .destroy   = destroy});
    probe_entry     = skua_method_register(sorter_class, "probe", on_probe, 0);
    histogram_entry = skua_method_register(sorter_class, "histogram", on_histogram, 0);
    exchange_entry  = skua_method_register(sorter_class, "exchange", on_exchange, 0);
    part_entry      = skua_entry_register(sorter_class, "part", on_part, 0);
    finish_entry    = skua_method_register(sorter_class, "finish", on_finish, 0);
    skua_readonly_register("sorters", &sorters, sizeof sorters);
    skua_readonly_register("keys_each", &keys_each, sizeof keys_each);
    skua_readonly_register("seed", &seed, sizeof seed);
    return skua_program(argc, argv, begin);
}
