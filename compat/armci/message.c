/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message.c - messages and collectives, by MPI.
 *
 * The members of a group share one communicator. If the scope of a call is not all processes, the
 * call determines the members that are in the scope. The communicators of the scopes of the world
 * exist; those of another group, which are rarely needed, are created for the call.
 */
#include <stdlib.h>
#include <string.h>

#include "armci_impl.h"

int armci_msg_me(void)
{
    return ski_armci.me;
}

int armci_msg_nproc(void)
{
    return ski_armci.size;
}

void armci_msg_abort(int code)
{
    MPI_Abort(MPI_COMM_WORLD, code);
    abort();
}

double armci_timer(void)
{
    return MPI_Wtime();
}

/* ---- messages ---------------------------------------------------------------------- */

void armci_msg_snd(int tag, void *buffer, int len, int to)
{
    MPI_Send(buffer, len, MPI_BYTE, to, tag, ski_armci.world.comm);
}

static int message_receive(int tag, void *buffer, int room, int *bytes, int from)
{
    MPI_Status status;

    MPI_Recv(buffer, room, MPI_BYTE, from, tag, ski_armci.world.comm, &status);
    if (bytes)
        MPI_Get_count(&status, MPI_BYTE, bytes);
    return status.MPI_SOURCE;
}

void armci_msg_rcv(int tag, void *buffer, int buflen, int *msglen, int from)
{
    message_receive(tag, buffer, buflen, msglen, from);
}

int armci_msg_rcvany(int tag, void *buffer, int buflen, int *msglen)
{
    return message_receive(tag, buffer, buflen, msglen, MPI_ANY_SOURCE);
}

/* ---- scopes ------------------------------------------------------------------------ */

/* The members of a group that are in a scope. */
struct message_scope {
    MPI_Comm comm; /* MPI_COMM_NULL: the caller is not in the scope */
    bool     own;  /* the communicator was created for the call */
};

static struct message_scope message_scope_of(const ARMCI_Group *group, int scope)
{
    MPI_Comm domain, masters;
    int      first;

    if (scope == SCOPE_ALL)
        return (struct message_scope){group->comm, false};
    if (group->comm == ski_armci.world.comm)
        return (struct message_scope){scope == SCOPE_NODE ? ski_armci.domain : ski_armci.masters,
                                      false};
    MPI_Comm_split(group->comm, ski_armci.process[ski_armci.me].domain, group->rank, &domain);
    if (scope == SCOPE_NODE)
        return (struct message_scope){domain, true};
    MPI_Comm_rank(domain, &first);
    MPI_Comm_split(group->comm, first == 0 ? 0 : MPI_UNDEFINED, group->rank, &masters);
    MPI_Comm_free(&domain);
    return (struct message_scope){masters, true};
}

static void message_scope_release(struct message_scope *scope)
{
    if (scope->own && scope->comm != MPI_COMM_NULL)
        MPI_Comm_free(&scope->comm);
}

/* Returns the rank in @p comm of the process with the world rank @p process, or -1. */
static int message_rank_in(MPI_Comm comm, int process)
{
    MPI_Group members, world;
    int       rank;

    MPI_Comm_group(comm, &members);
    MPI_Comm_group(ski_armci.world.comm, &world);
    MPI_Group_translate_ranks(world, 1, &process, members, &rank);
    MPI_Group_free(&members);
    MPI_Group_free(&world);
    return rank == MPI_UNDEFINED ? -1 : rank;
}

/* ---- barriers and broadcasts --------------------------------------------------------- */

void parmci_msg_barrier(void)
{
    MPI_Barrier(ski_armci.world.comm);
}
void armci_msg_barrier(void) __attribute__((weak, alias("parmci_msg_barrier")));

void parmci_msg_group_barrier(ARMCI_Group *group)
{
    MPI_Barrier(group->comm);
}
void armci_msg_group_barrier(ARMCI_Group *group)
    __attribute__((weak, alias("parmci_msg_group_barrier")));

/* Returns the world rank of the @p i-th process of a scope of the world, or -1. */
static int message_nth(int scope, int i)
{
    if (scope == SCOPE_ALL)
        return i < ski_armci.size ? i : -1;
    if (scope == SCOPE_NODE)
        return armci_domain_glob_proc_id(ARMCI_DOMAIN_SMP, armci_domain_my_id(ARMCI_DOMAIN_SMP), i);
    return i < skua_hosts() ? armci_domain_glob_proc_id(ARMCI_DOMAIN_SMP, i, 0) : -1;
}

void armci_msg_bintree(int scope, int *Root, int *Up, int *Left, int *Right)
{
    int me = 0;

    *Root = message_nth(scope, 0);
    *Up = *Left = *Right = -1;
    while (message_nth(scope, me) >= 0 && message_nth(scope, me) != ski_armci.me)
        me++;
    if (message_nth(scope, me) < 0)
        return;
    if (me > 0)
        *Up = message_nth(scope, (me - 1) / 2);
    *Left  = message_nth(scope, 2 * me + 1);
    *Right = message_nth(scope, 2 * me + 2);
}

void armci_msg_group_bcast_scope(int scope, void *buf, int len, int root, ARMCI_Group *group)
{
    struct message_scope in = message_scope_of(group, scope);
    int                  rank;

    if (in.comm == MPI_COMM_NULL)
        return;
    rank = message_rank_in(in.comm, root);
    if (rank < 0)
        ski_armci_fail("armci_msg_group_bcast_scope", "process %d is not in the group and scope",
                       root);
    MPI_Bcast(buf, len, MPI_BYTE, rank, in.comm);
    message_scope_release(&in);
}

void armci_msg_bcast_scope(int scope, void *buffer, int len, int root)
{
    armci_msg_group_bcast_scope(scope, buffer, len, root, &ski_armci.world);
}

void armci_msg_bcast(void *buffer, int len, int root)
{
    MPI_Bcast(buffer, len, MPI_BYTE, root, ski_armci.world.comm);
}

void armci_msg_brdcst(void *buffer, int len, int root)
{
    MPI_Bcast(buffer, len, MPI_BYTE, root, ski_armci.world.comm);
}

void armci_msg_clus_brdcst(void *buf, int len)
{
    MPI_Bcast(buf, len, MPI_BYTE, 0, ski_armci.domain);
}

/* ---- reductions ------------------------------------------------------------------------ */

static MPI_Datatype message_type(const char *call, int type)
{
    switch (type) {
    case ARMCI_INT: return MPI_INT;
    case ARMCI_LONG: return MPI_LONG;
    case ARMCI_LONG_LONG: return MPI_LONG_LONG;
    case ARMCI_FLOAT: return MPI_FLOAT;
    case ARMCI_DOUBLE: return MPI_DOUBLE;
    default: ski_armci_fail(call, "there is no type %d", type);
    }
}

/* Compares as many characters as the name has, as ARMCI-MPI does: there are programs that pass the
 * address of a single character. */
static bool message_is(const char *op, const char *name)
{
    return op && strncmp(op, name, strlen(name)) == 0;
}

static MPI_Op message_operator(const char *call, const char *op)
{
    static const char *const names[] = {"+",    "*",  "max", "min", "absmax", "absmin", "or", "&&",
                                        "land", "||", "lor", "&",   "band",   "|",      "bor"};
    const MPI_Op             ops[]   = {MPI_SUM, MPI_PROD, MPI_MAX,  MPI_MIN,  MPI_MAX,
                                        MPI_MIN, MPI_BOR,  MPI_LAND, MPI_LAND, MPI_LOR,
                                        MPI_LOR, MPI_BAND, MPI_BAND, MPI_BOR,  MPI_BOR};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (message_is(op, names[i]))
            return ops[i];
    ski_armci_fail(call, "there is no operator \"%.8s\"", op ? op : "");
}

#define MESSAGE_ABSOLUTE(type)                                                                     \
    for (int i = 0; i < n; i++)                                                                    \
        if (((type *)x)[i] < 0)                                                                    \
    ((type *)x)[i] = -((type *)x)[i]

/* Replaces elements by their absolute values, which "absmax" and "absmin" compare. */
static void message_absolute(void *x, int n, int type)
{
    switch (type) {
    case ARMCI_INT: MESSAGE_ABSOLUTE(int); break;
    case ARMCI_LONG: MESSAGE_ABSOLUTE(long); break;
    case ARMCI_LONG_LONG: MESSAGE_ABSOLUTE(long long); break;
    case ARMCI_FLOAT: MESSAGE_ABSOLUTE(float); break;
    default: MESSAGE_ABSOLUTE(double); break;
    }
}

/* Reduces over @p comm; only @p root gets the result or, if it is negative, all processes do. */
static void message_reduce(const char *call, MPI_Comm comm, int root, void *x, int n,
                           const char *op, int type)
{
    MPI_Datatype datatype = message_type(call, type);
    MPI_Op       how      = message_operator(call, op);
    int          rank;

    if (n <= 0 || comm == MPI_COMM_NULL)
        return;
    if (message_is(op, "abs"))
        message_absolute(x, n, type);
    MPI_Comm_rank(comm, &rank);
    if (root < 0)
        MPI_Allreduce(MPI_IN_PLACE, x, n, datatype, how, comm);
    else
        MPI_Reduce(rank == root ? MPI_IN_PLACE : x, x, n, datatype, how, root, comm);
}

void armci_msg_group_gop_scope(int scope, void *x, int n, char *op, int type, ARMCI_Group *group)
{
    struct message_scope in = message_scope_of(group, scope);

    message_reduce("armci_msg_group_gop_scope", in.comm, -1, x, n, op, type);
    message_scope_release(&in);
}

void armci_msg_gop_scope(int scope, void *x, int n, char *op, int type)
{
    struct message_scope in = message_scope_of(&ski_armci.world, scope);

    message_reduce("armci_msg_gop_scope", in.comm, -1, x, n, op, type);
}

void armci_msg_reduce_scope(int scope, void *x, int n, char *op, int type)
{
    struct message_scope in = message_scope_of(&ski_armci.world, scope);

    message_reduce("armci_msg_reduce_scope", in.comm, 0, x, n, op, type);
}

void armci_msg_reduce(void *x, int n, char *op, int type)
{
    message_reduce("armci_msg_reduce", ski_armci.world.comm, 0, x, n, op, type);
}

/* Defines the reductions of one type: over all processes, a group and the domain. */
#define MESSAGE_GOP(type, letter, name)                                                            \
    void armci_msg_##letter##gop(type *x, int n, char *op)                                         \
    {                                                                                              \
        message_reduce("armci_msg_" #letter "gop", ski_armci.world.comm, -1, x, n, op, name);      \
    }                                                                                              \
    void armci_msg_group_##letter##gop(type *x, int n, char *op, ARMCI_Group *group)               \
    {                                                                                              \
        message_reduce("armci_msg_group_" #letter "gop", group->comm, -1, x, n, op, name);         \
    }                                                                                              \
    void armci_msg_clus_##letter##gop(type *x, int n, char *op)                                    \
    {                                                                                              \
        message_reduce("armci_msg_clus_" #letter "gop", ski_armci.domain, -1, x, n, op, name);     \
    }

MESSAGE_GOP(int, i, ARMCI_INT)
MESSAGE_GOP(long, l, ARMCI_LONG)
MESSAGE_GOP(long long, ll, ARMCI_LONG_LONG)
MESSAGE_GOP(float, f, ARMCI_FLOAT)
MESSAGE_GOP(double, d, ARMCI_DOUBLE)

void armci_exchange_address(void *ptr_ar[], int n)
{
    armci_msg_lgop((long *)(void *)ptr_ar, n, "+");
}

void armci_exchange_address_grp(void *ptr_arr[], int n, ARMCI_Group *group)
{
    armci_msg_group_lgop((long *)(void *)ptr_arr, n, "+", group);
}

/* ---- selection: all processes determine the winner, which broadcasts its element ---------- */

/* Returns true if the first element at @p a is less than that at @p b. */
static bool message_less(const void *a, const void *b, int type)
{
#define MESSAGE_LESS(type) (*(const type *)a < *(const type *)b)
    switch (type) {
    case ARMCI_INT: return MESSAGE_LESS(int);
    case ARMCI_LONG: return MESSAGE_LESS(long);
    case ARMCI_LONG_LONG: return MESSAGE_LESS(long long);
    case ARMCI_FLOAT: return MESSAGE_LESS(float);
    default: return MESSAGE_LESS(double);
    }
#undef MESSAGE_LESS
}

/* The contribution of a process to a selection: whether it contributes, and its first element. */
struct message_candidate {
    int64_t contributes;
    char    element[8];
};

/* Returns the rank of the winner, or -1 if no process contributes. */
static int message_winner(const struct message_candidate *all, int count, bool least, int type)
{
    int best = -1;

    for (int i = 0; i < count; i++)
        if (all[i].contributes &&
            (best < 0 || (least ? message_less(all[i].element, all[best].element, type)
                                : message_less(all[best].element, all[i].element, type))))
            best = i;
    return best;
}

void armci_msg_sel_scope(int scope, void *x, int n, char *op, int type, int contribute)
{
    static const char        call[] = "armci_msg_sel_scope";
    struct message_scope     in     = message_scope_of(&ski_armci.world, scope);
    struct message_candidate mine   = {contribute != 0, {0}}, *all;
    int                      size, bytes, winner;

    if (in.comm == MPI_COMM_NULL)
        return;
    if (!message_is(op, "min") && !message_is(op, "max"))
        ski_armci_fail(call, "there is no operator \"%.8s\"", op ? op : "");
    MPI_Type_size(message_type(call, type), &bytes);
    if (contribute)
        memcpy(mine.element, x, (size_t)(bytes < n ? bytes : n));
    MPI_Comm_size(in.comm, &size);
    all = malloc((size_t)size * sizeof *all);
    if (!all)
        ski_armci_fail(call, "no memory");
    MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, in.comm);
    winner = message_winner(all, size, message_is(op, "min"), type);
    free(all);
    if (winner >= 0)
        MPI_Bcast(x, n, MPI_BYTE, winner, in.comm);
}

void armci_msg_sel(void *x, int n, char *op, int type, int contribute)
{
    armci_msg_sel_scope(SCOPE_ALL, x, n, op, type, contribute);
}
