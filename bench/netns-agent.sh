#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# netns-agent - the remote shell between the two network namespaces of
# `skua bench network --namespaces', which says where they are.
#
# usage: netns-agent [-x] HOST COMMAND...      (-x: as MPICH calls ssh)
[ "$1" = -x ] && shift
case $1 in
  *.1) holder=$NETNS_HOLDER_A ;;
  *)   holder=$NETNS_HOLDER_B ;;
esac
shift
exec nsenter -t "$holder" -n -u -m sh -c "$*"
