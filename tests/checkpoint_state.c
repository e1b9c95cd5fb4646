/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checkpoint_state.c - a checkpoint contains the state of a program besides the data of its
 * objects: regions with their contents, object channels, and the time.
 *
 * usage: checkpoint_state DIR [other] [stay] [die] [host]
 *
 * All PEs create regions, and fill them by their ids and PEs.  PE 0 makes a checkpoint; with `stay`
 * the job continues, else it ends; with `die` the checkpoint is in memory, and the process of the
 * last PE kills itself; with `host` that of PE 1 and its agent are killed. Restarted or not, each
 * PE checks its pieces and those of the next PE, destroys the regions and creates others.  With
 * `other` the program allows a restart on another number of PEs: one region is redistributed, the
 * others are transient.
 */
#include <signal.h>
#include <skua/skua.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"

#define MOST  64 /* PEs */
#define GRAIN 24
#define WORDS 30 /* words per PE of the block region in a first job: 10 grains */

/* The regions; `even` belongs to the PEs with even numbers. */
struct regions {
    skua_region whole, even, varied, blocks, transient;
    skua_locks  locks;
    skua_region own[MOST]; /* region of each PE */
};

static int            pes, other, stay, die, host;
static struct regions first; /* read-only */

static skua_handler saved_handler, flushed_handler, look_handler, looked_handler, own_handler,
    ring_handler, die_handler;
static skua_class       node_class;
static skua_entry       node_create_entry, node_open_entry, node_again_entry;
static skua_channel_end in_end, out_end;
static skua_collection  nodes; /* read-only */
static int              looked, owned;
static int              ringed; /* read-only */
static bool             restarted;
static double           asked;      /* read-only: time at which PE 0 requested the checkpoint */
static skua_region      owns[MOST]; /* on PE 0, which may receive them before its own */
static char             dir[4000];  /* directory, on PE 0 */

/* ---- contents ---------------------------------------------------------------------------- */

static uint64_t word_of(skua_region region, int pe, uint64_t i)
{
    return (uint64_t)region.id << 32 ^ (uint64_t)pe << 20 ^ i;
}

static void fill(skua_region region, int pe)
{
    uint64_t *piece = skua_region_local(region);

    for (uint64_t i = 0; i < skua_region_size(region) / sizeof *piece; i++)
        piece[i] = word_of(region, pe, i);
}

static void look_at(skua_region region, int pe, size_t bytes)
{
    uint64_t *copy = malloc(bytes + 1);

    CHECK(skua_region_size_of(region, pe) == bytes);
    CHECK(skua_get(copy, skua_at(region, pe, 0), bytes) == SKUA_OK);
    for (uint64_t i = 0; i < bytes / sizeof *copy; i++)
        CHECK(copy[i] == word_of(region, pe, i));
    free(copy);
}

static size_t varied_bytes(int pe)
{
    return (size_t)(pe % 3) * 4096 + (size_t)pe * 8;
}

/* ---- the regions ----------------------------------------------------------------------------- */

static bool is_even(void)
{
    return skua_pe() % 2 == 0;
}

static void create(struct regions *r)
{
    int list[MOST], n = 0;

    for (int pe = 0; pe < skua_pes(); pe += 2)
        list[n++] = pe;
    /* Leaves a gap in the numbers of regions. */
    CHECK(skua_region_create(8, &r->transient) == SKUA_OK);
    CHECK(skua_region_create(80000, &r->whole) == SKUA_OK);
    CHECK(skua_region_create(WORDS * sizeof(uint64_t), &r->blocks) == SKUA_OK);
    if (is_even())
        CHECK(skua_region_create_on(list, n, 264, &r->even) == SKUA_OK);
    CHECK(skua_region_create_varied(varied_bytes(skua_pe()), &r->varied) == SKUA_OK);
    CHECK(skua_region_create_local(1000, &r->own[skua_pe()]) == SKUA_OK);
    CHECK(skua_locks_create(3, &r->locks) == SKUA_OK);
    CHECK(skua_region_set_name(r->whole, "whole") == SKUA_OK);
    CHECK(skua_region_set_restart(r->transient, SKUA_REGION_TRANSIENT, 0) == SKUA_OK);
    CHECK(skua_region_set_restart(r->blocks, SKUA_REGION_BLOCKS, GRAIN) == SKUA_OK);
}

static void make_transient(skua_region region)
{
    CHECK(skua_region_set_restart(region, SKUA_REGION_TRANSIENT, 0) == SKUA_OK);
}

static void allow_other(const struct regions *r)
{
    make_transient(r->whole);
    make_transient(r->varied);
    make_transient(r->own[skua_pe()]);
    make_transient(r->locks.region);
    if (is_even())
        make_transient(r->even);
}

static void fill_all(const struct regions *r)
{
    fill(r->whole, skua_pe());
    fill(r->blocks, skua_pe());
    fill(r->varied, skua_pe());
    fill(r->own[skua_pe()], skua_pe());
    if (is_even())
        fill(r->even, skua_pe());
    CHECK(skua_lock(r->locks, (skua_pe() + 1) % skua_pes(), 2));
    skua_unlock(r->locks, (skua_pe() + 1) % skua_pes(), 2);
}

/* The sequence of words is that of the previous job, for any number of PEs. */
static void look_at_blocks(skua_region blocks)
{
    size_t    bytes = skua_region_size(blocks), words = bytes / sizeof(uint64_t);
    uint64_t *piece = skua_region_local(blocks);

    CHECK(bytes % GRAIN == 0 && bytes * (size_t)skua_pes() >= WORDS * sizeof *piece * (size_t)pes);
    for (uint64_t i = 0; i < words; i++) {
        uint64_t at = (uint64_t)skua_pe() * words + i;

        if (at < (uint64_t)(WORDS * pes))
            CHECK(piece[i] == word_of(blocks, (int)(at / WORDS), at % WORDS));
    }
}

static void look_at_all(const struct regions *r, bool own)
{
    int next = (skua_pe() + 1) % skua_pes();

    look_at(r->whole, skua_pe(), 80000);
    look_at(r->whole, next, 80000);
    look_at(r->varied, skua_pe(), varied_bytes(skua_pe()));
    look_at(r->varied, next, varied_bytes(next));
    if (own)
        look_at(r->own[skua_pe()], skua_pe(), 1000);
    if (is_even())
        look_at(r->even, 0, 264);
    CHECK(skua_lock(r->locks, next, 2));
    skua_unlock(r->locks, next, 2);
    skua_sync();
    if (is_even())
        CHECK(skua_region_destroy(r->even) == SKUA_OK);
    CHECK(skua_region_destroy(r->whole) == SKUA_OK);
    CHECK(skua_region_destroy(r->varied) == SKUA_OK);
    if (own)
        CHECK(skua_region_destroy(r->own[skua_pe()]) == SKUA_OK);
    CHECK(skua_locks_destroy(r->locks) == SKUA_OK);
}

static void look(const struct regions *r, bool again)
{
    struct regions others;

    look_at_blocks(r->blocks);
    CHECK(!again || skua_region_size(r->transient) == 0);
    if (!other)
        look_at_all(r, !host || !again);
    skua_sync();
    CHECK(skua_region_destroy(r->blocks) == SKUA_OK);
    for (int i = 0; i < 20; i++) { /* their numbers differ from those of existing regions */
        create(&others);
        fill_all(&others);
        skua_sync();
        look_at_all(&others, true);
        CHECK(skua_region_destroy(others.blocks) == SKUA_OK);
        CHECK(skua_region_destroy(others.transient) == SKUA_OK);
    }
}

/* ---- nodes: a ring of object channels -----------------------------------------------------------
 */

#define NODES 9

struct node {
    int64_t             in[5], out[5];
    skua_object_channel from, to;
    int64_t             round, established;
};

static void node_in(void *self, uint64_t tag, skua_layout *at)
{
    CHECK(tag == 3);
    *at = skua_layout_contiguous(((struct node *)self)->in, sizeof((struct node *)self)->in);
}

static void node_out(void *self, uint64_t tag, skua_layout *at)
{
    CHECK(tag == 4);
    *at = skua_layout_contiguous(((struct node *)self)->out, sizeof((struct node *)self)->out);
}

static void node_established(void *self, uint64_t tag)
{
    (void)tag;
    ((struct node *)self)->established++;
}

static void node_arrived(void *self, uint64_t tag)
{
    struct node *node = self;
    int64_t      left = (skua_index_of(self).at.x[0] + NODES - 1) % NODES;

    CHECK(tag == 3);
    node->round++;
    for (int i = 0; i < 5; i++)
        CHECK(node->in[i] == left * 100 + node->round * 10 + i);
    CHECK(skua_object_channel_count(self, node->from) == (uint64_t)node->round);
    skua_object_channel_ready(self, node->from);
    skua_contribute_nothing(self, skua_done_send(0, ring_handler));
}

static void node_put(struct node *node, int64_t round)
{
    for (int i = 0; i < 5; i++)
        node->out[i] = skua_index_of(node).at.x[0] * 100 + round * 10 + i;
    (void)skua_object_channel_put(node, node->to);
}

/* The receiver creates a channel, and the node before it opens it. */
static void on_node_create(void *self, const void *data, size_t bytes)
{
    struct node *node = self;
    int          left = (skua_index_of(self).at.x[0] + NODES - 1) % NODES;

    (void)data, (void)bytes;
    node->from = skua_object_channel_create(self, in_end, 3);
    skua_invoke_copy((skua_ref){skua_ref_of(self).of, skua_index1(left)}, node_open_entry,
                     &node->from, sizeof node->from);
}

static void on_node_open(void *self, const void *data, size_t bytes)
{
    struct node *node = self;
    int          next = (skua_index_of(self).at.x[0] + 1) % NODES;

    CHECK(bytes == sizeof node->to);
    memcpy(&node->to, data, bytes);
    skua_object_channel_open(self, (skua_ref){skua_ref_of(self).of, skua_index1(next)}, node->to,
                             out_end, 4);
    node_put(node, 1);
}

static void on_node_again(void *self, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    node_put(self, 2);
}

/* ---- the program ----------------------------------------------------------------------------- */

struct order {
    struct regions regions;
    bool           restarted;
};

static void on_look(skua_msg *msg)
{
    struct order order;

    memcpy(&order, skua_msg_data(msg), sizeof order);
    skua_msg_free(msg);
    look(&order.regions, order.restarted);
    skua_send_copy(0, looked_handler, NULL, 0);
}

static void on_looked(skua_msg *msg)
{
    skua_msg_free(msg);
    if (++looked == skua_pes()) {
        printf("result %d\n", pes);
        skua_exit(0);
    }
}

/* All PEs have created their regions, and the nodes have received a first put. */
static void save_if_ready(void)
{
    if (owned < skua_pes() || ringed < 1)
        return;
    memcpy(first.own, owns, sizeof owns);
    asked = skua_time();
    skua_checkpoint(die ? NULL : dir, skua_done_send(0, saved_handler));
}

static void on_saved(skua_msg *msg)
{
    skua_checkpoint_result result;

    memcpy(&result, skua_msg_data(msg), sizeof result);
    skua_msg_free(msg);
    CHECK(result.status == SKUA_OK && result.generation > 0);
    CHECK(skua_time() > asked);
    if (!result.restarted && die) {
        skua_send_copy(host ? 1 : skua_pes() - 1, die_handler, NULL, 0);
        return;
    }
    if (!result.restarted && !stay) {
        skua_checkpoint_flush(skua_done_send(0, flushed_handler));
        return;
    }
    restarted = result.restarted;
    skua_invoke_all(nodes, node_again_entry, NULL, 0);
}

/* All nodes have received a put: the first before the checkpoint, the second after it. */
static void on_ring(skua_msg *msg)
{
    struct order *order;

    skua_msg_free(msg);
    if (++ringed == 1) {
        save_if_ready();
        return;
    }
    msg    = skua_msg_alloc(sizeof *order);
    order  = skua_msg_data(msg);
    *order = (struct order){first, restarted};
    skua_broadcast(look_handler, msg, skua_done_nothing());
}

/* All PEs know the region of each PE. */
static void on_own(skua_msg *msg)
{
    owns[skua_msg_source(msg)] = *(const skua_region *)skua_msg_data(msg);
    skua_msg_free(msg);
    owned++;
    save_if_ready();
}

static void on_die(skua_msg *msg)
{
    skua_msg_free(msg);
    if (host)
        kill(getppid(), SIGKILL);
    (void)raise(SIGKILL);
}

static void on_flushed(skua_msg *msg)
{
    skua_msg_free(msg);
    skua_exit(0);
}

static void start(int argc, char **argv)
{
    struct regions mine = {.whole = {0}};

    CHECK(argc > 1 && skua_pes() <= MOST);
    for (int i = 2; i < argc; i++) {
        other = other || strcmp(argv[i], "other") == 0;
        stay  = stay || strcmp(argv[i], "stay") == 0;
        host  = host || strcmp(argv[i], "host") == 0;
        die   = die || host || strcmp(argv[i], "die") == 0;
    }
    create(&mine);
    if (other)
        allow_other(&mine);
    if (host)
        make_transient(mine.own[skua_pe()]);
    fill_all(&mine);
    skua_sync();
    if (skua_pe() == 0) {
        snprintf(dir, sizeof dir, "%s", argv[1]);
        pes   = skua_pes();
        first = mine;
        nodes = skua_array_create1(node_class, NODES, NULL, 0);
        skua_invoke_all(nodes, node_create_entry, NULL, 0);
        CHECK(skua_region_set_restart(mine.blocks, SKUA_REGION_BLOCKS, 7) == SKUA_ERR_INVAL);
        CHECK(skua_region_set_restart(mine.varied, SKUA_REGION_BLOCKS, 8) == SKUA_ERR_INVAL);
    }
    skua_send_copy(0, own_handler, &mine.own[skua_pe()], sizeof(skua_region));
}

int main(int argc, char **argv)
{
    saved_handler     = skua_handler_register("saved", on_saved);
    flushed_handler   = skua_handler_register("flushed", on_flushed);
    look_handler      = skua_handler_register("look", on_look);
    looked_handler    = skua_handler_register("looked", on_looked);
    own_handler       = skua_handler_register("own", on_own);
    die_handler       = skua_handler_register("die", on_die);
    ring_handler      = skua_handler_register("ring", on_ring);
    node_class        = skua_class_register(&(skua_class_def){.size  = sizeof(skua_class_def),
                                                              .name  = "node",
                                                              .bytes = sizeof(struct node),
                                                              .pup   = skua_pup_plain});
    node_create_entry = skua_method_register(node_class, "create", on_node_create, 0);
    node_open_entry   = skua_method_register(node_class, "open", on_node_open, 0);
    node_again_entry  = skua_method_register(node_class, "again", on_node_again, 0);
    in_end = skua_channel_end_register(&(skua_channel_end_def){.size = sizeof(skua_channel_end_def),
                                                               .name = "in",
                                                               .buffer      = node_in,
                                                               .arrived     = node_arrived,
                                                               .established = node_established});
    out_end = skua_channel_end_register(&(skua_channel_end_def){
        .size = sizeof(skua_channel_end_def), .name = "out", .buffer = node_out});
    skua_readonly_register("nodes", &nodes, sizeof nodes);
    skua_readonly_register("asked", &asked, sizeof asked);
    skua_readonly_register("ringed", &ringed, sizeof ringed);
    skua_readonly_register("pes", &pes, sizeof pes);
    skua_readonly_register("other", &other, sizeof other);
    skua_readonly_register("host", &host, sizeof host);
    skua_readonly_register("first", &first, sizeof first);
    return skua_main(argc, argv, start);
}
