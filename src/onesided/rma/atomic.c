/* SPDX-License-Identifier: Apache-2.0 */
/*
 * atomic.c - atomic operations on the memory of others.
 *
 * Memory of the arena has the hardware's atomics, from every process.  Memory
 * that was registered elsewhere has not, from other processes; so for it all,
 * the owner included, hold the lock of the stripe instead.
 */
#include <skua/atomic.h>

#include "base/config.h"
#include "base/sanitizer.h"
#include "onesided/region/cma.h"
#include "onesided/rma/rma_pe.h"
#include "onesided/rma/am_origin.h"
#include "onesided/rma/rma_driver.h"
#include "onesided/rma/transfer.h"

/* The value after, given the one before. */
static uint64_t compute(const struct ski_atomic *a, uint64_t before)
{
    switch ((enum ski_atomic_op)a->op) {
    case SKI_ADD: return before + a->value;
    case SKI_AND: return before & a->value;
    case SKI_OR: return before | a->value;
    case SKI_XOR: return before ^ a->value;
    case SKI_SWAP:
    case SKI_STORE: return a->value;
    case SKI_COMPARE_SWAP: return before == a->expected ? a->value : before;
    case SKI_LOAD: break;
    }
    return before;
}

/* By the hardware: a compare-and-swap does for all. */
#define BY_HARDWARE(name, type)                                                                    \
    static uint64_t name(const struct ski_atomic *a, void *memory)                                 \
    {                                                                                              \
        _Atomic type *word   = memory;                                                             \
        type          before = atomic_load(word);                                                  \
        while (a->op != SKI_LOAD &&                                                                \
               !atomic_compare_exchange_weak(word, &before, (type)compute(a, before)))             \
            ;                                                                                      \
        return before;                                                                             \
    }

BY_HARDWARE(by_hardware_32, uint32_t)
BY_HARDWARE(by_hardware_64, uint64_t)

uint64_t ski_atomic_here(const struct ski_atomic *a, const struct ski_place *place)
{
    struct ski_hold hold = {NULL};
    uint64_t        before;

    if (place->process >= 0)
        ski_hold_move(&hold, place->process, place->memory);
    before = a->bytes == 4 ? by_hardware_32(a, place->memory) : by_hardware_64(a, place->memory);
    ski_hold_end(&hold);
    return before;
}

static skua_status_t through_attach(const char *call, const struct ski_atomic *a,
                                    const struct ski_place *place, uint64_t *old)
{
    struct ski_hold hold = {NULL};
    uint32_t        narrow;
    uint64_t        wide, after;
    void           *word = a->bytes == 4 ? (void *)&narrow : (void *)&wide;
    skua_status_t   status;

    if (!ski_config.cma || !ski_config.direct || place->far)
        return SKUA_ERR_UNSUPPORTED;
    ski_hold_move(&hold, place->process, place->memory);
    status = ski_attach_read(call, place->pid, word, place->memory, a->bytes);
    if (status == SKUA_OK) {
        *old  = a->bytes == 4 ? narrow : wide;
        after = compute(a, *old);
        if (a->bytes == 4)
            narrow = (uint32_t)after;
        else
            wide = after;
        if (a->op != SKI_LOAD)
            status = ski_attach_write(call, place->pid, place->memory, word, a->bytes);
    }
    ski_hold_end(&hold);
    return status;
}

/* Any atomic, on any memory. */
static SKI_COLD skua_status_t far(const char *call, skua_gaddr at, struct ski_atomic a,
                                  uint64_t *old)
{
    struct ski_transfer t = {.call = call, .verb = SKI_ATOMIC, .remote = at, .atomic = &a};
    struct ski_place    place;
    skua_status_t       status = ski_locate(call, at, 0, a.bytes, &place);

    if (status != SKUA_OK)
        return status;
    if ((uintptr_t)place.memory % a.bytes) {
        ski_place_drop(&place);
        return ski_refuse(SKUA_ERR_ALIGN, "%s: offset %llu is not aligned to %u bytes", call,
                          (unsigned long long)at.offset, a.bytes);
    }
    ski_order_before(SKUA_ORDER_STRICT, SKI_ATOMIC, at.pe);
    if (ski_config.direct && ski_place_direct(&place)) {
        *old = ski_atomic_here(&a, &place);
        ski_fence(memory_order_seq_cst); /* before what follows, as in the short cut */
    } else {
        status =
            ski_place_direct(&place) ? SKUA_ERR_UNSUPPORTED : through_attach(call, &a, &place, old);
        if (status == SKUA_ERR_UNSUPPORTED && place.far)
            status = ski_rma_atomic(&t, &place, old);
        if (status == SKUA_ERR_UNSUPPORTED)
            status = ski_request_atomic(&t, &place, old);
    }
    ski_place_drop(&place);
    return status;
}

/* A plain, aligned word, or NULL. */
static inline char *plain(skua_gaddr at, size_t bytes)
{
    char *memory = ski_reach(at, bytes);
    return (uintptr_t)memory % bytes == 0 && ski_calm() ? memory : NULL;
}

#define FETCH(name, type, op_id, function)                                                         \
    skua_status_t name(skua_gaddr at, type value, type *old)                                       \
    {                                                                                              \
        _Atomic type *word = (_Atomic type *)(void *)plain(at, sizeof value);                      \
        uint64_t      before;                                                                      \
        skua_status_t status = SKUA_OK;                                                            \
        if (SKI_LIKELY(word != NULL))                                                              \
            before = function(word, value), ski_order_swap();                                      \
        else                                                                                       \
            status = far(__func__, at,                                                             \
                         (struct ski_atomic){.op = op_id, .bytes = sizeof value, .value = value},  \
                         &before);                                                                 \
        if (status == SKUA_OK && old)                                                              \
            *old = (type)before;                                                                   \
        return status;                                                                             \
    }

#define COMPARE_SWAP(name, type)                                                                   \
    skua_status_t name(skua_gaddr at, type expected, type value, type *old)                        \
    {                                                                                              \
        _Atomic type *word   = (_Atomic type *)(void *)plain(at, sizeof value);                    \
        uint64_t      before = expected;                                                           \
        type          seen   = expected;                                                           \
        skua_status_t status = SKUA_OK;                                                            \
        if (SKI_LIKELY(word != NULL)) {                                                            \
            atomic_compare_exchange_strong(word, &seen, value);                                    \
            ski_order_swap();                                                                      \
            before = seen;                                                                         \
        } else {                                                                                   \
            status = far(__func__, at,                                                             \
                         (struct ski_atomic){SKI_COMPARE_SWAP, sizeof value, value, expected},     \
                         &before);                                                                 \
        }                                                                                          \
        if (status == SKUA_OK && old)                                                              \
            *old = (type)before;                                                                   \
        return status;                                                                             \
    }

#define LOAD_STORE(load, store, type)                                                              \
    skua_status_t load(skua_gaddr at, type *value)                                                 \
    {                                                                                              \
        _Atomic type *word = (_Atomic type *)(void *)plain(at, sizeof *value);                     \
        uint64_t      seen;                                                                        \
        skua_status_t status = SKUA_OK;                                                            \
        if (SKI_LIKELY(word != NULL))                                                              \
            ski_fence(memory_order_seq_cst), seen = atomic_load(word);                             \
        else                                                                                       \
            status = far(__func__, at,                                                             \
                         (struct ski_atomic){.op = SKI_LOAD, .bytes = sizeof *value}, &seen);      \
        if (status == SKUA_OK)                                                                     \
            *value = (type)seen;                                                                   \
        return status;                                                                             \
    }                                                                                              \
    skua_status_t store(skua_gaddr at, type value)                                                 \
    {                                                                                              \
        _Atomic type *word = (_Atomic type *)(void *)plain(at, sizeof value);                      \
        uint64_t      before;                                                                      \
        if (SKI_UNLIKELY(word == NULL))                                                            \
            return far(                                                                            \
                __func__, at,                                                                      \
                (struct ski_atomic){.op = SKI_STORE, .bytes = sizeof value, .value = value},       \
                &before);                                                                          \
        atomic_store(word, value);                                                                 \
        ski_fence(memory_order_seq_cst);                                                           \
        return SKUA_OK;                                                                            \
    }

#define ALL(bits)                                                                                  \
    FETCH(skua_fetch_add##bits, uint##bits##_t, SKI_ADD, atomic_fetch_add)                         \
    FETCH(skua_fetch_and##bits, uint##bits##_t, SKI_AND, atomic_fetch_and)                         \
    FETCH(skua_fetch_or##bits, uint##bits##_t, SKI_OR, atomic_fetch_or)                            \
    FETCH(skua_fetch_xor##bits, uint##bits##_t, SKI_XOR, atomic_fetch_xor)                         \
    FETCH(skua_swap##bits, uint##bits##_t, SKI_SWAP, atomic_exchange)                              \
    COMPARE_SWAP(skua_compare_swap##bits, uint##bits##_t)                                          \
    LOAD_STORE(skua_load##bits, skua_store##bits, uint##bits##_t)

ALL(32)
ALL(64)
