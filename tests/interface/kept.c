/* SPDX-License-Identifier: Apache-2.0 */
/* kept.c - see kept.ci. */
#include "kept.ci.h"

static int released; /* on PE 0 */

int kept_released(void)
{
    int count = released;

    released = 0;
    return count;
}

/* Frees an array that is no longer used. */
static void kept_free(void *arg, const void *data, size_t bytes)
{
    const skua_buffer *buffer = data;

    CHECK(skua_pe() == 0);
    CHECK(bytes == sizeof *buffer && buffer->at == arg);
    memset(arg, 0xff, buffer->bytes);
    skua_buffer_free(arg);
    released++;
}

static double *kept_array(void)
{
    double *x = skua_buffer_alloc(LENGTH * sizeof *x);

    for (int i = 0; i < LENGTH; i++)
        x[i] = i;
    return x;
}

static skua_completion kept_done(double *x)
{
    return skua_done_call(kept_free, x);
}

int kept_send_all(Keeper_proxy keepers)
{
    skua_range     range = {1, {0}, {elements / 2}};
    Keeper_section some  = {skua_section_create_range(keepers.all, &range, NULL)};
    double        *x;
    int            sent = 0;

    for (int i = 0; i < elements; i++) {
        Keeper_element to = Keeper_at(keepers, i);

        x = kept_array(), sent++;
        Keeper_later(to, LENGTH, x, kept_done(x));
        x = kept_array(), sent++;
        Keeper_posted(to, LENGTH, x, kept_done(x));
        x = kept_array(), sent++;
        Keeper_held(to, LENGTH, x, kept_done(x));
        x = kept_array(), sent++;
        Keeper_strand(to, LENGTH, x, kept_done(x));
    }
    x = kept_array(), sent++;
    Keeper_later_all(keepers, LENGTH, x, kept_done(x));
    x = kept_array(), sent++;
    Keeper_strand_all(keepers, LENGTH, x, kept_done(x));
    x = kept_array(), sent++;
    Keeper_held_section(some, LENGTH, x, kept_done(x));
    x = kept_array(), sent++;
    Keeper_posted_section(some, LENGTH, x, kept_done(x));
    return sent;
}

void Keeper_post_posted(Keeper *self, int n, double **x)
{
    if (Keeper_index(self) % 2 && n <= LENGTH)
        *x = self->room;
}

void Keeper_on_end(Keeper *self)
{
    skua_object_destroy(self);
}

void Keeper_on_begin_end(Keeper *self)
{
    skua_contribute_nothing(self, Main_started_done(main_proxy));
}

void Keeper_on_hop(Keeper *self, int times)
{
    if (times == 0)
        return;
    skua_migrate(self, (skua_pe() + 1) % skua_pes());
    Keeper_hop(Keeper_self(self), times - 1);
}
