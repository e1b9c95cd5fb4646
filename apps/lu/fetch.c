/* SPDX-License-Identifier: Apache-2.0 */
/* fetch.c - blocks of L and U of other PEs, within the memory of a Scheduler; see lu.ci. */
#include <skua/skua.h>

#include "lu.ci.h"

static size_t fetch_block_numbers(void)
{
    return (size_t)(options.block * options.block);
}

/* ---- L ------------------------------------------------------------------------------------ */

/* Returns true if this PE needs L(i, step). */
static bool fetch_needs(const Scheduler *s, int64_t step, int64_t i)
{
    return s->last[i] > step;
}

static skua_gaddr fetch_address(const Scheduler *s, int64_t i, int64_t j)
{
    int32_t pe = s->pe[block_number(i, j)];

    return skua_at(s->region[pe], pe, s->offset[block_number(i, j)] * sizeof(double));
}

struct lu_view fetch_own(const Scheduler *s, int64_t i, int64_t j)
{
    size_t b = block_number(i, j);

    return (struct lu_view){s->data + s->offset[b], s->pitch[b]};
}

/* Returns a block that this PE can read in place, if possible. With --memory the blocks of other
 * PEs are copied, as if they were on other hosts. */
static struct lu_view fetch_direct(const Scheduler *s, int64_t i, int64_t j)
{
    if (s->pe[block_number(i, j)] == skua_pe())
        return fetch_own(s, i, j);
    return (struct lu_view){options.memory < 0 ? skua_gaddr_local(fetch_address(s, i, j)) : NULL,
                            s->pitch[block_number(i, j)]};
}

static size_t fetch_lower_bytes(const Scheduler *s, int64_t step)
{
    size_t count = 0;

    for (int64_t i = step; i < options.blocks; i++)
        count += fetch_needs(s, step, i) && !fetch_direct(s, i, step).at;
    return count * fetch_block_numbers() * sizeof(double);
}

static void fetch_lower_arrived(Scheduler *s, struct lu_step *step)
{
    if (--step->missing > 0)
        return;
    step->here = true;
    scheduler_post(s);
}

static void fetch_lower_done(void *arg, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    fetch_lower_arrived(scheduler_here(), arg);
}

/* Gets the rows of a block and of the blocks that follow it, without the gaps between rows. */
static void fetch_get(Scheduler *s, double *to, int64_t i, int64_t j, size_t rows,
                      skua_completion done)
{
    skua_gaddr      from   = fetch_address(s, i, j);
    skua_rma_params params = {.size = sizeof params, .local = done};
    size_t          bytes  = (size_t)column_width(j) * sizeof(double);
    ptrdiff_t       pitch  = s->pitch[block_number(i, j)] * (ptrdiff_t)sizeof(double);
    skua_layout     local  = skua_layout_contiguous(to, rows * bytes);
    skua_layout     remote = skua_layout_strided(NULL, bytes, 1, &rows, &pitch);

    if (skua_get_layout_nb(&local, from, &remote, &params) < 0)
        skua_abort("cannot get block (%lld, %lld) from PE %d", (long long)i, (long long)j,
                   (int)from.pe);
}

/* Gets the blocks from @p i on that are adjacent in the memory of one PE.  Returns their number. */
static int64_t fetch_run(Scheduler *s, int64_t k, int64_t i, double *to)
{
    struct lu_step *step = &s->step[k];
    int64_t         end  = i;

    do {
        step->lower[end] =
            (struct lu_view){to + (size_t)(end - i) * fetch_block_numbers(), options.block};
        end++;
    } while (end < options.blocks && fetch_needs(s, k, end) &&
             s->pe[block_number(end, k)] == s->pe[block_number(i, k)]);
    step->missing++;
    fetch_get(s, to, i, k, (size_t)((end - i) * options.block),
              skua_done_call(fetch_lower_done, step));
    return end - i;
}

static void fetch_step(Scheduler *s, int64_t k, size_t bytes)
{
    struct lu_step *step = &s->step[k];
    double         *to;

    step->lower  = calloc((size_t)options.blocks, sizeof *step->lower);
    step->memory = to = bytes ? malloc(bytes) : NULL;
    step->bytes       = bytes;
    step->missing     = 1; /* keeps the count above zero until all gets have started */
    s->used += bytes;
    if (!step->lower || (bytes && !to))
        skua_abort("no memory for a panel; use a smaller --memory");
    for (int64_t i = k; i < options.blocks;) {
        bool    needed = fetch_needs(s, k, i);
        int64_t count  = 1;

        if (needed)
            step->lower[i] = fetch_direct(s, i, k);
        if (needed && !step->lower[i].at) {
            count = fetch_run(s, k, i, to);
            to += (size_t)count * fetch_block_numbers();
        }
        i += count;
    }
    fetch_lower_arrived(s, step);
}

void fetch_lower(Scheduler *s)
{
    for (; s->next_step < options.blocks; s->next_step++) {
        struct lu_step *step  = &s->step[s->next_step];
        size_t          bytes = fetch_lower_bytes(s, s->next_step);

        if (step->announced < step->parts)
            return;
        if (s->used + bytes > s->bound && s->used > 0 && bytes > 0)
            return;
        if (step->left > 0)
            fetch_step(s, s->next_step, bytes);
    }
}

void fetch_place(Scheduler *s, int64_t step, int pe, size_t offset, int64_t pitch)
{
    for (int64_t i = step; i < options.blocks; i++) {
        size_t b = block_number(i, step);

        if (s->pe[b] != pe)
            continue;
        s->offset[b] = offset;
        s->pitch[b]  = (int32_t)pitch;
        offset += (size_t)(options.block * pitch);
    }
}

void fetch_release_panel(Scheduler *s, int64_t step)
{
    for (int pe = 0; pe < skua_pes(); pe++)
        for (int64_t i = step; i < options.blocks; i++)
            if (s->pe[block_number(i, step)] == pe) {
                Scheduler_released(Scheduler_at(schedulers, pe), step);
                break;
            }
}

void fetch_release(Scheduler *s, int64_t k)
{
    struct lu_step *step = &s->step[k];

    if (--step->left > 0)
        return;
    free(step->memory);
    free(step->lower);
    exchange_destroy(&step->exchange);
    fetch_release_panel(s, k);
    s->used -= step->bytes;
    fetch_lower(s);
}

/* ---- U ------------------------------------------------------------------------------------ */

static size_t fetch_upper_bytes(int64_t j)
{
    return (size_t)(options.block * column_width(j)) * sizeof(double);
}

static void fetch_upper_done(void *arg, const void *data, size_t bytes)
{
    struct lu_upper *upper = arg;

    (void)data, (void)bytes;
    upper->view.at = upper->memory;
    scheduler_post(scheduler_here());
}

/* Returns the number of blocks of a column on this PE that a step updates. */
static int fetch_users(const struct lu_column *column, int64_t step)
{
    int count = 0;

    for (int p = 0; p < column->count; p++)
        count += column->row[p] > step;
    return count;
}

bool fetch_upper(Scheduler *s, int64_t step, int64_t j)
{
    struct lu_upper *upper = &s->upper[block_number(step, j)];
    size_t           bytes = fetch_upper_bytes(j);

    if (upper->view.at || !upper->announced || upper->requested)
        return upper->view.at;
    s->region[s->pe[block_number(step, j)]] = upper->region;
    upper->view                             = fetch_direct(s, step, j);
    if (upper->view.at || (s->used + bytes > s->bound && s->used_upper > 0))
        return upper->view.at;
    upper->requested  = true;
    upper->left       = fetch_users(&s->column[j], step);
    upper->view.pitch = column_width(j);
    upper->memory     = malloc(bytes);
    if (!upper->memory)
        skua_abort("no memory for a block; use a smaller --memory");
    s->used += bytes;
    s->used_upper += bytes;
    fetch_get(s, upper->memory, step, j, (size_t)options.block,
              skua_done_call(fetch_upper_done, upper));
    return upper->view.at;
}

void fetch_release_upper(Scheduler *s, int64_t step, int64_t j)
{
    struct lu_upper *upper = &s->upper[block_number(step, j)];

    if (!upper->memory || --upper->left > 0)
        return;
    free(upper->memory);
    upper->memory  = NULL;
    upper->view.at = NULL;
    s->used -= fetch_upper_bytes(j);
    s->used_upper -= fetch_upper_bytes(j);
    fetch_lower(s);
    scheduler_post(s);
}
