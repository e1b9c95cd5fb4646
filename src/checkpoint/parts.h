/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parts.h - the functions of the parts of an image, which image.c and restore.c list in tables.
 *
 * Save and restore functions are those of struct ski_image_part (image_part.h).  A function that
 * receives a record (record.h) returns NULL, or what is wrong with the record: it comes from a
 * file.
 */
#ifndef SKI_PARTS_H
#define SKI_PARTS_H

#include "checkpoint/image_part.h"
#include "checkpoint/record.h"

struct ski_object;

/* part_program.c: what a restart needs to know of the program, and its read-only variables. */
void        ski_part_program_save(struct ski_pe *self, struct ski_image_writer *to,
                                  const struct ski_image_common *common);
const char *ski_part_program_restore(struct ski_pe *self, struct ski_image_reader *from,
                                     struct ski_restart *restart);
/** Returns the hash of the names and sizes on which two programs must agree if one is to read the
 *  images of the other. */
uint64_t ski_part_program_fingerprint(void);

void        ski_part_readonly_save(struct ski_pe *self, struct ski_image_writer *to,
                                   const struct ski_image_common *common);
const char *ski_part_readonly_restore(struct ski_pe *self, struct ski_image_reader *from,
                                      struct ski_restart *restart);

/* part_collections.c: the collections, and the next sync point. */
void        ski_part_collections_save(struct ski_pe *self, struct ski_image_writer *to,
                                      const struct ski_image_common *common);
const char *ski_part_collections_restore(struct ski_pe *self, struct ski_image_reader *from,
                                         struct ski_restart *restart);
/** Writes to @p why why the collections of @p self cannot be saved.  Returns whether they can. */
bool ski_part_collections_possible(struct ski_pe *self, char *why, size_t room);
/** Marks the collections that were restored, with all their elements, as existing. */
void ski_part_collections_exist(struct ski_pe *self);
/** Calls `moved` of the classes of the program for the objects that were restored here. */
void ski_part_collections_resume(struct ski_pe *self);

/* part_isomalloc.c: the range of addresses of elements with user threads. */
void        ski_part_isomalloc_save(struct ski_pe *self, struct ski_image_writer *to,
                                    const struct ski_image_common *common);
const char *ski_part_isomalloc_restore(struct ski_pe *self, struct ski_image_reader *from,
                                       struct ski_restart *restart);
const char *ski_record_iso_block(struct ski_pe *self, struct ski_image_reader *record);
/** Notifies the owners of the addresses of an element that was restored here, and of its threads.
 */
void ski_part_isomalloc_placed(struct ski_object *object);

/* part_elements.c: elements, and where destroyed ones were. */
void        ski_part_elements_save(struct ski_pe *self, struct ski_image_writer *to,
                                   const struct ski_image_common *common);
const char *ski_part_elements_restore(struct ski_pe *self, struct ski_image_reader *from,
                                      struct ski_restart *restart);
void        ski_part_deleted_save(struct ski_pe *self, struct ski_image_writer *to,
                                  const struct ski_image_common *common);
const char *ski_part_deleted_restore(struct ski_pe *self, struct ski_image_reader *from,
                                     struct ski_restart *restart);
const char *ski_record_element(struct ski_pe *self, struct ski_image_reader *record);
const char *ski_record_location(struct ski_pe *self, struct ski_image_reader *record);

/* part_reductions.c: reductions that are not complete. */
void        ski_part_reductions_save(struct ski_pe *self, struct ski_image_writer *to,
                                     const struct ski_image_common *common);
const char *ski_part_reductions_restore(struct ski_pe *self, struct ski_image_reader *from,
                                        struct ski_restart *restart);
const char *ski_record_partial(struct ski_pe *self, struct ski_image_reader *record);
const char *ski_record_oldest(struct ski_pe *self, struct ski_image_reader *record);

/* part_regions.c: regions and their contents. */
void        ski_part_regions_save(struct ski_pe *self, struct ski_image_writer *to,
                                  const struct ski_image_common *common);
const char *ski_part_regions_restore(struct ski_pe *self, struct ski_image_reader *from,
                                     struct ski_restart *restart);
const char *ski_record_region_id(struct ski_pe *self, struct ski_image_reader *record);
const char *ski_record_region_piece(struct ski_pe *self, struct ski_image_reader *record);
const char *ski_record_region_block(struct ski_pe *self, struct ski_image_reader *record);
/** Writes to @p why why the regions of @p self cannot be saved.  Returns whether they can. */
bool ski_part_regions_possible(struct ski_pe *self, char *why, size_t room);
/** Restores regions whose pieces differ in size; all PEs have read their images. */
void ski_part_regions_resume(struct ski_pe *self);

/* part_teams.c: teams of the PE. */
void        ski_part_teams_save(struct ski_pe *self, struct ski_image_writer *to,
                                const struct ski_image_common *common);
const char *ski_part_teams_restore(struct ski_pe *self, struct ski_image_reader *from,
                                   struct ski_restart *restart);
const char *ski_record_team(struct ski_pe *self, struct ski_image_reader *record);

/* part_sections.c: sections and their members. */
void        ski_part_sections_save(struct ski_pe *self, struct ski_image_writer *to,
                                   const struct ski_image_common *common);
const char *ski_part_sections_restore(struct ski_pe *self, struct ski_image_reader *from,
                                      struct ski_restart *restart);
const char *ski_record_section(struct ski_pe *self, struct ski_image_reader *record);
const char *ski_record_section_next(struct ski_pe *self, struct ski_image_reader *record);
/** Reports the next reductions of an element that was restored here to the roots of its sections.
 */
void ski_part_sections_placed(struct ski_object *object);
/** Writes to @p why why the sections of @p self cannot be saved.  Returns whether they can. */
bool ski_part_sections_possible(struct ski_pe *self, char *why, size_t room);
/** Creates the sections whose root is here again; their collections exist. */
void ski_part_sections_resume(struct ski_pe *self);

/* part_memory.c: memory that the program has registered. */
void        ski_part_memory_save(struct ski_pe *self, struct ski_image_writer *to,
                                 const struct ski_image_common *common);
const char *ski_part_memory_restore(struct ski_pe *self, struct ski_image_reader *from,
                                    struct ski_restart *restart);
const char *ski_record_memory(struct ski_pe *self, struct ski_image_reader *record);

#endif
