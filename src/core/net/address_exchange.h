/* SPDX-License-Identifier: Apache-2.0 */
/*
 * address_exchange.h - how processes learn the network addresses of each other's ports.
 *
 * A process puts a value (boot/boot.h): a header that says what it runs, then the address of each
 * of its ports after its length.  A process with many PEs puts several values, each with as many
 * ports as surely fit.
 *
 *      | struct exchange_header | bytes (4), address | bytes (4), address | ...
 *
 * The header also says whether the process has I/O threads: the algorithm of a reduction depends on
 * it, and all PEs must choose the same one.
 *
 * To send to a PE, a process gets the value that has the port of that PE, compares versions,
 * programs and drivers, and takes the address.  A second value has the names of the program's
 * handlers, as far as they fit; it is fetched only if the programs differ, for the error.
 *
 * The ports of a process are those of its PEs, then of its progress thread, then of its external
 * threads.
 */
#ifndef SKI_ADDRESS_EXCHANGE_H
#define SKI_ADDRESS_EXCHANGE_H

#include "boot/boot.h"
#include "transport/driver.h"

/** Returns the number of the port of @p pe among those of its process. */
int ski_exchange_port_number(const struct ski_job *job, int pe);

/** Publishes the addresses of @p count ports of this process, and whether it has I/O threads.  A
 *  failure has been logged. */
skua_status ski_exchange_publish(const struct ski_boot *boot, const struct ski_driver *driver,
                                 struct ski_port *const port[], int count, bool io_threads);

/** Writes the address of the port of @p pe, at most SKI_PORT_ADDRESS_MAX bytes, to @p to.  Returns
 * how many.  Ends the job if there is none, or if the other process runs another program, version
 * or driver. */
size_t ski_exchange_find(const struct ski_boot *boot, const struct ski_driver *driver, int pe,
                         void *to);

/** Returns whether the process of @p pe was started with I/O threads. */
bool ski_exchange_has_io_threads(const struct ski_boot *boot, const struct ski_driver *driver,
                                 int pe);

/** Drops the cached addresses of other processes, when the ports of this process are closed. */
void ski_exchange_forget(void);

#endif
