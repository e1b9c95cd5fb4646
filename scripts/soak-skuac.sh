#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Runs skuac on many inputs that a fuzzer derives from the test files, under AddressSanitizer and
# UBSan (translator/fuzz.c), and prints the result:
#
#   INPUTS=10000000 SEED=1 JOBS=2 scripts/soak-skuac.sh
#
# INPUTS   the number of inputs, divided among JOBS processes
# SEED     the seed of the random numbers (default: the time); it is printed, to repeat a run
# KEEP     a folder for the inputs that reached new code (default: none is kept)
#
# The exit code is 0 if no error was found, and 1 if an input caused one; that input is then in
# build/fuzz/found.
set -eu
cd "$(dirname "$0")/.."

inputs=${INPUTS:-10000000}
seed=${SEED:-$(date +%s)}
jobs=${JOBS:-$(nproc 2>/dev/null || echo 2)}
build=build/fuzz

if ! command -v clang >/dev/null; then
  echo "soak-skuac: clang, whose libFuzzer generates the inputs, is not installed: nothing was tested" >&2
  exit 1
fi
cmake -S . -B $build -DCMAKE_C_COMPILER=clang -DSKUA_FUZZ=ON >/dev/null
cmake --build $build --target skuac-fuzz --parallel "$jobs" >/dev/null

# The tests, which replay inputs that were found, check for leaks: here that would take most of the
# time, as would libFuzzer's own statistics (-entropic).
export ASAN_OPTIONS=detect_leaks=0:quarantine_size_mb=8:malloc_context_size=4

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
pids=
trap 'kill $pids 2>/dev/null; exit 1' INT TERM
mkdir -p $build/found "$work/new"
echo "soak-skuac: $inputs inputs in $jobs processes, SEED=$seed"
begin=$(date +%s)
job=0
while [ $job -lt "$jobs" ]; do
  $build/translator/skuac-fuzz -runs=$((inputs / jobs)) -seed=$((seed + job)) -max_len=4096 \
    -timeout=20 -entropic=0 -detect_leaks=0 -print_final_stats=1 -dict=translator/fuzz.dict \
    -artifact_prefix=$build/found/ "$work/new" tests/skuac tests/interface >"$work/log-$job" 2>&1 &
  pids="$pids $!"
  job=$((job + 1))
done
failed=
for pid in $pids; do
  wait "$pid" || failed=1
done
seconds=$(($(date +%s) - begin))
if [ -n "${KEEP:-}" ]; then
  mkdir -p "$KEEP"
  $build/translator/skuac-fuzz -merge=1 "$KEEP" "$work/new" >/dev/null 2>&1
fi
if [ -n "$failed" ]; then
  tail -n 40 "$work"/log-* >&2
  echo "soak-skuac: failed after $seconds s; the input lies in $build/found" >&2
  echo "to reproduce: $build/translator/skuac-fuzz $build/found/FILE" >&2
  exit 1
fi
tried=$(cat "$work"/log-* | awk '/stat::number_of_executed_units/ { sum += $2 } END { print sum + 0 }')
echo "soak-skuac: $tried inputs in $seconds s: skuac reported errors or wrote C for each"
