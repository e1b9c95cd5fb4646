#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# skua_balance.sh - skua balance: tables, pictures and refusals, on recorded and made loads.
#
# usage: skua_balance.sh SKUA COMPILER INCLUDE-FOLDER GENERATED-INCLUDE-FOLDER
. "$(dirname "$0")/tap.sh"
tests=$(cd "$(dirname "$0")" && pwd) || exit 1
skua=$1
recorded=$tests/loads/droplet.json

run "$skua" balance --help
ok "--help" has "$code $out" '^0 usage: skua balance'
run "$skua" balance --strategy=list
ok "the strategies are listed" has "$code $out" 'refine +moves few objects'
run "$skua" balance "$recorded"
ok "refine is the default" has "$out" '^refine +[0-9.]+ +[0-9.]+ +1\.0[0-9]+ '
ok "before it, the loads as recorded" has "$out" '^before +[0-9.]+ +[0-9.]+ +1\.[2-9][0-9]* +0 +0 '
run "$skua" balance --strategy=graph "$recorded"
graph= # its library may be missing
[ "$code" != 0 ] || graph=graph
run "$skua" balance --all "$recorded"
ok "--all" test "$code" = 0
for name in none rotate random greedy refine greedy-comm orb topology $graph hierarchical diffusion; do
  ok "has a row for $name" has "$out" "^$name +[0-9.]"
done

# A value of the JSON line of a strategy.
value()
{
  printf '%s\n' "$out" | sed -n "s/.*\"strategy\":\"$1\".*\"$2\":\([0-9.e+-]*\)[,}].*/\1/p"
}
below()
{
  awk -v a="$1" -v b="$2" 'BEGIN { exit !(a != "" && b != "" && a + 0 <= b + 0) }'
}
run "$skua" balance --all --json "$recorded"
ok "--json has a line for each" has "$out" '^\{"strategy":"refine","max":[0-9.e-]+,.*\}$'
for name in greedy refine greedy-comm orb topology $graph hierarchical diffusion; do
  ok "recorded loads: $name balances" below "$(value $name max_over_mean)" 1.12
done
ok "recorded loads: refine moves few" below "$(value refine moved)" 40
ok "recorded loads: greedy-comm has less traffic than greedy" below "$(value greedy-comm pe_bytes)" "$(value greedy pe_bytes)"

run "$skua" balance --make=varied --pes=12 --hosts=3 --objects=200 --seed=5
ok "--make" has "$code $out" '"format": "skua-loads"'
printf '%s\n' "$out" >"$work/made.json"
first=$out
run "$skua" balance --make=varied --pes=12 --hosts=3 --objects=200 --seed=5
ok "makes the same again" test "$out" = "$first"
cat "$work/made.json" "$work/made.json" >"$work/two.json"
run "$skua" balance --step=2 --pes=7 --seed=3 --svg="$work/two.svg" "$work/two.json"
ok "the second problem of a file, on other PEs" has "$code $out" '^0 7 PEs on 3 hosts, 200 objects'
ok "a picture" has "$(cat "$work/two.svg")" '^<svg xmlns='
ok "with all parts" test "$(grep -cE 'before: max|refine: max|mean [0-9.]+ s|>idle<|>background<' "$work/two.svg")" = 8
run "$skua" balance --strategy=diffusion --rounds=2 - <"$work/made.json"
ok "a local strategy is simulated" has "$out" '^diffusion .*\(a PE in 2 rounds\)'

printf '{"format": "skua-loads", "version": 1, "pes": [{}],\n "objects": [{"pe": 0, "load": -2}]}\n' >"$work/wrong.json"
run "$skua" balance "$work/wrong.json"
ok "a wrong field has its line and column" has "$code $err" '^1 skua balance: .*wrong.json: line 2, column 32: "load" is negative'
run "$skua" balance /no/such/file
ok "a file that does not exist" has "$code $err" '^1 skua balance: /no/such/file: No such file'
run "$skua" balance --step=3 "$work/two.json"
ok "a step that does not exist" has "$code $err" '^1 .*the file has 2 problems; there is no --step=3'
run "$skua" balance --strategy=best "$recorded"
ok "an unknown strategy" has "$code $err" "^2 skua balance: there is no strategy 'best'; there are none, rotate"
run env SKUA_DRIVER_PATH=/no/such/folder "$skua" balance --strategy=graph "$recorded"
ok "graph without its library" has "$code $err" '^2 .*needs skua-scotch.so.*libscotch-dev'
run "$skua" balance --make=lake
ok "an unknown kind" has "$code $err" '^2 .*--make=lake: expected random, droplet'
run "$skua" balance --pes=0 "$recorded"
ok "no PEs" has "$code $err" '^2 .*--pes=0: expected a number from 1'
run "$skua" balance --make=even --pes=2 --hosts=3
ok "more hosts than PEs" has "$code $err" '^2 .*--hosts=3: there are only 2 PEs'
run "$skua" balance --svg=/no/such/folder/a.svg "$recorded"
ok "a picture that cannot be written" has "$code $err" '^1 .*--svg=/no/such/folder/a.svg: '
run "$skua" balance "$recorded" "$recorded"
ok "two files" test "$code" = 2

# Strategies of users, as plug-ins.
plugin()
{
  printf '#include <skua/strategy.h>\nstatic skua_status decide(const skua_strategy_problem *p, int32_t *to)\n{ %s; return SKUA_OK; }\nconst skua_strategy skua_strategy_plugin = {.name = "%s", .about = "a test", .decide = decide};\n' \
    "$2" "$1" >"$work/$1.c"
  "$compiler" -shared -fPIC -I"$include" -I"$generated" -o "$work/$1.so" "$work/$1.c"
}
compiler=$2 include=$3 generated=$4 library=$(dirname "$skua")/../src
plugin to-the-last 'for (uint32_t i = 0; i < p->objects; i++) if (p->object[i].flags & SKUA_OBJECT_MOVABLE) to[i] = p->pes - 1'
plugin nonsense 'to[1] = p->pes + 5'
run "$skua" balance --plugin="$work/to-the-last.so" --strategy=to-the-last "$recorded"
ok "a plug-in decides: all objects are on one PE" has "$code $out" '^to-the-last .* 840 +[0-9]+k +0 +0 '
run sh -c 'cd "$1" && exec "$2" balance --plugin=to-the-last.so --strategy=to-the-last "$3"' sh \
  "$work" "$(realpath "$skua")" "$(realpath "$recorded")"
ok "a plug-in in the working directory, without a slash" has "$code $out" '^to-the-last '
run "$skua" balance --plugin="$work/nonsense.so" --strategy=nonsense "$recorded"
ok "its nonsense is refused" has "$code $err" '^1 .*the strategy nonsense moves object 1 to PE 13, but the PEs are 0 to 7'
if [ -e "$library/libskua.so" ] && [ -z "${ASAN_OPTIONS:-}${TSAN_OPTIONS:-}" ]; then
  "$compiler" -shared -fPIC -I"$include" -I"$generated" -o "$work/linked.so" "$work/to-the-last.c" \
    -Wl,--no-as-needed -L"$library" -lskua -Wl,-rpath,"$library"
  run "$skua" balance --plugin="$work/linked.so" --strategy=to-the-last "$recorded"
  ok "a plug-in that is linked with the library, which is loaded then" has "$code $out" '^to-the-last '
fi
run "$skua" balance --plugin="$work/none.so" "$recorded"
ok "a plug-in that does not exist" has "$code $err" '^1 .*--plugin='
tap_end
