/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.h - records: what a PE of a restarted job has read in an image, sent to the PE that it
 * belongs to now (restore.h).
 */
#ifndef SKI_RECORD_H
#define SKI_RECORD_H

#include "core/pe/pe.h"

/* The header of each record on the wire. */
struct ski_record_head {
    uint64_t kind; /* enum ski_record */
};

/* Kinds of records. */
enum ski_record {
    SKI_RECORD_ELEMENT,      /* an element, for the PE that it lives on                     */
    SKI_RECORD_LOCATION,     /* where an element is, or that it was destroyed, for its home   */
    SKI_RECORD_PARTIAL,      /* the partial result of a reduction, for the root             */
    SKI_RECORD_OLDEST,       /* the first reductions that are not complete, for all PEs     */
    SKI_RECORD_SECTION,      /* members of a section, for its root */
    SKI_RECORD_MEMORY,       /* registered memory, for the first PE of a process            */
    SKI_RECORD_REGION_ID,    /* the number of a symmetric region, for PE 0 of several hosts     */
    SKI_RECORD_REGION_PIECE, /* a piece of a region, for the PE that it belongs to          */
    SKI_RECORD_REGION_BLOCK, /* a block of a region that is redistributed, for its PE       */
    SKI_RECORD_SECTION_NEXT, /* the next reduction of a member of a section, for the root   */
    SKI_RECORD_ISO_BLOCK,    /* where a block of the isomalloc range is, for its owner      */
    SKI_RECORD_TEAM,         /* a team, for a member                                        */
    SKI_RECORDS
};

/** Sends a record, of a head and data, to @p pe. */
void ski_record_send(struct ski_pe *self, int pe, enum ski_record kind, const void *head,
                     size_t head_bytes, const void *data, size_t bytes);

/** Sends a record to all PEs. */
void ski_record_broadcast(struct ski_pe *self, enum ski_record kind, const void *data,
                          size_t bytes);

#endif
