/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strided.c - contiguous and strided operations, flags and values.
 *
 * A put or get of memory that is mapped in this process is a copy by the caller. An accumulate of
 * one block to a near process goes to skua_acc() without a layout. Global Arrays calls the strided
 * forms for everything, with a level for each dimension of an array, so levels with one repetition
 * are removed first.
 */
#include <stdatomic.h>
#include <string.h>

#include "armci_impl.h"

#define STRIDED_SMALL 512 /* row length from which skua_layout_copy() is faster than a loop */

/* The remote and the local side of a transfer: an address, and its strides. */
struct strided_side {
    void      *at;
    const int *stride;
};

/* Ends the job if the arguments of a strided operation are wrong. */
static void strided_check(const struct ski_armci_op *op, const void *src, const void *dst,
                          const int *count, int levels)
{
    if (!src || !dst || !count)
        ski_armci_fail(op->call, "an address is NULL");
    if ((unsigned)levels > ARMCI_MAX_STRIDE_LEVEL)
        ski_armci_fail(op->call, "%d stride levels; there are 0 to %d", levels,
                       ARMCI_MAX_STRIDE_LEVEL);
    for (int i = 0; i <= levels; i++)
        if (count[i] < 0)
            ski_armci_fail(op->call, "count[%d] is %d", i, count[i]);
    ski_armci_check_process(op->call, op->process);
}

/* Returns true if there is nothing to transfer. */
static bool strided_is_empty(const int *count, int levels)
{
    for (int i = 0; i <= levels; i++)
        if (count[i] == 0)
            return true;
    return false;
}

static void strided_layout(skua_layout *layout, struct strided_side side, const int *count,
                           int levels)
{
    layout->kind           = levels ? SKUA_LAYOUT_STRIDED : SKUA_LAYOUT_CONTIGUOUS;
    layout->at             = side.at;
    layout->bytes          = (size_t)count[0];
    layout->strided.levels = levels;
    for (int i = 0; i < levels; i++) {
        layout->strided.count[i]  = (size_t)count[i + 1];
        layout->strided.stride[i] = side.stride[i];
    }
}

static size_t strided_magnitude(int stride)
{
    return (size_t)(stride < 0 ? -(ptrdiff_t)stride : stride);
}

/* Returns true if blocks may overlap: from the smallest stride to the largest, each has to lead
 * past what the smaller ones span. skua_layout has the same rule for memory that is written. */
static bool strided_overlaps(const int *stride, const int *count, int levels)
{
    size_t   span = (size_t)count[0];
    unsigned used = 0;

    for (int round = 0; round < levels; round++) {
        int next = -1;

        for (int i = 0; i < levels; i++)
            if (!(used & 1u << i) &&
                (next < 0 || strided_magnitude(stride[i]) < strided_magnitude(stride[next])))
                next = i;
        used |= 1u << next;
        if (count[next + 1] > 1 && strided_magnitude(stride[next]) < span)
            return true;
        span += (size_t)(count[next + 1] - 1) * strided_magnitude(stride[next]);
    }
    return false;
}

static void strided_layouts(const struct ski_armci_op *op, struct strided_side remote,
                            struct strided_side local, const int *count, int levels)
{
    skua_layout there, here;

    strided_layout(&there, remote, count, levels);
    strided_layout(&here, local, count, levels);
    ski_armci_transfer(op, &there, &here);
}

/* Transfers one block after the other, for memory that is written and whose blocks overlap: the
 * last one wins, as in other implementations of ARMCI. */
static void strided_one_by_one(const struct ski_armci_op *op, struct strided_side remote,
                               struct strided_side local, const int *count, int levels)
{
    if (levels == 0) {
        strided_layouts(op, remote, local, count, 0);
        return;
    }
    levels--;
    for (int i = 0; i < count[levels + 1]; i++) {
        struct strided_side there = {(char *)remote.at + (ptrdiff_t)i * remote.stride[levels],
                                     remote.stride};
        struct strided_side here  = {(char *)local.at + (ptrdiff_t)i * local.stride[levels],
                                     local.stride};

        strided_one_by_one(op, there, here, count, levels);
    }
}

/* Performs or starts a transfer with the arguments of ARMCI. Returns 0. */
static int strided_transfer(const struct ski_armci_op *op, struct strided_side remote,
                            struct strided_side local, const int *count, int levels)
{
    struct ski_armci_op blocking = *op;

    strided_check(op, remote.at, local.at, count, levels);
    if (strided_is_empty(count, levels)) {
        ski_armci_handle_done(op->handle);
        return 0;
    }
    if (strided_overlaps(op->verb == SKI_ARMCI_GET ? local.stride : remote.stride, count, levels)) {
        blocking.blocking = true;
        strided_one_by_one(&blocking, remote, local, count, levels);
        ski_armci_handle_done(op->handle);
        return 0;
    }
    strided_layouts(op, remote, local, count, levels);
    return 0;
}

/* Returns the number of levels without trailing levels of one repetition. */
static inline int strided_levels(const int *count, int levels)
{
    if (!count || (unsigned)levels > ARMCI_MAX_STRIDE_LEVEL)
        return levels; /* an error that is reported later */
    while (levels > 0 && count[levels] == 1)
        levels--;
    return levels;
}

/* Finds the address of a single block at a near process. Returns false if there are several blocks,
 * or the process is not near. */
static inline bool strided_near(int process, const void *remote, const int *count, int levels,
                                skua_gaddr *at)
{
    struct ski_armci_process     *p;
    const struct ski_armci_piece *piece;

    if (levels != 0 || !ski_armci_is_process(process))
        return false;
    p     = &ski_armci.process[process];
    piece = p->last;
    if (!p->near || count[0] <= 0 || !ski_armci_piece_has(piece, remote, (size_t)count[0]))
        return false;
    *at = ski_armci_address(p, piece, remote);
    return true;
}

/* ---- memory that is mapped here ------------------------------------------------- */

/* Returns the bytes from the base of a side to its end, or 0 if its blocks may overlap or come
 * before the base, or if there are none. */
static inline size_t strided_extent(const int *stride, const int *count, int levels)
{
    size_t extent = (size_t)count[0];

    if (count[0] <= 0)
        return 0;
    for (int i = 0; i < levels; i++) {
        if (count[i + 1] <= 0 || stride[i] <= 0 || (size_t)stride[i] < extent)
            return 0;
        extent += (size_t)(count[i + 1] - 1) * (size_t)stride[i];
    }
    return extent;
}

static void strided_copy_rows(struct strided_side to, struct strided_side from, const int *count)
{
    char       *t = to.at;
    const char *f = from.at;

    if (count[0] == sizeof(double))
        for (int i = 0; i < count[1]; i++, t += *to.stride, f += *from.stride)
            memcpy(t, f, sizeof(double));
    else
        for (int i = 0; i < count[1]; i++, t += *to.stride, f += *from.stride)
            memcpy(t, f, (size_t)count[0]);
}

static void strided_copy_layout(struct strided_side to, struct strided_side from, const int *count,
                                int levels)
{
    skua_layout there, here;

    strided_layout(&there, to, count, levels);
    strided_layout(&here, from, count, levels);
    skua_layout_copy(&there, &here);
}

/* Copies between the caller's memory and memory that is mapped in this process. Returns false if
 * the general path must perform the transfer. Stores come after those of earlier puts. */
static inline bool strided_copy(struct strided_side to, struct strided_side from,
                                const struct strided_side *remote, const int *count, int levels,
                                int process)
{
    size_t extent;

    if (!to.at || !from.at || !count || (unsigned)levels > ARMCI_MAX_STRIDE_LEVEL ||
        !strided_extent(to.stride, count, levels))
        return false;
    extent = strided_extent(remote->stride, count, levels);
    if (extent == 0 || !ski_armci_is_mapped(process, remote->at, extent))
        return false;
    atomic_thread_fence(memory_order_release);
    if (levels == 0)
        memcpy(to.at, from.at, (size_t)count[0]);
    else if (levels == 1 && count[0] < STRIDED_SMALL)
        strided_copy_rows(to, from, count);
    else
        strided_copy_layout(to, from, count, levels);
    return true;
}

/* ---- put ---------------------------------------------------------------------- */

/* Performs a put with the arguments of ARMCI, by the fast path if possible. */
static inline int strided_put_any(const char *call, struct strided_side from,
                                  struct strided_side to, const int *count, int levels, int process,
                                  bool blocking, armci_hdl_t *handle)
{
    levels = strided_levels(count, levels);
    if (__builtin_expect(strided_copy(to, from, &to, count, levels, process), 1)) {
        ski_armci_handle_done(handle);
        return 0;
    }
    return strided_transfer(
        &(struct ski_armci_op){call, SKI_ARMCI_PUT, process, blocking, handle, {0}, 0}, to, from,
        count, levels);
}

int PARMCI_PutS(void *src_ptr, int src_stride_ar[], void *dst_ptr, int dst_stride_ar[], int count[],
                int stride_levels, int proc)
{
    return strided_put_any("ARMCI_PutS", (struct strided_side){src_ptr, src_stride_ar},
                           (struct strided_side){dst_ptr, dst_stride_ar}, count, stride_levels,
                           proc, true, NULL);
}
SKI_ARMCI_ALIAS(int, ARMCI_PutS,
                (void *src_ptr, int src_stride_ar[], void *dst_ptr, int dst_stride_ar[],
                 int count[], int stride_levels, int proc));

int PARMCI_NbPutS(void *src_ptr, int src_stride_ar[], void *dst_ptr, int dst_stride_ar[],
                  int count[], int stride_levels, int proc, armci_hdl_t *hdl)
{
    return strided_put_any("ARMCI_NbPutS", (struct strided_side){src_ptr, src_stride_ar},
                           (struct strided_side){dst_ptr, dst_stride_ar}, count, stride_levels,
                           proc, false, hdl);
}
SKI_ARMCI_ALIAS(int, ARMCI_NbPutS,
                (void *src_ptr, int src_stride_ar[], void *dst_ptr, int dst_stride_ar[],
                 int count[], int stride_levels, int proc, armci_hdl_t *hdl));

int PARMCI_Put(void *src, void *dst, int size, int target)
{
    return strided_put_any("ARMCI_Put", (struct strided_side){src, NULL},
                           (struct strided_side){dst, NULL}, &size, 0, target, true, NULL);
}
SKI_ARMCI_ALIAS(int, ARMCI_Put, (void *src, void *dst, int size, int target));

int PARMCI_NbPut(void *src, void *dst, int bytes, int proc, armci_hdl_t *hdl)
{
    return strided_put_any("ARMCI_NbPut", (struct strided_side){src, NULL},
                           (struct strided_side){dst, NULL}, &bytes, 0, proc, false, hdl);
}
SKI_ARMCI_ALIAS(int, ARMCI_NbPut, (void *src, void *dst, int bytes, int proc, armci_hdl_t *hdl));

/* ---- put with a flag: puts are ordered, so the flag follows the data --------------- */

int PARMCI_PutS_flag(void *src_ptr, int src_stride_ar[], void *dst_ptr, int dst_stride_ar[],
                     int count[], int stride_levels, int *flag, int value, int proc)
{
    PARMCI_PutS(src_ptr, src_stride_ar, dst_ptr, dst_stride_ar, count, stride_levels, proc);
    return PARMCI_Put(&value, flag, sizeof value, proc);
}
SKI_ARMCI_ALIAS(int, ARMCI_PutS_flag,
                (void *src_ptr, int src_stride_ar[], void *dst_ptr, int dst_stride_ar[],
                 int count[], int stride_levels, int *flag, int value, int proc));

int ARMCI_PutS_flag_dir(void *src_ptr, int src_stride_ar[], void *dst_ptr, int dst_stride_ar[],
                        int count[], int stride_levels, int *flag, int value, int proc)
{
    return PARMCI_PutS_flag(src_ptr, src_stride_ar, dst_ptr, dst_stride_ar, count, stride_levels,
                            flag, value, proc);
}

int PARMCI_Put_flag(void *src, void *dst, int size, int *flag, int value, int proc)
{
    PARMCI_Put(src, dst, size, proc);
    return PARMCI_Put(&value, flag, sizeof value, proc);
}
SKI_ARMCI_ALIAS(int, ARMCI_Put_flag,
                (void *src, void *dst, int size, int *flag, int value, int proc));

/* ---- get ----------------------------------------------------------------------- */

/* Performs a get with the arguments of ARMCI, by the fast path if possible. */
static inline int strided_get_any(const char *call, struct strided_side from,
                                  struct strided_side to, const int *count, int levels, int process,
                                  bool blocking, armci_hdl_t *handle)
{
    levels = strided_levels(count, levels);
    if (__builtin_expect(strided_copy(to, from, &from, count, levels, process), 1)) {
        ski_armci_handle_done(handle);
        return 0;
    }
    return strided_transfer(
        &(struct ski_armci_op){call, SKI_ARMCI_GET, process, blocking, handle, {0}, 0}, from, to,
        count, levels);
}

int PARMCI_GetS(void *src_ptr, int src_stride_ar[], void *dst_ptr, int dst_stride_ar[], int count[],
                int stride_levels, int proc)
{
    return strided_get_any("ARMCI_GetS", (struct strided_side){src_ptr, src_stride_ar},
                           (struct strided_side){dst_ptr, dst_stride_ar}, count, stride_levels,
                           proc, true, NULL);
}
SKI_ARMCI_ALIAS(int, ARMCI_GetS,
                (void *src_ptr, int src_stride_ar[], void *dst_ptr, int dst_stride_ar[],
                 int count[], int stride_levels, int proc));

int PARMCI_NbGetS(void *src_ptr, int src_stride_ar[], void *dst_ptr, int dst_stride_ar[],
                  int count[], int stride_levels, int proc, armci_hdl_t *hdl)
{
    return strided_get_any("ARMCI_NbGetS", (struct strided_side){src_ptr, src_stride_ar},
                           (struct strided_side){dst_ptr, dst_stride_ar}, count, stride_levels,
                           proc, false, hdl);
}
SKI_ARMCI_ALIAS(int, ARMCI_NbGetS,
                (void *src_ptr, int src_stride_ar[], void *dst_ptr, int dst_stride_ar[],
                 int count[], int stride_levels, int proc, armci_hdl_t *hdl));

int PARMCI_Get(void *src, void *dst, int size, int target)
{
    return strided_get_any("ARMCI_Get", (struct strided_side){src, NULL},
                           (struct strided_side){dst, NULL}, &size, 0, target, true, NULL);
}
SKI_ARMCI_ALIAS(int, ARMCI_Get, (void *src, void *dst, int size, int target));

int PARMCI_NbGet(void *src, void *dst, int bytes, int proc, armci_hdl_t *hdl)
{
    return strided_get_any("ARMCI_NbGet", (struct strided_side){src, NULL},
                           (struct strided_side){dst, NULL}, &bytes, 0, proc, false, hdl);
}
SKI_ARMCI_ALIAS(int, ARMCI_NbGet, (void *src, void *dst, int bytes, int proc, armci_hdl_t *hdl));

/* ---- accumulate -------------------------------------------------------------------- */

static int strided_acc(struct ski_armci_op *op, int datatype, const void *scale,
                       struct strided_side from, struct strided_side to, const int *count,
                       int levels)
{
    skua_gaddr at;

    ski_armci_update(op, datatype, scale);
    levels = strided_levels(count, levels);
    if (!from.at || !count || !strided_near(op->process, to.at, count, levels, &at) ||
        !ski_armci_is_aligned(op, (uintptr_t)from.at | (uintptr_t)to.at | (uintptr_t)count[0]))
        return strided_transfer(op, to, from, count, levels);
    ski_armci_check(op->call, skua_acc(at, from.at, (size_t)count[0], &op->update));
    ski_armci_handle_done(op->handle);
    return 0;
}

int PARMCI_AccS(int datatype, void *scale, void *src_ptr, int src_stride_ar[], void *dst_ptr,
                int dst_stride_ar[], int count[], int stride_levels, int proc)
{
    struct ski_armci_op op = {"ARMCI_AccS", SKI_ARMCI_ACC, proc, true, NULL, {0}, 0};

    return strided_acc(&op, datatype, scale, (struct strided_side){src_ptr, src_stride_ar},
                       (struct strided_side){dst_ptr, dst_stride_ar}, count, stride_levels);
}
SKI_ARMCI_ALIAS(int, ARMCI_AccS,
                (int datatype, void *scale, void *src_ptr, int src_stride_ar[], void *dst_ptr,
                 int dst_stride_ar[], int count[], int stride_levels, int proc));

int PARMCI_NbAccS(int datatype, void *scale, void *src_ptr, int src_stride_ar[], void *dst_ptr,
                  int dst_stride_ar[], int count[], int stride_levels, int proc, armci_hdl_t *hdl)
{
    struct ski_armci_op op = {"ARMCI_NbAccS", SKI_ARMCI_ACC, proc, false, hdl, {0}, 0};

    return strided_acc(&op, datatype, scale, (struct strided_side){src_ptr, src_stride_ar},
                       (struct strided_side){dst_ptr, dst_stride_ar}, count, stride_levels);
}
SKI_ARMCI_ALIAS(int, ARMCI_NbAccS,
                (int datatype, void *scale, void *src_ptr, int src_stride_ar[], void *dst_ptr,
                 int dst_stride_ar[], int count[], int stride_levels, int proc, armci_hdl_t *hdl));

int PARMCI_Acc(int datatype, void *scale, void *src, void *dst, int bytes, int proc)
{
    struct ski_armci_op op = {"ARMCI_Acc", SKI_ARMCI_ACC, proc, true, NULL, {0}, 0};

    return strided_acc(&op, datatype, scale, (struct strided_side){src, NULL},
                       (struct strided_side){dst, NULL}, &bytes, 0);
}
SKI_ARMCI_ALIAS(int, ARMCI_Acc,
                (int datatype, void *scale, void *src, void *dst, int bytes, int proc));

int PARMCI_NbAcc(int datatype, void *scale, void *src, void *dst, int bytes, int proc,
                 armci_hdl_t *hdl)
{
    struct ski_armci_op op = {"ARMCI_NbAcc", SKI_ARMCI_ACC, proc, false, hdl, {0}, 0};

    return strided_acc(&op, datatype, scale, (struct strided_side){src, NULL},
                       (struct strided_side){dst, NULL}, &bytes, 0);
}
SKI_ARMCI_ALIAS(int, ARMCI_NbAcc,
                (int datatype, void *scale, void *src, void *dst, int bytes, int proc,
                 armci_hdl_t *hdl));

/* ---- values: a non-blocking store has its value on the stack, so it is blocking -------------- */

#define STRIDED_VALUE(type, Name)                                                                  \
    int PARMCI_PutValue##Name(type src, void *dst, int proc)                                       \
    {                                                                                              \
        return PARMCI_Put(&src, dst, sizeof src, proc);                                            \
    }                                                                                              \
    SKI_ARMCI_ALIAS(int, ARMCI_PutValue##Name, (type src, void *dst, int proc));                   \
                                                                                                   \
    int PARMCI_NbPutValue##Name(type src, void *dst, int proc, armci_hdl_t *hdl)                   \
    {                                                                                              \
        ski_armci_handle_done(hdl);                                                                \
        return PARMCI_Put(&src, dst, sizeof src, proc);                                            \
    }                                                                                              \
    SKI_ARMCI_ALIAS(int, ARMCI_NbPutValue##Name,                                                   \
                    (type src, void *dst, int proc, armci_hdl_t *hdl));                            \
                                                                                                   \
    type PARMCI_GetValue##Name(void *src, int proc)                                                \
    {                                                                                              \
        type value;                                                                                \
                                                                                                   \
        PARMCI_Get(src, &value, sizeof value, proc);                                               \
        return value;                                                                              \
    }                                                                                              \
    SKI_ARMCI_ALIAS(type, ARMCI_GetValue##Name, (void *src, int proc))

STRIDED_VALUE(int, Int);
STRIDED_VALUE(long, Long);
STRIDED_VALUE(float, Float);
STRIDED_VALUE(double, Double);

/* ---- local packing -------------------------------------------------------------------- */

/* Stores the layout of the blocks at @p at, and that of the contiguous buffer with their data. */
static size_t strided_pack(skua_layout *blocks, skua_layout *packed, struct strided_side at,
                           const int *count, int levels, char *buffer)
{
    size_t bytes = strided_is_empty(count, levels) ? 0 : (size_t)count[0];

    for (int i = 1; i <= levels; i++)
        bytes *= (size_t)count[i];
    strided_layout(blocks, at, count, levels);
    *packed = skua_layout_contiguous(buffer, bytes);
    return bytes;
}

void armci_write_strided(void *ptr, int stride_levels, int stride_arr[], int count[], char *buf)
{
    skua_layout blocks, packed;

    if (strided_pack(&blocks, &packed, (struct strided_side){ptr, stride_arr}, count, stride_levels,
                     buf))
        skua_layout_copy(&packed, &blocks);
}

void armci_read_strided(void *ptr, int stride_levels, int stride_arr[], int count[], char *buf)
{
    skua_layout blocks, packed;

    if (strided_pack(&blocks, &packed, (struct strided_side){ptr, stride_arr}, count, stride_levels,
                     buf))
        skua_layout_copy(&blocks, &packed);
}
