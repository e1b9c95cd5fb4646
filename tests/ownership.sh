#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# ownership.sh - the use of a message that the caller does not own ends the job with a line that names the call,
# the handler, and the earlier call that took the ownership.
#
# usage: ownership.sh SKUARUN OWNERSHIP
skuarun=$1
. "$(dirname "$0")/tap.sh"
name_program "$2"
export SKUA_PIN=none SKUA_CHECKED_MESSAGES=1
[ "${ASAN_OPTIONS:-}" ] || export ASAN_OPTIONS=detect_leaks=0

# misuse ACT LINE: on one PE, and on two with and without shared memory
misuse_on()
{
  run timeout 60 "$skuarun" -n $1 "$program" "$2"
  ok "$2, $1 PEs" has "$code $err" "^134 .*aborted: $3"
}
misuse()
{
  for pes in 1 2 "2 -s shared_memory=0" "2 -t 2"; do
    misuse_on "$pes" "$1" "$2"
  done
}

at()
{
  echo "on PE [01], in $1( at ownership.c:[0-9]+)?"
}
# A message that was sent to PE 0, whose handler may have freed it already.
given()
{
  echo "a message of handler take was (sent by skua_send|freed by skua_msg_free) $(at "($1|on_take)") before"
}
if [ "${SANITIZED:-}" ]; then
  at() { echo "on PE [01], in .*"; }
fi

misuse free-twice "skua_msg_free: a message was freed by skua_msg_free $(at free_twice) before"
misuse free-twice-large 'skua_msg_free: (a message was freed by skua_msg_free|0x.* is not a message)'
misuse free-twice-in-handler "skua_msg_free: a message of handler take was freed by skua_msg_free $(at on_take) before"
misuse send-twice "skua_send: $(given send_twice)"
misuse enqueue-twice "skua_enqueue: a message of handler take was sent by skua_enqueue $(at enqueue_twice) before; what was sent belongs to its receiver"
misuse send-freed "skua_send: a message was freed by skua_msg_free $(at send_freed) before"
misuse free-sent "skua_msg_free: $(given free_sent)"
misuse prioritize-sent "skua_msg_set_priority: a message of handler take was sent by skua_enqueue $(at prioritize_sent) before"
misuse change-sent "a message of handler take was changed after it was sent by skua_enqueue $(at change_sent)"
misuse free-broadcast "skua_msg_free: a message of handler take was sent by skua_broadcast $(at free_broadcast) before"
misuse free-invoked "skua_msg_free: a message of handler box::take was sent by skua_invoke $(at free_invoked) before"
misuse invoke-sent "skua_invoke: $(given invoke_sent)"
for pes in 2 "2 -s shared_memory=0" "2 -t 2"; do
  misuse_on "$pes" free-delivered "skua_msg_free: a message of handler keep was sent by skua_send $(at free_delivered) before"
done
misuse when-freed "the end of its .when.: a message was freed by skua_msg_free $(at when_freed) before; set it to NULL in the body"
misuse when-sent "the end of its .when.: $(given when_sent); set it to NULL"
misuse when-kept "skua_send: a message was freed by the end of its .when. on PE [01] before; set it to NULL in the body"
misuse free-data 'skua_msg_free: 0x.* is not a message, or something was written past the end of one'
if [ "${SANITIZED:-}" = "" ]; then # AddressSanitizer finds these by itself
  misuse write-freed "a message was written to after it was freed by skua_msg_free $(at write_freed)"
  misuse write-beyond 'skua_msg_free: 0x.* is not a message, or something was written past the end of one'
fi

for pes in 1 2 "2 -s shared_memory=0"; do
  run "$skuarun" -n $pes "$program" nothing
  ok "correct use, $pes PEs" test "$code$err" = 0
done
tap_end
