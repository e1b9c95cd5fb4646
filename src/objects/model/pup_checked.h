/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pup_checked.h - checks that a pup function processes the same fields whatever it is called for
 * (SKUA_CHECKED_PUP).
 *
 * The fields that a class measures are recorded (struct ski_pup_log), those that it packs are
 * compared with them, and those that it unpacks with the records in the data (pup.h has their
 * format).  So what is measured, packed and unpacked are the same fields, or the job ends with an
 * error that names the first that differs.
 */
#ifndef SKI_PUP_CHECKED_H
#define SKI_PUP_CHECKED_H

#include "objects/model/pup_state.h"

/** Compares @p field with the fields that were measured or packed, before its data are processed.
 *  Packing writes its record and reserves room for its data; unpacking reads its record. */
void ski_pup_check(skua_pup *p, const struct ski_pup_field *field);

/** Reads the next record of checked data into @p field without consuming it.  Returns false if the
 *  data end here. */
bool ski_pup_read_record(const skua_pup *p, struct ski_pup_field *field);

/** Ends the job: @p now is processed where @p before was measured or packed; NULL stands for the
 *  end of the fields. */
SKI_COLD _Noreturn void ski_pup_differs(const skua_pup *p, const struct ski_pup_field *now,
                                        const struct ski_pup_field *before);

#endif
