/* SPDX-License-Identifier: Apache-2.0 */
/*
 * am_wire.h - the wire format of requests and replies of one-sided operations by active message
 * (am_origin.h).
 *
 * A message has one request, or several of a batch, each at a multiple of 8 bytes:
 *
 *     | struct ski_am_head (16) | words | blocks | data ... | data of the signal |
 *
 * The head has what every request needs.  Each flag of its `kind` adds 32-bit words, in the order
 * of the flags, and each verb those that it needs; a put of 8 bytes has none.  Words and blocks
 * are padded to 8 bytes.  A request may acknowledge requests of its receiver: such an
 * acknowledgement costs no packet and no message.  The blocks of a request that has more than one
 * are either *offsets* of 32 bits, of blocks of one size, or *runs* (struct ski_am_run), of blocks
 * at a constant stride.
 *
 * A reply is one or several records, each at a multiple of 8 bytes:
 *
 *     | kind (16), count (16), id (32) | ... |
 *
 *     ACK      `count` requests are complete: further ids of 32 bits follow
 *     VALUE    of an atomic; its 64 bits follow
 *     DATA     of a get; all that is left of the message
 *     FAILED   `count` is the negative status
 *
 * The decoder checks every length against the message and every sum for overflow.  Whether the
 * memory exists, and the operator and type of an accumulate, are checked by am_target.c.
 */
#ifndef SKI_AM_WIRE_H
#define SKI_AM_WIRE_H

#include <string.h>

#include "onesided/rma/rma_op.h"

#define SKI_AM_RUNS_FEW    128  /* runs of a request that are collected on the stack ...   */
#define SKI_AM_RUNS_MAX    1024 /* ... and of any request                                 */
#define SKI_AM_DATA_MAX    ((size_t)1 << 30) /* bytes of data of a request or reply        */
#define SKI_AM_BATCH_MAX   512   /* bytes of a request up to which it joins a batch          */
#define SKI_ZCOPY_SEND_MIN 32768 /* bytes of data from which on they are sent without a copy */
#define SKI_AM_HEAD_MAX    112   /* bytes of a head and its words                            */
#define SKI_AM_ACKS_MAX    4     /* requests of its receiver that a request acknowledges     */

#define SKI_AM_SHORT_MAX  64    /* bytes of data of a short put (am_short.h)  */
#define SKI_AM_NOTIFY_MAX 32767 /* bytes of data of one with a notification   */

/* The first bytes of every request. */
struct ski_am_head {
    uint16_t kind;   /* the verb, and flags of enum ski_am_flag                             */
    uint16_t bytes;  /* of the request without padding; 0: all that is left of the message  */
    uint32_t id;     /* the origin's, which the reply repeats                               */
    uint32_t region; /* of the memory, and the lower half of the offset in it               */
    uint32_t offset;
};

/* The verb and the flags in `kind` of a head; each flag adds the words that its comment names. */
enum ski_am_flag {
    SKI_AM_VERB       = 7,       /* mask: enum ski_rma_verb                                      */
    SKI_AM_WIDE       = 1 << 3,  /* upper half of the offset, and of that of the notification    */
    SKI_AM_PE         = 1 << 4,  /* the PE of the memory, where that is not the receiver         */
    SKI_AM_SOURCE     = 1 << 5,  /* the PE of a signal, where that is not the sender             */
    SKI_AM_NOTIFY     = 1 << 6,  /* region, and lower half of the offset, of a notification      */
    SKI_AM_NOTIFY_ADD = 1 << 7,  /* what it is raised by, 64 bits, if not by 1                   */
    SKI_AM_SIGNAL     = 1 << 8,  /* handler and bytes of a signal                                */
    SKI_AM_SCALED     = 1 << 9,  /* the factor of an accumulate, as long as its type             */
    SKI_AM_DEFERRABLE = 1 << 10, /* a get: its memory may be read after the handler returns     */
    SKI_AM_OFFSETS    = 1 << 11, /* bytes of a block, their number; the offsets are blocks      */
    SKI_AM_RUNS       = 1 << 12, /* the number of runs                                          */
    SKI_AM_ACKS       = 1 << 13, /* how many requests of the receiver are complete, and their ids */
    SKI_AM_RELAXED    = 1 << 14, /* a put: its origin is not expected to wait for the reply soon */
};

/* Blocks of one size at the target, in bytes from the global address. */
struct ski_am_run {
    int64_t  remote;       /* where the first begins      */
    uint32_t bytes, count; /* of one; how many there are  */
    int64_t  stride;       /* from one to the next        */
};

/* A request as both sides handle it. */
struct ski_am_request {
    enum ski_rma_verb verb;
    uint32_t          id;
    int32_t           source; /* in whose name a signal is sent */
    skua_gaddr        remote;
    bool              deferrable, relaxed;
    bool              scaled; /* an accumulate: its operator, type and factor */
    uint32_t          op, type;
    uint64_t          scale[2];
    struct ski_atomic atomic;
    skua_gaddr        notify; /* none: a zero region */
    uint64_t          notify_add;
    uint32_t          signal; /* a handler; 0: none */
    size_t            signal_bytes;
    size_t            total;      /* bytes of all blocks */
    size_t            data_bytes; /* bytes of data in the request: 0 of a get */
    uint32_t          blocks;     /* runs or offsets; 0: one block of `total` bytes at `remote` */
    bool              is_offsets;
    uint32_t          block_bytes; /* of offsets: of each */
    const char       *list;        /* the offsets or runs, aligned or not */
    ptrdiff_t         lo, hi;      /* the extent of the blocks, and the global address itself */
    const char       *data;        /* followed by the data of the signal */
    size_t            length;      /* decoded: bytes to the next request */
    uint32_t          ack_count; /* requests of the receiver that it acknowledges, and their ids */
    uint32_t          ack[SKI_AM_ACKS_MAX];
};

/* A request that is one put of one block into a region of its receiver, with at most a
 * notification and acknowledgements, as ski_am_decode_put() finds it. */
struct ski_am_put {
    uint32_t    id, region, offset;
    bool        has_notify, relaxed;
    uint32_t    notify_region, notify_offset;
    uint64_t    notify_add;
    uint32_t    ack_count;
    uint32_t    ack[SKI_AM_ACKS_MAX];
    const char *data;
    size_t      bytes;
};

/** Returns whether the reply to @p verb carries data. */
static inline bool ski_am_reply_has_data(uint32_t verb)
{
    return verb == SKI_RMA_GET || verb == SKI_RMA_RKEY_QUERY;
}

/* Head, words and their number, of a request that is being encoded. */
struct ski_am_encoded {
    struct ski_am_head head;
    uint32_t           words;
    uint32_t           word[(SKI_AM_HEAD_MAX - sizeof(struct ski_am_head)) / 4];
};

/** Encodes the head and words of @p request, of PE @p origin to PE @p server.  The request has
 *  `blocks` runs or offsets that the caller writes after them. */
void ski_am_encode(const struct ski_am_request *request, int origin, int server,
                   struct ski_am_encoded *encoded);

/** Returns the bytes of an encoded head with its words and padding. */
static inline size_t ski_am_encoded_bytes(const struct ski_am_encoded *encoded)
{
    return sizeof encoded->head + (((size_t)encoded->words + 1) & ~(size_t)1) * 4;
}

/** Returns the bytes of the blocks of @p request, with padding. */
static inline size_t ski_am_list_bytes(const struct ski_am_request *request)
{
    return request->is_offsets ? ((size_t)request->blocks * 4 + 7) & ~(size_t)7
                               : request->blocks * sizeof(struct ski_am_run);
}

/* A message, or the rest of one, that holds requests. */
struct ski_am_span {
    const char *at;
    size_t      bytes;
    size_t      visible; /* of them at `at`: the others have not been received yet */
};

/** Decodes the request at the beginning of @p span, from PE @p origin for PE @p server.  Returns
 * false if it is malformed; *@p id is that of the request if it has one, else SKI_AM_NO_ID, and
 * request->length is 0 if that is not known either. */
bool ski_am_decode(struct ski_am_span span, int origin, int server, struct ski_am_request *request,
                   uint32_t *id);

/** Decodes the request of a message of @p bytes at @p at if it is one put as in struct ski_am_put.
 *  Returns false if it is another request, or malformed. */
bool ski_am_decode_put(const char *at, size_t bytes, struct ski_am_put *put);

#define SKI_AM_NO_ID UINT32_MAX /* the id of a request that has none */

/** Returns offset @p i of a request whose blocks are offsets. */
static inline int32_t ski_am_offset(const struct ski_am_request *request, uint32_t i)
{
    int32_t offset;

    memcpy(&offset, request->list + (size_t)i * sizeof offset, sizeof offset);
    return offset;
}

/** Returns the run of block @p i of a request that has blocks. */
static inline struct ski_am_run ski_am_block(const struct ski_am_request *request, uint32_t i)
{
    struct ski_am_run run;

    if (request->is_offsets)
        return (struct ski_am_run){ski_am_offset(request, i), request->block_bytes, 1, 0};
    memcpy(&run, request->list + i * sizeof run, sizeof run);
    return run;
}

/** Copies @p count blocks of @p bytes each from one stride to another.  No address is computed but
 *  those of blocks: the stride of a single block that another PE sent may be any number. */
static inline void ski_am_copy_strided(char *to, ptrdiff_t to_stride, const char *from,
                                       ptrdiff_t from_stride, size_t bytes, size_t count)
{
    ptrdiff_t n = (ptrdiff_t)count;

    if (bytes == 8)
        for (ptrdiff_t i = 0; i < n; i++)
            memcpy(to + i * to_stride, from + i * from_stride, 8);
    else
        for (ptrdiff_t i = 0; i < n; i++)
            memcpy(to + i * to_stride, from + i * from_stride, bytes);
}

/* ---- replies -------------------------------------------------------------------- */

/* The kinds of records of a reply; see the head of this file. */
enum ski_am_reply_kind { SKI_AM_ACK, SKI_AM_VALUE, SKI_AM_DATA, SKI_AM_FAILED };

/* The first bytes of every record of a reply. */
struct ski_am_reply {
    uint16_t kind;  /* enum ski_am_reply_kind */
    uint16_t count; /* ACK: ids, the first included; FAILED: the negative status */
    uint32_t id;
};

/** Returns the bytes of an acknowledgement of @p count requests. */
static inline size_t ski_am_ack_bytes(size_t count)
{
    return (sizeof(struct ski_am_reply) + (count - 1) * 4 + 7) & ~(size_t)7;
}

/** Returns the bytes of the record at the beginning of @p bytes, and copies its head to @p reply;
 *  0: it is malformed. */
size_t ski_am_reply_decode(const char *at, size_t bytes, struct ski_am_reply *reply);

#endif
