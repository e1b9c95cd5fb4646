/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fmm.c - the fast multipole method with one-sided communication: see solve.h for the method.
 *
 * A window (comm.h) is a region.  A transfer is a put of a layout, straight from where the data
 * are, that increases a notification of the receiver; the receiver waits for the number of puts
 * that it expects.  There is no other synchronisation within a solve.
 */
#include <skua/skua.h>
#include <sched.h>
#include <stdlib.h>

#include "help.h"
#include "run.h"

#define STACK (1 << 20) /* stack size of the solver thread; the kernels keep buffers there */

/* One PE's communication through Skua. */
struct fmm_comm {
    struct comm         comm;
    skua_region         region[TRANSFERS];
    skua_region         arrived; /* a notification for each transfer */
    uint64_t            expected[TRANSFERS];
    skua_handle         puts;   /* of this PE */
    skua_region         boards; /* the tasks of each PE */
    struct help_board **board;  /* those that this PE can access, or NULL */
};

static struct fmm_options options; /* read-only */
static skua_handler       start_handler;

static void fmm_reduce(skua_op op, skua_type type, void *at, size_t n)
{
    skua_counter   done      = SKUA_COUNTER_INIT;
    skua_reduction reduction = {op, type, n};

    skua_team_allreduce(SKUA_TEAM_ALL, &reduction, at, at, skua_done_count(&done));
    skua_counter_wait(&done, 1);
}

static void fmm_sum_counts(struct comm *comm, int64_t *at, size_t n)
{
    (void)comm;
    fmm_reduce(SKUA_SUM, SKUA_INT64, at, n);
}

static void fmm_sum(struct comm *comm, double *at, size_t n)
{
    (void)comm;
    fmm_reduce(SKUA_SUM, SKUA_DOUBLE, at, n);
}

static void fmm_max(struct comm *comm, double *at, size_t n)
{
    (void)comm;
    fmm_reduce(SKUA_MAX, SKUA_DOUBLE, at, n);
}

static void *fmm_window(struct comm *comm, enum transfer transfer, size_t bytes)
{
    struct fmm_comm *c = (struct fmm_comm *)comm;

    if (c->region[transfer].id)
        skua_region_destroy(c->region[transfer]);
    if (skua_region_create(bytes, &c->region[transfer]))
        return NULL;
    return skua_region_local(c->region[transfer]);
}

static void fmm_expect(struct comm *comm, enum transfer transfer, int pe, size_t offset,
                       size_t bytes)
{
    (void)pe, (void)offset, (void)bytes;
    ((struct fmm_comm *)comm)->expected[transfer]++;
}

static void fmm_put(struct comm *comm, enum transfer transfer, int pe, size_t offset,
                    const void *base, const skua_block *block, size_t n)
{
    struct fmm_comm *c      = (struct fmm_comm *)comm;
    skua_layout      local  = skua_layout_list(base, n, block), remote;
    skua_rma_params  params = {.handle = &c->puts,
                               .notify = skua_at(c->arrived, pe, transfer * sizeof(skua_notify))};

    remote = skua_layout_contiguous(NULL, skua_layout_bytes(&local));
    if (skua_put_layout_nb(skua_at(c->region[transfer], pe, offset), &remote, &local, &params) < 0)
        skua_abort("fmm: PE %d cannot put data to PE %d", comm->pe, pe);
}

/* Returns true if all puts from and to this PE are complete. */
static bool fmm_is_quiet(struct fmm_comm *c)
{
    const skua_notify *arrived = skua_region_local(c->arrived);

    for (int t = 0; t < TRANSFERS; t++)
        if (skua_notify_value(&arrived[t]) < c->expected[t])
            return false;
    return skua_handle_test(&c->puts);
}

static void fmm_poll(struct comm *comm)
{
    if (!fmm_is_quiet((struct fmm_comm *)comm))
        skua_thread_yield();
}

static void fmm_wait(struct comm *comm, enum transfer transfer)
{
    struct fmm_comm *c       = (struct fmm_comm *)comm;
    skua_notify     *arrived = skua_region_local(c->arrived);

    skua_notify_wait(&arrived[transfer], c->expected[transfer]);
}

static void fmm_done(struct comm *comm)
{
    (void)comm;
    skua_sync();
}

static struct help_board *fmm_board(struct comm *comm, int pe)
{
    return ((struct fmm_comm *)comm)->board[pe];
}

static void fmm_yield(struct comm *comm)
{
    (void)comm;
    skua_thread_yield();
    sched_yield(); /* PEs may share CPUs */
}

static void fmm_fail(struct comm *comm, const char *why)
{
    skua_abort("fmm: PE %d: %s", comm->pe, why);
}

/* Finds the boards of the PEs that share memory with this one.  Two PEs do not help each other:
 * they would gain little, and pages of the arena cost them 1 %. */
static void fmm_find_boards(struct fmm_comm *c)
{
    int others = -1;

    c->board = calloc((size_t)c->comm.pes, sizeof(struct help_board *));
    if (!c->board)
        skua_abort("fmm: PE %d has no memory", skua_pe());
    for (int pe = 0; pe < c->comm.pes; pe++) {
        c->board[pe] = skua_gaddr_local(skua_at(c->boards, pe, 0));
        others += c->board[pe] != NULL;
    }
    c->comm.shares        = others > 1;
    *c->board[c->comm.pe] = (struct help_board){0};
}

static void fmm_create(struct fmm_comm *c)
{
    skua_notify *arrived;

    *c      = (struct fmm_comm){0};
    c->comm = (struct comm){.pe           = skua_pe(),
                            .pes          = skua_pes(),
                            .sum_counts   = fmm_sum_counts,
                            .sum          = fmm_sum,
                            .max          = fmm_max,
                            .window       = fmm_window,
                            .expect       = fmm_expect,
                            .put          = fmm_put,
                            .poll         = fmm_poll,
                            .wait         = fmm_wait,
                            .done         = fmm_done,
                            .shared_alloc = skua_buffer_alloc,
                            .shared_free  = skua_buffer_free,
                            .board        = fmm_board,
                            .yield        = fmm_yield,
                            .time         = skua_time,
                            .fail         = fmm_fail};
    if (skua_region_create(TRANSFERS * sizeof *arrived, &c->arrived) ||
        skua_region_create(sizeof(struct help_board), &c->boards))
        skua_abort("fmm: PE %d has no memory for notifications", skua_pe());
    arrived = skua_region_local(c->arrived);
    for (int i = 0; i < TRANSFERS; i++)
        arrived[i] = (skua_notify)SKUA_NOTIFY_INIT;
    fmm_find_boards(c);
    skua_sync();
}

static void fmm_free(struct fmm_comm *c)
{
    for (int i = 0; i < TRANSFERS; i++)
        if (c->region[i].id)
            skua_region_destroy(c->region[i]);
    skua_region_destroy(c->boards);
    skua_region_destroy(c->arrived);
    free(c->board);
}

static void fmm_run(void *arg)
{
    struct fmm_comm c;
    bool            good;

    (void)arg;
    fmm_create(&c);
    good = run_fmm(&c.comm, &options);
    fmm_free(&c);
    if (skua_pe() == 0)
        skua_exit(good ? 0 : 1);
}

static void fmm_start(skua_msg *msg)
{
    skua_msg_free(msg);
    skua_thread_detach(skua_thread_create(fmm_run, NULL, STACK));
}

static void fmm_begin(int argc, char **argv)
{
    if (options_read(&options, argc, argv))
        skua_broadcast(start_handler, skua_msg_alloc(0), skua_done_nothing());
}

int main(int argc, char **argv)
{
    start_handler = skua_handler_register("start", fmm_start);
    skua_readonly_register("options", &options, sizeof options);
    return skua_program(argc, argv, fmm_begin);
}
