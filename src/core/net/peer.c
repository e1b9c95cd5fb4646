/* SPDX-License-Identifier: Apache-2.0 */
/* peer.c - see peer.h. */
#include "core/net/peer.h"

#include <stdlib.h>

#include "base/memory.h"
#include "core/net/shutdown.h"
#include "core/net/packet.h"

static void insert(struct ski_far *far, struct ski_contact *contact)
{
    uint32_t slot = ski_contact_slot(far, contact->pe);

    while (far->table[slot])
        slot = (slot + 1) & (far->room - 1);
    far->table[slot] = contact;
}

static void grow(struct ski_far *far)
{
    struct ski_contact **old = far->table;
    uint32_t             n   = far->room;

    far->room  = 2 * n;
    far->table = ski_calloc(far->room, sizeof *far->table);
    for (uint32_t i = 0; i < n; i++)
        if (old[i])
            insert(far, old[i]);
    free(old);
}

struct ski_contact *ski_contact_add(struct ski_far *far, int pe)
{
    const uint64_t     *secret  = far->self->job->secret;
    struct ski_contact *contact = ski_calloc(1, sizeof *contact);

    contact->pe        = pe;
    contact->token_out = ski_packet_token(secret, far->self->pe, pe);
    contact->token_in  = ski_packet_token(secret, pe, far->self->pe);
    ski_list_init(&contact->backlog);
    if (2 * ++far->count > far->room)
        grow(far);
    insert(far, contact);
    return contact;
}

void ski_contact_drop(struct ski_contact *contact)
{
    while (contact->early) {
        struct ski_ahead *gone = contact->early;
        contact->early         = gone->next;
        free(gone);
    }
    free(contact); /* what is in its backlog goes with the arena */
}

void ski_contact_lose(struct ski_far *far, struct ski_contact *contact, const char *why)
{
    if (contact->lost)
        return;
    contact->lost = true;
    ski_peer_lost(far->self, contact->pe, why);
}
