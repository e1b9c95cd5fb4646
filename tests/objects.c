/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects.c - classes, arrays with every kind of index and map, groups, single chares, every kind
 * of entry method, broadcasts, reductions and completions: each once, from PE 0, which waits on its
 * own stack while the others run their schedulers.
 */
#include <math.h>
#include <skua/skua.h>
#include <string.h>

#include "tap.h"
#include "waits.h"

/* ---- a class that counts what happens to it -------------------------------------- */

struct cell {
    int64_t sum;
    int     made_with;
    int     order; /* order of the last broadcast */
    char   *memory;
};

static skua_class cell_class;
static skua_entry add_entry, keep_entry, report_entry, ask_entry, wait_entry, spread_entry,
    many_entry, set_entry, stats_entry, move_entry, leave_entry, inline_entry, urgent_entry,
    order_entry, words_entry, truth_entry;
static skua_handler result_handler;
static int64_t      result_value; /* used on PE 0 */

static void construct(void *self, const void *data, size_t bytes)
{
    struct cell *c = self;

    CHECK(bytes == sizeof(int) && c->sum == 0);
    memcpy(&c->made_with, data, sizeof(int));
    c->memory = calloc(1, 10);
}

static void destroy(void *self)
{
    free(((struct cell *)self)->memory);
}

static void pup(skua_pup *p, void *self)
{
    struct cell *c = self;

    skua_pup_value(p, &c->sum);
    skua_pup_value(p, &c->made_with);
    skua_pup_value(p, &c->order);
    skua_pup_memory(p, &c->memory, 10);
}

static void on_add(void *self, const void *data, size_t bytes)
{
    int64_t value;

    CHECK(bytes == sizeof value);
    memcpy(&value, data, sizeof value);
    ((struct cell *)self)->sum += value;
}

/* An entry that owns its message and sends it to itself once more. */
static void on_keep(void *self, skua_msg *msg)
{
    int64_t *left = skua_msg_data(msg);

    ((struct cell *)self)->sum++;
    CHECK(((uintptr_t)left & 63) == 0);
    if (--*left > 0)
        skua_invoke(skua_ref_of(self), keep_entry, msg);
    else
        skua_msg_free(msg);
}

/* Contributes to a sum for the completion in the arguments. */
static void on_report(void *self, const void *data, size_t bytes)
{
    struct cell    *c = self;
    skua_completion to;

    CHECK(bytes == sizeof to);
    memcpy(&to, data, sizeof to);
    skua_contribute(self, SKUA_SUM, SKUA_INT64, &c->sum, 1, to);
}

static void on_ask(void *self, const void *data, size_t bytes)
{
    struct cell *c = self;

    (void)data;
    if (bytes == 0)
        return; /* an empty reply counts as a reply */
    skua_reply(&c->sum, sizeof c->sum);
}

/* A threaded entry: calls another element and replies with its reply plus one. */
static void on_wait(void *self, const void *data, size_t bytes)
{
    skua_future answer = SKUA_FUTURE_INIT;
    skua_ref    other;
    int64_t     value;

    (void)self;
    CHECK(bytes == sizeof other && skua_thread_self());
    memcpy(&other, data, sizeof other);
    skua_invoke_reply(other, ask_entry, "x", 1, skua_done_future(&answer));
    value = future_take_int64(&answer);
    skua_thread_yield();
    value++;
    skua_reply(&value, sizeof value);
}

static int inlined;

static void on_inline(void *self, const void *data, size_t bytes)
{
    (void)self, (void)data, (void)bytes;
    inlined++;
}

/* ---- waiting on PE 0 -------------------------------------------------------------- */

/* Returns the sum over all elements of a collection of cells. */
static int64_t total(skua_collection all)
{
    skua_future     future = SKUA_FUTURE_INIT;
    skua_completion done   = skua_done_future(&future);

    skua_invoke_all(all, report_entry, &done, sizeof done);
    return future_take_int64(&future);
}

/* Returns the sum after all additions in flight, since a broadcast and a message to an element are
 * not ordered. */
static int64_t settled_total(skua_collection all)
{
    wait_quiet();
    return total(all);
}

static void add(skua_ref ref, int64_t value)
{
    skua_invoke_copy(ref, add_entry, &value, sizeof value);
}

static int64_t ask(skua_ref ref)
{
    skua_future future = SKUA_FUTURE_INIT;

    skua_invoke_reply(ref, ask_entry, "x", 1, skua_done_future(&future));
    return future_take_int64(&future);
}

/* ---- arrays ------------------------------------------------------------------------- */

static const int seven = 7;

static skua_index index_of(int dims, const int *x)
{
    switch (dims) {
    case 1: return skua_index1(x[0]);
    case 2: return skua_index2(x[0], x[1]);
    case 3: return skua_index3(x[0], x[1], x[2]);
    case 4: return skua_index4(x[0], x[1], x[2], x[3]);
    case 5: return skua_index5(x[0], x[1], x[2], x[3], x[4]);
    default: return skua_index6(x[0], x[1], x[2], x[3], x[4], x[5]);
    }
}

static void test_dims(void)
{
    for (int dims = 1; dims <= 6; dims++) {
        skua_array_def  def = {.dims = dims, .range = {.dims = dims}};
        skua_collection all;
        int64_t         expected = 0;
        int             n        = 1;

        for (int d = 0; d < dims; d++) {
            def.range.lower[d] = -d;
            def.range.upper[d] = 3 - d;
            n *= 3;
        }
        all = skua_array_create(cell_class, &def, &seven, sizeof seven);
        for (int i = 0; i < n; i++) {
            int x[6];

            for (int d = 0, rest = i; d < dims; d++, rest /= 3)
                x[d] = rest % 3 - d;
            add(skua_element(all, index_of(dims, x)), i);
            expected += i;
        }
        CHECK(settled_total(all) == expected);
        skua_collection_destroy(all);
    }
}

static uint32_t last_first; /* a map: cyclic in the last dimension */

static int map_last(const skua_index *index, const skua_range *range, const int32_t *arg)
{
    CHECK(range->dims == 2 && arg[0] == 42);
    return index->at.x[1] % skua_pes();
}

static void test_maps(void)
{
    for (uint32_t kind = 0; kind <= last_first; kind++) {
        skua_array_def def = {
            .dims = 2, .range = {.dims = 2, .upper = {13, 9}}, .map = {.kind = kind}};
        skua_collection all;
        int64_t         expected = 0;

        def.map.arg[0] = kind == last_first ? 42 : 0;
        if (kind == SKUA_MAP_MATRIX)
            def.map.arg[2] = 2, def.map.arg[3] = 3;
        all = skua_array_create(cell_class, &def, &seven, sizeof seven);
        for (int i = 0; i < 13; i++)
            for (int j = 0; j < 9; j++) {
                add(skua_element2(all, i, j), i * j);
                expected += i * j;
            }
        CHECK(settled_total(all) == expected);
        if (kind == last_first)
            CHECK(skua_home(skua_element2(all, 5, 3)) == 3 % skua_pes());
        skua_collection_destroy(all);
    }
}

/* Byte strings of every length as indices, inserted on various PEs; messages arrive before. */
static void test_bytes(void)
{
    skua_array_def  def      = {.flags = SKUA_ARRAY_OPEN};
    skua_collection all      = skua_array_create(cell_class, &def, NULL, 0);
    int64_t         expected = 0;
    char            name[SKUA_INDEX_MAX];

    skua_poll(1); /* the array exists on this PE now */
    for (size_t n = 1; n <= SKUA_INDEX_MAX; n++) {
        skua_index index;

        memset(name, (int)n, sizeof name);
        index = skua_index_bytes(name, n);
        add(skua_element(all, index), (int64_t)n);
        skua_array_insert(skua_element(all, index), n % 3 ? (int)n % skua_pes() : SKUA_ANY_PE,
                          &seven, sizeof seven);
        add(skua_element(all, index), 1);
        expected += (int64_t)n + 1;
        CHECK(ask(skua_element(all, index)) == (int64_t)n + 1);
    }
    skua_array_close(all);
    CHECK(settled_total(all) == expected);
    skua_collection_destroy(all);
}

static void test_on_demand(void)
{
    skua_array_def  def      = {.dims = 3, .flags = SKUA_ARRAY_ON_DEMAND};
    skua_collection all      = skua_array_create(cell_class, &def, &seven, sizeof seven);
    int64_t         expected = 0;

    for (int i = 0; i < 100; i++) {
        add(skua_element3(all, i % 10, -1000000000, i), i);
        CHECK(ask(skua_element3(all, i % 10, -1000000000, i)) == i);
        expected += i;
    }
    CHECK(settled_total(all) == expected);
    skua_collection_destroy(all);
}

/* An element that migrates in its constructor; the message that created it follows it. */
static skua_class runaway_class;
static skua_entry where_entry;

static void run_away(void *self, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    skua_migrate(self, (skua_pe() + 1) % skua_pes());
}

static void on_where(void *self, const void *data, size_t bytes)
{
    int64_t pe = skua_pe();

    (void)self, (void)data, (void)bytes;
    skua_reply(&pe, sizeof pe);
}

static void test_runaways(void)
{
    skua_array_def  def = {.dims = 1, .flags = SKUA_ARRAY_ON_DEMAND};
    skua_collection all = skua_array_create(runaway_class, &def, NULL, 0);

    for (int i = 0; i < 30; i++) {
        skua_future future = SKUA_FUTURE_INIT;
        skua_ref    ref    = skua_element1(all, i);

        skua_invoke_reply(ref, where_entry, NULL, 0, skua_done_future(&future));
        CHECK(future_take_int64(&future) == (skua_home(ref) + 1) % skua_pes());
    }
    skua_collection_destroy(all);
}

/* ---- groups and single objects ---------------------------------------------------------- */

static void test_groups(void)
{
    skua_collection group   = skua_group_create(cell_class, &seven, sizeof seven);
    skua_collection process = skua_process_group_create(cell_class, &seven, sizeof seven);
    int64_t         pes     = skua_pes();

    for (int pe = 0; pe < skua_pes(); pe++)
        add(skua_member(group, pe), pe);
    CHECK(settled_total(group) == pes * (pes - 1) / 2);
    for (int i = 0; i < skua_processes(); i++)
        add(skua_member(process, i), 10);
    CHECK(settled_total(process) == 10 * (int64_t)skua_processes());
    CHECK(skua_object_local(skua_member(group, 0)) != NULL);
    CHECK(((struct cell *)skua_object_local(skua_member(process, 0)))->sum == 10);
    CHECK(skua_pes() == 1 || !skua_object_local(skua_member(group, 1)));
    skua_collection_destroy(group);
    skua_collection_destroy(process);
}

static void test_chares(void)
{
    skua_ref ref[50];

    for (int i = 0; i < 50; i++) {
        ref[i] = skua_chare_create(cell_class, i % 2 ? SKUA_ANY_PE : i % skua_pes(), &seven,
                                   sizeof seven);
        add(ref[i], i);
    }
    for (int i = 0; i < 50; i++)
        CHECK(ask(ref[i]) == i);
    for (int i = 0; i < 50; i++)
        skua_object_destroy_ref(ref[i]);
}

/* ---- entries --------------------------------------------------------------------------------- */

static void test_entries(void)
{
    skua_collection all    = skua_array_create1(cell_class, 20, &seven, sizeof seven);
    skua_future     future = SKUA_FUTURE_INIT;
    size_t          bytes;

    for (int i = 0; i < 20; i++) {
        skua_msg *msg = skua_msg_alloc(100);

        *(int64_t *)skua_msg_data(msg) = i;
        skua_msg_set_priority(msg, -i);
        skua_invoke(skua_element1(all, i), keep_entry, msg);
    }
    for (int i = 0; i < 20; i++)
        while (ask(skua_element1(all, i)) < (i ? i : 1))
            ;
    for (int i = 0; i < 20; i++) {
        skua_ref other = skua_element1(all, 19 - i);

        skua_invoke_reply(skua_element1(all, i), wait_entry, &other, sizeof other,
                          skua_done_future(&future));
        CHECK(future_take_int64(&future) == (19 - i ? 19 - i : 1) + 1);
    }
    skua_invoke_reply(skua_element1(all, 3), ask_entry, NULL, 0, skua_done_future(&future));
    CHECK(skua_future_wait(&future, &bytes) && bytes == 0);
    skua_future_clear(&future);
    CHECK(inlined == 0 && skua_object_local(skua_element1(all, 0)));
    skua_invoke_copy(skua_element1(all, 0), inline_entry, NULL, 0);
    CHECK(inlined == 1);
    skua_invoke_copy(skua_element1(all, 0), urgent_entry, NULL, 0);
    CHECK(inlined == 1);
    skua_poll(1);
    CHECK(inlined == 2);
    skua_collection_destroy(all);
}

/* ---- broadcasts and reductions ------------------------------------------------------------ */

static void on_order(void *self, const void *data, size_t bytes)
{
    struct cell *c = self;
    int          n;

    CHECK(bytes == sizeof n);
    memcpy(&n, data, sizeof n);
    CHECK(n == c->order + 1);
    c->order = n;
    skua_contribute_nothing(self, skua_done_nothing());
}

/* Contributes to ten reductions at once: number n is the sum of (n + index). */
static void on_many(void *self, const void *data, size_t bytes)
{
    int64_t index = skua_index_of(self).at.x[0];

    (void)data, (void)bytes;
    for (int64_t n = 0; n < 10; n++) {
        int64_t value = n + index;
        skua_contribute(self, SKUA_SUM, SKUA_INT64, &value, 1, skua_done_send(0, result_handler));
    }
}

static int results;

static void on_result(skua_msg *msg)
{
    CHECK(*(int64_t *)skua_msg_data(msg) == result_value + 30 * results);
    results++;
    skua_msg_free(msg);
}

static bool have_ten(void *arg)
{
    (void)arg;
    return results == 10;
}

static void on_set(void *self, const void *data, size_t bytes)
{
    static const char word[] = "abcdefghijklmnopqrstuvwxyzabcdef";
    skua_completion   to;

    CHECK(bytes == sizeof to);
    memcpy(&to, data, sizeof to);
    skua_contribute(self, SKUA_SET, SKUA_BYTE, word, (size_t)skua_index_of(self).at.x[0], to);
}

static void on_words(void *self, const void *data, size_t bytes)
{
    unsigned char   letter = (unsigned char)skua_index_of(self).at.x[0];
    skua_completion to;

    CHECK(bytes == sizeof to);
    memcpy(&to, data, sizeof to);
    skua_contribute(self, SKUA_CONCAT, SKUA_BYTE, &letter, 1, to);
}

static void on_stats(void *self, const void *data, size_t bytes)
{
    skua_statistics s = skua_statistics_of(skua_index_of(self).at.x[0]);
    skua_completion to;

    CHECK(bytes == sizeof to);
    memcpy(&to, data, sizeof to);
    skua_contribute(self, SKUA_STATISTICS, SKUA_DOUBLE, &s, SKUA_STATISTICS_COUNT, to);
}

static void check_set(skua_collection all)
{
    skua_future     future  = SKUA_FUTURE_INIT;
    skua_completion done    = skua_done_future(&future);
    const void     *at      = NULL, *data;
    uint32_t        lengths = 0;
    size_t          bytes, length;

    skua_invoke_all(all, set_entry, &done, sizeof done);
    data = skua_future_wait(&future, &bytes);
    while (skua_set_next(data, bytes, &at, &length)) {
        CHECK(length < 30 && !(lengths >> length & 1));
        CHECK(memcmp(at, "abcdefghijklmnopqrstuvwxyzabcdef", length) == 0);
        lengths |= UINT32_C(1) << length;
    }
    CHECK(lengths == (UINT32_C(1) << 30) - 1);
    skua_future_clear(&future);
}

static void check_others(skua_collection all)
{
    skua_future            future = SKUA_FUTURE_INIT;
    skua_completion        done   = skua_done_future(&future);
    const unsigned char   *letters;
    const skua_statistics *stats;
    size_t                 bytes;
    unsigned               sum = 0;

    skua_invoke_all(all, words_entry, &done, sizeof done);
    letters = skua_future_wait(&future, &bytes);
    CHECK(bytes == 30);
    for (size_t i = 0; i < bytes; i++)
        sum += letters[i];
    CHECK(sum == 30 * 29 / 2);
    skua_future_clear(&future);
    skua_invoke_all(all, stats_entry, &done, sizeof done);
    stats = skua_future_wait(&future, &bytes);
    CHECK(bytes == sizeof *stats && stats->n == 30 && stats->min == 0 && stats->max == 29);
    CHECK(fabs(stats->mean - 14.5) < 1e-12 && fabs(stats->m2 - 2247.5) < 1e-9);
    skua_future_clear(&future);
}

/* A user-defined operator: the longest of words of 32 bytes. */
static skua_op    longest_op;
static skua_entry longest_entry;

static void longest(void *into, const void *from, size_t count, skua_type type)
{
    CHECK(type == SKUA_BYTE && count == 32);
    if (strlen(from) > strlen(into))
        memcpy(into, from, count);
}

static void on_longest(void *self, const void *data, size_t bytes)
{
    char            word[32] = {0};
    skua_completion to;

    CHECK(bytes == sizeof to);
    memcpy(&to, data, sizeof to);
    memset(word, 'x', (size_t)skua_index_of(self).at.x[0] % 23);
    skua_contribute(self, longest_op, SKUA_BYTE, word, sizeof word, to);
}

static void check_own_operator(skua_collection all)
{
    skua_future     future = SKUA_FUTURE_INIT;
    skua_completion done   = skua_done_future(&future);

    skua_invoke_all(all, longest_entry, &done, sizeof done);
    CHECK(strlen(future_value(&future, 32)) == 22);
    skua_future_clear(&future);
}

/* A result that is broadcast to its array. */
static void on_spread(void *self, const void *data, size_t bytes)
{
    int64_t one = 1;

    (void)data, (void)bytes;
    skua_contribute(self, SKUA_SUM, SKUA_INT64, &one, 1,
                    skua_done_invoke_all(skua_collection_of(self), add_entry));
}

/* Results of logical operators are 0 or 1, also with one contributor. */
static void on_truth(void *self, const void *data, size_t bytes)
{
    int64_t         five = 5;
    skua_completion to;

    CHECK(bytes == sizeof to);
    memcpy(&to, data, sizeof to);
    skua_contribute(self, SKUA_LOGICAL_OR, SKUA_INT64, &five, 1, to);
}

static void test_truths(void)
{
    for (int n = 1; n <= 8; n += 7) {
        skua_collection all    = skua_array_create1(cell_class, n, &seven, sizeof seven);
        skua_future     future = SKUA_FUTURE_INIT;
        skua_completion done   = skua_done_future(&future);

        skua_invoke_all(all, truth_entry, &done, sizeof done);
        CHECK(future_take_int64(&future) == 1);
        skua_collection_destroy(all);
    }
}

static void test_reductions(void)
{
    skua_collection all = skua_array_create1(cell_class, 30, &seven, sizeof seven);

    result_value = 30 * 29 / 2;
    skua_invoke_all(all, many_entry, NULL, 0);
    CHECK(skua_run_until(have_ten, NULL));
    check_set(all);
    check_others(all);
    check_own_operator(all);
    for (int n = 1; n <= 20; n++)
        skua_invoke_all(all, order_entry, &n, sizeof n);
    CHECK(total(all) == 0);
    skua_invoke_all(all, spread_entry, NULL, 0);
    while (total(all) != 30 * 30)
        ;
    skua_collection_destroy(all);
}

/* ---- migration ------------------------------------------------------------------------------- */

static void on_move(void *self, const void *data, size_t bytes)
{
    int pe;

    CHECK(bytes == sizeof pe);
    memcpy(&pe, data, sizeof pe);
    skua_migrate(self, pe);
}

static void test_moves(void)
{
    skua_collection all      = skua_array_create1(cell_class, 40, &seven, sizeof seven);
    int64_t         expected = 0;

    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 40; i++) {
            int pe = (i * 7 + round * 3) % skua_pes();

            add(skua_element1(all, i), 1);
            skua_invoke_copy(skua_element1(all, i), move_entry, &pe, sizeof pe);
            add(skua_element1(all, i), 2);
            expected += 3;
        }
        skua_invoke_all(all, add_entry, &expected, sizeof expected);
        if (round % 3 == 0)
            while (total(all) < 0)
                ;
    }
    /* Messages to the elements may still be in flight: ask all. */
    for (int i = 0; i < 40; i++)
        while (ask(skua_element1(all, i)) != 20 * 3 + 120 * (20 * 21 / 2))
            ;
    CHECK(settled_total(all) == 40 * (20 * 3 + 120 * (20 * 21 / 2)));
    skua_collection_destroy(all);
}

static void on_leave(void *self, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    skua_object_destroy(self);
}

/* ---- the program ---------------------------------------------------------------------------- */

static void start(int argc, char **argv)
{
    (void)argc, (void)argv;
    if (skua_pe() != 0)
        return;
    test_dims();
    test_maps();
    test_bytes();
    test_on_demand();
    test_runaways();
    test_groups();
    test_chares();
    test_entries();
    test_reductions();
    test_truths();
    test_moves();
    skua_exit(0);
}

static void register_class(void)
{
    skua_class_def def = {.name      = "cell",
                          .bytes     = sizeof(struct cell),
                          .construct = construct,
                          .destroy   = destroy,
                          .pup       = pup};

    cell_class   = skua_class_register(&def);
    add_entry    = skua_method_register(cell_class, "add", on_add, 0);
    keep_entry   = skua_entry_register(cell_class, "keep", on_keep, 0);
    report_entry = skua_method_register(cell_class, "report", on_report, 0);
    ask_entry    = skua_method_register(cell_class, "ask", on_ask, SKUA_ENTRY_SYNC);
    wait_entry =
        skua_method_register(cell_class, "wait", on_wait, SKUA_ENTRY_SYNC | SKUA_ENTRY_THREADED);
    inline_entry  = skua_method_register(cell_class, "inline", on_inline, SKUA_ENTRY_INLINE);
    urgent_entry  = skua_method_register(cell_class, "urgent", on_inline, SKUA_ENTRY_EXPEDITED);
    order_entry   = skua_method_register(cell_class, "order", on_order, 0);
    many_entry    = skua_method_register(cell_class, "many", on_many, 0);
    set_entry     = skua_method_register(cell_class, "set", on_set, 0);
    words_entry   = skua_method_register(cell_class, "words", on_words, 0);
    runaway_class = skua_class_register(&(skua_class_def){
        .name = "runaway", .bytes = 8, .construct = run_away, .pup = skua_pup_plain});
    where_entry   = skua_method_register(runaway_class, "where", on_where, SKUA_ENTRY_SYNC);
    truth_entry   = skua_method_register(cell_class, "truth", on_truth, 0);
    longest_entry = skua_method_register(cell_class, "longest", on_longest, 0);
    longest_op    = skua_op_register("longest", longest);
    stats_entry   = skua_method_register(cell_class, "stats", on_stats, 0);
    spread_entry  = skua_method_register(cell_class, "spread", on_spread, 0);
    move_entry    = skua_method_register(cell_class, "move", on_move, 0);
    leave_entry   = skua_method_register(cell_class, "leave", on_leave, 0);
}

int main(int argc, char **argv)
{
    register_class();
    last_first     = skua_map_register("last dimension", map_last);
    result_handler = skua_handler_register("result", on_result);
    return skua_main(argc, argv, start);
}
