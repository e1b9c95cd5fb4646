/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detector.h - completion detection for a part of a program.
 *
 * Quiescence (quiescence.h) covers the whole program. A *detector* covers the items that the
 * program reports to it: the program states on any PE how many items (messages, tasks) it has
 * *produced* and *consumed*. The detector determines when all producers have finished and as many
 * items have been consumed as produced.
 */
#ifndef SKUA_DETECTOR_H
#define SKUA_DETECTOR_H

#include <stdint.h>

#include <skua/api.h>
#include <skua/completion.h>

SKUA_BEGIN_DECLS

/** A detector: a value that may be sent in messages and is valid on every PE. */
typedef struct {
    int32_t  pe;
    uint32_t number; /* never 0 */
} skua_detector;

/** Creates a detector, without communication. Any number of independent detectors may be in use. */
SKUA_API skua_detector skua_detector_create(void);

/** Reports that @p n items were produced. Any PE may call it; the cost is small. If consuming an
 *  item produces others, report their production before the consumption of the item. */
SKUA_API void skua_detector_produce(skua_detector detector, uint64_t n);

/** Reports that @p n items were consumed. Any PE may call it; the cost is small. */
SKUA_API void skua_detector_consume(skua_detector detector, uint64_t n);

/** Reports that one producer has finished. From then on only items that are not consumed yet may
 *  produce others. */
SKUA_API void skua_detector_done(skua_detector detector);

/**
 * Starts detection: @p done happens when skua_detector_done() was called @p producers times and all
 * produced items have been consumed. Called once, on any PE, before or after the first items. The
 * detector ends with its completion, and the PEs free its state. If more items are consumed than
 * produced, or more than @p producers producers finish, the job ends with an error.
 *
 * A detector that has not completed does not count as activity for skua_quiescence().
 */
SKUA_API void skua_detector_start(skua_detector detector, uint64_t producers, skua_completion done);

SKUA_END_DECLS

#endif
