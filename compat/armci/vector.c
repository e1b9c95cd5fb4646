/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vector.c - operations on vectors of segments.
 *
 * A descriptor becomes indexed layouts of Skua, for runs of segments whose remote addresses are in
 * one piece. A run has a bounded number of segments, so that its offsets fit on the stack.
 */
#include "armci_impl.h"

#define VECTOR_RUN 256 /* segments */

/* Ends the job if a vector of descriptors is wrong. */
static void vector_check(const struct ski_armci_op *op, const armci_giov_t *iov, int count)
{
    if (count < 0 || (count > 0 && !iov))
        ski_armci_fail(op->call, "there is no list of %d descriptors", count);
    for (int i = 0; i < count; i++) {
        if (iov[i].bytes < 0 || iov[i].ptr_array_len < 0)
            ski_armci_fail(op->call, "descriptor %d has %d segments of %d bytes", i,
                           iov[i].ptr_array_len, iov[i].bytes);
        if (iov[i].ptr_array_len > 0 && (!iov[i].src_ptr_array || !iov[i].dst_ptr_array))
            ski_armci_fail(op->call, "descriptor %d has no addresses", i);
    }
    ski_armci_check_process(op->call, op->process);
}

/* Returns the piece that contains a whole segment, or NULL for other memory of the calling
 * process. */
static const struct ski_armci_piece *vector_piece(const struct ski_armci_op *op, const void *at,
                                                  size_t bytes)
{
    struct ski_armci_process     *process = &ski_armci.process[op->process];
    const struct ski_armci_piece *piece   = ski_armci_find(process, at, bytes);

    if (!piece && (op->process != ski_armci.me || ski_armci_search(process, at)))
        ski_armci_resolve(op->call, op->process, at, bytes); /* fails */
    return piece;
}

/* Transfers the first segments of a list, as many as one operation can. Returns their number. */
static int vector_run(const struct ski_armci_op *op, void **remote, void **local, size_t bytes,
                      int count)
{
    const struct ski_armci_piece *piece = vector_piece(op, remote[0], bytes);
    ptrdiff_t                     there[VECTOR_RUN], here[VECTOR_RUN];
    skua_layout                   far, near;
    int                           n = 0;

    do {
        there[n] = (char *)remote[n] - (char *)remote[0];
        here[n]  = (char *)local[n] - (char *)local[0];
        n++;
    } while (piece && n < count && n < VECTOR_RUN && ski_armci_piece_has(piece, remote[n], bytes));
    far  = skua_layout_indexed(remote[0], bytes, (size_t)n, there);
    near = skua_layout_indexed(local[0], bytes, (size_t)n, here);
    ski_armci_transfer(op, &far, &near);
    return n;
}

/* Transfers all segments. One handle counts all operations. */
static int vector_transfer(const struct ski_armci_op *op, const armci_giov_t *iov, int count)
{
    bool                get     = op->verb == SKI_ARMCI_GET;
    armci_hdl_t         handle  = {op->handle && op->handle->aggregate ? op->handle->target : 0, 1};
    struct ski_armci_op segment = *op;

    vector_check(op, iov, count);
    segment.handle = op->handle ? &handle : NULL;
    for (int i = 0; i < count; i++) {
        void **remote = get ? iov[i].src_ptr_array : iov[i].dst_ptr_array;
        void **local  = get ? iov[i].dst_ptr_array : iov[i].src_ptr_array;

        for (int at = 0; iov[i].bytes > 0 && at < iov[i].ptr_array_len;)
            at += vector_run(&segment, remote + at, local + at, (size_t)iov[i].bytes,
                             iov[i].ptr_array_len - at);
    }
    if (op->handle)
        op->handle->target = handle.target;
    return 0;
}

int PARMCI_PutV(armci_giov_t *iov, int iov_len, int proc)
{
    struct ski_armci_op op = {"ARMCI_PutV", SKI_ARMCI_PUT, proc, true, NULL, {0}, 0};

    return vector_transfer(&op, iov, iov_len);
}
SKI_ARMCI_ALIAS(int, ARMCI_PutV, (armci_giov_t * iov, int iov_len, int proc));

int PARMCI_GetV(armci_giov_t *iov, int iov_len, int proc)
{
    struct ski_armci_op op = {"ARMCI_GetV", SKI_ARMCI_GET, proc, true, NULL, {0}, 0};

    return vector_transfer(&op, iov, iov_len);
}
SKI_ARMCI_ALIAS(int, ARMCI_GetV, (armci_giov_t * iov, int iov_len, int proc));

int PARMCI_AccV(int datatype, void *scale, armci_giov_t *iov, int iov_len, int proc)
{
    struct ski_armci_op op = {"ARMCI_AccV", SKI_ARMCI_ACC, proc, true, NULL, {0}, 0};

    ski_armci_update(&op, datatype, scale);
    return vector_transfer(&op, iov, iov_len);
}
SKI_ARMCI_ALIAS(int, ARMCI_AccV,
                (int datatype, void *scale, armci_giov_t *iov, int iov_len, int proc));

int PARMCI_NbPutV(armci_giov_t *iov, int iov_len, int proc, armci_hdl_t *handle)
{
    struct ski_armci_op op = {"ARMCI_NbPutV", SKI_ARMCI_PUT, proc, false, handle, {0}, 0};

    return vector_transfer(&op, iov, iov_len);
}
SKI_ARMCI_ALIAS(int, ARMCI_NbPutV,
                (armci_giov_t * iov, int iov_len, int proc, armci_hdl_t *handle));

int PARMCI_NbGetV(armci_giov_t *iov, int iov_len, int proc, armci_hdl_t *handle)
{
    struct ski_armci_op op = {"ARMCI_NbGetV", SKI_ARMCI_GET, proc, false, handle, {0}, 0};

    return vector_transfer(&op, iov, iov_len);
}
SKI_ARMCI_ALIAS(int, ARMCI_NbGetV,
                (armci_giov_t * iov, int iov_len, int proc, armci_hdl_t *handle));

int PARMCI_NbAccV(int datatype, void *scale, armci_giov_t *iov, int iov_len, int proc,
                  armci_hdl_t *handle)
{
    struct ski_armci_op op = {"ARMCI_NbAccV", SKI_ARMCI_ACC, proc, false, handle, {0}, 0};

    ski_armci_update(&op, datatype, scale);
    return vector_transfer(&op, iov, iov_len);
}
SKI_ARMCI_ALIAS(int, ARMCI_NbAccV,
                (int datatype, void *scale, armci_giov_t *iov, int iov_len, int proc,
                 armci_hdl_t *handle));
