/* SPDX-License-Identifier: Apache-2.0 */
/* layer.c - see layer.h. */
#include "core/pe/layer.h"

#include <stddef.h>

#include "base/assert.h"
#include "base/futex.h"

/* Returns the end of the list, for stages that go from the highest layer to the lowest. */
static const struct ski_layer *const *layer_last(void)
{
    const struct ski_layer *const *layer = ski_layers;

    ski_assert(*layer);
    while (*layer)
        layer++;
    return layer;
}

void ski_layers_init(void)
{
    for (const struct ski_layer *const *layer = ski_layers; *layer; layer++)
        if ((*layer)->init)
            (*layer)->init();
}

skua_status ski_layers_create(struct ski_job *job)
{
    skua_status status = SKUA_OK;

    for (const struct ski_layer *const *layer = ski_layers; *layer && status == SKUA_OK; layer++)
        if ((*layer)->create)
            status = (*layer)->create(job);
    return status;
}

skua_status ski_layers_publish(const struct ski_boot *boot)
{
    skua_status status = SKUA_OK;

    for (const struct ski_layer *const *layer = ski_layers; *layer && status == SKUA_OK; layer++)
        if ((*layer)->publish)
            status = (*layer)->publish(boot);
    return status;
}

void ski_layers_open(const struct ski_boot *boot)
{
    for (const struct ski_layer *const *layer = ski_layers; *layer; layer++)
        if ((*layer)->open)
            (*layer)->open(boot);
}

void ski_layers_close(void)
{
    for (const struct ski_layer *const *layer = layer_last(); layer > ski_layers; layer--)
        if (layer[-1]->close)
            layer[-1]->close();
}

void ski_layers_reset(void)
{
    for (const struct ski_layer *const *layer = layer_last(); layer > ski_layers; layer--)
        if (layer[-1]->reset)
            layer[-1]->reset();
}

void ski_layers_begin(struct ski_pe *self)
{
    for (const struct ski_layer *const *layer = ski_layers; *layer; layer++)
        if ((*layer)->begin)
            (*layer)->begin(self);
}

void ski_layers_end(struct ski_pe *self)
{
    for (const struct ski_layer *const *layer = layer_last(); layer > ski_layers; layer--)
        if (layer[-1]->end)
            layer[-1]->end(self);
}

uint64_t ski_layers_before_sleep(struct ski_pe *self)
{
    uint64_t least = SKI_FOREVER;

    for (const struct ski_layer *const *layer = ski_layers; *layer; layer++)
        if ((*layer)->before_sleep) {
            uint64_t ns = (*layer)->before_sleep(self);

            least = ns < least ? ns : least;
        }
    return least;
}

void ski_layers_before_wait(struct ski_pe *self)
{
    for (const struct ski_layer *const *layer = ski_layers; *layer; layer++)
        if ((*layer)->before_wait)
            (*layer)->before_wait(self);
}

void ski_layers_before_exit(struct ski_pe *self)
{
    for (const struct ski_layer *const *layer = ski_layers; *layer; layer++)
        if ((*layer)->before_exit)
            (*layer)->before_exit(self);
}

void ski_layers_during_shutdown(void)
{
    for (const struct ski_layer *const *layer = ski_layers; *layer; layer++)
        if ((*layer)->during_shutdown)
            (*layer)->during_shutdown();
}
