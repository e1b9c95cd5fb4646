/* SPDX-License-Identifier: Apache-2.0 */
/* misbehave_objects.c - wrong calls to objects: destroyed, absent, of another class, without a pup
 * function. */
#include "misbehave.h"

static skua_entry forgotten_entry;

/* Runs on one PE, which waits for its message to itself. */
struct thing {
    int64_t value;
    int     how;
};

static skua_class thing_class, other_class;

static void method_no_function(void)
{
    skua_method_register(thing_class, "run", NULL, 0);
}
static skua_entry poke_entry, end_entry, ask_entry, go_entry, other_entry, twice_entry, odd_entry;

static void on_poke(void *self, const void *data, size_t bytes)
{
    (void)data;
    ((struct thing *)self)->value += (int64_t)bytes;
}

static void on_end(void *self, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    skua_object_destroy(self);
}

static void on_go(void *self, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    skua_migrate(self, (skua_pe() + 1) % skua_pes());
}

static void on_twice(void *self, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    for (int i = 0; i < 20000; i++)
        skua_contribute_nothing(self, skua_done_nothing());
}

/* Elements whose contributions depend on their index. */
static void on_odd(void *self, const void *data, size_t bytes)
{
    double x[2] = {0, 0};
    bool   odd  = skua_index_of(self).at.x[0] == 1;

    (void)bytes;
    if (*(const int *)data == 0)
        skua_contribute(self, SKUA_SUM, SKUA_DOUBLE, x, odd ? 2 : 1, skua_done_nothing());
    else
        skua_contribute(self, odd ? SKUA_MAX : SKUA_SUM, SKUA_DOUBLE, x, 1, skua_done_nothing());
}

static skua_collection things(int n)
{
    return skua_array_create1(thing_class, n, NULL, 0);
}

static void poke(skua_ref ref)
{
    skua_invoke_copy(ref, poke_entry, NULL, 0);
}

static void poke_deleted(void)
{
    skua_ref ref = skua_element1(things(20), 19);

    skua_invoke_copy(ref, end_entry, NULL, 0);
    poke(ref);
}

static void poke_deleted_chare(void)
{
    skua_ref ref = skua_chare_create(thing_class, 0, NULL, 0);

    skua_object_destroy_ref(ref);
    poke(ref);
}

static void poke_nobody(void)
{
    poke(skua_element1(things(20), 20));
}

static skua_collection open_things(void)
{
    skua_array_def def = {.dims = 1, .flags = SKUA_ARRAY_OPEN};

    return skua_array_create(thing_class, &def, NULL, 0);
}

/* A message waits for an element that is never inserted. */
static void poke_closed(void)
{
    skua_collection all = open_things();

    skua_array_insert(skua_element1(all, 1), 0, NULL, 0);
    poke(skua_element1(all, 2));
    skua_array_close(all);
}

/* In an open array an element that was destroyed might be inserted again; it is not. */
static void poke_deleted_open(void)
{
    skua_collection all = open_things();

    skua_array_insert(skua_element1(all, 3), 0, NULL, 0);
    skua_invoke_copy(skua_element1(all, 3), end_entry, NULL, 0);
    poke(skua_element1(all, 3));
}

static void array_negative(void)
{
    things(-5);
}

static void array_negative3(void)
{
    skua_array_create3(thing_class, 2, -1, 3, NULL, 0);
}

/* A program that was compiled against a version with larger definitions. */
static void array_newer(void)
{
    const skua_array_def def = {.size = sizeof def + 8, .dims = 1};

    skua_array_create(thing_class, &def, NULL, 0);
}

static void class_newer(void)
{
    const skua_class_def def = {.size = sizeof def + 8, .name = "newer"};

    skua_class_register(&def);
}

static void stream_newer(void)
{
    const skua_stream_def def = {.size = sizeof def + 8, .item_bytes = 8};

    skua_stream_register("newer", &def);
}

static void poke_wrong_dims(void)
{
    poke(skua_element2(things(20), 3, 4));
}

static void poke_no_member(void)
{
    poke(skua_member(skua_group_create(thing_class, NULL, 0), 7));
}

static void poke_no_entry(void)
{
    skua_invoke_copy(skua_element1(things(20), 3), (skua_entry){4321}, NULL, 0);
}

static void forgot_entry(void)
{
    skua_invoke_copy(skua_element1(things(20), 3), forgotten_entry, NULL, 0);
}

static void forgot_entry_all(void)
{
    skua_invoke_all(things(20), forgotten_entry, NULL, 0);
}

static void forgot_done_entry(void)
{
    skua_done_invoke(skua_element1(things(20), 3), forgotten_entry);
}

static void poke_wrong_entry(void)
{
    skua_invoke_copy(skua_element1(things(20), 3), other_entry, NULL, 0);
}

static void poke_no_array(void)
{
    poke(skua_element1((skua_collection){UINT64_C(77) << 32}, 3));
}

static void poke_deleted_array(void)
{
    skua_collection all = things(20);

    skua_collection_destroy(all);
    skua_poll(SIZE_MAX);
    skua_invoke_all(all, poke_entry, NULL, 0);
}

/* The member was looked up before, and is remembered until the group ends. */
static void local_deleted(void)
{
    skua_collection all = skua_group_create(thing_class, NULL, 0);

    skua_poll(SIZE_MAX);
    if (!skua_group_local(all) || skua_group_local(all) != skua_group_local(all))
        skua_abort("there is no member");
    skua_collection_destroy(all);
    skua_poll(SIZE_MAX);
    skua_group_local(all);
}

static void contribute_twice(void)
{
    skua_invoke_copy(skua_element1(things(20), 19), twice_entry, NULL, 0);
}

static void contribute_sizes(void)
{
    skua_invoke_all(things(2), odd_entry, &(int){0}, sizeof(int));
}

static void contribute_ops(void)
{
    skua_invoke_all(things(2), odd_entry, &(int){1}, sizeof(int));
}

static void insert_closed(void)
{
    skua_array_insert(skua_element1(things(20), 20), SKUA_ANY_PE, NULL, 0);
}

static void insert_twice(void)
{
    skua_array_def  def = {.dims = 1, .flags = SKUA_ARRAY_OPEN};
    skua_collection all = skua_array_create(thing_class, &def, NULL, 0);

    skua_array_insert(skua_element1(all, 5), 0, NULL, 0);
    skua_array_insert(skua_element1(all, 5), 0, NULL, 0);
}

static void ask_nobody_waits(void)
{
    skua_invoke_copy(skua_element1(things(20), 19), ask_entry, NULL, 0);
}

static void wait_for_none(void)
{
    skua_invoke_reply(skua_element1(things(20), 19), poke_entry, NULL, 0, skua_done_nothing());
}

static void reply_to_nobody(void)
{
    skua_reply(NULL, 0);
}

static void migrate_member(void)
{
    skua_invoke_copy(skua_member(skua_group_create(thing_class, NULL, 0), skua_pe()), go_entry,
                     &(int){0}, sizeof(int));
}

static void delete_member(void)
{
    skua_object_destroy_ref(skua_member(skua_group_create(thing_class, NULL, 0), skua_pe()));
}

/* Classes without a pup function, or with a wrong one. */
static skua_class fixed_class, partly_class;
static skua_entry fixed_entry, partly_entry;

static void on_go_on(void *self, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    skua_migrate(self, (skua_pe() + 1) % skua_pes());
}

static void pup_partly(skua_pup *p, void *self)
{
    skua_pup_plain(p, &((struct thing *)self)->how);
}

static void move_fixed(void)
{
    skua_invoke_copy(skua_chare_create(fixed_class, 0, NULL, 0), fixed_entry, NULL, 0);
}

/* Load balancing: `fixed` is not balanced, `waiter` is. */
static skua_class waiter_class;
static skua_entry waiter_entry, sync_fixed_entry;

static void on_waiter(void *self, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    skua_at_sync(self);
    skua_at_sync(self);
}

static void sync_twice(void)
{
    skua_invoke_copy(skua_element1(skua_array_create1(waiter_class, 4, NULL, 0), 3), waiter_entry,
                     NULL, 0);
}

static void sync_group(void)
{
    skua_invoke_copy(skua_member(skua_group_create(waiter_class, NULL, 0), 1), waiter_entry, NULL,
                     0);
}

static void sync_class(void)
{
    skua_invoke_copy(skua_element1(skua_array_create1(fixed_class, 4, NULL, 0), 2),
                     sync_fixed_entry, NULL, 0);
}

static void strategy_unknown(void)
{
    skua_balance_set_strategy("gredy");
}

static void register_waiter(void)
{
    static const skua_class_def def    = {.name = "waiter", .bytes = 8, .pup = skua_pup_plain};
    skua_balance_params         params = {.flags = SKUA_BALANCE_AT_SYNC};

    waiter_class     = skua_class_register(&def);
    waiter_entry     = skua_method_register(waiter_class, "go", on_waiter, 0);
    sync_fixed_entry = skua_method_register(fixed_class, "sync", on_waiter, 0);
    params.resume    = waiter_entry;
    skua_class_set_balance(waiter_class, &params);
}

static void move_partly(void)
{
    skua_invoke_copy(skua_chare_create(partly_class, 0, NULL, 0), partly_entry, NULL, 0);
}

static void register_things(void)
{
    static const skua_class_def thing  = {.name  = "thing",
                                          .bytes = sizeof(struct thing),
                                          .pup   = skua_pup_plain},
                                other  = {.name = "other"},
                                fixed  = {.name = "fixed", .bytes = sizeof(struct thing)},
                                partly = {.name  = "partly",
                                          .bytes = sizeof(struct thing),
                                          .pup   = pup_partly};

    thing_class  = skua_class_register(&thing);
    other_class  = skua_class_register(&other);
    fixed_class  = skua_class_register(&fixed);
    partly_class = skua_class_register(&partly);
    fixed_entry  = skua_method_register(fixed_class, "go", on_go_on, 0);
    partly_entry = skua_method_register(partly_class, "go", on_go_on, 0);
    register_waiter();
    poke_entry  = skua_method_register(thing_class, "poke", on_poke, 0);
    end_entry   = skua_method_register(thing_class, "end", on_end, 0);
    ask_entry   = skua_method_register(thing_class, "ask", on_poke, SKUA_ENTRY_SYNC);
    go_entry    = skua_method_register(thing_class, "go", on_go, 0);
    twice_entry = skua_method_register(thing_class, "twice", on_twice, 0);
    odd_entry   = skua_method_register(thing_class, "odd", on_odd, 0);
    other_entry = skua_method_register(other_class, "poke", on_poke, 0);
}

static const struct misbehave_act acts[] = {
    {"forgot-entry", forgot_entry, NULL},
    {"forgot-entry-all", forgot_entry_all, NULL},
    {"forgot-done-entry", forgot_done_entry, NULL},
    {"method-no-function", method_no_function, NULL},
    {"poke-closed", poke_closed, NULL},
    {"poke-deleted", poke_deleted, NULL},
    {"poke-deleted-open", poke_deleted_open, NULL},
    {"poke-deleted-chare", poke_deleted_chare, NULL},
    {"poke-nobody", poke_nobody, NULL},
    {"poke-wrong-dims", poke_wrong_dims, NULL},
    {"array-negative", array_negative, NULL},
    {"array-negative3", array_negative3, NULL},
    {"array-newer", array_newer, NULL},
    {"class-newer", class_newer, NULL},
    {"stream-newer", stream_newer, NULL},
    {"poke-no-member", poke_no_member, NULL},
    {"poke-no-entry", poke_no_entry, NULL},
    {"poke-wrong-entry", poke_wrong_entry, NULL},
    {"poke-no-array", poke_no_array, NULL},
    {"poke-deleted-array", poke_deleted_array, NULL},
    {"local-deleted", local_deleted, NULL},
    {"contribute-twice", contribute_twice, NULL},
    {"contribute-sizes", contribute_sizes, NULL},
    {"contribute-ops", contribute_ops, NULL},
    {"insert-closed", insert_closed, NULL},
    {"insert-twice", insert_twice, NULL},
    {"ask-nobody-waits", ask_nobody_waits, NULL},
    {"wait-for-none", wait_for_none, NULL},
    {"reply-to-nobody", reply_to_nobody, NULL},
    {"migrate-member", migrate_member, NULL},
    {"delete-member", delete_member, NULL},
    {"move-fixed", move_fixed, NULL},
    {"move-partly", move_partly, NULL},
    {"sync-twice", sync_twice, NULL},
    {"sync-group", sync_group, NULL},
    {"sync-class", sync_class, NULL},
    {"strategy-unknown", strategy_unknown, NULL},
};

const struct misbehave_subject misbehave_objects = {acts, sizeof acts / sizeof *acts,
                                                    register_things};
