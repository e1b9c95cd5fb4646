/* SPDX-License-Identifier: Apache-2.0 */
/* skua.h - includes the whole public interface of Skua. */
#ifndef SKUA_H
#define SKUA_H

#include <skua/atomic.h>
#include <skua/balance.h>
#include <skua/buffer.h>
#include <skua/channel.h>
#include <skua/checkpoint.h>
#include <skua/collection.h>
#include <skua/collective.h>
#include <skua/completion.h>
#include <skua/detector.h>
#include <skua/error.h>
#include <skua/inplace.h>
#include <skua/layout.h>
#include <skua/message.h>
#include <skua/object.h>
#include <skua/object_channel.h>
#include <skua/onesided.h>
#include <skua/nocopy.h>
#include <skua/notify.h>
#include <skua/pe.h>
#include <skua/pup.h>
#include <skua/program.h>
#include <skua/quiescence.h>
#include <skua/region.h>
#include <skua/scheduler.h>
#include <skua/section.h>
#include <skua/status.h>
#include <skua/strategy.h>
#include <skua/stream.h>
#include <skua/team.h>
#include <skua/thread.h>
#include <skua/time.h>
#include <skua/topology.h>
#include <skua/version.h>

#endif
