/* SPDX-License-Identifier: Apache-2.0 */
/*
 * address_exchange.h - what processes tell each other of their ports, before they can talk.
 *
 * Each puts a value (boot.h): who it is, then for each port the length of its address and
 * the address; a process with many PEs puts several, of as many ports as fit for certain.
 * Who wants to send to a PE gets that of its port, compares versions, programs and drivers,
 * and takes the address out.
 *
 *      | struct told | bytes, address | bytes, address | ...
 *
 * A second value has the names of the program's handlers, each with its zero, as far as they
 * fit: it is asked for where programs differ, to say in what.
 *
 * The ports of a process are those of its PEs, then of its helper, then of its guest.
 */
#ifndef SKI_ADDRESS_EXCHANGE_H
#define SKI_ADDRESS_EXCHANGE_H

#include "boot/boot.h"
#include "transport/driver.h"

/** The place of @p pe among the ports of its process. */
int ski_port_number(const struct ski_job *job, int pe);

/** Tell the others the addresses of @p count ports.  A failure has been logged. */
skua_status_t ski_ports_tell(const struct ski_boot *boot, const struct ski_driver *driver,
                             struct ski_port *const port[], int count);

/** Find the address of the port of @p pe, at most SKI_ADDRESS_MOST bytes; returns how many.
 *  Ends the job, with a line, where that cannot be, or the other is not like us. */
size_t ski_ports_find(const struct ski_boot *boot, const struct ski_driver *driver, int pe,
                      void *to);

#endif
