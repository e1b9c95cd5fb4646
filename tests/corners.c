/* SPDX-License-Identifier: Apache-2.0 */
/*
 * corners.c - corner cases of objects: contributing, waiting, migrating and destroying themselves
 * in a constructor, waiting in the middle of a broadcast, destruction with messages in the queue.
 *
 * usage: corners [NAME]    one test, or all
 */
#include <skua/skua.h>
#include <string.h>

#include "tap.h"
#include "waits.h"

enum { NOTHING, CONTRIBUTE, WAIT, MOVE, DIE, COUNT };

struct guest {
    int     does; /* what it does in its constructor */
    int64_t sum;
    int     shouts;
    char   *memory;

    skua_completion later; /* completion of a deferred result; does not migrate */
};

static skua_class guest_class;
static skua_entry add_entry, shout_entry, report_entry, move_entry, ask_entry, busy_entry,
    later_entry, give_entry;
static skua_handler result_handler, insert_handler, friends_handler, created_handler;
static int64_t      results, result_sum;      /* used on PE 0 */
static int64_t      created;                  /* number of guests that COUNT, on PE 0 */
static _Thread_local skua_collection friends; /* notified when a guest of this PE is destroyed */

static void on_add(void *self, const void *data, size_t bytes)
{
    int64_t value;

    CHECK(bytes == sizeof value);
    memcpy(&value, data, sizeof value);
    ((struct guest *)self)->sum += value;
}

static void add(skua_ref ref, int64_t value)
{
    skua_invoke_copy(ref, add_entry, &value, sizeof value);
}

static void poll_a_while(void)
{
    for (int i = 0; i < 20; i++)
        skua_poll(5);
}

static void construct(void *self, const void *data, size_t bytes)
{
    struct guest *g   = self;
    int64_t       one = 1;

    CHECK(bytes == sizeof g->does);
    memcpy(&g->does, data, sizeof g->does);
    g->memory = calloc(1, 10);
    switch (g->does) {
    case CONTRIBUTE:
        skua_contribute(self, SKUA_SUM, SKUA_INT64, &one, 1, skua_done_send(0, result_handler));
        break;
    case WAIT: poll_a_while(); break;
    case MOVE: skua_migrate(self, (skua_pe() + 1) % skua_pes()); break;
    case DIE: skua_object_destroy(self); break;
    case COUNT: skua_send_copy(0, created_handler, NULL, 0); break;
    default: break;
    }
}

/* Notifies a friend on this PE, and requests its own destruction, which is in progress already. */
static void destroy(void *self)
{
    free(((struct guest *)self)->memory);
    if (friends.id && skua_collection_of(self).id != friends.id)
        add(skua_member(friends, skua_pe()), 1);
    skua_object_destroy(self);
}

static void pup(skua_pup *p, void *self)
{
    struct guest *g = self;

    skua_pup_value(p, &g->does);
    skua_pup_value(p, &g->sum);
    skua_pup_value(p, &g->shouts);
    skua_pup_memory(p, &g->memory, 10);
}

static void on_move(void *self, const void *data, size_t bytes)
{
    int pe;

    CHECK(bytes == sizeof pe);
    memcpy(&pe, data, sizeof pe);
    skua_migrate(self, pe);
}

static void on_report(void *self, const void *data, size_t bytes)
{
    skua_completion to;

    CHECK(bytes == sizeof to);
    memcpy(&to, data, sizeof to);
    skua_contribute(self, SKUA_SUM, SKUA_INT64, &((struct guest *)self)->sum, 1, to);
}

/* Waits in the middle of a broadcast; the next broadcasts arrive meanwhile. */
static void on_shout(void *self, const void *data, size_t bytes)
{
    struct guest *g = self;
    int           n;

    CHECK(bytes == sizeof n);
    memcpy(&n, data, sizeof n);
    CHECK(n == ++g->shouts);
    g->sum++;
    if (skua_index_of(self).at.x[0] % 4 == n % 4)
        skua_migrate(self, (skua_pe() + n) % skua_pes());
    if (skua_index_of(self).at.x[0] % 4 == (n + 1) % 4)
        skua_poll(8);
}

static void on_ask(void *self, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    skua_reply(&((struct guest *)self)->sum, sizeof(int64_t));
}

/* The next `give` provides the result. */
static void on_later(void *self, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    ((struct guest *)self)->later = skua_reply_later();
}

static void on_give(void *self, const void *data, size_t bytes)
{
    struct guest *g = self;

    (void)data, (void)bytes;
    g->sum += 7;
    skua_complete(g->later, &g->sum, sizeof g->sum);
}

/* A threaded entry that runs for a while. */
static void on_busy(void *self, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    for (int i = 0; i < 50; i++)
        skua_thread_yield();
    ((struct guest *)self)->sum += 1000;
}

/* ---- waiting on PE 0 -------------------------------------------------------------- */

static int64_t total(skua_collection all)
{
    skua_future     future = SKUA_FUTURE_INIT;
    skua_completion done   = skua_done_future(&future);

    wait_quiet(); /* a broadcast and a message to an element are not ordered */
    skua_invoke_all(all, report_entry, &done, sizeof done);
    return future_take_int64(&future);
}

static int64_t ask(skua_ref ref)
{
    skua_future future = SKUA_FUTURE_INIT;

    skua_invoke_reply(ref, ask_entry, NULL, 0, skua_done_future(&future));
    return future_take_int64(&future);
}

static void on_result(skua_msg *msg)
{
    int64_t value;

    memcpy(&value, skua_msg_data(msg), sizeof value);
    results++;
    result_sum += value;
    skua_msg_free(msg);
}

/* ---- constructors ------------------------------------------------------------------ */

static void test_contribute(void)
{
    for (int n = 1; n <= 25; n += 8) {
        int             does = CONTRIBUTE;
        skua_collection all;

        results = result_sum = 0;
        all                  = skua_array_create1(guest_class, n, &does, sizeof does);
        wait_quiet();
        CHECK(results == 1 && result_sum == n);
        skua_collection_destroy(all);
        results = result_sum = 0;
        all                  = skua_group_create(guest_class, &does, sizeof does);
        wait_quiet();
        CHECK(results == 1 && result_sum == skua_pes());
        skua_collection_destroy(all);
    }
}

/* Messages arrive while constructors wait, also for elements that are not constructed yet. */
static void test_wait(void)
{
    int             does = WAIT;
    skua_collection all  = skua_array_create1(guest_class, 40, &does, sizeof does);

    for (int i = 0; i < 40; i++)
        add(skua_element1(all, i), i);
    CHECK(total(all) == 40 * 39 / 2);
    skua_collection_destroy(all);
    all = skua_array_create1(guest_class, 40, &does, sizeof does);
    skua_collection_destroy(all); /* before all elements exist */
    wait_quiet();
}

static void test_move(void)
{
    int             does = MOVE;
    skua_array_def  def  = {.dims = 1, .flags = SKUA_ARRAY_ON_DEMAND};
    skua_collection all  = skua_array_create(guest_class, &def, &does, sizeof does);

    for (int i = 0; i < 40; i++)
        add(skua_element1(all, i), i);
    for (int i = 0; i < 40; i++)
        while (ask(skua_element1(all, i)) != i)
            ;
    CHECK(total(all) == 40 * 39 / 2);
    skua_collection_destroy(all);
}

/* ---- destruction ---------------------------------------------------------------------- */

/* Messages that wait for elements are freed with their collection. */
static void test_held(void)
{
    int             does = NOTHING;
    skua_array_def  def  = {.dims = 1, .flags = SKUA_ARRAY_OPEN};
    skua_collection all  = skua_array_create(guest_class, &def, &does, sizeof does);

    for (int i = 0; i < 20; i++)
        add(skua_element1(all, i), i);
    skua_collection_destroy(all);
    wait_quiet();
}

/* Elements migrate away, the collection is destroyed, then their queued messages are handled. */
static void test_queued(void)
{
    int             does = NOTHING, pe = skua_pes() - 1;
    skua_collection all = skua_array_create1(guest_class, 10, &does, sizeof does);

    wait_quiet();
    skua_invoke_copy(skua_element1(all, 1), busy_entry, NULL, 0);
    skua_invoke_copy(skua_element1(all, 0), move_entry, &pe, sizeof pe);
    skua_collection_destroy(all);
    for (int i = 0; i < 10; i++)
        add(skua_element1(all, i), 1);
    wait_quiet();
}

/* Each element of a plane can be accessed by its two indices. */
static void test_plane(void)
{
    int             does = NOTHING;
    skua_collection all  = skua_array_create2(guest_class, 4, 5, &does, sizeof does);

    for (int i = 0; i < 20; i++)
        add(skua_element2(all, i % 4, i / 4), 1);
    wait_quiet();
    skua_collection_destroy(all);
    wait_quiet();
}

/* A message that was queued for a destroyed element of an on-demand array creates a new one. */
static void test_again(void)
{
    int             does = DIE;
    skua_array_def  def  = {.dims = 1, .flags = SKUA_ARRAY_ON_DEMAND};
    skua_collection all;

    does = NOTHING;
    all  = skua_array_create(guest_class, &def, &does, sizeof does);
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < 10; i++) {
            add(skua_element1(all, i), 1);
            skua_object_destroy_ref(skua_element1(all, i));
            add(skua_element1(all, i), 1);
        }
    CHECK(total(all) == 10);
    skua_collection_destroy(all);
}

static void on_created(skua_msg *msg)
{
    created++;
    skua_msg_free(msg);
}

/* Deleting an element of an on-demand array that does not exist, or was destroyed before, creates
 * no element. */
static void test_absent(void)
{
    int             does = COUNT;
    skua_array_def  def  = {.dims = 1, .flags = SKUA_ARRAY_ON_DEMAND};
    skua_collection all  = skua_array_create(guest_class, &def, &does, sizeof does);

    created = 0;
    for (int i = 0; i < 20; i++)
        skua_object_destroy_ref(skua_element1(all, i));
    wait_quiet();
    CHECK(created == 0);
    for (int i = 0; i < 20; i++) {
        add(skua_element1(all, i), 1);
        skua_object_destroy_ref(skua_element1(all, i));
        skua_object_destroy_ref(skua_element1(all, i));
    }
    wait_quiet();
    CHECK(created == 20);
    for (int i = 0; i < 20; i++)
        skua_object_destroy_ref(skua_element1(all, i));
    wait_quiet();
    CHECK(created == 20);
    add(skua_element1(all, 3), 5);
    CHECK(total(all) == 5);
    skua_collection_destroy(all);
}

/* ---- broadcasts -------------------------------------------------------------------- */

static void test_nested(void)
{
    int             does = NOTHING;
    skua_collection all  = skua_array_create1(guest_class, 12, &does, sizeof does);

    for (int n = 1; n <= 40; n++)
        skua_invoke_all(all, shout_entry, &n, sizeof n);
    CHECK(total(all) == 12 * 40);
    skua_collection_destroy(all);
}

/* ---- completions, insertions ------------------------------------------------------- */

/* A completion to an object with a long index can be used many times. */
static void test_long(void)
{
    int             does     = NOTHING;
    skua_array_def  def      = {.flags = SKUA_ARRAY_ON_DEMAND};
    skua_collection all      = skua_array_create(guest_class, &def, &does, sizeof does);
    char            name[40] = "an index that is too long for a header";
    skua_ref        ref      = skua_element(all, skua_index_bytes(name, sizeof name));
    skua_completion done     = skua_done_invoke(ref, add_entry);

    for (int64_t i = 0; i < 10; i++) {
        skua_completion again = skua_done_invoke(ref, add_entry);

        skua_complete(done, &i, sizeof i);
        CHECK(again.what.fn == done.what.fn && again.with.arg == done.with.arg);
    }
    wait_quiet();
    CHECK(ask(ref) == 45);
    skua_collection_destroy(all);
}

/* Inserts on a PE that does not know the array yet. */
static void on_insert(skua_msg *msg)
{
    int      does = NOTHING;
    skua_ref ref  = skua_element1(*(skua_collection *)skua_msg_data(msg), skua_pe());

    skua_msg_free(msg);
    skua_array_insert(ref, skua_pe() % 2 ? skua_pes() - 1 : SKUA_ANY_PE, &does, sizeof does);
    add(ref, skua_pe());
}

static void test_insert(void)
{
    for (int round = 0; round < 10; round++) {
        skua_array_def  def = {.dims = 1, .flags = SKUA_ARRAY_OPEN};
        skua_collection all = skua_array_create(guest_class, &def, NULL, 0);

        for (int pe = skua_pes() - 1; pe >= 0; pe--)
            skua_send_copy(pe, insert_handler, &all, sizeof all);
        wait_quiet();
        skua_array_close(all);
        CHECK(total(all) == skua_pes() * (skua_pes() - 1) / 2);
        skua_collection_destroy(all);
    }
}

/* A PE finds its members of several groups, also after another was destroyed. */
static void test_members(void)
{
    int does = NOTHING;

    for (int round = 0; round < 3; round++) {
        skua_collection one   = skua_group_create(guest_class, &does, sizeof does);
        skua_collection other = skua_group_create(guest_class, &does, sizeof does);

        wait_quiet();
        for (int i = 0; i < 3; i++) {
            CHECK(skua_group_local(one) == skua_object_local(skua_member(one, skua_pe())));
            CHECK(skua_group_local(one) != skua_group_local(other));
        }
        skua_group_local(one);
        skua_collection_destroy(one);
        wait_quiet();
        CHECK(skua_group_local(other) == skua_object_local(skua_member(other, skua_pe())));
    } /* the others are destroyed at the end of the job */
}

/* ---- the end ----------------------------------------------------------------------- */

static void on_friends(skua_msg *msg)
{
    friends = *(skua_collection *)skua_msg_data(msg);
    skua_msg_free(msg);
}

/* Objects that exist when the job ends send messages in their destructors. */
static void test_end(void)
{
    int             does  = NOTHING;
    skua_collection group = skua_group_create(guest_class, &does, sizeof does);

    for (int i = 0; i < 3; i++)
        skua_array_create1(guest_class, 30, &does, sizeof does);
    for (int pe = 0; pe < skua_pes(); pe++)
        skua_send_copy(pe, friends_handler, &group, sizeof group);
    wait_quiet();
}

/* A deferred result does not arrive before an entry provides it. */
static void test_later(void)
{
    int             does = NOTHING;
    skua_collection all  = skua_array_create1(guest_class, 2 * skua_pes(), &does, sizeof does);

    for (int i = 0; i < 2 * skua_pes(); i++) {
        skua_future future = SKUA_FUTURE_INIT;

        skua_invoke_reply(skua_element1(all, i), later_entry, NULL, 0, skua_done_future(&future));
        wait_quiet();
        CHECK(!skua_future_test(&future));
        skua_invoke_copy(skua_element1(all, i), give_entry, NULL, 0);
        CHECK(future_take_int64(&future) == 7);
    }
    skua_collection_destroy(all);
    wait_quiet();
}

static const struct {
    const char *name;
    void (*fn)(void);
} tests[] = {{"contribute", test_contribute},
             {"wait", test_wait},
             {"move", test_move},
             {"held", test_held},
             {"queued", test_queued},
             {"plane", test_plane},
             {"later", test_later},
             {"again", test_again},
             {"absent", test_absent},
             {"nested", test_nested},
             {"long", test_long},
             {"insert", test_insert},
             {"members", test_members},
             {"end", test_end}};

static void start(int argc, char **argv)
{
    if (skua_pe() != 0)
        return;
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        if (argc < 2 || strcmp(argv[1], tests[i].name) == 0)
            tests[i].fn();
    skua_exit(0);
}

int main(int argc, char **argv)
{
    skua_class_def def = {.name      = "guest",
                          .bytes     = sizeof(struct guest),
                          .construct = construct,
                          .destroy   = destroy,
                          .pup       = pup};

    guest_class     = skua_class_register(&def);
    add_entry       = skua_method_register(guest_class, "add", on_add, 0);
    shout_entry     = skua_method_register(guest_class, "shout", on_shout, 0);
    report_entry    = skua_method_register(guest_class, "report", on_report, 0);
    move_entry      = skua_method_register(guest_class, "move", on_move, 0);
    later_entry     = skua_method_register(guest_class, "later", on_later, SKUA_ENTRY_SYNC);
    give_entry      = skua_method_register(guest_class, "give", on_give, 0);
    ask_entry       = skua_method_register(guest_class, "ask", on_ask, SKUA_ENTRY_SYNC);
    busy_entry      = skua_method_register(guest_class, "busy", on_busy, SKUA_ENTRY_THREADED);
    result_handler  = skua_handler_register("result", on_result);
    insert_handler  = skua_handler_register("insert", on_insert);
    friends_handler = skua_handler_register("friends", on_friends);
    created_handler = skua_handler_register("created", on_created);
    return skua_main(argc, argv, start);
}
