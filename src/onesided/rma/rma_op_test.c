/* SPDX-License-Identifier: Apache-2.0 */
/* rma_op_test.c - the arithmetic of atomics: which operations a type has, and their results. */
#include "onesided/rma/rma_op.h"

#include <math.h>
#include <string.h>

#include "core/collective/collective.h"
#include "tests/tap.h"

static struct ski_atomic rma_op_atomic(skua_atomic_op op, skua_type type, const void *operand)
{
    struct ski_atomic a = {
        .op = (uint16_t)op, .type = (uint16_t)type, .bytes = (uint32_t)ski_type_size(type)};

    memcpy(&a.value, operand, a.bytes);
    return a;
}

/* Compares the result of an atomic on a word with one that C computes. */
#define RMA_OP_IS(ctype, type, op, before, operand, after)                                         \
    do {                                                                                           \
        ctype             word_ = (before), operand_ = (operand), after_ = (after);                \
        struct ski_atomic atomic_ = rma_op_atomic(op, type, &operand_);                            \
        uint64_t          old_    = ski_atomic_by_cpu(&atomic_, &word_);                           \
        ctype             seen_;                                                                   \
        ski_atomic_store_old(&seen_, old_, sizeof seen_);                                          \
        OK(memcmp(&word_, &after_, sizeof word_) == 0 &&                                           \
               memcmp(&seen_, &(ctype){before}, sizeof seen_) == 0,                                \
           "%s: %s of %s and %s", #type, #op, #before, #operand);                                  \
    } while (0)

static void rma_op_results(void)
{
    RMA_OP_IS(int32_t, SKUA_INT32, SKUA_ATOMIC_ADD, INT32_MAX, 1, INT32_MIN);
    RMA_OP_IS(int32_t, SKUA_INT32, SKUA_ATOMIC_MIN, -3, 2, -3);
    RMA_OP_IS(int32_t, SKUA_INT32, SKUA_ATOMIC_MAX, -3, 2, 2);
    RMA_OP_IS(uint32_t, SKUA_UINT32, SKUA_ATOMIC_MIN, UINT32_MAX, 2, 2);
    RMA_OP_IS(uint32_t, SKUA_UINT32, SKUA_ATOMIC_MAX, UINT32_MAX, 2, UINT32_MAX);
    RMA_OP_IS(int64_t, SKUA_INT64, SKUA_ATOMIC_ADD, INT64_MAX, 1, INT64_MIN);
    RMA_OP_IS(int64_t, SKUA_INT64, SKUA_ATOMIC_MAX, INT64_MIN, -1, -1);
    RMA_OP_IS(uint64_t, SKUA_UINT64, SKUA_ATOMIC_MAX, 5, UINT64_MAX, UINT64_MAX);
    RMA_OP_IS(uint64_t, SKUA_UINT64, SKUA_ATOMIC_XOR, 12, 10, 6);
    RMA_OP_IS(float, SKUA_FLOAT, SKUA_ATOMIC_ADD, 1.5F, 2.25F, 3.75F);
    RMA_OP_IS(float, SKUA_FLOAT, SKUA_ATOMIC_MIN, 1.5F, -2.25F, -2.25F);
    RMA_OP_IS(double, SKUA_DOUBLE, SKUA_ATOMIC_ADD, 1e300, 1e300, 2e300);
    RMA_OP_IS(double, SKUA_DOUBLE, SKUA_ATOMIC_MAX, -1.0, -2.0, -1.0);
    RMA_OP_IS(double, SKUA_DOUBLE, SKUA_ATOMIC_MIN, 1.0, (double)NAN, 1.0);
    RMA_OP_IS(double, SKUA_DOUBLE, SKUA_ATOMIC_SWAP, 1.0, 7.0, 7.0);
    RMA_OP_IS(double, SKUA_DOUBLE, SKUA_ATOMIC_LOAD, 1.0, 7.0, 1.0);
}

static void rma_op_compare_swap(void)
{
    double            word = 0.0, zero[2] = {-0.0, 1.0};
    struct ski_atomic a = rma_op_atomic(SKUA_ATOMIC_COMPARE_SWAP, SKUA_DOUBLE, &zero[1]);

    memcpy(&a.expected, &zero[0], sizeof a.expected);
    ski_atomic_by_cpu(&a, &word);
    OK(word == 0.0, "0.0 and -0.0 differ in their bits");
    a.expected = 0;
    ski_atomic_by_cpu(&a, &word);
    OK(word == 1.0, "equal bits are swapped");
}

/* What a request of another host may contain. */
static void rma_op_validity(void)
{
    int valid = 0;

    for (int op = 0; op <= SKUA_ATOMIC_MAX + 2; op++)
        for (int type = SKUA_INT32 - 1; type <= SKUA_BYTE + 2; type++) {
            struct ski_atomic a = {.op    = (uint16_t)op,
                                   .type  = (uint16_t)type,
                                   .bytes = (uint32_t)ski_type_size((skua_type)type)};

            valid += ski_atomic_is_valid(&a);
            a.bytes ^= 12; /* 4 and 8 are exchanged */
            OK(!ski_atomic_is_valid(&a), "operation %d of type %d of a wrong size", op, type);
        }
    OK(valid == 10 * 4 + 7 * 2, "ten operations on integers, seven on floating-point numbers");
}

int main(void)
{
    rma_op_results();
    rma_op_compare_swap();
    rma_op_validity();
    return tap_end();
}
