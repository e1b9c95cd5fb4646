/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.c - streams of random items between all PEs: each arrives once, intact and in order, on
 * meshes of all dimensions, with buffers of any size, delivered by items and by batches; items wait
 * no longer, and no more of them wait, than specified; those for members of a group reach no other
 * group.
 *
 * usage: stream [ITEMS]
 */
#include <skua/skua.h>
#include <string.h>

#include "stats_now.h"
#include "tap.h"
#include "waits.h"

#define PES_MAX 16
#define PERIOD  0.002

/* The head of an item, which determines the rest. */
struct head {
    uint16_t source;
    uint32_t sequence;
} __attribute__((packed));

/* The streams, all of one test. */
struct variant {
    const char     *name;
    skua_stream_def def;
    skua_stream     stream;
};

static void on_item(void *arg, const void *item);
static void on_batch(void *arg, const void *items, size_t count);

static struct variant variants[] = {
    {.name = "chosen", .def = {.item_bytes = 8, .batch = on_batch}},
    {.name = "line", .def = {.item_bytes = 16, .item = on_item, .mesh_dims = 1}},
    {.name = "square", .def = {.item_bytes = 8, .batch = on_batch, .mesh_dims = 2}},
    {.name = "cube", .def = {.item_bytes = 24, .batch = on_batch, .mesh_dims = 3}},
    {.name = "odd", .def = {.item_bytes = 13, .item = on_item, .mesh_dims = 2, .buffer = 37}},
    {.name = "pairs",
     .def  = {.item_bytes = 8, .batch = on_batch, .mesh_dims = 2, .mesh_size = {0, 2}}},
    {.name = "one", .def = {.item_bytes = 8, .batch = on_batch, .buffer = 1}},
    {.name = "three", .def = {.item_bytes = 7, .item = on_item, .mesh_dims = 3, .buffer = 3}},
    {.name = "large", .def = {.item_bytes = 5000, .batch = on_batch, .buffer = 20, .mesh_dims = 2}},
    {.name = "hasty", .def = {.item_bytes = 8, .batch = on_batch, .mesh_dims = 2, .period = 1e-6}},
};

#define VARIANTS (sizeof variants / sizeof *variants)

static struct variant patient = {
    .name = "patient", .def = {.item_bytes = 8, .item = on_item, .mesh_dims = 2, .patient = true}};
static struct variant timed = {
    .name = "timed",
    .def  = {.item_bytes = 8, .item = on_item, .mesh_dims = 2, .patient = true, .period = PERIOD}};
static struct variant held = {
    .name = "held", .def = {.item_bytes = 8, .batch = on_batch, .mesh_dims = 2, .held = true}};
static struct variant chain;

static skua_pe_data mine_key;
static skua_handler done_handler;

struct mine {
    size_t   item_bytes;
    int64_t  sent[PES_MAX], received[PES_MAX];
    uint64_t links; /* links of the chain */
    uint64_t batches;
    int      finished; /* used on PE 0 */
};

static struct mine *mine(void)
{
    return skua_pe_data_get(mine_key);
}

/* ---- items ------------------------------------------------------------------------- */

static unsigned char filling(const struct head *head, size_t i)
{
    return (unsigned char)(head->source * 31u + head->sequence * 7u + i);
}

static void put(const struct variant *v, int pe)
{
    static _Thread_local unsigned char item[5000];
    struct head                        head = {(uint16_t)skua_pe(), (uint32_t)mine()->sent[pe]++};

    memcpy(item, &head, sizeof head);
    for (size_t i = sizeof head; i < v->def.item_bytes; i++)
        item[i] = filling(&head, i);
    skua_stream_put(v->stream, pe, item);
}

static void take(struct mine *m, const unsigned char *item)
{
    struct head head;

    memcpy(&head, item, sizeof head);
    CHECK(head.source < skua_pes());
    CHECK(head.sequence == m->received[head.source]++);
    for (size_t i = sizeof head; i < m->item_bytes; i++)
        CHECK(item[i] == filling(&head, i));
}

static void on_item(void *arg, const void *item)
{
    CHECK(arg == mine());
    take(arg, item);
}

static void on_batch(void *arg, const void *items, size_t count)
{
    struct mine *m = arg;

    CHECK(m == mine() && count > 0);
    m->batches++;
    for (size_t i = 0; i < count; i++)
        take(m, (const unsigned char *)items + i * m->item_bytes);
}

/* ---- rounds ------------------------------------------------------------------------- */

/* Returns the sum of a number over all PEs. */
static int64_t total(int64_t value)
{
    skua_future future = SKUA_FUTURE_INIT;

    skua_allreduce(SKUA_SUM, SKUA_INT64, &value, 1, skua_done_future(&future));
    return future_take_int64(&future);
}

static int64_t sum(const int64_t *counts)
{
    int64_t n = 0;

    for (int pe = 0; pe < skua_pes(); pe++)
        n += counts[pe];
    return n;
}

static void forget(const struct variant *v)
{
    struct mine *m = mine();

    memset(m->sent, 0, sizeof m->sent);
    memset(m->received, 0, sizeof m->received);
    m->item_bytes = v->def.item_bytes;
    m->batches    = 0;
}

static void begin(const struct variant *v)
{
    forget(v);
    skua_stream_bind(v->stream, mine());
    total(0); /* all have */
}

/* Waits until everything has arrived and compares it with what was sent. */
static void finish(const struct variant *v, bool flush)
{
    struct mine *m = mine();
    int64_t      counts[2];

    do {
        if (flush)
            skua_stream_flush(v->stream);
        skua_poll(1000); /* needed with a single PE */
        counts[0] = total(sum(m->sent));
        counts[1] = total(sum(m->received));
    } while (counts[0] != counts[1]);
    for (int pe = 0; pe < skua_pes(); pe++) {
        int64_t from = total(skua_pe() == pe ? sum(m->sent) : 0);
        CHECK(total(m->received[pe]) == from);
        CHECK(total(m->sent[pe]) == total(skua_pe() == pe ? sum(m->received) : 0));
    }
    CHECK(skua_stream_waiting(v->stream) == 0);
}

static void test_random(const struct variant *v, int items, uint64_t *seed)
{
    size_t fill  = 4096 / v->def.item_bytes * (size_t)(skua_pes() + SKUA_MESH_DIMS);
    size_t bound = v->def.buffer ? v->def.buffer : fill < 1024 ? 1024 : fill;

    begin(v);
    for (int i = 0; i < items; i++) {
        put(v, (int)(tap_random(seed) % (uint64_t)skua_pes()));
        CHECK(skua_stream_waiting(v->stream) < bound);
        if (i % 1000 == 0)
            skua_poll(10);
    }
    finish(v, true);
}

/* Sends from all PEs to one, and from one to all. */
static void test_uneven(const struct variant *v, int items)
{
    begin(v);
    for (int i = 0; i < items; i++)
        put(v, skua_pes() / 2);
    for (int i = 0; skua_pe() == 0 && i < items; i++)
        put(v, i % skua_pes());
    finish(v, true);
}

/* Items are aggregated: there are far fewer batches than items. */
static void test_gathers(void)
{
    enum { ITEMS = 20000 };

    begin(&variants[0]);
    for (int i = 0; i < ITEMS; i++)
        put(&variants[0], (skua_pe() + 1) % skua_pes());
    finish(&variants[0], true);
    CHECK(mine()->batches < ITEMS / 200);
}

/* ---- waiting -------------------------------------------------------------------------- */

static bool all_are_here(void *arg)
{
    (void)arg;
    return sum(mine()->received) == skua_pes();
}

static void put_one_for_all(const struct variant *v)
{
    begin(v);
    for (int pe = 0; pe < skua_pes(); pe++)
        put(v, pe);
}

/* An idle PE flushes its buffers. */
static void test_idle(void)
{
    put_one_for_all(&variants[2]);
    CHECK(skua_run_until(all_are_here, NULL));
    finish(&variants[2], false);
}

/* A stream without idle flush keeps its items until it is flushed. */
static void test_patient(void)
{
    put_one_for_all(&patient);
    for (int i = 0; i < 20; i++)
        total(0);
    CHECK(sum(mine()->received) == 0);
    CHECK(skua_stream_waiting(patient.stream) == (size_t)skua_pes());
    total(0); /* waits until all PEs have checked */
    CHECK(skua_stream_flush(patient.stream) && !skua_stream_flush(patient.stream));
    finish(&patient, true);
}

/* A periodic flush sends items, also at intermediate PEs, and never early. */
static void test_period(void)
{
    double before = skua_time(), far;

    begin(&timed);
    total(0);
    far = skua_time();
    for (int pe = 0; pe < skua_pes(); pe++)
        put(&timed, pe);
    CHECK(skua_run_until(all_are_here, NULL));
    CHECK(skua_time() - before >= PERIOD && far >= before);
    finish(&timed, false);
    CHECK(stats_now().timers > 0);
}

/* Items that arrive before the stream is bound wait, in order. */
static void test_held(void)
{
    forget(&held);
    total(0);
    for (int i = 0; i < 500; i++)
        put(&held, i % skua_pes());
    skua_stream_flush(held.stream);
    for (int i = 0; i < 5; i++) {
        skua_poll(1000);
        total(0);
    }
    CHECK(sum(mine()->received) == 0);
    skua_stream_bind(held.stream, mine());
    for (int i = 0; i < 500; i++)
        put(&held, i % skua_pes());
    finish(&held, true);
    skua_stream_bind(held.stream, NULL); /* and may be bound again */
    skua_stream_bind(held.stream, mine());
}

/* ---- members of groups that follow one another -------------------------------------------- */

#define GROUP_ROUNDS 20
#define GROUP_ITEMS  30 /* of each PE to each member */

struct group_member {
    uint64_t group;
    int      items;
};

static skua_class  group_class;
static skua_stream group_stream;

static void group_construct(void *self, const void *data, size_t bytes)
{
    struct group_member *member = self;

    (void)data, (void)bytes;
    member->group = skua_collection_of(self).id;
    skua_stream_bind_member(group_stream, member->group, self);
}

static void group_destroy(void *self)
{
    (void)self;
    skua_stream_bind(group_stream, NULL);
}

static void group_on_item(void *self, const void *item)
{
    struct group_member *member = self;
    uint64_t             group;

    memcpy(&group, item, sizeof group);
    CHECK(member->group == group);
    member->items++;
}

static void put_to_group(uint64_t group)
{
    for (int i = 0; i < GROUP_ITEMS * skua_pes(); i++)
        skua_stream_put_member(group_stream, group, i % skua_pes(), &group);
}

static void group_settle(void)
{
    skua_counter quiet = SKUA_COUNTER_INIT;

    skua_quiescence(skua_done_count(&quiet));
    skua_counter_wait(&quiet, 1);
    total(0);
}

/* Items for a group may arrive before it is created, and after it was destroyed. */
static void test_groups(void)
{
    skua_collection last = {0};

    for (int round = 0; round < GROUP_ROUNDS; round++) {
        if (skua_pe() == 0 && round > 0)
            skua_collection_destroy(last);
        last.id = skua_pe() == 0 ? skua_group_create(group_class, NULL, 0).id : 0;
        last.id = (uint64_t)total((int64_t)last.id);
        put_to_group(last.id);
    }
    group_settle();
    CHECK(((struct group_member *)skua_group_local(last))->items == GROUP_ITEMS * skua_pes());
    total(0);
    put_to_group(last.id);
    if (skua_pe() == 0)
        skua_collection_destroy(last);
    group_settle();
    CHECK(skua_stream_waiting(group_stream) == 0);
}

/* ---- a chain: items that put the next one, also to their own PE -------------------------- */

static void on_link(void *arg, const void *item)
{
    uint64_t left;

    (void)arg;
    memcpy(&left, item, sizeof left);
    mine()->links++;
    left--;
    if (left > 0)
        skua_stream_put(chain.stream, left % 3 ? skua_pe() : (int)(left % (uint64_t)skua_pes()),
                        &left);
}

static void test_chain(void)
{
    enum { LINKS = 20000 };
    uint64_t links = LINKS;

    mine()->links = 0;
    total(0);
    skua_stream_put(chain.stream, skua_pe(), &links);
    while (total((int64_t)mine()->links) < (int64_t)LINKS * skua_pes()) {
        skua_stream_flush(chain.stream); /* a single PE is never idle in this test */
        skua_poll(1000);
    }
    CHECK(total((int64_t)mine()->links) == (int64_t)LINKS * skua_pes());
}

/* ---- locality of PEs ------------------------------------------------------------------------ */

static void test_hosts(void)
{
    int hosts = skua_hosts(), pes = 0;

    CHECK(total(hosts) == (int64_t)hosts * skua_pes()); /* all PEs agree */
    for (int host = 0; host < hosts; host++) {
        for (int i = 0; i < skua_host_pes(host); i++, pes++) {
            int pe = skua_host_pe(host, i);
            CHECK(skua_host_of(pe) == host);
            CHECK(skua_shares_memory(pe) == (host == skua_host_of(skua_pe())));
        }
    }
    CHECK(pes == skua_pes() && (hosts == 1) == tap_all_near());
}

static void test_places(void)
{
    skua_cpu here = skua_cpu_of(skua_pe());

    CHECK(skua_distance(skua_pe()) == SKUA_SAME_PE);
    for (int pe = 0; pe < skua_pes(); pe++) {
        skua_cpu there = skua_cpu_of(pe);
        if (pe == skua_pe())
            continue;
        CHECK(skua_shares_memory(pe) ? skua_distance(pe) <= SKUA_SAME_HOST
                                     : skua_distance(pe) == SKUA_ELSEWHERE && there.cpu == -1);
        if (skua_shares_memory(pe) && here.cpu >= 0 && here.cpu == there.cpu)
            CHECK(skua_distance(pe) == SKUA_SAME_CORE);
    }
}

static void test_mesh(void)
{
    for (int dims = 0; dims <= SKUA_MESH_DIMS; dims++) {
        skua_mesh mesh = skua_mesh_make(dims);
        int       coord[SKUA_MESH_DIMS];

        CHECK(mesh.pes == skua_pes() && (dims == 0 || mesh.dims == dims));
        skua_mesh_coord(&mesh, skua_pe(), coord);
        CHECK(skua_mesh_pe(&mesh, coord) == skua_pe());
        CHECK(total(mesh.size[0]) == (int64_t)mesh.size[0] * skua_pes());
    }
}

/* ---- all --------------------------------------------------------------------------------- */

static void on_done(skua_msg *msg)
{
    skua_msg_free(msg);
    if (++mine()->finished == skua_pes())
        skua_exit(0);
}

static uint64_t test_seed; /* of this process */

static void start(int argc, char **argv)
{
    int      items = argc > 1 ? atoi(argv[1]) : 20000;
    uint64_t seed  = test_seed + (uint64_t)skua_pe() * 1000003;

    test_hosts();
    test_places();
    test_mesh();
    for (size_t i = 0; i < VARIANTS; i++) {
        test_random(&variants[i], variants[i].def.item_bytes > 100 ? items / 50 : items, &seed);
        test_uneven(&variants[i], 300);
    }
    test_gathers();
    test_idle();
    test_patient();
    test_period();
    test_held();
    test_groups();
    test_chain();
    skua_send_copy(0, done_handler, NULL, 0);
}

int main(int argc, char **argv)
{
    test_seed = tap_seed();
    for (size_t i = 0; i < VARIANTS; i++)
        variants[i].stream = skua_stream_register(variants[i].name, &variants[i].def);
    patient.stream = skua_stream_register(patient.name, &patient.def);
    timed.stream   = skua_stream_register(timed.name, &timed.def);
    held.stream    = skua_stream_register(held.name, &held.def);
    chain.def      = (skua_stream_def){.item_bytes = 8, .item = on_link};
    chain.stream   = skua_stream_register("chain", &chain.def);
    group_class    = skua_class_register(&(skua_class_def){.name      = "members",
                                                           .bytes     = sizeof(struct group_member),
                                                           .construct = group_construct,
                                                           .destroy   = group_destroy});
    group_stream   = skua_stream_register(
          "groups",
          &(skua_stream_def){.item_bytes = 8, .item = group_on_item, .mesh_dims = 2, .held = true});
    mine_key     = skua_pe_data_register(sizeof(struct mine));
    done_handler = skua_handler_register("done", on_done);
    return skua_main(argc, argv, start);
}
