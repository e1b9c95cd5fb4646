/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inplace.h - in-place delivery (skua/inplace.h): sending to, and running, entries whose data is
 * copied to where the receiver wants it.
 *
 * A message carries its data, unless a learned channel (learned_channel.h) says where the receiver
 * expects it: then the sender copies the data there, and the message has none.
 */
#ifndef SKI_INPLACE_H
#define SKI_INPLACE_H

#include "objects/zerocopy/inplace_msg.h"

/** Returns whether @p msg, which has arrived from another PE with its element, is well-formed and
 * carries its data.  Clears the channel that it names. */
bool ski_inplace_accept(skua_msg *msg);

#endif
