/* SPDX-License-Identifier: Apache-2.0 */
/* pe_data.h - the life of what skua_pe_data and skua_process_data lead to. */
#ifndef SKI_PE_DATA_H
#define SKI_PE_DATA_H

/** Bytes before the first key; they stay zero. */
#define SKI_DATA_BEGIN 512

/** End registration and make the process's block; undo it at the end. */
void ski_data_open(void);
void ski_data_close(void);

/** The block of one PE, zeroed, for free(). */
void *ski_data_of_pe(void);

#endif
