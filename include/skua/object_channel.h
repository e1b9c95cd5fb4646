/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object_channel.h - channels between objects, which migrate with them.
 *
 * A channel (channel.h) belongs to two PEs. An object channel belongs to two objects: it is a
 * one-way path from a buffer of one to a buffer of the other, wherever the two are. When one of
 * them migrates, the runtime completes the put that is in flight, moves the object, and establishes
 * the channel again at its new PE, with the buffer at its new address; both objects are notified.
 * Puts that are made meanwhile wait. Both objects may migrate at the same time, also between hosts.
 *
 *     receiver                                         sender
 *     channel = skua_object_channel_create(self, in, 3)
 *     ... sends `channel` in a message ...             skua_object_channel_open(self, receiver,
 *                                                                               channel, out, 5)
 *                                                      skua_object_channel_put(self, channel)
 *     in.arrived(self, 3): the buffer holds the data
 *     skua_object_channel_ready(self, channel)         skua_object_channel_put(self, channel)
 *
 * The functions of an end are registered once, before skua_main(), because functions have other
 * addresses in other processes: `buffer` returns where the data of an end are, and is called again
 * after each migration; `arrived` is called for each put. An object distinguishes its ends by a
 * *tag* that it gives to each.
 *
 * The rules of channels apply. At most one put is in flight on a channel: the sender puts again
 * when it has learnt, for example from a message or from a put in the other direction, that the
 * receiver has called skua_object_channel_ready(). A put is not ordered with messages.
 *
 * An object that is destroyed completes its puts and closes its ends; the other end is notified. A
 * collection is destroyed when no put to or from its objects is in flight. All functions are called
 * on the PE where the object is, in its entries or callbacks. Misuse ends the job with an error
 * that names the object: an end that it does not have, a put while another one waits, buffers of
 * different sizes.
 */
#ifndef SKUA_OBJECT_CHANNEL_H
#define SKUA_OBJECT_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <skua/api.h>
#include <skua/layout.h>
#include <skua/object.h>

SKUA_BEGIN_DECLS

/** A channel between two objects: a value that is valid on every PE and may be sent in messages. A
 *  zeroed value names no channel. */
typedef struct {
    uint64_t id;
} skua_object_channel;

/** A registered kind of end: a value that is the same in every process. A zeroed value is none. */
typedef struct {
    uint32_t id;
} skua_channel_end;

/** What an object does at an end of an object channel. The functions run inside the scheduler and
 *  may do what an entry of the object may do; each gets the object and the tag of the end. */
typedef struct {
    size_t      size; /* sizeof(skua_channel_end_def); 0: its size in version 1.0 */
    const char *name; /* appears in errors */

    /** Stores where the data of the end are now: called when the end is created or opened, and
     *  after each migration. The number of bytes must not change. */
    void (*buffer)(void *self, uint64_t tag, skua_layout *at);

    /** The data of a put have arrived in the buffer of a receiving end. */
    void (*arrived)(void *self, uint64_t tag);

    /** The put of a sending end for which skua_object_channel_put() returned false is locally
     *  complete: the buffer may change. NULL: the object need not know. */
    void (*sent)(void *self, uint64_t tag);

    /** The channel is established, for the first time or again after one of the two objects has
     *  migrated. NULL: the object need not know. */
    void (*established)(void *self, uint64_t tag);

    /** The other end has been closed, or its object destroyed: no further put arrives, and puts are
     *  dropped. The end remains to be closed. NULL: the object need not know. */
    void (*ended)(void *self, uint64_t tag);
} skua_channel_end_def;

/** Registers a kind of end, before skua_main(), under the rules of skua_handler_register(). @p def
 *  is copied; its name must stay valid for the life of the program. Returns the kind, for
 *  skua_object_channel_create() and skua_object_channel_open(). */
SKUA_API skua_channel_end skua_channel_end_register(const skua_channel_end_def *def);

/** Creates a channel whose receiver is the object @p self, ready for a first put. @p end has
 *  `buffer` and `arrived`, which get @p tag. Returns the value that names the channel. */
SKUA_API skua_object_channel skua_object_channel_create(void *self, skua_channel_end end,
                                                        uint64_t tag);

/** Opens a channel of the object @p receiver for sending from the object @p self. @p end has
 *  `buffer`, which gets @p tag, with as many bytes as that of the receiver. A channel is opened
 *  once. The object may put immediately; the channel is established in the background. */
SKUA_API void skua_object_channel_open(void *self, skua_ref receiver, skua_object_channel channel,
                                       skua_channel_end end, uint64_t tag);

/** Sends the contents of the buffer of a sending end. Returns true if the put is locally complete
 *  on return: the buffer may change. Otherwise `sent` of the end is called when it is: the data are
 *  sent from the buffer to another host, or wait in the buffer until the channel is established.
 *  The object may migrate meanwhile; a put that waits migrates with it. */
SKUA_API bool skua_object_channel_put(void *self, skua_object_channel channel);

/** Declares that the receiver has finished with the data: the buffer may be written again. Called
 *  once for each put, after `arrived`. */
SKUA_API void skua_object_channel_ready(void *self, skua_object_channel channel);

/** Returns the number of puts that have arrived at a receiving end, or that the object has made at
 *  a sending end. */
SKUA_API uint64_t skua_object_channel_count(void *self, skua_object_channel channel);

/** Closes the end of a channel that the object @p self has. No put may be in flight. The object at
 *  the other end is notified by `ended`. */
SKUA_API void skua_object_channel_close(void *self, skua_object_channel channel);

SKUA_END_DECLS

#endif
