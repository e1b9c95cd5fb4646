/* SPDX-License-Identifier: Apache-2.0 */
/* nocopy.c - see nocopy.ci. */
#include "nocopy.ci.h"

/* ---- arrays that identify their sender ------------------------------------------------------- */

/* Allocates on the heap or from the pool, depending on the length. */
static bool of_pool(int n)
{
    return n % 2;
}

static double *new_array(int n, int tag)
{
    size_t  bytes = (size_t)n * sizeof(double);
    double *x     = of_pool(n) ? skua_buffer_alloc(bytes) : malloc(bytes + 1);

    for (int i = 0; i < n; i++)
        x[i] = tag + i;
    return x;
}

void check(int n, const double *x, int tag)
{
    for (int i = 0; i < n; i++)
        CHECK(x[i] == tag + i);
}

void is_free(skua_buffer b)
{
    int     n = (int)(b.bytes / sizeof(double));
    double *x = b.at;

    CHECK(b.pe == skua_pe());
    for (int i = 0; i < n; i++)
        x[i] = -1;
    if (of_pool(n))
        skua_buffer_free(x);
    else
        free(x);
}

/* ---- blocks --------------------------------------------------------------------------------- */

static int size_of(int step, int which)
{
    static const int sizes[] = {1, 10, 500, 3000, 20000, 7001};
    return sizes[(step + which) % 6] + which % 2;
}

void send_all(Block *self)
{
    int             me = Block_index(self), step = self->step, n = size_of(step, me);
    Block_element   next = Block_at(blocks, (me + 1) % count);
    skua_completion done = Block_sent_done(Block_self(self));
    skua_index      one  = skua_index1((me + 1) % count);

    Block_ghost(next, step, n, new_array(n, step), done, "ghost", n / 2, new_array(n / 2, step + 1),
                done);
    Block_face(next, step, n + 1, new_array(n + 1, step), done);
    Block_other_prio(next, 0, n, new_array(n, 1), done);
    Block_word(next, 4, "word");
    Block_plain(next, n, new_array(n, 3), done, new_array(n, 4), done);
    Block_strand(next, n, new_array(n, 2), done);
    Block_go_on(next);
    Team_tell_all(team, n, new_array(n, 5), done);
    Block_plain_all(blocks, n, new_array(n, 3), done, new_array(n, 4), done);
    Block_plain_section(Block_section_of(blocks, &one, 1), n, new_array(n, 3), done,
                        new_array(n, 4), done);
}

void Block_on_create(Block *self)
{
    (void)self;
}

void check_ghost(int step, int n, const double *x, const char *name, int m, const double *y)
{
    check(n, x, step);
    check(m, y, step + 1);
    CHECK(strcmp(name, "ghost") == 0 && m == n / 2);
}

/* Each step has one array; that of the next step is posted when this one has been used, or
 * before. */
void Block_post_face(Block *self, int step, int n, double **x)
{
    (void)self, (void)step;
    *x = malloc((size_t)n * sizeof **x);
}

void check_face(Block *self, int step, int n, const double *x)
{
    (void)self;
    check(n, x, step);
    free((void *)(uintptr_t)x);
}

void Block_post_plain(Block *self, int n, double **y)
{
    (void)self;
    *y = malloc((size_t)n * sizeof **y);
}

void Block_on_plain(Block *self, int n, const double *x, const double *y)
{
    check(n, x, 3);
    check(n, y, 4);
    self->plain++;
    free((void *)(uintptr_t)y);
}

/* ---- others --------------------------------------------------------------------------------- */

void Mover_on_create(Mover *self)
{
    (void)self;
}

/* Runs on the PE that sent the array, which the sender may have left. */
static void free_face(void *arg, const void *data, size_t bytes)
{
    skua_buffer b;

    (void)arg;
    CHECK(bytes == sizeof b);
    memcpy(&b, data, sizeof b);
    is_free(b);
}

void Mover_send(Mover *self)
{
    int me = Mover_index(self), n = size_of(self->step, me);

    Mover_data(Mover_at(movers, (me + 1) % count), self->step, n, new_array(n, self->step),
               Mover_sent_done(Mover_self(self)));
    Mover_face(Mover_at(movers, (me + 1) % count), self->step, n, new_array(n, self->step + 7),
               skua_done_call(free_face, NULL));
}

/* Refuses arrays of two steps ahead, which would overwrite one that is still needed. */
void Mover_post_face(Mover *self, int step, int n, double **x)
{
    if (n <= ROOM / 2 && step <= self->step + 1)
        *x = self->room + step % 2 * (ROOM / 2);
}

void Team_on_create(Team *self)
{
    (void)self;
}

void Team_on_tell(Team *self, int n, const double *x)
{
    check(n, x, 5);
    self->seen++;
}
