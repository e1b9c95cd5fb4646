#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# netns-agent - the remote shell between the two network namespaces of
# `skua bench network --namespaces', which sets NETNS_HOLDER_A and NETNS_HOLDER_B.
#
# usage: netns-agent [-x] HOST COMMAND...      (-x: as MPICH passes to ssh)
[ "$1" = -x ] && shift
case $1 in
  *.1) holder=$NETNS_HOLDER_A ;;
  *)   holder=$NETNS_HOLDER_B ;;
esac
shift
exec nsenter -t "$holder" -n -u -m sh -c "$*"
