/* SPDX-License-Identifier: Apache-2.0 */
/* objects.h - begin and end of the layer on a PE. */
#ifndef SKI_OBJECTS_H
#define SKI_OBJECTS_H

struct ski_pe;

void ski_objects_begin(struct ski_pe *self);
void ski_objects_end(struct ski_pe *self);

#endif
