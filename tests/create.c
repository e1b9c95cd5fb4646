/* SPDX-License-Identifier: Apache-2.0 */
/*
 * create.c - on-demand creation of elements by messages, at their home PE or on the PE of the
 * sender: each element is created once, whichever message is first, and the messages of a sender
 * arrive in order.
 *
 * usage: create [NAME]    one test, or all
 */
#include <sched.h>
#include <skua/skua.h>
#include <string.h>

#include "tap.h"
#include "waits.h"

#define ELEMENTS 24
#define SENDERS  16
#define EACH     12
#define GIVEN    4711 /* argument of the constructors */

enum { STAY, MOVE };

struct item {
    int     does;
    int     next[SENDERS]; /* the next expected number of each sender */
    int64_t count;
};

/* A message to an item; a negative number is out of order. */
struct mail {
    int32_t from, number;
};

struct work {
    skua_collection all;
    int32_t         kind, first, elements; /* MORTAL, LINGER: first is the number of rounds */
};

static skua_class item_class, mortal_class, worker_class;
static skua_entry home_entry, here_entry, urgent_entry, plain_entry, ask_entry, where_entry;
static skua_entry move_entry, report_entry, work_entry, mortal_entry, mortal_here_entry,
    mortal_sum_entry, linger_entry, last_entry, count_entry;
static skua_handler early_handler;

static _Thread_local int64_t mortal_got; /* messages, on this PE */

/* ---- items ------------------------------------------------------------------------- */

static void construct(void *self, const void *data, size_t bytes)
{
    int given[2];

    CHECK(bytes == sizeof given);
    memcpy(given, data, sizeof given);
    CHECK(given[0] == GIVEN);
    ((struct item *)self)->does = given[1];
    if (given[1] == MOVE)
        skua_migrate(self, (skua_pe() + 1) % skua_pes());
}

static void on_mail(void *self, const void *data, size_t bytes)
{
    struct item *item = self;
    struct mail  mail;

    CHECK(bytes == sizeof mail);
    memcpy(&mail, data, sizeof mail);
    if (mail.number >= 0)
        CHECK(mail.number == item->next[mail.from]++);
    item->count++;
}

static void on_ask(void *self, const void *data, size_t bytes)
{
    (void)data;
    CHECK(bytes == 0);
    skua_reply(&((struct item *)self)->count, sizeof(int64_t));
}

static void on_where(void *self, const void *data, size_t bytes)
{
    int pe = skua_pe();

    (void)self, (void)data;
    CHECK(bytes == 0);
    skua_reply(&pe, sizeof pe);
}

static void on_move(void *self, const void *data, size_t bytes)
{
    int pe;

    CHECK(bytes == sizeof pe);
    memcpy(&pe, data, sizeof pe);
    skua_migrate(self, pe);
}

/* Sends the messages of an item, and one to itself. */
static void on_report(void *self, const void *data, size_t bytes)
{
    int64_t         sum[2] = {((struct item *)self)->count, 1};
    skua_completion to;

    CHECK(bytes == sizeof to);
    memcpy(&to, data, sizeof to);
    skua_contribute(self, SKUA_SUM, SKUA_INT64, sum, 2, to);
}

/* ---- the driver of the test ----------------------------------------------------------------- */

static skua_collection make(unsigned flags, int dims, int does)
{
    skua_array_def def   = {.dims = dims, .flags = flags};
    int            of[2] = {GIVEN, does};

    return skua_array_create(item_class, &def, of, sizeof of);
}

static void send(skua_ref ref, skua_entry entry, int number)
{
    struct mail mail = {skua_pe(), number};

    skua_invoke_copy(ref, entry, &mail, sizeof mail);
}

static void check_sums(skua_collection all, int64_t messages, int64_t elements)
{
    skua_future     sums = SKUA_FUTURE_INIT;
    skua_completion to   = skua_done_future(&sums);
    int64_t         sum[2];

    wait_quiet();
    skua_invoke_all(all, report_entry, &to, sizeof to);
    future_take(&sums, sum, sizeof sum);
    CHECK(sum[0] == messages);
    CHECK(sum[1] == elements);
}

static int where(skua_ref ref)
{
    skua_future answer = SKUA_FUTURE_INIT;
    int         pe;

    skua_invoke_reply(ref, where_entry, NULL, 0, skua_done_future(&answer));
    future_take(&answer, &pe, sizeof pe);
    return pe;
}

/* ---- workers, one on each PE ------------------------------------------------------------ */

enum { HOME, HERE, URGENT, MIXED, OWN, LOOSE, MORTAL, LINGER };

/* The entry of the @p n-th message of a kind of work. */
static skua_entry entry_of(int kind, int n)
{
    switch (kind) {
    case HOME: return home_entry;
    case URGENT: return urgent_entry;
    case MIXED: return n % 3 == 1 ? here_entry : plain_entry;
    case MORTAL: return n % 2 ? mortal_here_entry : mortal_entry;
    case LINGER: return n == 0 ? linger_entry : n == 1 ? last_entry : count_entry;
    default: return here_entry;
    }
}

/* Sends the messages of a worker to all elements or, with OWN, to its own elements only. */
static void on_work(void *self, const void *data, size_t bytes)
{
    struct work work;

    CHECK(bytes == sizeof work);
    memcpy(&work, data, sizeof work);
    for (int n = 0; n < (work.kind >= MORTAL ? 4 : EACH); n++)
        for (int i = 0; i < work.elements; i++) {
            int number = work.kind == LOOSE ? -1 : work.first + n;

            if (work.kind != OWN || i % skua_pes() == skua_pe())
                send(skua_element1(work.all, i), entry_of(work.kind, n), number);
        }
    if (work.kind >= MORTAL && --work.first > 0) { /* again, after what has arrived meanwhile */
        sched_yield();
        skua_invoke_copy(skua_ref_of(self), work_entry, &work, sizeof work);
    }
}

static void let_work(skua_collection workers, skua_collection all, int kind, int first)
{
    struct work work = {all, kind, first, ELEMENTS};

    skua_invoke_all(workers, work_entry, &work, sizeof work);
}

static skua_collection workers(void)
{
    return skua_group_create(worker_class, NULL, 0);
}

/* All PEs race to create the same elements, and continue when they exist. */
static void race(int kind, unsigned flags)
{
    for (int round = 0; round < 5; round++) {
        skua_collection group = workers();
        skua_collection all   = make(flags, 1, STAY);

        let_work(group, all, kind, 0);
        if (kind != MIXED)
            let_work(group, all, kind, EACH);
        check_sums(all, (2 - (kind == MIXED)) * (int64_t)ELEMENTS * EACH * skua_pes(), ELEMENTS);
        if (kind == HOME)
            for (int i = 0; i < ELEMENTS; i++)
                CHECK(where(skua_element1(all, i)) == skua_home(skua_element1(all, i)));
        skua_collection_destroy(all);
        skua_collection_destroy(group);
    }
}

static void test_home(void)
{
    race(HOME, 0);
    race(HOME, SKUA_ARRAY_OPEN);
}

static void test_here(void)
{
    race(HERE, 0);
    race(HERE, SKUA_ARRAY_ON_DEMAND);
}

static void test_urgent(void)
{
    race(URGENT, 0);
}

/* Messages to other entries wait for the element, possibly at its home PE.  Their senders learn its
 * location while some messages are in flight, as with elements that migrate: later messages may
 * overtake. */
static void test_mixed(void)
{
    race(MIXED, SKUA_ARRAY_OPEN);
}

/* Each PE creates elements of its own. */
static void test_own(void)
{
    skua_collection group = workers(), all = make(0, 1, STAY);

    let_work(group, all, OWN, 0);
    check_sums(all, (int64_t)ELEMENTS * EACH, ELEMENTS);
    for (int i = 0; i < ELEMENTS; i++)
        CHECK(where(skua_element1(all, i)) == i % skua_pes());
    skua_collection_destroy(all);
    skua_collection_destroy(group);
}

/* ---- destruction, migration ------------------------------------------------------------------ */

/* Other PEs still have the location of a destroyed element: their messages are forwarded, and
 * overtake each other as those to migrating elements do. */
static void test_again(void)
{
    skua_collection group = workers(), all = make(0, 1, STAY);

    for (int round = 0; round < 20; round++) {
        let_work(group, all, LOOSE, 0);
        wait_quiet();
        for (int i = 0; i < ELEMENTS; i++)
            skua_object_destroy_ref(skua_element1(all, i));
        if (round % 3)
            wait_quiet();
        let_work(group, all, LOOSE, 0); /* some reach the old elements, some create new ones */
        wait_quiet();
        for (int i = 0; i < ELEMENTS; i++)
            skua_object_destroy_ref(skua_element1(all, i));
        wait_quiet();
    }
    let_work(group, all, LOOSE, 0);
    check_sums(all, (int64_t)ELEMENTS * EACH * skua_pes(), ELEMENTS);
    skua_collection_destroy(all);
    skua_collection_destroy(group);
}

/* A message is queued for an element that is destroyed before it is delivered. */
static void test_queued(void)
{
    skua_collection all = make(0, 1, STAY);

    for (int i = 0; i < ELEMENTS; i++) {
        send(skua_element1(all, i), i % 2 ? home_entry : here_entry, -1);
        wait_quiet();
        skua_object_destroy_ref(skua_element1(all, i));
        send(skua_element1(all, i), i % 2 ? home_entry : here_entry, -1);
        send(skua_element1(all, i), here_entry, -1);
    }
    check_sums(all, 2 * ELEMENTS, ELEMENTS);
    skua_collection_destroy(all);
}

/* Elements that migrate and destroy themselves, each time after a few messages, are created again
 * by the next one, also while messages of their homes wait for the PE of the former element, and
 * while a claim of such an element, which has come since, is in flight. */
static void on_mortal(void *self, const void *data, size_t bytes)
{
    static _Thread_local uint64_t random = 1;
    uint64_t                      pick   = tap_random(&random) >> 8;

    (void)data;
    CHECK(bytes == sizeof(struct mail));
    mortal_got++;
    if (pick % 16 < 5)
        skua_migrate(self, (int)(pick / 16 % (unsigned)skua_pes()));
    else if (pick % 16 == 5)
        skua_object_destroy(self);
}

static void on_mortal_sum(void *self, const void *data, size_t bytes)
{
    skua_completion to;

    CHECK(bytes == sizeof to);
    memcpy(&to, data, sizeof to);
    skua_contribute(self, SKUA_SUM, SKUA_INT64, &mortal_got, 1, to);
    mortal_got = 0;
}

/* A thread, which stays in the element after its destruction was requested: messages that come
 * meanwhile create the element again afterwards. */
static void on_linger(void *self, const void *data, size_t bytes)
{
    (void)self, (void)data, (void)bytes;
    mortal_got++;
    for (int i = 0; i < 3; i++)
        skua_thread_yield();
}

static void on_last(void *self, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    mortal_got++;
    skua_object_destroy(self);
}

static void on_count(void *self, const void *data, size_t bytes)
{
    (void)self, (void)data, (void)bytes;
    mortal_got++;
}

/* Returns how many messages elements have got on all PEs since the last call. */
static int64_t take_mortal_sum(skua_collection group)
{
    skua_future     sum = SKUA_FUTURE_INIT;
    skua_completion to  = skua_done_future(&sum);

    wait_quiet();
    skua_invoke_all(group, mortal_sum_entry, &to, sizeof to);
    return future_take_int64(&sum);
}

static void mortal_work(int kind)
{
    skua_array_def  def   = {.dims = 1, .flags = SKUA_ARRAY_ON_DEMAND};
    skua_collection group = workers(), all = skua_array_create(mortal_class, &def, NULL, 0);
    struct work     work = {all, kind, kind == LINGER ? 50 : 200, 3};

    skua_invoke_all(group, work_entry, &work, sizeof work);
    CHECK(take_mortal_sum(group) == INT64_C(4) * work.first * work.elements * skua_pes());
    skua_invoke_all(all, count_entry, NULL, 0);
    CHECK(take_mortal_sum(group) <= work.elements); /* no index has two elements */
    skua_collection_destroy(all);
    skua_collection_destroy(group);
}

static void test_mortal(void)
{
    mortal_work(MORTAL);
}

static void test_linger(void)
{
    mortal_work(LINGER);
}

static void move_all(skua_collection all, int by)
{
    for (int i = 0; i < ELEMENTS; i++) {
        int pe = (i + by) % skua_pes();

        skua_invoke_copy(skua_element1(all, i), move_entry, &pe, sizeof pe);
    }
}

static void test_journeys(void)
{
    for (int does = STAY; does <= MOVE; does++) {
        skua_collection group = workers(), all = make(0, 1, does);

        for (int round = 0; round < 10; round++) {
            let_work(group, all, LOOSE, 0);
            if (round == 0)
                wait_quiet(); /* waits until they exist */
            move_all(all, round);
        }
        check_sums(all, 10 * (int64_t)ELEMENTS * EACH * skua_pes(), ELEMENTS);
        for (int i = 0; i < ELEMENTS; i++)
            skua_object_destroy_ref(skua_element1(all, i));
        wait_quiet();
        let_work(group, all, LOOSE, 0); /* uses their cached location */
        check_sums(all, (int64_t)ELEMENTS * EACH * skua_pes(), ELEMENTS);
        skua_collection_destroy(all);
        skua_collection_destroy(group);
    }
}

/* ---- other ways to send ------------------------------------------------------------------ */

/* From a PE that may not know the array yet. */
static void on_early(skua_msg *msg)
{
    skua_collection all = *(skua_collection *)skua_msg_data(msg);

    skua_msg_free(msg);
    for (int n = 0; n < EACH; n++)
        for (int i = 0; i < ELEMENTS; i++)
            send(skua_element1(all, i), entry_of(MIXED, n), -1);
}

static void test_early(void)
{
    for (int round = 0; round < 10; round++) {
        skua_collection all = make(SKUA_ARRAY_OPEN, 1, STAY);

        for (int pe = skua_pes() - 1; pe >= 0; pe--)
            skua_send_copy(pe, early_handler, &all, sizeof all);
        check_sums(all, (int64_t)ELEMENTS * EACH * skua_pes(), ELEMENTS);
        skua_collection_destroy(all);
    }
}

/* Replies, completions, messages, strings as indices. */
static void test_ways(void)
{
    static const char text[] = "names of elements may be rather long, of 48 bytes";
    struct mail       mail   = {0, -1};
    skua_collection   all    = make(0, 0, STAY);
    skua_msg         *msg;

    for (uint32_t bytes = 1; bytes <= SKUA_INDEX_MAX; bytes++) {
        skua_ref    ref    = skua_element(all, skua_index_bytes(text, bytes));
        skua_future answer = SKUA_FUTURE_INIT;

        if (bytes % 2)
            skua_complete(skua_done_invoke(ref, here_entry), &mail, sizeof mail);
        skua_invoke_reply(ref, ask_entry, NULL, 0, skua_done_future(&answer));
        CHECK(*(const int64_t *)future_value(&answer, sizeof(int64_t)) <= bytes % 2);
        skua_future_clear(&answer);
        msg = skua_msg_alloc(sizeof mail);
        memcpy(skua_msg_data(msg), &mail, sizeof mail);
        skua_invoke(ref, bytes % 3 ? here_entry : home_entry, msg);
        skua_invoke_copy_prio(ref, here_entry, &mail, sizeof mail, (int)bytes - 20);
    }
    check_sums(all, SKUA_INDEX_MAX * 5 / 2, SKUA_INDEX_MAX);
    skua_collection_destroy(all);
}

/* Section members that do not exist are waited for until a multicast creates them. */
static void test_section(void)
{
    struct mail     mail = {0, -1};
    skua_collection all  = make(SKUA_ARRAY_OPEN, 1, STAY);
    skua_index      index[ELEMENTS];
    skua_section    section;

    for (int i = 0; i < ELEMENTS; i++)
        index[i] = skua_index1(i);
    section = skua_section_create(all, index, ELEMENTS);
    skua_section_invoke(section, plain_entry, &mail, sizeof mail);
    skua_section_invoke(section, here_entry, &mail, sizeof mail);
    skua_complete(skua_done_invoke_section(section, home_entry), &mail, sizeof mail);
    check_sums(all, 3 * ELEMENTS, ELEMENTS);
    skua_section_destroy(section);
    wait_quiet();
    skua_collection_destroy(all);
}

static const struct {
    const char *name;
    void (*fn)(void);
} tests[] = {{"home", test_home},     {"here", test_here},         {"urgent", test_urgent},
             {"mixed", test_mixed},   {"own", test_own},           {"again", test_again},
             {"queued", test_queued}, {"journeys", test_journeys}, {"early", test_early},
             {"ways", test_ways},     {"section", test_section},   {"mortal", test_mortal},
             {"linger", test_linger}};

static void start(int argc, char **argv)
{
    CHECK(skua_pes() <= SENDERS);
    if (skua_pe() != 0)
        return;
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        if (argc < 2 || strcmp(argv[1], tests[i].name) == 0)
            tests[i].fn();
    skua_exit(0);
}

int main(int argc, char **argv)
{
    item_class = skua_class_register(&(skua_class_def){.name      = "item",
                                                       .bytes     = sizeof(struct item),
                                                       .construct = construct,
                                                       .pup       = skua_pup_plain});
    mortal_class =
        skua_class_register(&(skua_class_def){.name = "mortal", .bytes = 8, .pup = skua_pup_plain});
    worker_class = skua_class_register(&(skua_class_def){.name = "worker"});
    home_entry   = skua_method_register(item_class, "home", on_mail, SKUA_ENTRY_CREATE_HOME);
    here_entry   = skua_method_register(item_class, "here", on_mail, SKUA_ENTRY_CREATE_HERE);
    urgent_entry = skua_method_register(item_class, "urgent", on_mail,
                                        SKUA_ENTRY_CREATE_HERE | SKUA_ENTRY_IMMEDIATE);
    plain_entry  = skua_method_register(item_class, "plain", on_mail, 0);
    ask_entry =
        skua_method_register(item_class, "ask", on_ask, SKUA_ENTRY_SYNC | SKUA_ENTRY_CREATE_HERE);
    where_entry  = skua_method_register(item_class, "where", on_where, SKUA_ENTRY_SYNC);
    move_entry   = skua_method_register(item_class, "move", on_move, 0);
    report_entry = skua_method_register(item_class, "report", on_report, 0);
    work_entry   = skua_method_register(worker_class, "work", on_work, 0);
    mortal_entry = skua_method_register(mortal_class, "mail", on_mortal, 0);
    mortal_here_entry =
        skua_method_register(mortal_class, "mail_here", on_mortal, SKUA_ENTRY_CREATE_HERE);
    linger_entry     = skua_method_register(mortal_class, "linger", on_linger, SKUA_ENTRY_THREADED);
    last_entry       = skua_method_register(mortal_class, "last", on_last, 0);
    count_entry      = skua_method_register(mortal_class, "count", on_count, 0);
    mortal_sum_entry = skua_method_register(worker_class, "mortal_sum", on_mortal_sum, 0);
    early_handler    = skua_handler_register("early", on_early);
    return skua_main(argc, argv, start);
}
