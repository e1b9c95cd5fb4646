/* SPDX-License-Identifier: Apache-2.0 */
/*
 * network_rails.h - the part of `skua bench network` that measures rails: messages of 1 to 16 MB on
 * one and on two connections, and on one and on two networks (SKUA_RAILS).
 *
 * Networks are pairs of virtual Ethernet devices between two network namespaces, which only root
 * can make.  As they are as fast as the CPUs copy, they are measured once more with a limited rate.
 */
#ifndef SKUA_NETWORK_RAILS_H
#define SKUA_NETWORK_RAILS_H

#include "network.h"

/** Measures rails over the path @p network with the driver tcp, and over namespaces of its own.
 * Closes @p network before these are made. */
void network_rails_run(struct network *network, struct results *results);

/** Prints the rates, and their ratios to one rail on the same path. */
void network_rails_print(const struct results *results);

#endif
