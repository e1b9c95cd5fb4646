/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parts.h - messages with parts (skua/parts.h), as they travel.
 *
 *      head | piece, its data or buffer | piece, ... | struct ski_parts
 *
 * Pieces begin at multiples of 16.  One is followed by its data, or by a buffer: the sender's
 * memory, or where the part is now.  What is done with a part at the end is the completion in
 * that buffer: telling the sender, or freeing what was made for it, on whatever PE.  So a message
 * may be sent on, or move with its object, and its parts are found again.
 *
 * To all PEs: the sender sends the message to one PE of each host, which sees to it that all of
 * its host reach the parts, and then sends it to each; a *share* counts who is through with one.
 */
#ifndef SKI_PARTS_H
#define SKI_PARTS_H

#include <skua/parts.h>

enum ski_piece_kind { SKI_PIECE_DATA, SKI_PIECE_BUFFER };

struct ski_part {
    uint64_t bytes;
    uint32_t kind; /* enum ski_piece_kind                                     */
    uint32_t unused;
    void    *posted;     /* where the program wanted it, and has it, or NULL  */
    uint64_t unused_too; /* a multiple of 16 */
};

struct ski_parts {
    uint64_t magic;
    uint64_t first; /* bytes of the head: pieces begin there, aligned */
    uint32_t count;
    uint32_t posted; /* the receiver has been asked where they shall land */
    uint64_t unused; /* a multiple of 16 */
};

#define SKI_PARTS_MAGIC UINT64_C(0x7061727473206f66)
#define SKI_PARTS_LEAST (16 + sizeof(struct ski_parts))

void ski_on_parts(skua_msg *msg);

#endif
