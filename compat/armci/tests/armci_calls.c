/* SPDX-License-Identifier: Apache-2.0 */
/*
 * armci_calls.c - every family of calls of ARMCI, with known results. Any number of processes; each
 * works on the memory of the next.
 *
 * usage: mpirun -n N armci_calls [armci-first | no-mpi | mpi-ends | busy | wrong CASE]
 *
 *   armci-first   ARMCI_Init() comes before MPI_Init()
 *   no-mpi        the program leaves MPI to ARMCI
 *   mpi-ends      ARMCI begins twice; MPI_Finalize() comes without ARMCI_Finalize()
 *   busy          the target computes while its memory is accessed
 *   wrong CASE    misuse, which ends the job with an error that names the call
 */
#include <complex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <armci.h>
#include <armcix.h>

#define ROWS  20
#define COLS  30
#define PLACE 4096 /* bytes before the numbers that atomics and flags use */

static int    me, size, next, before;
static char **memory; /* by process */

#define CHECK(fact)                                                                                \
    do {                                                                                           \
        if (!(fact)) {                                                                             \
            fprintf(stderr, "process %d: %s:%d: %s\n", me, __FILE__, __LINE__, #fact);             \
            armci_msg_abort(3);                                                                    \
        }                                                                                          \
    } while (0)

static void clear(void)
{
    ARMCI_Barrier();
    memset(memory[me], 0, 2 * PLACE);
    ARMCI_Barrier();
}

static double value(int process, int i)
{
    return process * 1000 + i;
}

/* ---- contiguous ------------------------------------------------------------------ */

static void contiguous(void)
{
    double      from[100], to[100];
    armci_hdl_t handle;

    clear();
    for (int i = 0; i < 100; i++)
        from[i] = value(me, i);
    CHECK(ARMCI_Put(from, memory[next], sizeof from, next) == 0);
    CHECK(ARMCI_Get(memory[next], to, sizeof to, next) == 0); /* the get sees the put */
    CHECK(memcmp(from, to, sizeof from) == 0);
    CHECK(ARMCI_Put(from, memory[next], 0, next) == 0);
    ARMCI_Fence(next);
    ARMCI_Barrier();
    CHECK(((double *)memory[me])[7] == value(before, 7));

    clear();
    ARMCI_INIT_HANDLE(&handle);
    CHECK(ARMCI_NbPut(from, memory[next], sizeof from, next, &handle) == 0);
    CHECK(ARMCI_Wait(&handle) == 0);
    CHECK(ARMCI_NbGet(memory[next], to, 800, next, &handle) == 0);
    while (ARMCI_Test(&handle) != 0)
        ;
    CHECK(memcmp(from, to, sizeof from) == 0);
    ARMCI_SET_AGGREGATE_HANDLE(&handle);
    for (int i = 0; i < 100; i++)
        ARMCI_NbPut(&from[99 - i], memory[next] + 8 * i, 8, next, &handle);
    ARMCI_Wait(&handle);
    ARMCI_UNSET_AGGREGATE_HANDLE(&handle);
    ARMCI_NbGet(memory[next], to, 800, next, NULL);
    ARMCI_WaitAll();
    CHECK(to[0] == from[99] && to[99] == from[0]);
    ARMCI_WaitProc(next);
}

/* ---- strided and vectors -------------------------------------------------------------- */

static void strided(void)
{
    double matrix[ROWS][COLS], patch[5][4], back[5][4];
    int    local = 4 * sizeof(double), remote = COLS * sizeof(double);
    int    count[2] = {4 * sizeof(double), 5};
    double factor   = 2;

    clear();
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 4; j++)
            patch[i][j] = value(me, 10 * i + j);
    CHECK(ARMCI_PutS(patch, &local, memory[next] + 3 * remote + 16, &remote, count, 1, next) == 0);
    memset(back, 0, sizeof back);
    CHECK(ARMCI_GetS(memory[next] + 3 * remote + 16, &remote, back, &local, count, 1, next) == 0);
    CHECK(memcmp(patch, back, sizeof patch) == 0);
    CHECK(ARMCI_AccS(ARMCI_ACC_DBL, &factor, patch, &local, memory[next] + 3 * remote + 16, &remote,
                     count, 1, next) == 0);
    ARMCI_Barrier();
    memcpy(matrix, memory[me], sizeof matrix);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLS; j++) {
            int inside = i >= 3 && i < 8 && j >= 2 && j < 6;
            CHECK(matrix[i][j] == (inside ? 3 * value(before, 10 * (i - 3) + j - 2) : 0));
        }
    CHECK(sizeof matrix > PLACE || sizeof matrix <= 2 * PLACE);
}

/* Rows that overlap where they are written: the last one wins, and an accumulate adds all of them.
 */
static void overlaps(void)
{
    double      rows[3][4], to[6], one = 1;
    int         apart = 4 * sizeof(double), close = sizeof(double), count[2] = {apart, 3};
    armci_hdl_t handle;

    clear();
    for (int i = 0; i < 12; i++)
        (&rows[0][0])[i] = i + 1;
    CHECK(ARMCI_Put(rows, memory[next], sizeof rows, next) == 0);
    memset(to, 0, sizeof to);
    ARMCI_INIT_HANDLE(&handle);
    CHECK(ARMCI_NbGetS(memory[next], &apart, to, &close, count, 1, next, &handle) == 0);
    CHECK(ARMCI_Wait(&handle) == 0);
    CHECK(to[0] == 1 && to[1] == 5 && to[2] == 9 && to[5] == 12);
    CHECK(ARMCI_PutS(rows, &apart, memory[next] + 512, &close, count, 1, next) == 0);
    CHECK(ARMCI_AccS(ARMCI_ACC_DBL, &one, rows, &apart, memory[next] + 512, &close, count, 1,
                     next) == 0);
    ARMCI_Barrier();
    memcpy(to, memory[me] + 512, sizeof to);
    CHECK(to[0] == 2 && to[1] == 5 + 2 + 5 && to[2] == 9 + 3 + 6 + 9 && to[5] == 24);
}

static void levels(void)
{
    int  stride[3] = {4, 24, 144}, packed[3] = {2, 6, 18}, count[4] = {2, 3, 3, 2};
    char from[36], to[36], buffer[36], spread[288];

    clear();
    for (int i = 0; i < 36; i++)
        from[i] = (char)(i + me);
    CHECK(ARMCI_PutS(from, packed, memory[next], stride, count, 3, next) == 0);
    CHECK(ARMCI_GetS(memory[next], stride, to, packed, count, 3, next) == 0);
    CHECK(memcmp(from, to, 36) == 0);
    memset(spread, 0, sizeof spread);
    armci_read_strided(spread, 3, stride, count, from);
    armci_write_strided(spread, 3, stride, count, buffer);
    CHECK(memcmp(from, buffer, 36) == 0 && spread[4] == from[2] && spread[144] == from[18]);
}

static void vectors(void)
{
    enum { N = 300 };
    static double from[N], to[N];
    void         *here[N], *there[N];
    armci_giov_t  put = {here, there, sizeof(double), N}, get = {there, here, sizeof(double), N};
    double        factor = -1;
    armci_hdl_t   handle;

    clear();
    for (int i = 0; i < N; i++) {
        from[i]  = value(me, i);
        here[i]  = &from[i];
        there[i] = memory[next] + sizeof(double) * (size_t)((7 * i) % N);
    }
    CHECK(ARMCI_PutV(&put, 1, next) == 0);
    for (int i = 0; i < N; i++)
        here[i] = &to[i];
    CHECK(ARMCI_GetV(&get, 1, next) == 0);
    CHECK(memcmp(from, to, sizeof from) == 0);
    for (int i = 0; i < N; i++)
        here[i] = &from[i];
    ARMCI_INIT_HANDLE(&handle);
    CHECK(ARMCI_NbAccV(ARMCI_ACC_DBL, &factor, &put, 1, next, &handle) == 0);
    CHECK(ARMCI_Wait(&handle) == 0);
    for (int i = 0; i < N; i++)
        here[i] = &to[i];
    CHECK(ARMCI_NbGetV(&get, 1, next, NULL) == 0);
    ARMCI_WaitAll();
    for (int i = 0; i < N; i++)
        CHECK(to[i] == 0);
}

/* ---- accumulate, values, flags, atomics --------------------------------------------------- */

#define ACCUMULATE(type, name)                                                                     \
    do {                                                                                           \
        type from[3] = {1, 2, 3}, factor = 2;                                                      \
                                                                                                   \
        clear();                                                                                   \
        CHECK(ARMCI_Acc(name, &factor, from, memory[0], sizeof from, 0) == 0);                     \
        ARMCI_Barrier();                                                                           \
        CHECK(me != 0 || ((type *)(void *)memory[0])[2] == (type)(6 * size));                      \
    } while (0)

/* Elements and rows that begin at odd addresses, from all processes at the same time. */
static void unaligned(void)
{
    char         rows[64], back[64];
    int          value, two = 2, stride = 15, count[2] = {2 * sizeof value, 3};
    void        *here = rows + 1, *there = memory[0] + 3;
    armci_giov_t one = {&here, &there, sizeof value, 1};
    armci_hdl_t  handle;

    clear();
    for (int i = 0; i < 6; i++) {
        value = i + 1;
        memcpy(rows + 1 + i / 2 * stride + i % 2 * (int)sizeof value, &value, sizeof value);
    }
    ARMCI_INIT_HANDLE(&handle);
    for (int i = 0; i < 5; i++)
        CHECK(ARMCI_AccS(ARMCI_ACC_INT, &two, here, &stride, there, &stride, count, 1, 0) == 0);
    CHECK(ARMCI_NbAccS(ARMCI_ACC_INT, &two, here, &stride, there, &stride, count, 1, 0, &handle) ==
          0);
    CHECK(ARMCI_Wait(&handle) == 0);
    CHECK(ARMCI_Acc(ARMCI_ACC_INT, &two, here, there, sizeof value, 0) == 0);
    CHECK(ARMCI_AccV(ARMCI_ACC_INT, &two, &one, 1, 0) == 0);
    ARMCI_Barrier();
    CHECK(ARMCI_Get(memory[0], back, sizeof back, 0) == 0);
    for (int i = 0; i < 6; i++) {
        memcpy(&value, back + 3 + i / 2 * stride + i % 2 * (int)sizeof value, sizeof value);
        CHECK(value == 2 * (i + 1) * size * (i == 0 ? 8 : 6));
    }
    CHECK(back[2] == 0 && back[3 + 2 * sizeof value] == 0);
    ARMCI_Barrier();
}

static void accumulates(void)
{
    double own[4] = {1, 1, 1, 1}, factor = 3, add[4] = {1, 2, 3, 4};

    ACCUMULATE(int, ARMCI_ACC_INT);
    ACCUMULATE(long, ARMCI_ACC_LNG);
    ACCUMULATE(float, ARMCI_ACC_FLT);
    ACCUMULATE(double, ARMCI_ACC_DBL);
    ACCUMULATE(float _Complex, ARMCI_ACC_CPL);
    ACCUMULATE(double _Complex, ARMCI_ACC_DCP);
    /* Memory outside all allocations. */
    ARMCI_Acc(ARMCI_ACC_DBL, &factor, add, own, sizeof own, me);
    CHECK(own[0] == 4 && own[3] == 13);
    ARMCI_Put(add, own, sizeof own, me);
    CHECK(own[3] == 4);
}

static void values(void)
{
    volatile int *flag = (void *)(memory[me] + PLACE);
    double        data[16];

    clear();
    CHECK(ARMCI_PutValueInt(me + 1, memory[next], next) == 0);
    CHECK(ARMCI_PutValueLong(me + 2, memory[next] + 8, next) == 0);
    CHECK(ARMCI_PutValueFloat(1.5F, memory[next] + 16, next) == 0);
    CHECK(ARMCI_NbPutValueDouble(2.5, memory[next] + 24, next, NULL) == 0);
    CHECK(ARMCI_GetValueInt(memory[next], next) == me + 1);
    CHECK(ARMCI_GetValueLong(memory[next] + 8, next) == me + 2);
    CHECK(ARMCI_GetValueFloat(memory[next] + 16, next) == 1.5F);
    CHECK(ARMCI_GetValueDouble(memory[next] + 24, next) == 2.5);
    for (int i = 0; i < 16; i++)
        data[i] = value(me, i);
    CHECK(ARMCI_Put_flag(data, memory[next] + 64, sizeof data,
                         (int *)(void *)(memory[next] + PLACE), 77, next) == 0);
    while (*flag != 77)
        ARMCIX_Progress();
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    CHECK(((double *)(memory[me] + 64))[15] == value(before, 15));
}

static void atomics(void)
{
    long  old, sum = 0, most = -1;
    int   swapped = me + 1, small;
    long *counter = (void *)memory[0];

    clear();
    for (int i = 0; i < 100; i++) {
        CHECK(ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &old, counter, 1, 0) == 0);
        sum += old;
        most = old > most ? old : most;
    }
    armci_msg_lgop(&sum, 1, "+");
    armci_msg_lgop(&most, 1, "max");
    CHECK(sum == 100L * size * (100L * size - 1) / 2 && most == 100L * size - 1);
    CHECK(ARMCI_Rmw(ARMCI_SWAP, &swapped, counter + 2, 0, 0) == 0);
    CHECK(ARMCI_Rmw(ARMCI_FETCH_AND_ADD, &small, counter + 3, -2, 0) == 0);
    ARMCI_Barrier();
    CHECK(me != 0 || ((int *)(counter + 3))[0] == -2 * size);
    armci_msg_igop(&swapped, 1, "+"); /* all numbers but one have returned */
    CHECK(ARMCI_GetValueInt(counter + 2, 0) + swapped == size * (size + 1) / 2);
}

/* ---- mutexes and notifications ------------------------------------------------------------ */

static void mutexes(void)
{
    armcix_mutex_hdl_t set;
    ARMCI_Group        world;
    int                last = size - 1, x;

    clear();
    CHECK(ARMCI_Create_mutexes(me == last ? 3 : 0) == 0);
    for (int i = 0; i < 50; i++) {
        ARMCI_Lock(2, last);
        ARMCI_Get(memory[0], &x, sizeof x, 0);
        x++;
        ARMCI_Put(&x, memory[0], sizeof x, 0);
        ARMCI_Unlock(2, last);
    }
    ARMCI_Barrier();
    CHECK(ARMCI_GetValueInt(memory[0], 0) == 50 * size);
    CHECK(ARMCI_Destroy_mutexes() == 0);
    ARMCI_Group_get_world(&world);
    set = ARMCIX_Create_mutexes_hdl(me == 0 ? 2 : 0, &world);
    CHECK(set);
    for (int i = 0; i < 20; i++) {
        if (i % 2 || ARMCIX_Trylock_hdl(set, 1, 0) != 0)
            ARMCIX_Lock_hdl(set, 1, 0);
        ARMCI_Get(memory[0], &x, sizeof x, 0);
        x++;
        ARMCI_Put(&x, memory[0], sizeof x, 0);
        ARMCIX_Unlock_hdl(set, 1, 0);
    }
    ARMCI_Barrier();
    CHECK(ARMCI_GetValueInt(memory[0], 0) == 70 * size);
    CHECK(ARMCIX_Destroy_mutexes_hdl(set) == 0);
}

static void notifications(void)
{
    int count;

    clear();
    for (int i = 1; i <= 3; i++) {
        int data = 10 * me + i;

        ARMCI_Put(&data, memory[next] + 4 * i, sizeof data, next);
        CHECK(armci_notify(next) == i);
        CHECK(armci_notify_wait(before, &count) == i && count == i);
        CHECK(((int *)(void *)memory[me])[i] == 10 * before + i);
    }
}

/* ---- groups and memory ----------------------------------------------------------------------- */

static void memory_of_groups(void)
{
    int         odd[64], n = 0, rank, members;
    ARMCI_Group group, world, half;
    void       *bases[64];

    for (int i = me % 2; i < size; i += 2)
        odd[n++] = i;
    ARMCI_Group_get_world(&world);
    ARMCI_Group_create(n, odd, &group);
    CHECK(ARMCI_Group_rank(&group, &rank) == 0 && rank == me / 2);
    ARMCI_Group_size(&group, &members);
    CHECK(members == n && ARMCI_Absolute_id(&group, rank) == me);
    CHECK(ARMCI_Malloc_group(bases, 64 * (rank + 1), &group) == 0); /* sizes differ */
    memset(bases[rank], 0, 64 * ((size_t)rank + 1));
    armci_msg_group_barrier(&group);
    for (int i = 0; i < n; i++) {
        int one = 1, two[1] = {1};

        ARMCI_Acc(ARMCI_ACC_INT, &one, two, (char *)bases[i] + 64 * i + 60, 4, odd[i]);
    }
    ARMCI_GroupFence(&group);
    armci_msg_group_igop(&members, 1, "+", &group);
    CHECK(members == n * n);
    CHECK(((int *)bases[rank])[16 * rank + 15] == n);
    armci_msg_group_bcast_scope(SCOPE_ALL, &rank, sizeof rank, odd[n - 1], &group);
    CHECK(rank == n - 1);
    ARMCI_Free_group(bases[me / 2], &group);
    ARMCI_Group_free(&group);
    CHECK(ARMCIX_Group_split(&world, me % 2, -me, &half) == 0);
    ARMCI_Group_rank(&half, &rank);
    CHECK(ARMCI_Absolute_id(&half, 0) >= me && ARMCI_Absolute_id(&half, rank) == me);
    ARMCI_Group_free(&half);
}

static void allocations(void)
{
    void *bases[64], *more[64], *local = ARMCI_Malloc_local(1000);

    CHECK(ARMCI_Malloc(bases, me % 2 ? 0 : 4096) == 0);
    CHECK((bases[me] == NULL) == (me % 2 == 1) && bases[0]);
    CHECK(ARMCI_Malloc_memdev(more, 100, "") == 0);
    ARMCI_PutValueInt(5, (char *)bases[0] + 4092, 0);
    CHECK(ARMCI_GetValueInt((char *)bases[0] + 4092, 0) == 5);
    CHECK(ARMCI_Free(bases[me]) == 0);
    ARMCI_PutValueInt(6, more[next], next);
    CHECK(ARMCI_GetValueInt(more[next], next) == 6);
    CHECK(ARMCI_Free_memdev(more[me]) == 0);
    CHECK(ARMCI_Malloc(bases, 1L << 50) != 0); /* fails on all processes */
    CHECK(local && ARMCI_Free_local(local) == 0);
}

/* ---- messages, collectives, locality ------------------------------------------------------------
 */

struct best {
    double value;
    int    process;
};

static void messages(void)
{
    char        plus[] = {'+', 'x'}; /* not a string: the names of operators are prefixes */
    int         sum = me + 1, got = -1, bytes, root, up, left, right;
    double      largest = me % 2 ? -10.0 - me : me;
    struct best best    = {-(double)me, me};
    int         data    = me + 100, received;

    armci_msg_igop(&sum, 1, plus);
    CHECK(sum == size * (size + 1) / 2);
    armci_msg_dgop(&largest, 1, "absmax");
    CHECK(largest >= size - 1);
    armci_msg_sel(&best, sizeof best, "min", ARMCI_DOUBLE, me != size - 1 || size == 1);
    CHECK(best.process == (size > 1 ? size - 2 : 0));
    armci_msg_bcast(&got, sizeof got, 0);
    if (size > 1) {
        if (me % 2 == 0)
            armci_msg_snd(5, &data, sizeof data, next);
        if (before % 2 == 0) {
            armci_msg_rcv(5, &received, sizeof received, &bytes, before);
            CHECK(received == before + 100 && bytes == sizeof received);
        }
    }
    armci_msg_barrier();
    armci_msg_bintree(SCOPE_ALL, &root, &up, &left, &right);
    CHECK(root == 0 && (me == 0) == (up == -1) && (2 * me + 1 < size) == (left >= 0));
    sum = 1;
    armci_msg_gop_scope(SCOPE_NODE, &sum, 1, "+", ARMCI_INT);
    CHECK(sum == armci_domain_nprocs(ARMCI_DOMAIN_SMP, armci_domain_my_id(ARMCI_DOMAIN_SMP)));
    CHECK(armci_domain_same_id(ARMCI_DOMAIN_SMP, me) && ARMCI_Same_node(me));
    CHECK(armci_domain_count(ARMCI_DOMAIN_SMP) >= 1 && ARMCI_Uses_shm());
}

static void location(void)
{
    for (int i = 0; i < size; i++)
        if (ARMCI_Same_node(i))
            ((volatile char *)memory[i])[PLACE + 100 + me] = (char)(me + 1);
    ARMCI_Barrier();
    for (int i = 0; i < size; i++)
        CHECK(!ARMCI_Same_node(i) || memory[me][PLACE + 100 + i] == i + 1);
}

/* ---- the program ----------------------------------------------------------------------------- */

/* Process 0 accesses process 1 while that computes without calling ARMCI, until it sees the word
 * that process 0 puts last. The operations therefore do not depend on calls of process 1. */
static void busy(void)
{
    volatile long *word = (volatile long *)(void *)((char *)memory[me] + PLACE + sizeof(long));
    double         began, data[64] = {0}, factor = 1;
    long           old, one = 1;

    if (size < 2)
        return;
    clear();
    began = armci_timer();
    if (me == 1) {
        while (*word != 1 && armci_timer() - began < 30)
            ;
        CHECK(*word == 1);
    } else if (me == 0) {
        for (int i = 0; i < 10; i++) {
            ARMCI_Put(data, memory[1], sizeof data, 1);
            ARMCI_Acc(ARMCI_ACC_DBL, &factor, data, memory[1], sizeof data, 1);
            ARMCI_Get(memory[1], data, sizeof data, 1);
            ARMCI_Rmw(ARMCI_FETCH_AND_ADD_LONG, &old, (char *)memory[1] + PLACE, 1, 1);
        }
        ARMCI_Put(&one, (char *)memory[1] + PLACE + sizeof one, sizeof one, 1);
        ARMCI_Fence(1);
    }
    ARMCI_Barrier();
}

static void wrong_more(const char *what)
{
    static double data[2];
    double        one  = 1;
    char         *end  = memory[next] + 2 * PLACE;
    void         *from = data, *to = end - 4;
    armci_giov_t  segment  = {&from, &to, 8, 1};
    int           count[2] = {8, 2}, stride[1] = {-8}, minus = -8;

    if (strcmp(what, "vector") == 0)
        ARMCI_PutV(&segment, 1, next);
    else if (strcmp(what, "accumulate") == 0)
        ARMCI_Acc(ARMCI_ACC_DBL, &one, data, end - 8, 16, next);
    else if (strcmp(what, "started") == 0)
        ARMCI_NbPut(data, end - 8, 16, next, NULL);
    else if (strcmp(what, "before") == 0) /* the second block is before the allocation */
        ARMCI_GetS(memory[next], stride, data, stride, count, 1, next);
    else if (strcmp(what, "count") == 0)
        ARMCI_GetS(memory[next], stride, data, stride, &minus, 0, next);
    else if (strcmp(what, "twice") == 0) {
        ARMCI_Free(memory[me]);
        ARMCI_Free(memory[me]);
    } else if (strcmp(what, "notify") == 0)
        armci_notify(-1);
}

static void wrong(const char *what)
{
    static char outside[8];
    int         count[9] = {8, 1, 1, 1, 1, 1, 1, 1, 1}, stride[9] = {8, 8, 8, 8, 8, 8, 8, 8, 8};
    long        old;

    if (strcmp(what, "outside") == 0)
        ARMCI_Put(&old, outside, 8, next);
    else if (strcmp(what, "beyond") == 0)
        ARMCI_Get(memory[next] + 2 * PLACE - 4, outside, 8, next);
    else if (strcmp(what, "strided") == 0) {
        count[1] = 2, stride[0] = 2 * PLACE;
        ARMCI_PutS(outside, stride, memory[next], stride, count, 1, next);
    } else if (strcmp(what, "null") == 0)
        ARMCI_Get(NULL, outside, 8, next);
    else if (strcmp(what, "process") == 0)
        ARMCI_Put(&old, memory[0], 8, size);
    else if (strcmp(what, "levels") == 0)
        ARMCI_PutS(&old, stride, memory[0], stride, count, 9, 0);
    else if (strcmp(what, "type") == 0)
        ARMCI_Acc(99, &old, &old, memory[0], 8, 0);
    else if (strcmp(what, "operation") == 0)
        ARMCI_Rmw(99, &old, memory[0], 1, 0);
    else if (strcmp(what, "mutex") == 0)
        ARMCI_Lock(0, 0);
    else if (strcmp(what, "freed") == 0)
        ARMCI_Free(memory[me] + 8);
    else
        wrong_more(what);
}

/* Ends ARMCI and begins it again. Mutexes that the program has not destroyed end with it. */
static void begin_again(void)
{
    CHECK(ARMCI_Create_mutexes(1) == 0);
    ARMCI_Finalize();
    CHECK(!ARMCI_Initialized());
    ARMCI_Init();
}

static void all(void)
{
    contiguous();
    strided();
    overlaps();
    levels();
    vectors();
    accumulates();
    unaligned();
    values();
    atomics();
    mutexes();
    notifications();
    memory_of_groups();
    allocations();
    messages();
    location();
}

int main(int argc, char **argv)
{
    const char *how   = argc > 1 ? argv[1] : "";
    int         ended = 0;

    if (strcmp(how, "armci-first") == 0) {
        ARMCI_Init();
        MPI_Init(&argc, &argv);
    } else if (strcmp(how, "no-mpi") == 0) {
        armci_msg_init(&argc, &argv);
        ARMCI_Init();
    } else {
        MPI_Init(&argc, &argv);
        ARMCI_Init_args(&argc, &argv);
    }
    if (strcmp(how, "mpi-ends") == 0)
        begin_again();
    me     = armci_msg_me();
    size   = armci_msg_nproc();
    next   = (me + 1) % size;
    before = (me + size - 1) % size;
    memory = malloc((size_t)size * sizeof *memory);
    CHECK(ARMCI_Initialized() && size <= 64 && memory);
    CHECK(ARMCI_Malloc((void **)memory, 2 * PLACE) == 0);
    if (strcmp(how, "busy") == 0)
        busy();
    else if (strcmp(how, "wrong") == 0 && argc > 2)
        wrong(argv[2]);
    else
        all();
    CHECK(ARMCI_Free(memory[me]) == 0);
    free(memory);
    if (me == 0)
        printf("ok: %d processes\n", size);
    if (strcmp(how, "mpi-ends") != 0)
        ARMCI_Finalize();
    armci_msg_finalize();
    MPI_Finalized(&ended);
    return ended && !ARMCI_Initialized() ? 0 : 3;
}
