/* SPDX-License-Identifier: Apache-2.0 */
/* pe_data.h - the memory behind skua_pe_data and skua_process_data. */
#ifndef SKI_PE_DATA_H
#define SKI_PE_DATA_H

/** Bytes before the first key, which stay zero. */
#define SKI_DATA_BEGIN 512

/** Ends registration and allocates the block of this process. */
void ski_data_open(void);

/** Frees the block of this process. */
void ski_data_close(void);

/** Accepts registrations again, after ski_data_close(). */
void ski_data_reset(void);

/** Allocates the block of one PE, zeroed, to be freed by free(). */
void *ski_data_of_pe(void);

#endif
