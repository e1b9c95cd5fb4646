/* SPDX-License-Identifier: Apache-2.0 */
/*
 * regions.c - repeated creation and freeing of regions, by all and by some PEs; addresses in them;
 * misuse, which must change nothing; and progress without the target.
 *
 * The settings determine what is expected.  Run it with log_level=fatal, since it provokes errors,
 * and with a small arena, which a leak would fill.
 *
 * usage: regions [times]
 */
#include <pthread.h>
#include <sched.h>
#include <skua/skua.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tap.h"
#include "waits.h"

#define PES   64
#define BYTES 1024 /* bytes of memory for attempts at misuse */
#define BLOCK 256  /* bytes that are put to a busy PE        */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED true
#endif
#endif
#ifndef SANITIZED
#define SANITIZED false
#endif
#if defined(__SANITIZE_THREAD__)
#define SEES_STALE_READS true
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SEES_STALE_READS true
#endif
#endif
#ifndef SEES_STALE_READS
#define SEES_STALE_READS false
#endif

static skua_pe_data state_key;
static skua_handler nothing;
static size_t       times = 20000;

struct state {          /* the state of a PE */
    skua_region shared; /* struct shared, symmetric */
};

/* A message with a region. */
struct shared {
    skua_region      region;
    const void      *memory;
    int64_t          pid;
    _Atomic uint64_t released, finished;
    uint64_t         numbers, sum;
    unsigned char    block[PES][BLOCK];
};

static struct state *self(void)
{
    return skua_pe_data_get(state_key);
}

static struct shared *mine(void)
{
    return skua_region_local(self()->shared);
}

static skua_gaddr shared_at(int pe, size_t offset)
{
    return skua_at(self()->shared, pe, offset);
}

static bool is_set(const char *setting)
{
    const char *value = getenv(setting);
    return value && strcmp(value, "1") == 0;
}

static bool is_cleared(const char *setting)
{
    const char *value = getenv(setting);
    return value && strcmp(value, "0") == 0;
}

/* Sends a region to all PEs and returns that of @p pe. */
static skua_region exchange(skua_region region, int pe)
{
    skua_region theirs;

    mine()->region = region;
    skua_sync();
    CHECK(skua_get(&theirs, shared_at(pe, offsetof(struct shared, region)), sizeof theirs) ==
          SKUA_OK);
    skua_sync();
    return theirs;
}

/* ---- again and again -------------------------------------------------------------- */

static long resident_pages(void)
{
    FILE *statm = fopen("/proc/self/statm", "r");
    long  all = 0, resident = 0;

    CHECK(statm && fscanf(statm, "%ld %ld", &all, &resident) == 2);
    fclose(statm);
    return resident;
}

/* Returns sizes around those at which the layout changes. */
static size_t size_for(size_t i)
{
    static const size_t sizes[] = {1, 64, 100, 4095, 4096, 5000, 16384};
    return sizes[i % (sizeof sizes / sizeof *sizes)];
}

static void create_and_free(size_t i)
{
    skua_region region;
    size_t      bytes = size_for(i);
    char       *piece;
    int         next = (skua_pe() + 1) % skua_pes();
    char        sent = (char)i;

    CHECK(skua_region_create(bytes, &region) == SKUA_OK && region.id != 0);
    CHECK(skua_region_size(region) == bytes);
    piece = skua_region_local(region);
    CHECK((uintptr_t)piece % 64 == 0);
    CHECK(skua_put(skua_at(region, next, bytes - 1), &sent, 1) == SKUA_OK);
    CHECK(skua_region_destroy(region) == SKUA_OK);
}

static void alloc_and_free(size_t i)
{
    skua_region region;
    size_t      bytes = size_for(i);

    CHECK(skua_region_create_local(bytes, &region) == SKUA_OK);
    memset(skua_region_local(region), (int)i, bytes);
    CHECK(skua_region_destroy(region) == SKUA_OK);
    CHECK(skua_region_size(region) == 0 && !skua_region_local(region));
}

static void register_and_free(size_t i)
{
    char        memory[64];
    skua_region region;

    CHECK(skua_region_create_from(memory + i % 8, 16, &region) == SKUA_OK);
    CHECK(skua_region_local(region) == memory + i % 8);
    CHECK(skua_region_destroy(region) == SKUA_OK);
}

/* Limits how far a PE gets ahead, since regions that others have not freed yet occupy memory. */
static void repeat(void (*what)(size_t), size_t n)
{
    for (size_t i = 0; i < n; i++) {
        what(i);
        if (i % 64 == 63)
            skua_sync();
    }
    skua_sync();
}

static void test_churn(void (*what)(size_t))
{
    long before, after;

    repeat(what, times / 20);
    before = resident_pages();
    repeat(what, times);
    after = resident_pages();
    if (!SANITIZED) /* whose own memory grows */
        CHECK((after - before) * sysconf(_SC_PAGESIZE) < 16 << 20);
}

/* Several external threads of a process and the PE, concurrently. */
static void *churn_outside(void *arg)
{
    size_t n      = *(size_t *)arg;
    char  *memory = malloc(4096);

    for (size_t i = 0; i < n; i++) {
        skua_region allocated, registered, again;

        CHECK(skua_region_create_local(size_for(i), &allocated) == SKUA_OK);
        CHECK(skua_region_create_from(memory, 4096, &registered) == SKUA_OK);
        CHECK(skua_region_create_from(memory, 4096, &again) == SKUA_OK);
        CHECK(registered.id == again.id && registered.id != allocated.id);
        CHECK(skua_region_destroy(registered) == SKUA_OK);
        CHECK(skua_region_destroy(again) == SKUA_OK);
        CHECK(skua_region_destroy(allocated) == SKUA_OK);
    }
    free(memory);
    return NULL;
}

static void test_churn_outside(void)
{
    size_t    n = times / 20 + 10;
    pthread_t thread[2];

    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&thread[i], NULL, churn_outside, &n) == 0);
    churn_outside(&n);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(thread[i], NULL) == 0);
    skua_sync();
}

/* ---- ids --------------------------------------------------------------------------- */

static bool has_no_size(void *region)
{
    return skua_region_size(*(skua_region *)region) == 0;
}

static void check_gone(skua_region region)
{
    char byte = 1;

    /* The memory of a region over several hosts is freed when all members have reported. */
    if (!tap_all_near())
        skua_run_until(has_no_size, &region);

    CHECK(skua_put(skua_at(region, skua_pe(), 0), &byte, 1) == SKUA_ERR_REGION);
    CHECK(skua_get(&byte, skua_at(region, skua_pe(), 0), 1) == SKUA_ERR_REGION);
    CHECK(skua_add32(skua_at(region, skua_pe(), 0), 1) == SKUA_ERR_REGION);
    CHECK(skua_notify_add(skua_at(region, skua_pe(), 0), 1) == SKUA_ERR_REGION);
    CHECK(skua_region_destroy(region) == SKUA_ERR_REGION);
    CHECK(skua_region_size(region) == 0);
    CHECK(!skua_region_local(region) && !skua_gaddr_local(skua_at(region, skua_pe(), 0)));
}

static void test_ids(void)
{
    enum { N = 100 };
    skua_region region[N], later;

    for (int i = 0; i < N; i++) {
        CHECK(skua_region_create_local(64, &region[i]) == SKUA_OK);
        for (int k = 0; k < i; k++)
            CHECK(region[k].id != region[i].id);
    }
    for (int i = 0; i < N; i++)
        CHECK(skua_region_destroy(region[i]) == SKUA_OK);
    for (int i = 0; i < 3 * N; i++) { /* slots are reused, ids are not */
        CHECK(skua_region_create_local(64, &later) == SKUA_OK);
        if (!SEES_STALE_READS) /* ids of a slot that another PE now uses */
            check_gone(region[i % N]);
        CHECK(skua_region_destroy(later) == SKUA_OK);
    }
    check_gone((skua_region){0});
    check_gone((skua_region){UINT32_MAX});
    skua_sync();
}

/* ---- subsets ------------------------------------------------------------------------ */

/* The members write into each other's pieces; other PEs have none. */
static void use_subset(const int *pes, int n, skua_region region)
{
    int   rank = 0;
    char *piece;

    while (pes[rank] != skua_pe())
        rank++;
    for (int i = 0; i < n; i++)
        CHECK(skua_put(skua_at(region, pes[i], 4 * (uint64_t)rank), &(int32_t){rank + 1}, 4) ==
              SKUA_OK);
    for (int pe = -1, i = 0; pe <= skua_pes(); pe++) {
        if (i < n && pes[i] == pe)
            i++;
        else
            CHECK(skua_put(skua_at(region, pe, 0), &i, 4) == SKUA_ERR_RANGE);
    }
    piece = skua_region_local(region);
    CHECK(piece && skua_gaddr_local(skua_at(region, skua_pe(), 3)) == piece + 3);
}

static void check_subset(int n, skua_region region)
{
    const int32_t *rank = skua_region_local(region);

    for (int i = 0; i < n; i++)
        CHECK(rank[i] == i + 1);
}

/* PEs first, first + step, ..., n of them; called by all, used by these. */
static void test_subset(int first, int step, int n)
{
    int         pes[PES];
    bool        member = false;
    skua_region region[3];

    for (int i = 0; i < n; i++) {
        pes[i] = first + i * step;
        member |= pes[i] == skua_pe();
    }
    for (int i = 0; i < 3 && member; i++) {
        CHECK(skua_region_create_on(pes, n, 4 * (size_t)n, &region[i]) == SKUA_OK);
        use_subset(pes, n, region[i]);
        for (int k = 0; k < i; k++)
            CHECK(region[i].id != region[k].id);
    }
    skua_sync();
    for (int i = 0; i < 3 && member; i++) {
        check_subset(n, region[i]);
        CHECK(skua_region_destroy(region[i]) == SKUA_OK);
    }
}

/* Both halves and all PEs, concurrently and repeatedly, without a barrier. */
static void test_halves(void)
{
    int         half = (skua_pes() + 1) / 2, low = skua_pe() < half, pes[PES], n = 0;
    skua_region region[20], whole[20];

    for (int pe = low ? 0 : half; pe < (low ? half : skua_pes()); pe++)
        pes[n++] = pe;
    for (int i = 0; i < 20; i++) {
        CHECK(skua_region_create_on(pes, n, 4 * (size_t)n, &region[i]) == SKUA_OK);
        use_subset(pes, n, region[i]);
        CHECK(skua_region_create((size_t)i * 100, &whole[i]) == SKUA_OK);
    }
    skua_sync();
    for (int i = 0; i < 20; i++) {
        CHECK(exchange(whole[i], 0).id == whole[i].id);
        CHECK((exchange(region[i], 0).id == region[i].id) == low);
        check_subset(n, region[i]);
        CHECK(skua_region_destroy(region[i]) == SKUA_OK);
        CHECK(skua_region_destroy(whole[i]) == SKUA_OK);
    }
    skua_sync();
}

static void test_wrong_lists(void)
{
    int         me = skua_pe(), n = skua_pes();
    skua_region region = {4711};

    CHECK(skua_region_create_on((int[]){me, me}, 2, 8, &region) == SKUA_ERR_INVAL);
    CHECK(skua_region_create_on((int[]){-1, me}, 2, 8, &region) == SKUA_ERR_INVAL);
    CHECK(skua_region_create_on((int[]){me, n}, 2, 8, &region) == SKUA_ERR_INVAL);
    CHECK(skua_region_create_on(&me, 0, 8, &region) == SKUA_ERR_INVAL);
    CHECK(skua_region_create_on(&me, -1, 8, &region) == SKUA_ERR_INVAL);
    if (n > 1) {
        int other = (me + 1) % n;
        CHECK(skua_region_create_on(&other, 1, 8, &region) == SKUA_ERR_INVAL);
        CHECK(skua_region_create_on((int[]){me > other ? me : other, me > other ? other : me}, 2, 8,
                                    &region) == SKUA_ERR_INVAL);
    }
    CHECK(skua_region_create_local(SIZE_MAX, &region) == SKUA_ERR_NOMEM);
    CHECK(skua_region_create_local(SIZE_MAX / 2, &region) == SKUA_ERR_NOMEM);
    CHECK(region.id == 4711);
    skua_sync();
}

static void test_subsets(void)
{
    int n = skua_pes();

    test_subset(0, 1, n);
    test_subset(0, 2, (n + 1) / 2); /* even ones */
    test_subset(n - 1, 1, 1);       /* one       */
    if (n > 1)
        test_subset(1, 2, n / 2); /* odd ones   */
    if (n > 2) {
        test_subset(1, 1, 2);     /* neighbours */
        test_subset(0, n - 1, 2); /* the ends   */
    }
    if (n > 1)
        test_halves();
    test_wrong_lists();
}

/* ---- registered memory ---------------------------------------------------------------- */

static void test_register(void)
{
    char       *memory = malloc(256);
    skua_region once, twice, part;

    CHECK(skua_region_create_from(memory, 256, &once) == SKUA_OK);
    CHECK(skua_region_create_from(memory, 256, &twice) == SKUA_OK && twice.id == once.id);
    CHECK(skua_region_create_from(memory, 128, &part) == SKUA_OK && part.id != once.id);
    CHECK(skua_region_destroy(once) == SKUA_OK);
    CHECK(skua_put(skua_at(once, skua_pe(), 0), "still", 5) == SKUA_OK);
    CHECK(skua_region_destroy(once) == SKUA_OK);
    check_gone(once);
    CHECK(skua_put(skua_at(part, skua_pe(), 0), "there", 5) == SKUA_OK);
    CHECK(memcmp(memory, "there", 5) == 0);
    CHECK(skua_region_destroy(part) == SKUA_OK);
    check_gone(part);
    CHECK(skua_region_create_from(memory, 256, &twice) == SKUA_OK && twice.id != once.id);
    check_gone(once);
    CHECK(skua_region_destroy(twice) == SKUA_OK);
    free(memory);
    skua_sync();
}

/* Memory of another PE cannot be freed. */
static void test_others(void)
{
    char        memory[64];
    skua_region own, theirs;
    int         other = (skua_pe() + 1) % skua_pes();

    CHECK(skua_region_create_from(memory, sizeof memory, &own) == SKUA_OK);
    theirs = exchange(own, other);
    if (other != skua_pe()) {
        CHECK(skua_region_destroy(theirs) == SKUA_ERR_REGION);
        CHECK(!skua_region_local(theirs));
        CHECK(skua_region_size(theirs) == (skua_shares_memory(other) ? sizeof memory : 0));
        CHECK(!skua_gaddr_local(skua_at(theirs, other, 0)) ==
              (skua_process_of(other) != skua_process()));
    }
    skua_sync();
    CHECK(skua_region_destroy(own) == SKUA_OK);
}

/* A PE that frees its piece of a region twice does not free that of another PE. */
static void test_free_twice(void)
{
    skua_region region;

    CHECK(skua_region_create(64, &region) == SKUA_OK);
    CHECK(skua_region_destroy(region) == SKUA_OK);
    CHECK(skua_region_destroy(region) == SKUA_ERR_REGION);
    skua_sync();
    check_gone(region);
    skua_sync();
}

/* An operation in flight keeps the memory registered. */
static void test_busy(void)
{
    char        memory[64] = "before";
    skua_region region;
    skua_status status;

    CHECK(skua_region_create_from(memory, sizeof memory, &region) == SKUA_OK);
    status = skua_put_nb(skua_at(region, skua_pe(), 0), "after", 6, NULL);
    CHECK(status == (is_cleared("SKUA_DIRECT") ? SKUA_PENDING : SKUA_OK));
    if (status == SKUA_PENDING) {
        CHECK(skua_region_destroy(region) == SKUA_ERR_BUSY);
        CHECK(skua_region_destroy(region) == SKUA_ERR_BUSY);
        skua_flush_region(region);
    }
    CHECK(strcmp(memory, "after") == 0);
    CHECK(skua_region_destroy(region) == SKUA_OK);
    check_gone(region);
    skua_sync();
}

/* ---- addresses ------------------------------------------------------------------------- */

static void test_addresses(void)
{
    int         next = (skua_pe() + 1) % skua_pes();
    skua_region region;
    skua_gaddr  a, b, none = {0};

    CHECK(skua_region_create(100, &region) == SKUA_OK);
    a = skua_at(region, next, 40);
    b = skua_gaddr_add(a, 24);
    CHECK(b.offset == 64 && b.pe == next && b.region.id == region.id);
    CHECK(skua_gaddr_diff(b, a) == 24 && skua_gaddr_diff(a, b) == -24);
    CHECK(skua_gaddr_equal(skua_gaddr_add(b, -24), a) && !skua_gaddr_equal(a, b));
    CHECK(!skua_gaddr_equal(a, skua_at(region, next + 1, 40)));
    CHECK(skua_gaddr_is_none(none) && !skua_gaddr_is_none(a));
    CHECK(skua_gaddr_local(skua_at(region, skua_pe(), 40)) ==
          (char *)skua_region_local(region) + 40);
    CHECK(!skua_gaddr_local(a) == !skua_shares_memory(next));
    CHECK((char *)skua_gaddr_local(b) - (char *)skua_gaddr_local(a) ==
          (skua_shares_memory(next) ? 24 : 0));
    CHECK(!skua_gaddr_local(skua_at(region, next, 101)) &&
          !skua_gaddr_local(skua_gaddr_add(a, -41)));
    CHECK(!skua_gaddr_local(skua_at(region, skua_pes(), 0)) &&
          !skua_gaddr_local(skua_at(region, -1, 0)));
    CHECK(!skua_gaddr_local(none));
    skua_sync();
    if (skua_shares_memory(next))
        *(char *)skua_gaddr_local(a) =
            (char)(skua_pe() + 1); /* a plain store into the piece of the next PE */
    else
        CHECK(skua_put(a, &(char){(char)(skua_pe() + 1)}, 1) == SKUA_OK);
    skua_sync();
    CHECK(((char *)skua_region_local(region))[40] == (skua_pe() + skua_pes() - 1) % skua_pes() + 1);
    skua_sync();
    CHECK(skua_region_destroy(region) == SKUA_OK);
}

/* ---- misuse -------------------------------------------------------------------------- */

/* The memory on which misuse is attempted. */
struct victim {
    skua_region region;
    int         pe;
};

static unsigned char pattern(size_t i)
{
    return (unsigned char)(i * 7 + 3);
}

static bool is_unchanged(struct victim v)
{
    unsigned char piece[BYTES];

    CHECK(skua_get(piece, skua_at(v.region, v.pe, 0), BYTES) == SKUA_OK);
    for (size_t i = 0; i < BYTES; i++)
        if (piece[i] != pattern(i))
            return false;
    return true;
}

#define REFUSED(expected, call)                                                                    \
    do {                                                                                           \
        CHECK((call) == (expected));                                                               \
        CHECK(is_unchanged(v));                                                                    \
    } while (0)

static _Thread_local unsigned char
    junk[BYTES]; /* data that must not arrive; per PE, which may be a thread */

static void wrong_places(struct victim v)
{
    skua_gaddr      end = skua_at(v.region, v.pe, BYTES), at = skua_at(v.region, v.pe, 0);
    skua_gaddr      nowhere = skua_at((skua_region){0}, v.pe, 0);
    uint64_t        old     = 4711;
    skua_handle     handle  = SKUA_HANDLE_INIT;
    skua_rma_params ends    = {.handle = &handle};

    REFUSED(SKUA_ERR_RANGE, skua_put(end, junk, 1));
    REFUSED(SKUA_ERR_RANGE, skua_put(skua_gaddr_add(end, -4), junk, 5));
    REFUSED(SKUA_ERR_RANGE, skua_put(skua_gaddr_add(at, -1), junk, 8));
    REFUSED(SKUA_ERR_RANGE, skua_put(skua_at(v.region, v.pe, UINT64_MAX - 3), junk, 8));
    REFUSED(SKUA_ERR_RANGE, skua_put(at, junk, SIZE_MAX));
    REFUSED(SKUA_ERR_RANGE, skua_put(skua_gaddr_add(at, 8), junk, SIZE_MAX - 7));
    REFUSED(SKUA_ERR_RANGE, skua_put(skua_gaddr_add(at, 8), junk, PTRDIFF_MAX));
    REFUSED(SKUA_ERR_RANGE, skua_put_nb(end, junk, 1, &ends));
    REFUSED(SKUA_ERR_RANGE, skua_get(junk, skua_gaddr_add(end, -4), 8));
    REFUSED(SKUA_ERR_RANGE, skua_put(skua_at(v.region, skua_pes(), 0), junk, 8));
    REFUSED(SKUA_ERR_RANGE, skua_put(skua_at(v.region, -1, 0), junk, 8));
    REFUSED(SKUA_ERR_RANGE, skua_put(skua_at(v.region, INT32_MIN, 0), junk, 8));
    REFUSED(SKUA_ERR_RANGE, skua_add64(skua_gaddr_add(end, -4), 1));
    REFUSED(SKUA_ERR_RANGE, skua_add64(skua_at(v.region, skua_pes(), 0), 1));
    REFUSED(SKUA_ERR_REGION, skua_put(nowhere, junk, 8));
    REFUSED(SKUA_ERR_REGION, skua_fetch_add64(nowhere, 1, &old));
    REFUSED(SKUA_ERR_REGION, skua_notify_add(nowhere, 1));
    CHECK(old == 4711 && handle.pending == 0);
}

static void wrong_alignment(struct victim v)
{
    uint64_t old64 = 4711;
    uint32_t old32 = 4711;

    for (ptrdiff_t i = 1; i < 8; i++) {
        skua_gaddr odd = skua_at(v.region, v.pe, (uint64_t)i);

        REFUSED(SKUA_ERR_ALIGN, skua_fetch_add64(odd, 1, &old64));
        REFUSED(SKUA_ERR_ALIGN, skua_swap64(odd, 1, &old64));
        REFUSED(SKUA_ERR_ALIGN, skua_compare_swap64(odd, old64, 1, &old64));
        REFUSED(SKUA_ERR_ALIGN, skua_load64(odd, &old64));
        REFUSED(SKUA_ERR_ALIGN, skua_store64(odd, 1));
        REFUSED(SKUA_ERR_ALIGN, skua_notify_add(odd, 1));
        if (i == 4)
            continue;
        REFUSED(SKUA_ERR_ALIGN, skua_fetch_xor32(odd, 1, &old32));
        REFUSED(SKUA_ERR_ALIGN, skua_store32(odd, 1));
        REFUSED(SKUA_ERR_ALIGN, skua_load32(odd, &old32));
    }
    CHECK(old64 == 4711 && old32 == 4711);
}

/* Puts @p remote from, or gets it to, junk in one block of as many bytes. */
static skua_status put_to(skua_gaddr at, const skua_layout *remote)
{
    skua_layout local = skua_layout_contiguous(junk, skua_layout_bytes(remote));

    return skua_put_layout(at, remote, &local);
}

static skua_status get_from(skua_gaddr at, const skua_layout *remote)
{
    skua_layout local = skua_layout_contiguous(junk, skua_layout_bytes(remote));

    return skua_get_layout(&local, at, remote);
}

static const skua_layout four_words = {
    .kind = SKUA_LAYOUT_STRIDED, .bytes = 8, .strided = {.levels = 1, .count = {4}, .stride = {8}}};

static void wrong_strides(struct victim v)
{
    skua_gaddr  at = skua_at(v.region, v.pe, 0), middle = skua_at(v.region, v.pe, BYTES / 2);
    skua_layout bad = four_words, local = four_words;

    local.at             = junk;
    bad.strided.count[0] = BYTES / 8 + 1;
    REFUSED(SKUA_ERR_RANGE, put_to(at, &bad));
    bad.strided.count[0] = BYTES / 16 + 1;
    REFUSED(SKUA_ERR_RANGE, put_to(middle, &bad));
    REFUSED(SKUA_ERR_RANGE, get_from(middle, &bad));
    bad                   = four_words;
    bad.strided.stride[0] = -8;
    REFUSED(SKUA_ERR_RANGE, put_to(at, &bad));
    bad.strided.stride[0] = PTRDIFF_MAX;
    CHECK(put_to(at, &bad) < 0 && is_unchanged(v));
    bad.strided.stride[0] = PTRDIFF_MIN;
    CHECK(put_to(at, &bad) < 0 && is_unchanged(v));
    bad.strided.stride[0] = 4;
    REFUSED(SKUA_ERR_INVAL, put_to(at, &bad));
    bad.strided.stride[0] = 0;
    REFUSED(SKUA_ERR_INVAL, put_to(at, &bad));
    bad                = four_words;
    bad.strided.levels = SKUA_LAYOUT_LEVELS + 1;
    REFUSED(SKUA_ERR_INVAL, skua_put_layout(at, &bad, &local));
    REFUSED(SKUA_ERR_INVAL, skua_put_layout(at, &bad, &bad));
    bad.strided.levels = -1;
    REFUSED(SKUA_ERR_INVAL, skua_get_layout(&local, at, &bad));
    local.strided.stride[0] = 0; /* may be read repeatedly, but not written */
    REFUSED(SKUA_ERR_INVAL, skua_get_layout(&local, at, &four_words));
}

/* Counts and sizes that overflow. */
static void wrong_sizes(struct victim v)
{
    skua_gaddr  at  = skua_at(v.region, v.pe, 0);
    skua_layout bad = four_words, local = four_words;

    bad.strided.count[0] = SIZE_MAX;
    CHECK(put_to(at, &bad) < 0 && is_unchanged(v));
    CHECK(skua_put_layout(at, &bad, &bad) < 0 && is_unchanged(v));
    bad.strided.count[0] = SIZE_MAX / 8 + 2; /* times 8 is 8 again */
    CHECK(put_to(at, &bad) < 0 && is_unchanged(v));
    local = skua_layout_contiguous(junk, 8);
    REFUSED(SKUA_ERR_INVAL, skua_put_layout(at, &bad, &local));
    bad       = four_words;
    bad.bytes = SIZE_MAX - 7;
    CHECK(put_to(at, &bad) < 0 && is_unchanged(v));
    CHECK(skua_put_layout(at, &bad, &bad) < 0 && is_unchanged(v));
    local = skua_layout_contiguous(junk, 31);
    REFUSED(SKUA_ERR_INVAL, skua_put_layout(at, &four_words, &local));
    REFUSED(SKUA_ERR_INVAL, skua_get_layout(&local, at, &four_words));
    bad      = four_words;
    bad.kind = (skua_layout_kind)7;
    REFUSED(SKUA_ERR_INVAL, skua_put_layout(at, &bad, &local));
    REFUSED(SKUA_ERR_INVAL, skua_put_layout(at, &local, &bad));
}

/* Many levels whose extents overflow. */
static void wrong_sums_of_strides(struct victim v)
{
    skua_gaddr  at  = skua_at(v.region, v.pe, 0);
    skua_layout bad = {.kind    = SKUA_LAYOUT_STRIDED,
                       .at      = junk,
                       .bytes   = 1,
                       .strided = {.levels = SKUA_LAYOUT_LEVELS}};
    skua_layout local;

    for (int i = 0; i < SKUA_LAYOUT_LEVELS; i++) {
        bad.strided.count[i]  = i < 2 ? 2 : 1u << 31;
        bad.strided.stride[i] = (1u << 31) - 1;
    }
    local = bad;
    for (int i = 0; i < SKUA_LAYOUT_LEVELS; i++)
        local.strided.stride[i] = i < 2 ? i + 1 : 0;
    CHECK(skua_put_layout(at, &bad, &local) < 0 && is_unchanged(v));
    CHECK(skua_get_layout(&local, at, &bad) < 0 && is_unchanged(v));
    for (int i = 0; i < SKUA_LAYOUT_LEVELS; i++) {
        bad.strided.count[i] = local.strided.count[i] = 3;
        local.strided.stride[i]                       = i + 1;
        bad.strided.stride[i]                         = PTRDIFF_MAX / 4 * (i % 2 ? 1 : -1);
    }
    CHECK(skua_put_layout(at, &bad, &local) < 0 && is_unchanged(v));
    CHECK(put_to(at, &bad) < 0 && is_unchanged(v));
}

static skua_status put_block(skua_gaddr at, ptrdiff_t offset, size_t bytes)
{
    const skua_block there = {offset, bytes}, here = {0, bytes};
    skua_layout      remote = skua_layout_list(NULL, 1, &there);
    skua_layout      local  = skua_layout_list(junk, 1, &here);

    return skua_put_layout(at, &remote, &local);
}

static skua_status put_indexed(skua_gaddr at, const ptrdiff_t *offset, size_t bytes)
{
    skua_layout remote = skua_layout_indexed(NULL, bytes, 1, offset);

    return put_to(at, &remote);
}

static void wrong_lists(struct victim v)
{
    skua_gaddr  at    = skua_at(v.region, v.pe, 64);
    ptrdiff_t   off[] = {BYTES - 64 - 4}, neg[] = {-65}, most[] = {PTRDIFF_MAX};
    skua_block  past[] = {{0, 4}, {BYTES - 64 - 4, 4}, {BYTES - 64 - 3, 4}};
    skua_layout remote = skua_layout_list(NULL, 3, past);
    skua_layout local  = skua_layout_contiguous(junk, 12);

    REFUSED(SKUA_ERR_RANGE, put_block(at, BYTES - 64 - 4, 8));
    REFUSED(SKUA_ERR_RANGE, put_block(at, -65, 4));
    REFUSED(SKUA_ERR_INVAL, put_block(at, 0, SIZE_MAX));
    REFUSED(SKUA_ERR_INVAL, put_block(at, PTRDIFF_MAX, 8));
    REFUSED(SKUA_ERR_RANGE, put_block(at, PTRDIFF_MIN, 8));
    REFUSED(SKUA_ERR_RANGE, skua_get_layout(&local, at, &remote));
    REFUSED(SKUA_ERR_RANGE, put_indexed(at, off, 8));
    REFUSED(SKUA_ERR_RANGE, put_indexed(at, neg, 8));
    REFUSED(SKUA_ERR_INVAL, put_indexed(at, most, 8));
    REFUSED(SKUA_ERR_INVAL, put_indexed(at, off, SIZE_MAX - 15));
    REFUSED(SKUA_ERR_INVAL, put_indexed(at, NULL, 8));
    remote = skua_layout_list(NULL, 1, NULL);
    REFUSED(SKUA_ERR_INVAL, skua_put_layout(at, &remote, &local));
    REFUSED(SKUA_ERR_INVAL, skua_put_layout(at, &local, &remote));
}

static void wrong_updates(struct victim v)
{
    static const double two[2]   = {2, 0};
    skua_gaddr          at       = skua_at(v.region, v.pe, 0);
    skua_update         unknown  = {.op = (skua_op)99, .type = SKUA_INT32};
    skua_update         product  = {.op = SKUA_PRODUCT, .type = SKUA_INT32};
    skua_update         bits     = {.op = SKUA_BIT_OR, .type = SKUA_DOUBLE};
    skua_update         smallest = {.op = SKUA_MIN, .type = SKUA_COMPLEX_FLOAT};
    skua_update         bytes    = {.op = SKUA_SUM, .type = SKUA_BYTE};
    skua_update         no_type  = {.op = SKUA_SUM, .type = (skua_type)77};
    skua_update         scaled   = {.op = SKUA_MAX, .type = SKUA_DOUBLE, .scale = two};
    skua_update         sum      = {.op = SKUA_SUM, .type = SKUA_DOUBLE};
    skua_update         pairs    = {.op = SKUA_SUM, .type = SKUA_COMPLEX_DOUBLE};
    skua_block          half[]   = {{0, 16}, {16, 12}};
    skua_layout         halves   = skua_layout_list(junk, 2, half);

    REFUSED(SKUA_ERR_INVAL, skua_acc(at, junk, 16, &unknown));
    REFUSED(SKUA_ERR_INVAL, skua_acc(at, junk, 16, &product));
    REFUSED(SKUA_ERR_INVAL, skua_acc(at, junk, 16, &bits));
    REFUSED(SKUA_ERR_INVAL, skua_acc(at, junk, 16, &smallest));
    REFUSED(SKUA_ERR_INVAL, skua_acc(at, junk, 16, &bytes));
    REFUSED(SKUA_ERR_INVAL, skua_acc(at, junk, 16, &no_type));
    REFUSED(SKUA_ERR_INVAL, skua_acc(at, junk, 16, &scaled));
    REFUSED(SKUA_ERR_INVAL, skua_acc(at, junk, 24, &pairs));
    REFUSED(SKUA_ERR_ALIGN, skua_acc(skua_gaddr_add(at, 4), junk, 16, &sum));
    REFUSED(SKUA_ERR_RANGE, skua_acc(skua_at(v.region, v.pe, BYTES - 8), junk, 16, &sum));
    REFUSED(SKUA_ERR_RANGE, skua_acc(at, junk, BYTES + 8, &sum));
    /* Not a whole number of elements, or not aligned. */
    CHECK(skua_acc(at, junk, 12, &sum) < 0 && is_unchanged(v));
    CHECK(skua_acc_layout(at, &halves, &halves, &sum) < 0 && is_unchanged(v));
}

static void wrong_update_layouts(struct victim v)
{
    skua_gaddr       at    = skua_at(v.region, v.pe, 0);
    skua_update      sum   = {.op = SKUA_SUM, .type = SKUA_DOUBLE};
    skua_layout      s     = four_words;
    skua_layout      local = skua_layout_contiguous(junk, 32);
    skua_layout      two   = skua_layout_contiguous(junk, 16);
    ptrdiff_t        odd[] = {0, 12}, past[] = {0, BYTES};
    const skua_block split[] = {{0, 12}, {12, 4}};
    skua_layout      pieces  = skua_layout_list(junk, 2, split);
    skua_layout      x       = skua_layout_indexed(NULL, 8, 2, odd);

    s.strided.stride[0] = 12;
    REFUSED(SKUA_ERR_ALIGN, skua_acc_layout(at, &s, &local, &sum));
    s.strided.stride[0] = 0;
    REFUSED(SKUA_ERR_INVAL, skua_acc_layout(at, &s, &local, &sum));
    s.strided.stride[0] = BYTES;
    REFUSED(SKUA_ERR_RANGE, skua_acc_layout(at, &s, &local, &sum));
    REFUSED(SKUA_ERR_INVAL, skua_acc_layout(at, &s, &two, &sum));
    REFUSED(SKUA_ERR_ALIGN, skua_acc_layout(at, &x, &two, &sum));
    REFUSED(SKUA_ERR_ALIGN, skua_acc_layout(at, &two, &pieces, &sum));
    x.indexed.offset = past;
    REFUSED(SKUA_ERR_RANGE, skua_acc_layout(at, &x, &two, &sum));
}

/* Completions are checked before the operation begins. */
static void wrong_ends(struct victim v)
{
    skua_gaddr      at    = skua_at(v.region, v.pe, 0);
    skua_counter    local = SKUA_COUNTER_INIT, remote = SKUA_COUNTER_INIT;
    skua_handle     handle = SKUA_HANDLE_INIT;
    skua_rma_params good   = {
          .handle = &handle, .local = skua_done_count(&local), .remote = skua_done_count(&remote)};
    skua_rma_params bad = good;

    bad.notify = skua_at(v.region, v.pe == 0 ? 1 : 0, 0); /* a notification on another PE */
    CHECK(skua_put_nb(at, junk, 8, &bad) < 0 && is_unchanged(v));
    bad.notify = skua_at(v.region, v.pe, 4);
    REFUSED(SKUA_ERR_ALIGN, skua_put_nb(at, junk, 8, &bad));
    bad.notify = skua_at(v.region, v.pe, BYTES);
    REFUSED(SKUA_ERR_RANGE, skua_put_nb(at, junk, 8, &bad));
    bad.notify = skua_at((skua_region){UINT32_MAX - 1}, v.pe, 0);
    if (skua_shares_memory(v.pe))
        REFUSED(SKUA_ERR_REGION, skua_put_nb(at, junk, 8, &bad));
    bad        = good;
    bad.signal = (skua_handler){nothing.id + 1};
    REFUSED(SKUA_ERR_INVAL, skua_put_nb(at, junk, 8, &bad));
    REFUSED(SKUA_ERR_INVAL, skua_get_nb(junk, at, 8, &bad));
    bad.signal = (skua_handler){1}; /* an internal handler */
    REFUSED(SKUA_ERR_INVAL, skua_put_nb(at, junk, 8, &bad));
    skua_flush_all();
    CHECK(handle.pending == 0 && local.value == 0 && remote.value == 0);
}

static void use_wrongly(struct victim v)
{
    memset(junk, 0xee, sizeof junk);
    wrong_places(v);
    wrong_alignment(v);
    wrong_strides(v);
    wrong_sizes(v);
    wrong_sums_of_strides(v);
    wrong_lists(v);
    wrong_updates(v);
    wrong_update_layouts(v);
    wrong_ends(v);
}

static void paint(unsigned char *memory, size_t bytes, int value)
{
    for (size_t i = 0; i < bytes; i++)
        memory[i] = value < 0 ? pattern(i) : (unsigned char)value;
}

static void check_painted(const unsigned char *memory, size_t bytes, int value)
{
    for (size_t i = 0; i < bytes; i++)
        CHECK(memory[i] == (value < 0 ? pattern(i) : (unsigned char)value));
}

/* On symmetric memory, and on registered memory with a margin on both sides. */
static void test_wrong_use(void)
{
    enum { MARGIN = 256 };
    int            next   = (skua_pe() + 1) % skua_pes();
    unsigned char *memory = malloc(BYTES + 2 * MARGIN);
    skua_region    symmetric, registered, theirs;

    CHECK(skua_region_create(BYTES, &symmetric) == SKUA_OK);
    paint(skua_region_local(symmetric), BYTES, -1);
    paint(memory, BYTES + 2 * MARGIN, 0x55);
    paint(memory + MARGIN, BYTES, -1);
    CHECK(skua_region_create_from(memory + MARGIN, BYTES, &registered) == SKUA_OK);
    theirs = exchange(registered, next);
    use_wrongly((struct victim){symmetric, next});
    use_wrongly((struct victim){theirs, next});
    skua_sync();
    check_painted(skua_region_local(symmetric), BYTES, -1);
    check_painted(memory, MARGIN, 0x55);
    check_painted(memory + MARGIN, BYTES, -1);
    check_painted(memory + MARGIN + BYTES, MARGIN, 0x55);
    CHECK(skua_region_destroy(symmetric) == SKUA_OK);
    CHECK(skua_region_destroy(registered) == SKUA_OK);
    free(memory);
    skua_sync();
}

/* Memory may be registered wherever it lies: then offset 0 is not aligned. */
static void test_odd_memory(void)
{
    _Alignas(16) char memory[80] = {0};
    int               next       = (skua_pe() + 1) % skua_pes();
    skua_region       region;
    skua_gaddr        odd;
    skua_update       sum  = {.op = SKUA_SUM, .type = SKUA_INT64};
    int64_t           one  = 1;
    skua_rma_params   ends = {.order = SKUA_ORDER_DEFAULT};

    CHECK(skua_region_create_from(memory + 4, 64, &region) == SKUA_OK);
    odd         = skua_at(exchange(region, next), next, 0);
    ends.notify = odd;
    CHECK(skua_add64(odd, 1) == SKUA_ERR_ALIGN);
    CHECK(skua_add64(skua_gaddr_add(odd, 4), 1) == SKUA_OK);
    CHECK(skua_acc(odd, &one, 8, &sum) == SKUA_ERR_ALIGN);
    CHECK(skua_acc(skua_gaddr_add(odd, 4), &one, 8, &sum) == SKUA_OK);
    CHECK(skua_notify_add(odd, 1) == SKUA_ERR_ALIGN);
    CHECK(skua_put_nb(skua_gaddr_add(odd, 32), &one, 8, &ends) == SKUA_ERR_ALIGN);
    skua_sync();
    memcpy(&one, memory + 8, 8);
    CHECK(one == 2);
    memset(memory + 8, 0, 8);
    for (size_t i = 0; i < sizeof memory; i++)
        CHECK(memory[i] == 0);
    CHECK(skua_region_destroy(region) == SKUA_OK);
    skua_sync();
}

/* Unusual but valid layouts: offsets beyond the region that lead back into it, and empty
 * layouts. */
static void test_right_use(skua_region region, int pe)
{
    skua_gaddr  end     = skua_at(region, pe, BYTES);
    ptrdiff_t   back[]  = {-8, -24};
    uint64_t    word[2] = {1, 2}, seen[2];
    skua_block  far[] = {{-8, 8}, {-24, 8}}, near[] = {{0, 8}, {8, 8}};
    skua_layout x = skua_layout_indexed(NULL, 8, 2, back), list = skua_layout_list(NULL, 2, far);
    skua_layout from = skua_layout_list(word, 2, near), to = skua_layout_contiguous(seen, 16);
    skua_layout none = skua_layout_contiguous(word, 0), s = four_words;

    CHECK(skua_put_layout(end, &list, &from) == SKUA_OK);
    CHECK(skua_get_layout(&to, end, &list) == SKUA_OK && seen[0] == 1 && seen[1] == 2);
    from = skua_layout_contiguous((uint64_t[]){3, 4}, 16);
    CHECK(skua_put_layout(end, &x, &from) == SKUA_OK);
    CHECK(skua_get_layout(&to, end, &x) == SKUA_OK && seen[0] == 3 && seen[1] == 4);
    CHECK(skua_put(end, word, 0) == SKUA_OK);
    list = skua_layout_list(NULL, 0, NULL);
    CHECK(skua_put_layout(end, &list, &none) == SKUA_OK);
    CHECK(skua_put_layout(end, &list, &list) == SKUA_OK);
    s.strided.count[0]  = 0;
    s.strided.stride[0] = PTRDIFF_MAX;
    CHECK(skua_put_layout(end, &s, &none) == SKUA_OK);
    /* A huge count of empty blocks, which takes no time. */
    s = (skua_layout){
        .kind = SKUA_LAYOUT_STRIDED, .at = word, .strided = {2, {1u << 30, 1u << 30}, {8, 8}}};
    CHECK(skua_put_layout(skua_gaddr_add(end, -8), &s, &s) == SKUA_OK);
    s    = (skua_layout){.kind = SKUA_LAYOUT_STRIDED, .bytes = 8, .strided = {1, {2}, {-16}}};
    from = skua_layout_contiguous(word, 16);
    CHECK(skua_put_layout(skua_gaddr_add(end, -8), &s, &from) == SKUA_OK);
    CHECK(skua_get_layout(&to, end, &x) == SKUA_OK && seen[0] == 1 && seen[1] == 2);
}

static void test_right_uses(void)
{
    int         next   = (skua_pe() + 1) % skua_pes();
    void       *memory = malloc(BYTES);
    skua_region symmetric, registered;

    CHECK(skua_region_create(BYTES, &symmetric) == SKUA_OK);
    CHECK(skua_region_create_from(memory, BYTES, &registered) == SKUA_OK);
    test_right_use(symmetric, next);
    test_right_use(exchange(registered, next), next);
    skua_sync();
    CHECK(skua_region_destroy(symmetric) == SKUA_OK);
    CHECK(skua_region_destroy(registered) == SKUA_OK);
    free(memory);
}

/* ---- progress without the target ------------------------------------------------------- */

/* Returns true if the kernel permits access to the memory of another process. */
static bool may_attach(int pe)
{
    struct shared there;
    char          byte;
    struct iovec  local = {&byte, 1}, remote;

    if (skua_process_of(pe) == skua_process())
        return true;
    CHECK(skua_get(&there, shared_at(pe, 0), offsetof(struct shared, released)) == SKUA_OK);
    remote = (struct iovec){(void *)(uintptr_t)there.memory, 1};
    return process_vm_readv((pid_t)there.pid, &local, 1, &remote, 1, 0) == 1;
}

/* Performs all operations on the memory of a PE. */
static void work_on(skua_region region, int pe, skua_locks locks)
{
    unsigned char    block[BLOCK], back[BLOCK];
    skua_update      sum = {.op = SKUA_SUM, .type = SKUA_UINT64};
    const uint64_t   one = 1;
    const skua_gaddr slot =
        skua_at(region, pe, offsetof(struct shared, block) + (size_t)skua_pe() * sizeof block);

    for (int i = 0; i < 50; i++) {
        memset(block, skua_pe() + i, sizeof block);
        CHECK(skua_put(slot, block, sizeof block) == SKUA_OK);
        CHECK(skua_get(back, slot, sizeof back) == SKUA_OK);
        CHECK(memcmp(block, back, sizeof back) == 0);
        CHECK(skua_acc(skua_at(region, pe, offsetof(struct shared, sum)), &one, 8, &sum) ==
              SKUA_OK);
        CHECK(skua_add64(skua_at(region, pe, offsetof(struct shared, numbers)), 1) == SKUA_OK);
        CHECK(skua_lock(locks, pe, 0));
        skua_unlock(locks, pe, 0);
        skua_flush_all();
    }
}

/* Computes, without calling Skua, until the last of the others is done. */
static void compute(struct shared *shared)
{
    while (!atomic_load_explicit(&shared->released, memory_order_acquire))
        sched_yield();
    CHECK(shared->sum == 50 * (uint64_t)(skua_pes() - 1));
    CHECK(shared->numbers == shared->sum);
    for (int pe = 1; pe < skua_pes(); pe++)
        CHECK(shared->block[pe][0] == pe + 49 && shared->block[pe][BLOCK - 1] == pe + 49);
}

static void work_and_release(skua_region region, skua_locks locks)
{
    uint64_t before;

    work_on(region, 0, locks);
    CHECK(skua_fetch_add64(skua_at(region, 0, offsetof(struct shared, finished)), 1, &before) ==
          SKUA_OK);
    if (before == (uint64_t)skua_pes() - 2)
        CHECK(skua_store64(skua_at(region, 0, offsetof(struct shared, released)), 1) == SKUA_OK);
}

static void passive(skua_region region, struct shared *shared)
{
    skua_locks locks;

    CHECK(skua_locks_create(1, &locks) == SKUA_OK);
    if (skua_pe() == 0)
        compute(shared);
    else
        work_and_release(region, locks);
    skua_sync();
    CHECK(skua_locks_destroy(locks) == SKUA_OK);
}

static bool all_say(bool yes)
{
    skua_future future = SKUA_FUTURE_INIT;
    int32_t     vote   = yes, all;

    skua_allreduce(SKUA_MIN, SKUA_INT32, &vote, 1, skua_done_future(&future));
    future_take(&future, &all, sizeof all);
    return all;
}

/* Performs all operations on memory that PE 0 has registered, if all PEs can access it. */
static void passive_registered(void)
{
    struct shared *memory = calloc(1, sizeof *memory);
    skua_region    registered;

    mine()->memory = memory;
    mine()->pid    = getpid();
    CHECK(skua_region_create_from(memory, sizeof *memory, &registered) == SKUA_OK);
    skua_sync();
    if (all_say(is_set("SKUA_PROGRESS_THREAD") ||
                (skua_shares_memory(0) && !is_cleared("SKUA_CMA") && may_attach(0))))
        passive(exchange(registered, 0), memory);
    skua_sync();
    CHECK(skua_region_destroy(registered) == SKUA_OK);
    free(memory);
}

static void test_passive(void)
{
    bool direct = !is_cleared("SKUA_DIRECT") && tap_all_near();

    if (skua_pes() == 1 || !all_say(direct || is_set("SKUA_PROGRESS_THREAD")))
        return; /* no PE would serve the requests */
    passive(self()->shared, mine());
    passive_registered();
}

/* ---- the job ------------------------------------------------------------------------------ */

static void ignore(skua_msg *msg)
{
    skua_msg_free(msg);
}

static void start(int argc, char **argv)
{
    struct state *s = self();

    (void)argc, (void)argv;
    CHECK(skua_pes() <= PES);
    CHECK(skua_region_create(sizeof(struct shared), &s->shared) == SKUA_OK);
    memset(mine(), 0, sizeof(struct shared));
    skua_sync();
    test_ids();
    test_subsets();
    test_register();
    test_others();
    test_free_twice();
    test_busy();
    test_addresses();
    test_wrong_use();
    test_passive();
    test_churn(create_and_free);
    test_churn(alloc_and_free);
    test_churn(register_and_free);
    test_churn_outside();
    test_right_uses();
    test_odd_memory();
    CHECK(skua_region_destroy(s->shared) == SKUA_OK);
    skua_sync();
    if (skua_pe() == 0)
        skua_exit(0);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        times = strtoul(argv[1], NULL, 10);
    nothing   = skua_handler_register("nothing", ignore);
    state_key = skua_pe_data_register(sizeof(struct state));
    return skua_main(argc, argv, start);
}
