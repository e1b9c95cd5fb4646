/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prk.c - the kernels of bench_prk.h with Skua, each PE a process.
 *
 *   put       puts with a notification; accumulates
 *   message   messages, whose handlers keep the data; skua_reduce()
 *
 * usage: bench-prk [SERIES]
 */
#include <skua/skua.h>

#include <stdbool.h>

#include "bench_prk.h"

/* The memory of a kernel that other PEs access: its notifications, and the memory that it
 * requested. */
struct prk_shared {
    skua_notify rows, ready, added;
    skua_notify slot[PRK_SLOTS];
    double      memory[];
};

static skua_region        region;
static struct prk_shared *shared;

static skua_gaddr at(int pe, const void *mine)
{
    return skua_at(region, pe, (uint64_t)((const char *)mine - (const char *)shared));
}

static void *begin(enum prk_kernel kernel, size_t bytes)
{
    (void)kernel;
    if (skua_region_create(sizeof *shared + bytes, &region) != SKUA_OK)
        skua_abort("bench-prk: there is not enough memory");
    shared = skua_region_local(region);
    memset(shared, 0, sizeof *shared + bytes);
    skua_sync();
    return shared->memory;
}

static void end(void)
{
    skua_sync();
    skua_region_destroy(region);
}

static void barrier(void)
{
    skua_sync();
}

/* Returns the combination of one word over all PEs. */
static void combine(skua_op op, skua_type type, void *word)
{
    skua_future future = SKUA_FUTURE_INIT;

    skua_allreduce(op, type, word, 1, skua_done_future(&future));
    memcpy(word, skua_future_wait(&future, NULL), 8);
    skua_future_clear(&future);
}

static double largest(double value)
{
    combine(SKUA_MAX, SKUA_DOUBLE, &value);
    return value;
}

static double sum(double value)
{
    combine(SKUA_SUM, SKUA_DOUBLE, &value);
    return value;
}

/* ---- puts ------------------------------------------------------------------------------------ */

static skua_handle put_handle;
static double      put_block[PRK_SLOTS][PRK_BLOCK];

static void put_row_send(int to, int row, double value)
{
    static double   sent[PRK_ROWS]; /* puts of the wavefront read it until the corner has arrived */
    skua_rma_params params = {.notify = at(to, &shared->rows)};

    sent[row] = value;
    skua_put_nb(at(to, &shared->memory[row]), &sent[row], sizeof value, &params);
}

static double put_row_recv(int from, int row)
{
    static uint64_t received;

    (void)from;
    skua_notify_wait(&shared->rows, ++received);
    return shared->memory[row];
}

/* The puts of the previous round read their blocks until they complete. */
static double *put_out(const struct prk_link *link)
{
    skua_handle_wait(&put_handle);
    return put_block[link->slot];
}

static double *put_slot(int slot, int round)
{
    return &shared->memory[((size_t)slot * 2 + (size_t)(round & 1)) * PRK_BLOCK];
}

static void put_exchange(const struct prk_link *link, int links, int round)
{
    for (int i = 0; i < links; i++) {
        skua_rma_params params = {.handle = &put_handle,
                                  .notify = at(link[i].pe, &shared->slot[link[i].theirs])};

        skua_put_nb(at(link[i].pe, put_slot(link[i].theirs, round)), put_block[link[i].slot],
                    link[i].count * sizeof(double), &params);
    }
    for (int i = 0; i < links; i++)
        skua_notify_wait(&shared->slot[link[i].slot], (uint64_t)round + 1);
}

static const double *put_in(const struct prk_link *link, int round)
{
    return put_slot(link->slot, round);
}

/* PEs begin with different ones, and end with themselves. */
static void put_update(const struct prk_bucket *bucket, int pes)
{
    static ptrdiff_t  offset[PRK_UPDATES];
    const skua_update update = {SKUA_BIT_XOR, SKUA_UINT64, NULL};

    for (int k = 1; k <= pes; k++) {
        int         pe = (skua_pe() + k) % pes;
        skua_layout remote, local;

        for (size_t i = 0; i < bucket[pe].count; i++)
            offset[i] = (ptrdiff_t)(bucket[pe].word[i] * sizeof(uint64_t));
        remote = skua_layout_indexed(NULL, sizeof(uint64_t), bucket[pe].count, offset);
        local  = skua_layout_contiguous(bucket[pe].value, bucket[pe].count * sizeof(uint64_t));
        skua_acc_layout_nb(at(pe, shared->memory), &remote, &local, &update, NULL);
    }
    skua_sync();
}

/* PE 0 notifies the other PEs that its vector is ready, and they add their vectors to it. */
static const double *put_reduce(const double *from, double *to, size_t count)
{
    static uint64_t   round;
    const skua_update update = {SKUA_SUM, SKUA_DOUBLE, NULL};
    skua_rma_params   params = {.notify = at(0, &shared->added)};

    if (skua_pe() == 0) {
        memcpy(to, from, count * sizeof *to);
        for (int pe = 1; pe < skua_pes(); pe++)
            skua_notify_add(at(pe, &shared->ready), 1);
        skua_notify_wait(&shared->added, ++round * (uint64_t)(skua_pes() - 1));
        return to;
    }
    skua_notify_wait(&shared->ready, ++round);
    skua_acc_nb(at(0, shared->memory), from, count * sizeof *from, &update, &params);
    skua_flush(0);
    return NULL;
}

/* ---- messages -------------------------------------------------------------------------------- */

static skua_handler row_handler, block_handler, bucket_handler;

struct row_message {
    int    row;
    double value;
};

struct block_message {
    int    slot, round;
    double data[];
};

/* The data that have arrived. */
static struct {
    long      rows, taken_rows, buckets, wanted_buckets;
    double    row[PRK_ROWS];
    skua_msg *block[PRK_SLOTS][2], *out[PRK_SLOTS];
} inbox;

static void on_row(skua_msg *msg)
{
    const struct row_message *row = skua_msg_data(msg);

    inbox.row[row->row] = row->value;
    inbox.rows++;
    skua_msg_free(msg);
}

static bool row_came(void *arg)
{
    (void)arg;
    return inbox.rows > inbox.taken_rows;
}

static void message_row_send(int to, int row, double value)
{
    struct row_message message = {row, value};

    skua_send_copy(to, row_handler, &message, sizeof message);
}

static double message_row_recv(int from, int row)
{
    (void)from;
    skua_run_until(row_came, NULL);
    inbox.taken_rows++;
    return inbox.row[row];
}

static double *message_out(const struct prk_link *link)
{
    skua_msg *msg = skua_msg_alloc(sizeof(struct block_message) + link->count * sizeof(double));

    inbox.out[link->slot] = msg;
    return ((struct block_message *)skua_msg_data(msg))->data;
}

static void on_block(skua_msg *msg)
{
    const struct block_message *block = skua_msg_data(msg);

    inbox.block[block->slot][block->round & 1] = msg;
}

static bool block_came(void *arg)
{
    return *(skua_msg **)arg != NULL;
}

static void free_block(skua_msg **block)
{
    if (*block)
        skua_msg_free(*block);
    *block = NULL;
}

/* The blocks of the previous round have been used; those of the next round are sent after these. */
static void message_exchange(const struct prk_link *link, int links, int round)
{
    for (int i = 0; i < links; i++)
        free_block(&inbox.block[link[i].slot][(round + 1) & 1]);
    for (int i = 0; i < links; i++) {
        skua_msg             *msg   = inbox.out[link[i].slot];
        struct block_message *block = skua_msg_data(msg);

        block->slot  = link[i].theirs;
        block->round = round;
        skua_send(link[i].pe, block_handler, msg);
    }
    for (int i = 0; i < links; i++)
        skua_run_until(block_came, &inbox.block[link[i].slot][round & 1]);
}

static const double *message_in(const struct prk_link *link, int round)
{
    return ((struct block_message *)skua_msg_data(inbox.block[link->slot][round & 1]))->data;
}

static void on_bucket(skua_msg *msg)
{
    const uint64_t *pair  = skua_msg_data(msg);
    uint64_t       *table = (uint64_t *)shared->memory;

    for (size_t i = 0; i < skua_msg_size(msg) / 16; i++)
        table[pair[2 * i]] ^= pair[2 * i + 1];
    inbox.buckets++;
    skua_msg_free(msg);
}

static bool buckets_came(void *arg)
{
    (void)arg;
    return inbox.buckets >= inbox.wanted_buckets;
}

/* Every PE sends every PE a message, even an empty one, so that the number of arrivals shows when
 * all have arrived. */
static void message_update(const struct prk_bucket *bucket, int pes)
{
    for (int pe = 0; pe < pes; pe++) {
        skua_msg *msg  = skua_msg_alloc(bucket[pe].count * 16);
        uint64_t *pair = skua_msg_data(msg);

        for (size_t i = 0; i < bucket[pe].count; i++) {
            pair[2 * i]     = bucket[pe].word[i];
            pair[2 * i + 1] = bucket[pe].value[i];
        }
        skua_send(pe, bucket_handler, msg);
    }
    inbox.wanted_buckets += pes;
    skua_run_until(buckets_came, NULL);
}

static skua_future reduced = SKUA_FUTURE_INIT; /* has the last result until it is cleared */

static const double *message_reduce(const double *from, double *to, size_t count)
{
    (void)to;
    if (skua_pe() == 0)
        skua_future_clear(&reduced);
    skua_reduce(0, SKUA_SUM, SKUA_DOUBLE, from, count, skua_done_future(&reduced));
    return skua_pe() == 0 ? skua_future_wait(&reduced, NULL) : NULL;
}

/* Frees the blocks of the last rounds, and the last result. */
static void message_end(void)
{
    skua_sync();
    if (skua_pe() == 0)
        skua_future_clear(&reduced);
    for (int i = 0; i < PRK_SLOTS * 2; i++)
        free_block(&inbox.block[i / 2][i & 1]);
    end();
}

/* ---- the program ----------------------------------------------------------------------------- */

static void start(int argc, char **argv)
{
    char               put[64], message[64];
    struct prk_library put_library     = {.series   = put,
                                          .begin    = begin,
                                          .end      = end,
                                          .barrier  = barrier,
                                          .largest  = largest,
                                          .sum      = sum,
                                          .row_send = put_row_send,
                                          .row_recv = put_row_recv,
                                          .out      = put_out,
                                          .exchange = put_exchange,
                                          .in       = put_in,
                                          .update   = put_update,
                                          .reduce   = put_reduce};
    struct prk_library message_library = put_library;

    if (skua_pes() > PRK_SLOTS)
        skua_abort("bench-prk runs on at most %d PEs", PRK_SLOTS);
    snprintf(put, sizeof put, "%.40s-put", argc > 1 ? argv[1] : "skua");
    snprintf(message, sizeof message, "%.40s-message", argc > 1 ? argv[1] : "skua");
    message_library.series   = message;
    message_library.end      = message_end;
    message_library.row_send = message_row_send;
    message_library.row_recv = message_row_recv;
    message_library.out      = message_out;
    message_library.exchange = message_exchange;
    message_library.in       = message_in;
    message_library.update   = message_update;
    message_library.reduce   = message_reduce;
    prk_all(&put_library, skua_pe(), skua_pes());
    prk_all(&message_library, skua_pe(), skua_pes());
    if (skua_pe() == 0)
        skua_exit(0);
}

int main(int argc, char **argv)
{
    row_handler    = skua_handler_register("row", on_row);
    block_handler  = skua_handler_register("block", on_block);
    bucket_handler = skua_handler_register("bucket", on_bucket);
    return skua_main(argc, argv, start);
}
