/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detector.h - finding out that a part of a program has nothing left to do.
 *
 * Quiescence (quiescence.h) is about everything.  A *detector* is about what it is told
 * of: the program says how many items (messages, tasks) it has *produced* and *consumed*,
 * on whichever PE that happens, and the detector finds out when, after all producers have
 * finished, as many have been consumed as produced.
 */
#ifndef SKUA_DETECTOR_H
#define SKUA_DETECTOR_H

#include <stdint.h>

#include <skua/api.h>
#include <skua/completion.h>

SKUA_BEGIN_DECLS

/** A detector: a value that may be sent in messages and means the same on every PE. */
typedef struct {
    int32_t  pe;
    uint32_t number; /* never 0 */
} skua_detector;

/** A new one, without communication.  Several may be in use, independent of each other. */
SKUA_API skua_detector skua_detector_create(void);

/** @p n items more exist; or have been worked off.  Any PE; cheap.  An item that leads to
 *  others is consumed after these have been produced, in the same handler or later. */
SKUA_API void skua_detector_produce(skua_detector detector, uint64_t n);
SKUA_API void skua_detector_consume(skua_detector detector, uint64_t n);

/** One producer has finished.  Only items that are not consumed yet may still produce. */
SKUA_API void skua_detector_done(skua_detector detector);

/**
 * From now on look for the end: @p done happens when skua_detector_done() was called
 * @p producers times, and all that was produced has been consumed.  Once, on any PE,
 * before or after the first items.  The detector is of no use afterwards; what the PEs
 * remember of it is given back.  A job whose PEs consumed more than they produced, or
 * whose producers finished more than once, ends with a line that says so.
 *
 * A detector that has not come to its end is no activity for skua_quiescence().
 */
SKUA_API void skua_detector_start(skua_detector detector, uint64_t producers, skua_completion done);

SKUA_END_DECLS

#endif
