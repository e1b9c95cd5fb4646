#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# seeded.sh - runs a command with one seed for all its processes, so that the seed that a random test
# prints (tap_seed() of tap.h) is enough to repeat it: SEED=n in the environment.
#
# usage: seeded.sh COMMAND...
SEED=${SEED:-$(date +%s%N)}
export SEED
exec "$@"
