/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checkpoint_pes.c - what PEs have among themselves is in a checkpoint: teams, and channels from PE
 * to PE, which are object channels of the members of a group, into pieces of a region.
 *
 * usage: checkpoint_pes DIR [die] [team] [channel] [reduce]
 *
 * All PEs split a team and create a region.  A group has a ring of channels; a first put has
 * arrived, and the receivers are not ready.  PE 0 makes a checkpoint, in memory with `die`, where
 * the process of the last PE then kills itself.  After the restart contents and counts are those of
 * before, the ring continues, and the team has its ranks and a collective.  With `team` there is no
 * ring, and the job may go on with other PEs; with `channel` PE 0 uses, after the restart, a
 * channel of a PE that it has created before.  With `reduce` PE 0 has called a collective of the
 * team, or of all PEs, that others have not: the checkpoint is refused, until they have.
 */
#include <signal.h>
#include <skua/skua.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

#define WORDS 5

/* What PE 0 knows of the options, and tells all. */
struct options {
    int32_t die, team, channel, reduce;
};

/* A member of the ring, one on each PE. */
struct peer {
    skua_team           half;
    skua_region         in; /* a piece of this PE is the buffer of `from` */
    skua_object_channel from, to;
    int64_t             out[WORDS];
    int64_t             round;
};

static skua_class       peer_class;
static skua_entry       begin_entry, open_entry, again_entry, put_entry;
static skua_channel_end in_end, out_end;
static skua_handler     ready_handler, step_handler, saved_handler, look_handler, looked_handler,
    flushed_handler, die_handler, late_handler;
static skua_collection ring;    /* read-only */
static skua_channel    own;     /* read-only: of PE 0, for a buffer of its process */
static struct options  options; /* read-only */
static int             ready, steps, looked, refused, pes; /* of PE 0; pes is read-only */
static bool            restarted;                          /* of PE 0 */
static skua_region     in;
static char            dir[4000];

/* Of this PE; peers take the team over. */
static _Thread_local skua_team half;
static _Thread_local int64_t   word, sum, gathered[64];

static const skua_reduction one = {SKUA_SUM, SKUA_INT64, 1};

/* ---- the ring ---------------------------------------------------------------------------------
 */

static int64_t word_of(int pe, int64_t round, int i)
{
    return pe * 1000 + round * 10 + i;
}

static void peer_in(void *self, uint64_t tag, skua_layout *at)
{
    (void)tag;
    *at = skua_layout_contiguous(skua_region_local(((struct peer *)self)->in),
                                 WORDS * sizeof(int64_t));
}

static void peer_out(void *self, uint64_t tag, skua_layout *at)
{
    (void)tag;
    *at = skua_layout_contiguous(((struct peer *)self)->out, sizeof((struct peer *)self)->out);
}

static void peer_look(struct peer *peer)
{
    const int64_t *words = skua_region_local(peer->in);
    int            left  = (skua_pe() + skua_pes() - 1) % skua_pes();

    for (int i = 0; i < WORDS; i++)
        CHECK(words[i] == word_of(left, peer->round, i));
    CHECK(skua_object_channel_count(peer, peer->from) == (uint64_t)peer->round);
}

static void peer_arrived(void *self, uint64_t tag)
{
    struct peer *peer = self;

    (void)tag;
    peer->round++;
    peer_look(peer);
    skua_contribute_nothing(self, skua_done_send(0, step_handler));
}

static void peer_put(struct peer *peer, int64_t round)
{
    for (int i = 0; i < WORDS; i++)
        peer->out[i] = word_of(skua_pe(), round, i);
    (void)skua_object_channel_put(peer, peer->to);
}

static void on_begin(void *self, const void *data, size_t bytes)
{
    struct peer *peer = self;

    (void)data, (void)bytes;
    peer->half = half;
    peer->in   = in;
    if (options.team) {
        skua_contribute_nothing(self, skua_done_send(0, step_handler));
        return;
    }
    peer->from = skua_object_channel_create(self, in_end, 0);
    skua_invoke_copy(
        (skua_ref){skua_ref_of(self).of, skua_index1((skua_pe() + skua_pes() - 1) % skua_pes())},
        open_entry, &peer->from, sizeof peer->from);
}

static void on_open(void *self, const void *data, size_t bytes)
{
    struct peer *peer = self;

    CHECK(bytes == sizeof peer->to);
    memcpy(&peer->to, data, bytes);
    skua_object_channel_open(
        self, (skua_ref){skua_ref_of(self).of, skua_index1((skua_pe() + 1) % skua_pes())}, peer->to,
        out_end, 1);
    peer_put(peer, 1);
}

/* The data of the first put are still there, and the receiver is ready only now. */
static void on_again(void *self, const void *data, size_t bytes)
{
    struct peer *peer = self;

    (void)data, (void)bytes;
    if (!options.team) {
        peer_look(peer);
        skua_object_channel_ready(self, peer->from);
    }
    skua_contribute_nothing(self, skua_done_send(0, step_handler));
}

static void on_put(void *self, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    if (options.team)
        skua_contribute_nothing(self, skua_done_send(0, step_handler));
    else
        peer_put(self, 2);
}

/* ---- teams ---------------------------------------------------------------------------------- */

/* Splits PEs of even and odd numbers, in descending order. */
static skua_team split(void)
{
    skua_team team;

    CHECK(skua_team_split(SKUA_TEAM_ALL, skua_pe() % 2, -skua_pe(), &team) == SKUA_OK);
    return team;
}

static void look_at_team(skua_team team)
{
    skua_counter done = SKUA_COUNTER_INIT;
    int64_t      mine = skua_pe(), all = -1, want = 0;
    int          n = 0;

    for (int pe = skua_pe() % 2; pe < skua_pes(); pe += 2, n++)
        want += pe;
    CHECK(skua_team_pes(team) == n && skua_team_pe_of(team, skua_team_pe(team)) == skua_pe());
    for (int rank = 1; rank < n; rank++)
        CHECK(skua_team_pe_of(team, rank) == skua_team_pe_of(team, rank - 1) - 2);
    CHECK(skua_team_translate(SKUA_TEAM_ALL, skua_pe(), team) == skua_team_pe(team));
    skua_team_allreduce(team, &one, &mine, &all, skua_done_count(&done));
    CHECK(skua_counter_wait(&done, 1) && all == want);
}

static void on_look(skua_msg *msg)
{
    struct peer *peer = skua_group_local(ring);
    skua_team    other;

    skua_msg_free(msg);
    look_at_team(peer->half);
    for (int i = 0; i < 5; i++) {
        other = split();
        CHECK(other != peer->half);
        look_at_team(other);
        CHECK(skua_team_destroy(other) == SKUA_OK);
    }
    CHECK(skua_team_destroy(peer->half) == SKUA_OK);
    skua_send_copy(0, looked_handler, NULL, 0);
}

/* ---- a collective under way -------------------------------------------------------------------
 */

static void on_result(skua_msg *msg)
{
    skua_msg_free(msg);
}

static skua_handler result_handler;

/* PE 0 calls what the others call when the checkpoint has been refused: first a collective of a
 * team, then one of SKUA_TEAM_ALL, then a barrier. */
static void call_collective(int which)
{
    skua_completion done = skua_done_send(skua_pe(), result_handler);

    word = 1;
    if (which == 0)
        skua_team_allreduce(half, &one, &word, &sum, done);
    else if (which == 1)
        skua_team_gather(SKUA_TEAM_ALL, skua_pes() - 1, &word, sizeof word, gathered, done);
    else
        skua_barrier(done);
}

static void on_late(skua_msg *msg)
{
    int which = *(const int *)skua_msg_data(msg);

    skua_msg_free(msg);
    if (skua_pe() != 0)
        call_collective(which);
}

/* ---- PE 0 -------------------------------------------------------------------------------------
 */

static void save(void)
{
    if (options.reduce && refused < 3)
        call_collective(refused);
    skua_checkpoint(options.die ? NULL : dir, skua_done_send(0, saved_handler));
}

static void on_ready(skua_msg *msg)
{
    skua_msg_free(msg);
    if (++ready < skua_pes())
        return;
    ring = skua_group_create(peer_class, NULL, 0);
    skua_invoke_all(ring, begin_entry, NULL, 0);
}

static void on_arrived(void *arg)
{
    (void)arg;
}

/* A channel of the former job is no channel of this one, although there is one at its position. */
static void use_channel(void)
{
    skua_layout  at = skua_layout_contiguous(&sum, sizeof sum);
    skua_channel other;

    for (int i = 0; i < 1000; i++)
        CHECK(skua_channel_create(&at, on_arrived, NULL, NULL, &other) == SKUA_OK);
    CHECK(skua_channel_open(own, &at) == NULL);
    skua_channel_ready(own);
}

static void on_refused(const skua_checkpoint_result *result)
{
    skua_msg *msg = skua_msg_alloc(sizeof refused);

    CHECK(result->status == SKUA_ERR_UNSUPPORTED);
    memcpy(skua_msg_data(msg), &refused, sizeof refused);
    skua_broadcast(late_handler, msg, skua_done_nothing());
    refused++;
    save();
}

static void on_saved(skua_msg *msg)
{
    skua_checkpoint_result result;

    memcpy(&result, skua_msg_data(msg), sizeof result);
    skua_msg_free(msg);
    if (options.reduce && !result.restarted && refused < 3) {
        on_refused(&result);
        return;
    }
    CHECK(result.status == SKUA_OK);
    restarted = result.restarted;
    if (!restarted && options.die)
        skua_send_copy(skua_pes() - 1, die_handler, NULL, 0);
    else if (!restarted)
        skua_checkpoint_flush(skua_done_send(0, flushed_handler));
    else if (options.channel)
        use_channel();
    else
        skua_invoke_all(ring, again_entry, NULL, 0);
}

/* All peers have taken a step: the first put, ready, the second put. */
static void on_step(skua_msg *msg)
{
    skua_msg_free(msg);
    if (!restarted)
        save();
    else if (++steps == 1)
        skua_invoke_all(ring, put_entry, NULL, 0);
    else
        skua_broadcast(look_handler, skua_msg_alloc(0), skua_done_nothing());
}

static void on_looked(skua_msg *msg)
{
    skua_msg_free(msg);
    if (++looked < skua_pes())
        return;
    printf("result %d\n", pes);
    skua_exit(0);
}

static void on_flushed(skua_msg *msg)
{
    skua_msg_free(msg);
    skua_exit(0);
}

static void on_die(skua_msg *msg)
{
    skua_msg_free(msg);
    (void)raise(SIGKILL);
}

static void set_options(int argc, char **argv)
{
    for (int i = 2; i < argc; i++) {
        options.die     = options.die || strcmp(argv[i], "die") == 0;
        options.team    = options.team || strcmp(argv[i], "team") == 0;
        options.channel = options.channel || strcmp(argv[i], "channel") == 0;
        options.reduce  = options.reduce || strcmp(argv[i], "reduce") == 0;
    }
}

static void start(int argc, char **argv)
{
    skua_layout at    = skua_layout_contiguous(&word, sizeof word);
    skua_team   first = split();

    CHECK(argc > 1);
    set_options(argc, argv);
    half = split();
    CHECK(skua_team_destroy(first) == SKUA_OK); /* leaves a gap in the numbers */
    CHECK(skua_region_create(WORDS * sizeof(int64_t), &in) == SKUA_OK);
    CHECK(skua_region_set_restart(in, SKUA_REGION_BLOCKS, sizeof(int64_t)) == SKUA_OK);
    if (skua_pe() == 0) {
        snprintf(dir, sizeof dir, "%s", argv[1]);
        pes = skua_pes();
        CHECK(skua_channel_create(&at, on_arrived, NULL, "own", &own) == SKUA_OK);
    }
    skua_send_copy(0, ready_handler, NULL, 0);
}

static void register_peer(void)
{
    peer_class  = skua_class_register(&(skua_class_def){.size  = sizeof(skua_class_def),
                                                        .name  = "peer",
                                                        .bytes = sizeof(struct peer),
                                                        .pup   = skua_pup_plain});
    begin_entry = skua_method_register(peer_class, "begin", on_begin, 0);
    open_entry  = skua_method_register(peer_class, "open", on_open, 0);
    again_entry = skua_method_register(peer_class, "again", on_again, 0);
    put_entry   = skua_method_register(peer_class, "put", on_put, 0);
    in_end = skua_channel_end_register(&(skua_channel_end_def){.size = sizeof(skua_channel_end_def),
                                                               .name = "in",
                                                               .buffer  = peer_in,
                                                               .arrived = peer_arrived});
    out_end = skua_channel_end_register(&(skua_channel_end_def){
        .size = sizeof(skua_channel_end_def), .name = "out", .buffer = peer_out});
}

int main(int argc, char **argv)
{
    register_peer();
    ready_handler   = skua_handler_register("ready", on_ready);
    step_handler    = skua_handler_register("step", on_step);
    saved_handler   = skua_handler_register("saved", on_saved);
    look_handler    = skua_handler_register("look", on_look);
    looked_handler  = skua_handler_register("looked", on_looked);
    flushed_handler = skua_handler_register("flushed", on_flushed);
    die_handler     = skua_handler_register("die", on_die);
    late_handler    = skua_handler_register("late", on_late);
    result_handler  = skua_handler_register("done", on_result);
    skua_readonly_register("ring", &ring, sizeof ring);
    skua_readonly_register("own", &own, sizeof own);
    skua_readonly_register("options", &options, sizeof options);
    skua_readonly_register("pes", &pes, sizeof pes);
    return skua_main(argc, argv, start);
}
