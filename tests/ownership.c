/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ownership.c - misuses a message on the last PE in the way that its argument names, for
 * ownership.sh, which checks the error that ends the job.
 */
#include <skua/skuac_flow.h>
#include <skua/skuac_marshal.h>
#include <skua/skua.h>
#include <stdio.h>
#include <string.h>

static skua_handler take_handler, keep_handler, kept_handler;
static skua_class   box_class;
static skua_entry   box_take;

static const char *act;
static skua_msg   *mine; /* a message that has been sent */

static bool is(const char *what)
{
    return strcmp(act, what) == 0;
}

static skua_msg *made(size_t bytes)
{
    skua_msg *msg = skua_msg_alloc(bytes);

    memset(skua_msg_data(msg), 7, bytes);
    return msg;
}

/* ---- correct use ---------------------------------------------------------------- */

static void on_take(skua_msg *msg)
{
    if (is("free-twice-in-handler"))
        skua_msg_free(msg);
    skua_msg_free(msg);
    if (is("nothing"))
        skua_exit(0);
}

/* PE 0 keeps the message and acknowledges it. */
static void on_keep(skua_msg *msg)
{
    static skua_msg *kept;

    kept = msg;
    skua_send_copy(skua_msg_source(kept), kept_handler, NULL, 0);
}

static void on_box(void *self, skua_msg *msg)
{
    (void)self;
    skua_msg_free(msg);
}

/* ---- misuse -------------------------------------------------------------------- */

static void free_twice(void)
{
    skua_msg *msg = made(100);

    skua_msg_free(msg);
    skua_msg_free(msg);
}

static void free_twice_large(void)
{
    skua_msg *msg = made(300000);

    skua_msg_free(msg);
    skua_msg_free(msg);
}

static void send_twice(void)
{
    skua_msg *msg = made(100);

    skua_send(0, take_handler, msg);
    skua_send(0, take_handler, msg);
}

static void enqueue_twice(void)
{
    skua_msg *msg = made(8);

    skua_enqueue(take_handler, msg);
    skua_enqueue(take_handler, msg);
}

static void send_freed(void)
{
    skua_msg *msg = made(100);

    skua_msg_free(msg);
    skua_send(0, take_handler, msg);
}

static void free_sent(void)
{
    skua_msg *msg = made(100);

    skua_send(0, take_handler, msg);
    skua_msg_free(msg);
}

static void prioritize_sent(void)
{
    skua_msg *msg = made(100);

    skua_enqueue(take_handler, msg);
    skua_msg_set_priority(msg, 3);
}

static void change_sent(void)
{
    skua_msg *msg = made(100);

    skua_enqueue(take_handler, msg);
    ((volatile char *)skua_msg_data(msg))[99]++;
}

static void free_broadcast(void)
{
    skua_msg *msg = made(100);

    skua_broadcast(take_handler, msg, skua_done_nothing());
    skua_msg_free(msg);
}

static void free_invoked(void)
{
    skua_msg *msg = made(100);
    skua_ref  box = skua_chare_create(box_class, skua_pe(), NULL, 0);

    skua_invoke(box, box_take, msg);
    skua_msg_free(msg);
}

static void invoke_sent(void)
{
    skua_msg *msg = made(100);
    skua_ref  box = skua_chare_create(box_class, 0, NULL, 0);

    skua_send(0, take_handler, msg);
    skua_invoke(box, box_take, msg);
}

static void free_delivered(void)
{
    mine = made(100);
    skua_send(0, keep_handler, mine);
    __asm__ volatile(""); /* prevents a tail call */
}

static void on_kept(skua_msg *msg)
{
    skua_msg_free(msg);
    skua_msg_free(mine);
}

static void write_freed(void)
{
    skua_msg *msg = made(100);

    skua_msg_free(msg);
    ((volatile char *)skua_msg_data(msg))[50] = 1;
    for (int i = 0; i < 1000; i++)
        skua_msg_free(made(100));
}

static void write_beyond(void)
{
    skua_msg *msg = made(8);

    memset(skua_msg_data(msg), 0, 64);
    skua_msg_free(msg);
}

static void free_data(void)
{
    skua_msg_free(skua_msg_data(made(1000)));
}

static void when_freed(void)
{
    skuac_arrival arrival = skuac_arrival_of(made(100));

    skua_msg_free(arrival.msg);
    skuac_flow_drop(&arrival);
}

static void when_sent(void)
{
    skuac_arrival arrival = skuac_arrival_of(made(100));

    skua_send(0, take_handler, arrival.msg);
    skuac_flow_drop(&arrival);
}

static void when_kept(void)
{
    skuac_arrival arrival = skuac_arrival_of(mine = made(100));

    skuac_flow_drop(&arrival);
    skua_send(0, take_handler, mine);
}

static void nothing(void)
{
    skua_send(0, take_handler, made(100));
}

static const struct {
    const char *name;
    void (*fn)(void);
} acts[] = {
    {"free-twice", free_twice},         {"free-twice-large", free_twice_large},
    {"free-twice-in-handler", nothing}, {"send-twice", send_twice},
    {"enqueue-twice", enqueue_twice},   {"send-freed", send_freed},
    {"free-sent", free_sent},           {"prioritize-sent", prioritize_sent},
    {"change-sent", change_sent},       {"free-broadcast", free_broadcast},
    {"free-invoked", free_invoked},     {"invoke-sent", invoke_sent},
    {"free-delivered", free_delivered}, {"write-freed", write_freed},
    {"write-beyond", write_beyond},     {"free-data", free_data},
    {"when-freed", when_freed},         {"when-sent", when_sent},
    {"when-kept", when_kept},           {"nothing", nothing},
};

static void start(int argc, char **argv)
{
    act = argc > 1 ? argv[1] : "";
    if (skua_pe() != skua_pes() - 1)
        return;
    for (size_t i = 0; i < sizeof acts / sizeof *acts; i++)
        if (is(acts[i].name)) {
            acts[i].fn();
            return;
        }
    skua_abort("ownership: unknown case '%s'", act);
}

int main(int argc, char **argv)
{
    skua_class_def box = {.name = "box", .bytes = 8};

    take_handler = skua_handler_register("take", on_take);
    keep_handler = skua_handler_register("keep", on_keep);
    kept_handler = skua_handler_register("kept", on_kept);
    box_class    = skua_class_register(&box);
    box_take     = skua_entry_register(box_class, "take", on_box, 0);
    return skua_main(argc, argv, start);
}
