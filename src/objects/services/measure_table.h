/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure_table.h - measuring on and off on a PE: the table of handlers whose entries charge
 * (measure/measure.h).
 */
#ifndef SKI_MEASURE_TABLE_H
#define SKI_MEASURE_TABLE_H

#include "core/pe/pe.h"

/** Starts or resumes measuring on this PE; with @p graph, messages are counted as well. */
void ski_measure_start(struct ski_pe *self, bool graph);

/** Stops measuring on this PE; what was measured is kept. */
void ski_measure_stop(struct ski_pe *self);

/** Frees the table of handlers of this process, whose PEs have ended. */
void ski_measure_table_reset(void);

#endif
