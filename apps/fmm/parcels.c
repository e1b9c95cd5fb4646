/* SPDX-License-Identifier: Apache-2.0 */
/* parcels.c - transfers between PEs; one put carries all data from one PE to another. */
#include "solve_work.h"

void solve_add_block(const struct solver *s, struct solve_parcel *p, size_t offset, size_t bytes)
{
    skua_block *last = p->n ? &p->block[p->n - 1] : NULL;

    p->bytes += bytes;
    if (last && (size_t)last->offset + last->bytes == offset) {
        last->bytes += bytes;
        return;
    }
    if (p->n == p->room) {
        p->room  = p->room ? 2 * p->room : 64;
        p->block = realloc(p->block, p->room * sizeof *p->block);
        solve_require(s, p->block != NULL);
    }
    p->block[p->n++] = (skua_block){(ptrdiff_t)offset, bytes};
}

void solve_clear_parcels(struct solver *s)
{
    for (int t = 0; t < TRANSFERS; t++)
        for (int pe = 0; pe < s->comm->pes; pe++)
            s->work->parcel[t][pe].n = s->work->parcel[t][pe].bytes = 0;
}

struct solve_sizes solve_exchange_sizes(struct solver *s, enum transfer transfer)
{
    int                pes   = s->comm->pes;
    struct solve_sizes sizes = {solve_alloc(s, (size_t)pes * (size_t)pes, sizeof(int64_t)), pes};

    for (int pe = 0; pe < pes; pe++)
        sizes.at[s->comm->pe * pes + pe] = (int64_t)s->work->parcel[transfer][pe].bytes;
    s->comm->sum_counts(s->comm, sizes.at, (size_t)pes * (size_t)pes);
    return sizes;
}

size_t solve_offset(const struct solve_sizes *sizes, int from, int to)
{
    int64_t sum = 0;

    for (int pe = 0; pe < from; pe++)
        sum += sizes->at[pe * sizes->pes + to];
    return (size_t)sum;
}

/* Allocates a window that is large enough for the parcels of every PE. */
static void solve_make_window(struct solver *s, enum transfer transfer, size_t bytes)
{
    struct solve_work *w = s->work;

    if (bytes <= w->window_bytes[transfer])
        return;
    bytes += bytes / 4;
    w->window[transfer]       = s->comm->window(s->comm, transfer, bytes);
    w->window_bytes[transfer] = bytes;
    solve_require(s, w->window[transfer] != NULL);
}

void solve_transfer(struct solver *s, enum transfer transfer, const struct solve_sizes *sizes,
                    const void *base)
{
    struct comm *comm = s->comm;
    size_t       most = 0;

    for (int pe = 0; pe < comm->pes; pe++)
        if (solve_offset(sizes, comm->pes, pe) > most)
            most = solve_offset(sizes, comm->pes, pe);
    solve_make_window(s, transfer, most);
    for (int pe = 0; pe < comm->pes; pe++) {
        size_t bytes = (size_t)sizes->at[pe * comm->pes + comm->pe];

        if (bytes > 0)
            comm->expect(comm, transfer, pe, solve_offset(sizes, pe, comm->pe), bytes);
    }
    for (int i = 1; i <= comm->pes; i++) {
        int                        pe = (comm->pe + i) % comm->pes;
        const struct solve_parcel *p  = &s->work->parcel[transfer][pe];

        if (p->bytes > 0)
            comm->put(comm, transfer, pe, solve_offset(sizes, comm->pe, pe), base, p->block, p->n);
    }
}

void solve_wait(struct solver *s, enum transfer transfer)
{
    double from = s->comm->time();

    s->comm->wait(s->comm, transfer);
    s->seconds[PHASE_WAIT] += s->comm->time() - from;
}
