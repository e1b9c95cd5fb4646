#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# netns-agent - the remote shell between the two network namespaces of
# `skua bench network --namespaces', which says where they are.
#
# usage: netns-agent HOST COMMAND...
case $1 in
  *.1) holder=$SKUA_BENCH_HOLDER_A ;;
  *)   holder=$SKUA_BENCH_HOLDER_B ;;
esac
shift
exec nsenter -t "$holder" -n -u sh -c "$*"
