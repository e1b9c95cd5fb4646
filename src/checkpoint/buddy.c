/* SPDX-License-Identifier: Apache-2.0 */
/* buddy.c - see buddy.h. */
#include "checkpoint/buddy.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "boot/image_slots.h"
#include "checkpoint/checkpoint_pe.h"
#include "checkpoint/process_store.h"
#include "checkpoint/store_memory.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "objects/model/msg_target.h"

#define BUDDY_PIECE  ((size_t)256 << 10) /* bytes of an image in a message */
#define BUDDY_WINDOW 8                   /* pieces without an answer       */

/* The copy of the images of this process that is being sent to its buddy. */
struct ski_buddy_copy {
    struct ski_image_id          id;
    uint64_t                     kept;    /* the generation that the buddy must not overwrite */
    const struct ski_image_span *image;   /* images, one of each PE of the process */
    int                          to;      /* the PE that receives the pieces */
    int32_t                      index;   /* index of the image of the next piece ... */
    size_t                       offset;  /* ... and where the piece begins in it */
    bool                         headers; /* only the headers are left to send */
    int                          open;    /* pieces without an answer    */
    skua_status                  status;
    ski_buddy_done_fn           *done;
};

/* ---- the process ------------------------------------------------------------------------- */

/* Sends @p bytes of the present image, from the present offset on, to the buddy. */
static void buddy_send_piece(struct ski_buddy_copy *copy, size_t bytes)
{
    const char            *data  = copy->image[copy->index].image;
    struct ski_buddy_piece piece = {.generation = copy->id.generation,
                                    .kept       = copy->kept,
                                    .offset     = copy->offset,
                                    .process    = copy->id.process,
                                    .index      = copy->index,
                                    .first      = !copy->headers && copy->index == 0 &&
                                             copy->offset == SKI_IMAGE_HEADER};

    copy->open++;
    skua_send(copy->to, (skua_handler){SKI_HANDLER_BUDDY_PIECE},
              ski_msg_with_header(&piece, sizeof piece, data + copy->offset, bytes));
}

/* Starts sending the images without their headers, or the headers. */
static void buddy_rewind(struct ski_buddy_copy *copy, bool headers)
{
    copy->headers = headers;
    copy->index   = 0;
    copy->offset  = headers ? 0 : SKI_IMAGE_HEADER;
}

/* Sends the next piece.  Returns false if there is none. */
static bool buddy_send_next(struct ski_buddy_copy *copy)
{
    size_t left;

    if (copy->index == copy->id.process_pes || copy->status != SKUA_OK)
        return false;
    left = copy->headers ? SKI_IMAGE_HEADER : copy->image[copy->index].bytes - copy->offset;
    left = left < BUDDY_PIECE ? left : BUDDY_PIECE;
    buddy_send_piece(copy, left);
    copy->offset += left;
    if (copy->headers || copy->offset == copy->image[copy->index].bytes) {
        copy->index++;
        copy->offset = copy->headers ? 0 : SKI_IMAGE_HEADER;
    }
    return true;
}

/* Sends as many pieces as the window allows.  Returns false if the copy is complete, or has failed.
 */
static bool buddy_advance(struct ski_buddy_copy *copy)
{
    while (copy->open < BUDDY_WINDOW && buddy_send_next(copy))
        ;
    if (copy->open > 0)
        return true;
    if (copy->status != SKUA_OK || copy->headers)
        return false;
    buddy_rewind(copy, true);
    return buddy_advance(copy);
}

bool ski_buddy_send(struct ski_pe *self, const struct ski_image_id *id, uint64_t kept,
                    ski_buddy_done_fn *done)
{
    int                    buddy = ski_job_buddy(self->job, self->process);
    struct ski_buddy_copy *copy;

    if (buddy < 0 || ski_image_slots()->epoch == 0)
        return false;
    copy                          = ski_calloc(1, sizeof *copy);
    *copy                         = (struct ski_buddy_copy){.id    = *id,
                                                            .kept  = kept,
                                                            .image = ski_image_store_images(ski_process_store()),
                                                            .to    = ski_job_first_pe(self->job, buddy),
                                                            .done  = done};
    ski_checkpoint_of(self)->copy = copy;
    buddy_rewind(copy, false);
    (void)buddy_advance(copy); /* there is a piece, so an answer will come */
    return true;
}

void ski_on_buddy_answer(skua_msg *msg)
{
    struct ski_checkpoint  *state = ski_checkpoint_of(ski_self);
    struct ski_buddy_copy  *copy  = state ? state->copy : NULL;
    struct ski_buddy_answer answer;

    memcpy(&answer, skua_msg_data(msg), sizeof answer);
    if (!copy || copy->open == 0 || answer.generation != copy->id.generation || answer.status > 0 ||
        answer.status < INT16_MIN) {
        ski_net_drop(ski_self, msg);
        return;
    }
    skua_msg_free(msg);
    copy->open--;
    if (answer.status != SKUA_OK)
        copy->status = (skua_status)answer.status;
    if (buddy_advance(copy))
        return;
    state->copy = NULL;
    copy->done(ski_self, copy->status);
    free(copy);
}

/* ---- its buddy ----------------------------------------------------------------------------- */

/* Returns the memfd that a piece is written to, or -1 if the piece is not valid.  Of the two memfds
 * of a slot it is the one that does not hold the generation that is to be kept. */
static int buddy_memfd(const struct ski_pe *self, const struct ski_buddy_piece *piece, size_t bytes,
                       int source)
{
    const struct ski_image_slot *slot = ski_image_slot_find(ski_image_slots(), piece->process);
    struct ski_image_id          id;

    if (!slot || (uint32_t)piece->process >= (uint32_t)self->job->processes ||
        ski_job_process_of(self->job, source) != piece->process || piece->first > 1 ||
        ski_job_buddy(self->job, piece->process) != self->process ||
        (uint32_t)piece->index >= (uint32_t)ski_job_pes_of(self->job, piece->process) ||
        piece->offset > (uint64_t)SKI_STORE_MEMORY_STRIDE / 2 || bytes > BUDDY_PIECE)
        return -1;
    return slot->fd[piece->kept && ski_store_memory_generation(slot->fd[0], &id) == piece->kept];
}

/* Writes a piece.  The first piece of a copy makes the images that the memfd holds invalid: without
 * the header of its first image, a memfd has no generation (ski_store_memory_generation()). */
static bool buddy_write(int fd, const struct ski_buddy_piece *piece, const void *data, size_t bytes)
{
    static const unsigned char none[SKI_IMAGE_HEADER];

    if (piece->first && !ski_store_memory_put(fd, 0, 0, none, sizeof none))
        return false;
    return ski_store_memory_put(fd, piece->index, piece->offset, data, bytes);
}

void ski_on_buddy_piece(skua_msg *msg)
{
    struct ski_buddy_piece  piece;
    struct ski_buddy_answer answer = {.status = SKUA_OK};
    size_t                  bytes  = msg->bytes - sizeof piece;
    int                     fd, from = msg->source;

    memcpy(&piece, skua_msg_data(msg), sizeof piece);
    fd = buddy_memfd(ski_self, &piece, bytes, msg->source);
    if (fd < 0) {
        ski_net_drop(ski_self, msg);
        return;
    }
    answer.generation = piece.generation;
    if (!buddy_write(fd, &piece, (const char *)skua_msg_data(msg) + sizeof piece, bytes))
        answer.status = SKUA_ERR_NOMEM;
    skua_msg_free(msg);
    skua_send_copy(from, (skua_handler){SKI_HANDLER_BUDDY_ANSWER}, &answer, sizeof answer);
}
