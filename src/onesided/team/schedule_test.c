/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schedule_test.c - the schedules of all members of a team, executed together.
 *
 * Members take steps in a random order.  A message that is not `copied` is a pointer that is read
 * as late as possible, so a schedule that changes memory which it has lent is found; one that is
 * not `reused` may be stored as early as possible.  The operator is neither associative nor
 * commutative: a result proves the order of reduction_order.h.
 */
#include "onesided/team/schedule.h"

#include <stdlib.h>
#include <string.h>

#include "core/collective/reduction_order.h"
#include "onesided/team/team.h"
#include "onesided/team/team_hosts.h"
#include "tests/tap.h"

#define SCHEDULE_TEST_SIZES 33
#define SCHEDULE_TEST_GUARD 8

/* A message that has arrived. */
struct schedule_test_msg {
    bool        arrived, stored;
    char       *copy; /* or NULL: lent */
    const char *data;
    size_t      bytes;
    int         from;
};

/* A member. */
struct schedule_test_member {
    struct ski_schedule       s;
    struct ski_plan           plan;
    uint32_t                  pc;
    char                     *buffer[3];
    int                       inner; /* the buffer that is in another one (in place), or -1 */
    struct schedule_test_msg *msg;   /* by tag */
    int                       lent;
};

static struct schedule_test_member schedule_test_team[SCHEDULE_TEST_SIZES];
static int                         schedule_test_size;
static uint64_t                    schedule_test_seed;
static bool                        schedule_test_right;
static struct ski_team_hosts      *schedule_test_hosts; /* of the members, or NULL */
static int                         schedule_test_far;   /* messages between hosts  */

static uint64_t schedule_test_hash(uint64_t a, uint64_t b)
{
    uint64_t x = a * 1000003 + b * 7919 + 5;

    return tap_random(&x);
}

/* Combines elements of 8 bytes. */
static void schedule_test_combine(char *into, const char *from, size_t bytes)
{
    for (size_t i = 0; i + 8 <= bytes; i += 8) {
        uint64_t a, b;

        memcpy(&a, into + i, 8);
        memcpy(&b, from + i, 8);
        a = schedule_test_hash(a, b);
        memcpy(into + i, &a, 8);
    }
}

static char *schedule_test_at(struct schedule_test_member *m, struct ski_position p)
{
    return m->buffer[p.buffer] + p.at;
}

/* Stores a message that has arrived for @p step. */
static void schedule_test_store(struct schedule_test_member *m, const struct ski_step *step)
{
    struct schedule_test_msg *msg = &m->msg[step->tag];

    schedule_test_right =
        schedule_test_right && msg->bytes == step->bytes && msg->from == step->rank;
    if (msg->bytes && step->action == SKI_STEP_RECV_COMBINE)
        schedule_test_combine(schedule_test_at(m, step->at), msg->data, msg->bytes);
    else if (msg->bytes)
        memcpy(schedule_test_at(m, step->at), msg->data, msg->bytes);
    if (!msg->copy)
        schedule_test_team[msg->from].lent--;
    free(msg->copy);
    msg->stored = true;
}

/* Stores a new message at once if its RECV allows it. */
static void schedule_test_store_early(struct schedule_test_member *m, uint32_t tag)
{
    for (uint32_t i = m->pc; i < m->s.steps; i++)
        if (m->s.step[i].action == SKI_STEP_RECV && m->s.step[i].tag == tag &&
            !m->s.step[i].reused && tap_random(&schedule_test_seed) % 2)
            schedule_test_store(m, &m->s.step[i]);
}

static void schedule_test_send(struct schedule_test_member *m, const struct ski_step *step)
{
    struct schedule_test_member *to = &schedule_test_team[step->rank];
    struct schedule_test_msg new    = {.arrived = true,
                                       .data    = schedule_test_at(m, step->at),
                                       .bytes   = step->bytes,
                                       .from    = m->plan.rank};

    if (step->tag >= to->s.tags || to->msg[step->tag].arrived || step->rank == m->plan.rank) {
        schedule_test_right = false;
        return;
    }
    schedule_test_far += schedule_test_hosts && ski_hosts_of(schedule_test_hosts, m->plan.rank) !=
                                                    ski_hosts_of(schedule_test_hosts, step->rank);
    if (step->copied || (step->eager && tap_random(&schedule_test_seed) % 2)) {
        new.copy = malloc(step->bytes + 1);
        if (step->bytes)
            memcpy(new.copy, new.data, step->bytes);
        new.data = new.copy;
    } else {
        m->lent++;
    }
    to->msg[step->tag] = new;
    schedule_test_store_early(to, step->tag);
}

/* Executes a step. Returns false if it waits. */
static bool schedule_test_step(struct schedule_test_member *m, const struct ski_step *step)
{
    switch ((enum ski_step_action)step->action) {
    case SKI_STEP_SEND: schedule_test_send(m, step); break;
    case SKI_STEP_RECV:
    case SKI_STEP_RECV_COMBINE:
        if (!m->msg[step->tag].arrived)
            return false;
        if (!m->msg[step->tag].stored)
            schedule_test_store(m, step);
        break;
    case SKI_STEP_COPY:
        for (uint32_t i = 0; i < step->repeat; i++)
            memcpy(schedule_test_at(m, step->at) + i * step->stride,
                   schedule_test_at(m, step->from) + i * step->from_stride, step->bytes);
        break;
    case SKI_STEP_COMBINE:
        schedule_test_combine(schedule_test_at(m, step->at), schedule_test_at(m, step->from),
                              step->bytes);
        break;
    case SKI_STEP_PREPARE: break;
    case SKI_STEP_FLUSH: return m->lent == 0;
    }
    return true;
}

/* Executes all schedules. Returns false if they do not end. */
static bool schedule_test_run(void)
{
    for (int i = 0; i < schedule_test_size; i++) {
        struct schedule_test_member *m = &schedule_test_team[i];

        m->pc               = 0;
        m->lent             = 0;
        m->msg              = calloc(m->s.tags + 1, sizeof *m->msg);
        m->buffer[SKI_TEMP] = calloc(m->s.temp + 1, 1);
    }
    for (int idle = 0, i = 0; idle < 2 * schedule_test_size; i++) {
        struct schedule_test_member *m    = &schedule_test_team[i % schedule_test_size];
        uint64_t                     most = 1 + tap_random(&schedule_test_seed) % 4;

        idle++;
        for (; most-- > 0 && m->pc < m->s.steps; m->pc++, idle = 0)
            if (!schedule_test_step(m, &m->s.step[m->pc]))
                break;
    }
    for (int i = 0; i < schedule_test_size; i++)
        if (schedule_test_team[i].pc < schedule_test_team[i].s.steps ||
            schedule_test_team[i].lent != 0)
            return false;
    return true;
}

static uint64_t schedule_test_value(int rank, size_t i)
{
    return schedule_test_hash((uint64_t)rank + 1, i);
}

/* Allocates the buffers of a member: @p from bytes with values, @p to bytes. */
static void schedule_test_buffers(struct schedule_test_member *m, size_t from, size_t to)
{
    m->buffer[SKI_FROM] = malloc(from + 1);
    m->buffer[SKI_TO]   = malloc(to + SCHEDULE_TEST_GUARD);
    memset(m->buffer[SKI_TO], 0x5a, to + SCHEDULE_TEST_GUARD);
    for (size_t i = 0; i < from; i++)
        m->buffer[SKI_FROM][i] = (char)(schedule_test_value(m->plan.rank, i / 8) >> i % 8 * 8);
}

/* Makes buffer @p inner of a member, @p bytes, the memory at @p at of the other one, if the member
 * works in place. */
static void schedule_test_alias(struct schedule_test_member *m, enum ski_buffer_name inner,
                                size_t at, size_t bytes)
{
    char *outer = m->buffer[inner == SKI_FROM ? SKI_TO : SKI_FROM];

    if (!m->plan.in_place)
        return;
    if (inner == SKI_FROM && bytes)
        memcpy(outer + at, m->buffer[inner], bytes);
    free(m->buffer[inner]);
    m->buffer[inner] = outer + at;
    m->inner         = (int)inner;
}

static void schedule_test_free(void)
{
    for (int i = 0; i < schedule_test_size; i++) {
        struct schedule_test_member *m = &schedule_test_team[i];

        for (int b = 0; b < 3; b++)
            if (b != m->inner)
                free(m->buffer[b]);
        free(m->msg);
        ski_schedule_free(&m->s);
    }
}

/* Returns whether @p bytes at @p at of a member are those of the input of @p rank from @p offset
 * on. */
static bool schedule_test_is(const char *at, int rank, size_t offset, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (at[i] != (char)(schedule_test_value(rank, (offset + i) / 8) >> (offset + i) % 8 * 8))
            return false;
    return true;
}

/* Prepares all members with a plan. */
static void schedule_test_begin(int size, const struct ski_plan *plan)
{
    schedule_test_size  = size;
    schedule_test_right = true;
    schedule_test_far   = 0;
    for (int i = 0; i < size; i++) {
        schedule_test_team[i].plan      = *plan;
        schedule_test_team[i].plan.rank = i;
        schedule_test_team[i].plan.size = size;
        schedule_test_team[i].inner     = -1;
        if (schedule_test_hosts)
            schedule_test_team[i].plan.hosts = schedule_test_hosts;
        ski_schedule_init(&schedule_test_team[i].s);
    }
}

/* ---- collectives that move data ---------------------------------------------------- */

enum schedule_test_kind {
    TEST_BROADCAST,
    TEST_GATHER,
    TEST_SCATTER,
    TEST_ALLGATHER,
    TEST_ALLTOALL
};

/* Adds the schedule of a member and makes its buffers. */
static void schedule_test_plan_move(struct schedule_test_member *m, enum schedule_test_kind kind)
{
    size_t            bytes = m->plan.bytes, all = bytes * (size_t)m->plan.size;
    struct ski_blocks blocks = {.bytes = bytes};

    if (kind != TEST_ALLGATHER &&
        (m->plan.rank != m->plan.root || (kind != TEST_GATHER && kind != TEST_SCATTER)))
        m->plan.in_place = false;
    switch (kind) {
    case TEST_BROADCAST:
        schedule_test_buffers(m, bytes, bytes);
        if (m->plan.rank == m->plan.root)
            memcpy(m->buffer[SKI_TO], m->buffer[SKI_FROM], bytes);
        ski_schedule_broadcast(&m->s, &m->plan);
        break;
    case TEST_GATHER:
        schedule_test_buffers(m, bytes, all);
        schedule_test_alias(m, SKI_FROM, bytes * (size_t)m->plan.rank, bytes);
        ski_schedule_gather(&m->s, &m->plan);
        break;
    case TEST_SCATTER:
        schedule_test_buffers(m, all, bytes);
        schedule_test_alias(m, SKI_TO, bytes * (size_t)m->plan.rank, bytes);
        ski_schedule_scatter(&m->s, &m->plan);
        break;
    case TEST_ALLGATHER:
        schedule_test_buffers(m, bytes, all);
        schedule_test_alias(m, SKI_FROM, bytes * (size_t)m->plan.rank, bytes);
        ski_schedule_allgather(&m->s, &m->plan, &blocks);
        break;
    case TEST_ALLTOALL:
        schedule_test_buffers(m, all, all);
        ski_schedule_alltoall(&m->s, &m->plan, &blocks, &blocks);
    }
}

/* Returns whether the output of a member is right. */
static bool schedule_test_moved(const struct schedule_test_member *m, enum schedule_test_kind kind)
{
    size_t      bytes = m->plan.bytes;
    const char *to    = m->buffer[SKI_TO];
    bool        right = true;

    if (kind == TEST_BROADCAST)
        return schedule_test_is(to, m->plan.root, 0, bytes);
    if (kind == TEST_SCATTER)
        return schedule_test_is(to, m->plan.root, bytes * (size_t)m->plan.rank, bytes);
    if (kind == TEST_GATHER && m->plan.rank != m->plan.root)
        return true;
    for (int r = 0; r < m->plan.size; r++)
        right = right &&
                schedule_test_is(to + bytes * (size_t)r, r,
                                 kind == TEST_ALLTOALL ? bytes * (size_t)m->plan.rank : 0, bytes);
    return right && to[bytes * (size_t)m->plan.size] == 0x5a;
}

static bool schedule_test_move(enum schedule_test_kind kind, int size, const struct ski_plan *plan)
{
    bool right;

    schedule_test_begin(size, plan);
    for (int i = 0; i < size; i++)
        schedule_test_plan_move(&schedule_test_team[i], kind);
    right = schedule_test_run() && schedule_test_right;
    for (int i = 0; i < size; i++)
        right = right && schedule_test_moved(&schedule_test_team[i], kind);
    schedule_test_free();
    return right;
}

/* ---- reductions ----------------------------------------------------------------------- */

/* Combines element @p e of ranks from @p first on, at most 2^level of them. */
static uint64_t schedule_test_blocks(int first, int level, int size, size_t e)
{
    int      half = level > 0 ? first + (1 << (level - 1)) : 0;
    uint64_t low;

    if (level == 0)
        return schedule_test_value(first, e);
    low = schedule_test_blocks(first, level - 1, size, e);
    return half >= size ? low
                        : schedule_test_hash(low, schedule_test_blocks(half, level - 1, size, e));
}

/* Combines element @p e of the last @p width ranks up to @p last, as recursive doubling does. */
static uint64_t schedule_test_scan(int last, int64_t width, size_t e)
{
    uint64_t high;

    if (width == 1)
        return schedule_test_value(last, e);
    high = schedule_test_scan(last, width / 2, e);
    return last < width / 2 ? high
                            : schedule_test_hash(
                                  schedule_test_scan((int)(last - width / 2), width / 2, e), high);
}

/* Combines element @p e of all ranks up to @p last, as a chain does. */
static uint64_t schedule_test_chain(int last, size_t e)
{
    uint64_t all = schedule_test_value(0, e);

    for (int rank = 1; rank <= last; rank++)
        all = schedule_test_hash(all, schedule_test_value(rank, e));
    return all;
}

static uint64_t schedule_test_exscan(int rank, size_t e)
{
    uint64_t all = 0;

    for (int64_t far = 1; far <= rank; far *= 2) {
        uint64_t low = schedule_test_scan((int)(rank - far), far, e);

        all = far == 1 ? low : schedule_test_hash(low, all);
    }
    return all;
}

enum schedule_test_reduction { TEST_REDUCE, TEST_ALLREDUCE, TEST_SCAN, TEST_EXSCAN };

static bool schedule_test_reduced(const struct schedule_test_member *m,
                                  enum schedule_test_reduction       kind)
{
    int rank = m->plan.rank, size = m->plan.size;

    if ((kind == TEST_REDUCE && rank != m->plan.root) || (kind == TEST_EXSCAN && rank == 0))
        return true;
    for (size_t e = 0; e < m->plan.bytes / 8; e++) {
        uint64_t got,
            expected = kind >= TEST_SCAN && size <= 16
                           ? schedule_test_chain(kind == TEST_SCAN ? rank : rank - 1, e)
                       : kind == TEST_SCAN
                           ? schedule_test_scan(rank, INT64_C(1) << ski_block_levels(size), e)
                       : kind == TEST_EXSCAN
                           ? schedule_test_exscan(rank, e)
                           : schedule_test_blocks(0, ski_block_levels(size), size, e);

        memcpy(&got, m->buffer[SKI_TO] + 8 * e, 8);
        if (got != expected)
            return false;
    }
    return true;
}

static bool schedule_test_reduce(enum schedule_test_reduction kind, int size,
                                 const struct ski_plan *plan)
{
    bool right;

    schedule_test_begin(size, plan);
    for (int i = 0; i < size; i++) {
        struct schedule_test_member *m = &schedule_test_team[i];

        schedule_test_buffers(m, plan->bytes, plan->bytes);
        m->plan.in_place = plan->in_place && (kind != TEST_REDUCE || i == plan->root);
        schedule_test_alias(m, SKI_FROM, 0, plan->bytes);
        if (kind == TEST_REDUCE)
            ski_schedule_reduce(&m->s, &m->plan);
        else if (kind == TEST_ALLREDUCE)
            ski_schedule_allreduce(&m->s, &m->plan);
        else
            ski_schedule_scan(&m->s, &m->plan, kind == TEST_EXSCAN);
    }
    right = schedule_test_run() && schedule_test_right;
    for (int i = 0; i < size; i++)
        right = right && schedule_test_reduced(&schedule_test_team[i], kind);
    schedule_test_free();
    return right;
}

/* ---- all of them ------------------------------------------------------------------------ */

/* Returns whether @p kind is right for teams of @p size members, with all roots. */
static bool schedule_test_size_right(bool reduces, int kind, int size, struct ski_plan plan)
{
    bool right = true;

    for (plan.root = 0; plan.root < size; plan.root += 1 + size / 5)
        right = right &&
                (reduces ? schedule_test_reduce((enum schedule_test_reduction)kind, size, &plan)
                         : schedule_test_move((enum schedule_test_kind)kind, size, &plan));
    return right;
}

static void schedule_test_all(bool reduces, int kind, const char *name)
{
    /* Nothing, one element, fewer elements than members, more than the largest team has. */
    static const size_t bytes[] = {0, 8, 24, 640};

    for (int variant = 0; variant < 4; variant++) {
        bool right = true;

        for (int size = 1; size <= SCHEDULE_TEST_SIZES; size += 1 + size / 9)
            for (size_t b = 0; b < sizeof bytes / sizeof *bytes; b++)
                right = right && schedule_test_size_right(reduces, kind, size,
                                                          (struct ski_plan){.large   = variant & 1,
                                                                            .near    = variant >> 1,
                                                                            .paired  = variant == 1,
                                                                            .element = 8,
                                                                            .bytes   = bytes[b]});
        OK(right, "%s%s%s", name, variant & 1 ? ", large" : "", variant >> 1 ? ", one host" : "");
    }
}

/* Returns the messages of a schedule that a member sends. */
static int schedule_test_sends(const struct ski_schedule *s)
{
    int sends = 0;

    for (uint32_t i = 0; i < s->steps; i++)
        sends += s->step[i].action == SKI_STEP_SEND;
    return sends;
}

static void schedule_test_barrier(void)
{
    struct ski_plan plan  = {.large = false};
    bool            right = true;

    for (int size = 1; size <= SCHEDULE_TEST_SIZES; size++) {
        schedule_test_begin(size, &plan);
        for (int i = 0; i < size; i++) {
            schedule_test_buffers(&schedule_test_team[i], 0, 0);
            ski_schedule_barrier(&schedule_test_team[i].s, &schedule_test_team[i].plan);
            right =
                right && schedule_test_sends(&schedule_test_team[i].s) == ski_block_levels(size);
        }
        right = right && schedule_test_run() && schedule_test_right;
        schedule_test_free();
    }
    OK(right, "barrier, in log2(n) rounds");
}

/* Blocks of no bytes, of so many members that Bruck's algorithm is used for small ones. */
static void schedule_test_nothing(void)
{
    struct ski_blocks nothing = {.bytes = 0};
    struct ski_plan   plan    = {.large = false};
    int               sends = 0, size = SCHEDULE_TEST_SIZES;
    bool              right;

    schedule_test_begin(size, &plan);
    for (int i = 0; i < size; i++) {
        struct schedule_test_member *m = &schedule_test_team[i];

        schedule_test_buffers(m, 0, 0);
        ski_schedule_alltoall(&m->s, &m->plan, &nothing, &nothing);
        sends += schedule_test_sends(&m->s);
        for (uint32_t k = 0; k < m->s.steps; k++)
            sends += m->s.step[k].repeat > 0;
    }
    right = schedule_test_run() && schedule_test_right && sends == 0;
    schedule_test_free();
    OK(right, "an all-to-all of nothing sends and copies nothing");
}

/* ---- several hosts ----------------------------------------------------------------------- */

enum schedule_test_layout { LAYOUT_BLOCKS, LAYOUT_CYCLIC, LAYOUT_RANDOM, LAYOUTS };

/* Distributes @p size members, rank r on PE size - 1 - r, over @p hosts hosts. */
static void schedule_test_lay_out(enum schedule_test_layout layout, int size, int hosts)
{
    int32_t         host_of[SCHEDULE_TEST_SIZES], pe[SCHEDULE_TEST_SIZES];
    struct ski_job  job  = {.pes = size, .pes_per_process = 1, .hosts = hosts, .host_of = host_of};
    struct ski_team team = {.size = size, .pe = pe};
    int             each = (size + hosts - 1) / hosts;

    for (int rank = 0; rank < size; rank++) {
        pe[rank]          = size - 1 - rank;
        host_of[pe[rank]] = layout == LAYOUT_BLOCKS ? rank / each
                            : layout == LAYOUT_CYCLIC
                                ? rank % hosts
                                : (int)(tap_random(&schedule_test_seed) % (unsigned)hosts);
    }
    ski_team_hosts_free(schedule_test_hosts);
    schedule_test_hosts = ski_team_hosts_make(&job, &team);
}

/* The messages between @p hosts hosts of an exchange, in which each host hears from one in each
 * round, if its block has a sibling. */
static int schedule_test_exchange(int hosts)
{
    int messages = 0;

    for (int level = 0; level < ski_block_levels(hosts); level++)
        for (int host = 0; host < hosts; host++)
            messages += ski_block_sibling(host, level) < hosts;
    return messages;
}

/* Returns the most messages between @p hosts hosts of a collective that moves data. */
static int schedule_test_most_moved(enum schedule_test_kind kind, int hosts)
{
    switch (kind) {
    case TEST_ALLGATHER: return hosts * (hosts <= 3 ? hosts - 1 : ski_block_levels(hosts));
    case TEST_ALLTOALL: return hosts * (hosts - 1);
    default: return hosts - 1;
    }
}

/* Returns whether collectives of the laid-out members are right and send few messages. */
static bool schedule_test_few(bool reduces, int kind, int size, const struct ski_plan *plan)
{
    int  hosts = schedule_test_hosts->hosts;
    bool right = reduces ? schedule_test_reduce((enum schedule_test_reduction)kind, size, plan)
                         : schedule_test_move((enum schedule_test_kind)kind, size, plan);
    int  most  = kind == TEST_REDUCE ? hosts - 1 : schedule_test_exchange(hosts);

    if (!reduces)
        most = schedule_test_most_moved((enum schedule_test_kind)kind, hosts);
    if (schedule_test_far > most && !plan->large)
        printf("# %d messages between %d hosts of %d members, more than %d\n", schedule_test_far,
               hosts, size, most);
    return right && (plan->large || schedule_test_far <= most);
}

static void schedule_test_on_hosts(bool reduces, int kind, const char *name)
{
    static const size_t bytes[] = {0, 8, 40, 200};
    bool                right   = true;

    for (int size = 3; size <= SCHEDULE_TEST_SIZES; size += 1 + size / 5)
        for (int layout = 0; layout < 2 * LAYOUTS; layout++) {
            int hosts = 2 + (int)(tap_random(&schedule_test_seed) % (unsigned)(size - 2));

            schedule_test_lay_out((enum schedule_test_layout)(layout % LAYOUTS), size, hosts);
            for (int i = 0; schedule_test_hosts && i < 12; i++) {
                struct ski_plan plan = {.bytes = bytes[i % 4], .large = i > 3};

                plan.element  = i < 8 ? 8 : 0; /* 0: the operator is not split */
                plan.in_place = tap_random(&schedule_test_seed) % 2;
                plan.root     = (int)(tap_random(&schedule_test_seed) % (unsigned)size);
                right         = right && schedule_test_few(reduces, kind, size, &plan);
            }
        }
    ski_team_hosts_free(schedule_test_hosts);
    schedule_test_hosts = NULL;
    OK(right, "%s of several hosts", name);
}

/* Large contributions that are not split: no member keeps one for each member of its host. */
static void schedule_test_unsplit(void)
{
    struct ski_plan     plan = {.size = 32, .bytes = 640, .large = true};
    struct ski_schedule to_root, to_all;

    schedule_test_lay_out(LAYOUT_CYCLIC, plan.size, 4);
    plan.hosts = schedule_test_hosts;
    ski_schedule_init(&to_root);
    ski_schedule_init(&to_all);
    ski_schedule_reduce(&to_root, &plan);
    ski_schedule_allreduce(&to_all, &plan);
    OK(to_root.temp <= 8 * plan.bytes && to_all.temp <= 8 * plan.bytes,
       "large reductions of several hosts that are not split: %zu and %zu bytes", to_root.temp,
       to_all.temp);
    ski_schedule_free(&to_root);
    ski_schedule_free(&to_all);
    ski_team_hosts_free(schedule_test_hosts);
    schedule_test_hosts = NULL;
}

/* Returns whether a barrier of members that are laid out ends, with one message of each host in
 * each round. */
static bool schedule_test_hosts_barrier(int size)
{
    struct ski_plan plan = {.large = false};
    bool            right;

    schedule_test_begin(size, &plan);
    for (int i = 0; i < size; i++) {
        schedule_test_buffers(&schedule_test_team[i], 0, 0);
        ski_schedule_barrier(&schedule_test_team[i].s, &schedule_test_team[i].plan);
    }
    right = schedule_test_run() && schedule_test_right &&
            schedule_test_far ==
                schedule_test_hosts->hosts * ski_block_levels(schedule_test_hosts->hosts);
    schedule_test_free();
    return right;
}

static void schedule_test_hosts_barriers(void)
{
    bool right = true;

    for (int size = 3; size <= SCHEDULE_TEST_SIZES; size++)
        for (int hosts = 2; hosts < size; hosts += 1 + hosts / 2) {
            schedule_test_lay_out((enum schedule_test_layout)(size % LAYOUTS), size, hosts);
            right = right && (!schedule_test_hosts || schedule_test_hosts_barrier(size));
        }
    ski_team_hosts_free(schedule_test_hosts);
    schedule_test_hosts = NULL;
    OK(right, "barrier of several hosts");
}

int main(void)
{
    schedule_test_seed = tap_seed();
    schedule_test_barrier();
    schedule_test_all(false, TEST_BROADCAST, "broadcast");
    schedule_test_all(false, TEST_GATHER, "gather");
    schedule_test_all(false, TEST_SCATTER, "scatter");
    schedule_test_all(false, TEST_ALLGATHER, "allgather");
    schedule_test_all(false, TEST_ALLTOALL, "all-to-all");
    schedule_test_all(true, TEST_REDUCE, "reduce");
    schedule_test_all(true, TEST_ALLREDUCE, "allreduce");
    schedule_test_all(true, TEST_SCAN, "scan");
    schedule_test_all(true, TEST_EXSCAN, "exscan");
    schedule_test_nothing();
    schedule_test_hosts_barriers();
    schedule_test_on_hosts(false, TEST_BROADCAST, "broadcast");
    schedule_test_on_hosts(false, TEST_GATHER, "gather");
    schedule_test_on_hosts(false, TEST_SCATTER, "scatter");
    schedule_test_on_hosts(false, TEST_ALLGATHER, "allgather");
    schedule_test_on_hosts(false, TEST_ALLTOALL, "all-to-all");
    schedule_test_on_hosts(true, TEST_REDUCE, "reduce");
    schedule_test_on_hosts(true, TEST_ALLREDUCE, "allreduce");
    schedule_test_unsplit();
    return tap_end();
}
