/* SPDX-License-Identifier: Apache-2.0 */
/* sort.c - the keys of the members of sort.ci, and the splitters of Main. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sort.ci.h"

/* ---- keys ------------------------------------------------------------------------ */

/* The finaliser of splitmix64 (Sebastiano Vigna). */
static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static checksum checksum_of(const uint64_t *keys, size_t count)
{
    checksum c = {count, 0, 1};

    for (size_t i = 0; i < count; i++) {
        c.sum += keys[i];
        c.product *= 2 * mix(keys[i]) + 1;
    }
    return c;
}

/* A key is the bitwise and of two random numbers, so small keys are frequent. */
void make_keys(Sorter *s)
{
    uint64_t x = mix(seed + (uint64_t)skua_pe());

    for (size_t i = 0; i < s->count; i++, x += UINT64_C(0x9e3779b97f4a7c15))
        s->keys[i] = mix(x) & mix(~x);
    s->before = checksum_of(s->keys, s->count);
    qsort(s->keys, s->count, sizeof *s->keys, compare);
}

/* Returns how many of the sorted keys are less than @p key. */
static size_t count_below(const Sorter *s, uint64_t key)
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

void first_guesses(Main *m)
{
    for (int i = 0; i < m->cuts; i++) {
        m->cut[i]   = (splitter){0, UINT64_MAX};
        m->guess[i] = UINT64_MAX / 2;
    }
}

void Sorter_on_probe(Sorter *s, int n, const uint64_t *guess)
{
    int64_t *counts = calloc((size_t)n + 1, sizeof *counts);

    for (int i = 0; i < n; i++)
        counts[i] = (int64_t)count_below(s, guess[i]);
    skua_contribute(s, SKUA_SUM, SKUA_INT64, counts, (size_t)n, Main_histogram_done(main_proxy));
    free(counts);
}

/* Returns true if a guess with @p error keys too many below it is good enough; otherwise improves
 * it. */
static bool refine(splitter *cut, uint64_t *guess, int64_t error)
{
    int64_t allowed = (int64_t)(keys_each / 100);

    if (llabs(error) <= allowed || cut->high - cut->low <= 1)
        return true;
    if (error > 0)
        cut->high = *guess;
    else
        cut->low = *guess;
    *guess = cut->low + (cut->high - cut->low) / 2;
    return false;
}

bool better_guesses(Main *m, const int64_t *counts)
{
    bool found = true;

    for (int i = 0; i < m->cuts; i++)
        found &= refine(&m->cut[i], &m->guess[i], counts[i] - (i + 1) * (int64_t)keys_each);
    return found;
}

/* ---- exchange ------------------------------------------------------------------------ */

/* Sends each member the keys between two splitters: one message, even if there are none. */
void send_parts(Sorter *s, int n, const uint64_t *splitters)
{
    size_t from = 0, to;

    for (int pe = 0; pe <= n; pe++, from = to) {
        to = pe < n ? count_below(s, splitters[pe]) : s->count;
        Sorter_part(Sorter_at(Sorter_of(s), pe), (int)(to - from), s->keys + from);
    }
}

void receive_part(Sorter *s, int count, const uint64_t *keys)
{
    s->parts = realloc(s->parts, (s->received + (size_t)count + 1) * sizeof *keys);
    memcpy(s->parts + s->received, keys, (size_t)count * sizeof *keys);
    s->received += (size_t)count;
}

static bool is_sorted(const uint64_t *keys, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (keys[i - 1] > keys[i])
            return false;
    return true;
}

void contribute_share(Sorter *s)
{
    share mine = {.pe = skua_pe(), .before = s->before};

    qsort(s->parts, s->received, sizeof *s->parts, compare);
    mine.sorted = is_sorted(s->parts, s->received);
    mine.now    = checksum_of(s->parts, s->received);
    if (s->received > 0) {
        mine.first = s->parts[0];
        mine.last  = s->parts[s->received - 1];
    }
    skua_contribute(s, SKUA_CONCAT, SKUA_BYTE, &mine, sizeof mine, Main_finished_done(main_proxy));
}

/* ---- check and report ----------------------------------------------------------------------- */

static int compare_shares(const void *a, const void *b)
{
    return ((const share *)a)->pe - ((const share *)b)->pe;
}

static void add_checksum(checksum *to, const checksum *from)
{
    to->count += from->count;
    to->sum += from->sum;
    to->product *= from->product;
}

/* Returns true if the shares, ordered by PE, are one sorted sequence of the original keys. */
static bool is_correct(const share *shares, int n, uint64_t *largest)
{
    checksum before = {0, 0, 1}, now = {0, 0, 1};
    uint64_t last  = 0;
    bool     right = n == skua_pes();

    for (const share *s = shares; s < shares + n; s++) {
        right &= s->sorted && (s->now.count == 0 || s->first >= last);
        last     = s->now.count ? s->last : last;
        *largest = s->now.count > *largest ? s->now.count : *largest;
        add_checksum(&before, &s->before);
        add_checksum(&now, &s->now);
    }
    return right && before.count == now.count && before.sum == now.sum &&
           before.product == now.product;
}

/* The shares arrive in any order. */
void report(const Main *m, int n, const share *shares)
{
    double   seconds = skua_time() - m->started;
    share   *by_pe   = malloc((size_t)n * sizeof *by_pe);
    uint64_t largest = 0;
    bool     right;

    memcpy(by_pe, shares, (size_t)n * sizeof *by_pe);
    qsort(by_pe, (size_t)n, sizeof *by_pe, compare_shares);
    right = is_correct(by_pe, n, &largest);
    printf("%zu keys on %d PEs in %.3f s: %d histograms, largest share %.3f of the mean, %s\n",
           keys_each * (size_t)skua_pes(), skua_pes(), seconds, m->rounds,
           (double)largest / (double)keys_each, right ? "sorted" : "WRONG");
    free(by_pe);
    skua_exit(right ? 0 : 1);
}

bool read_options(int argc, char **argv)
{
    if (argc > 1)
        keys_each = strtoul(argv[1], NULL, 10);
    if (argc > 2)
        seed = strtoul(argv[2], NULL, 10);
    if (argc <= 3 && keys_each >= 1 && keys_each <= 1000000000)
        return true;
    fprintf(stderr, "usage: sort [keys per PE] [seed]\n");
    skua_exit(2);
    return false;
}
