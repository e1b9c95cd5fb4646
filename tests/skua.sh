#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# skua.sh - the tool skua: help, info and invalid arguments.
#
# usage: skua.sh SKUA
. "$(dirname "$0")/tap.sh"
skua=$1

run "$skua" --help
ok "--help" has "$code $out" '^0 usage: skua'
run "$skua" --version
ok "--version" has "$code $out" '^0 skua [0-9]'
run "$skua"
ok "no command" has "$code $err" '^2 usage'
run "$skua" frobnicate
ok "an unknown command" has "$code $err" "^2 skua: unknown command 'frobnicate'"
run "$skua" info
ok "info" has "$code $out" '^0 Skua [0-9]'
ok "info shows the zero-copy thresholds" has "$out" \
  '^zero copy   from [0-9]+ bytes inside a process .* [0-9]+ between processes \(measured\), [0-9]+ between hosts \(of an assumed round trip\)'
run env SKUA_ZCOPY_THRESHOLD_HOST=5000 "$skua" info
ok "or the setting" has "$out" '^zero copy   from 5000 .* 5000 between processes \(set\), [0-9]+ .*\(of an assumed round trip\)'
for command in --version info 'info --config' 'bench --help' 'checkpoint --help' 'resize --help' 'balance --help'; do
  run sh -c "'$skua' $command >/dev/full"
  ok "skua $command on a full disk fails" has "$code $err" '^1 skua: cannot write to standard output'
done
run sh -c "'$skua' info --config >&-"
ok "so does one whose output is closed" has "$code $err" '^1 skua: cannot write to standard output: Bad file'
run "$skua" info --config
ok "info --config lists settings" has "$out" '^SKUA_ARENA_SIZE=auto'
ok "with their units" has "$out" 'Takes a number of microseconds such as 50\.$'
ok "with their meaning" has "$out" '^    Address range of the arena'
run env SKUA_ARENA_SIZE=2g "$skua" info --config
ok "and the origin of a value" has "$out" '^SKUA_ARENA_SIZE=2g   .from the environment.'
run env SKUA_STAT=1 "$skua" info
ok "a misspelt setting is reported" has "$err" 'SKUA_STAT is not a setting; did you mean SKUA_STATS'
run env SKUA_FOO=1 "$skua" info
ok "a name like no setting gets no suggestion" has "$err" 'SKUA_FOO is not a setting and has no effect; skua info'
run "$skua" info --topology
ok "info --topology" has "$out" 'Core|CPUs'
run "$skua" info --memory
ok "info --memory" has "$code $out" '^0 PEs 1, processes 1, hosts 1: [1-9]'
ok "and names uses" has "$out" '^ +[0-9]+ KiB +[0-9.]+ %  inboxes$'
run "$skua" help info
ok "help of a command" has "$code $out" '^0 usage: skua info'
run "$skua" help frobnicate
ok "and of an unknown one" has "$code $err" "^2 skua: unknown command 'frobnicate'"
run "$skua" info --config --topology
ok "two options of info" has "$code $err" '^2 skua info: --topology: unexpected argument'
run "$skua" info --what
ok "an unknown option" has "$code $err" '^2 skua info: unrecognized option'
run "$skua" info topology
ok "an unexpected argument" has "$code $err" '^2 skua info: topology: unexpected argument'
run "$skua" bench nothing
ok "an unknown benchmark" has "$code $err" '^2 skua bench: nothing: no such benchmark'
run "$skua" bench --rounds=0
ok "no rounds" has "$code $err" '^2 .*expected 1 to 100'
run "$skua" bench --rounds=3x
ok "a number of rounds that is none" has "$code $err" '^2 .*expected 1 to 100'
run env SKUA_JOB=3,4,5,-1,0 "$skua" bench messages
ok "as a process of a job" has "$code $err" '^2 skua bench: .*run it without skuarun'
run "$skua" bench messages onesided
ok "two benchmarks" has "$code $err" '^2 skua bench: onesided: unexpected argument'
run "$skua" bench collectives --pes=1
ok "too few PEs" has "$code $err" '^2 .*benchmark needs 2 PEs'
run "$skua" bench stencil3d --pes=0
ok "no PEs" has "$code $err" '^2 .*expected 1 to 1024 PEs'
run "$skua" bench channels --pes=2,5
ok "an odd number of PEs where pairs are measured" has "$code $err" '^2 .*--pes: this benchmark measures pairs of PEs: expected even numbers'
run "$skua" bench collectives --pes=2,x
ok "a list of PEs with a word in it" has "$code $err" '^2 .*expected 1 to 1024 PEs'
run "$skua" bench pairs --weak
ok "an application whose problem does not grow" has "$code $err" '^2 .*--weak: this benchmark has a fixed problem'
run "$skua" bench fft1d --size=21
ok "a size that a problem cannot have" has "$code $err" '^2 .*expected 10 to 30, an even number, for fft1d'
run "$skua" bench scaling --only=paircalculator-weak
ok "a problem that does not grow" has "$code $err" '^2 .*paircalculator-weak: this benchmark has no such part'
run "$skua" bench scaling --only=nothing
ok "a part that does not exist" has "$code $err" '^2 .*nothing: this benchmark has no such part'
run "$skua" bench --format=xml
ok "an unknown format" has "$code $err" '^2 .*expected table, json or csv'
run "$skua" bench --output=/no/such/folder
ok "a directory that does not exist" has "$code $err" '^2 .*not a writable directory'
run "$skua" bench --output="$skua"
ok "a file instead of a directory" has "$code $err" '^2 .*not a writable directory'
printf '{"bench":"m","series":"a","bytes":8,"metric":"put_us","value":%s}\n' 2 >"$work/old.json"
printf '{"bench":"m","series":"a","bytes":8,"metric":"put_us","value":%s}\n' 2.2 >"$work/new.json"
run "$skua" bench --compare "$work/old.json" "$work/new.json"
ok "two runs are compared" has "$code $out" '^m +a +8 +put_us +2 +2.2 +1.100  worse$'
run "$skua" bench --compare --threshold=20 "$work/old.json" "$work/new.json"
ok "a change below the threshold" has "$code $out" ' 2.2 +1.100$'
echo '{"bench":"m","series":"a"' >>"$work/new.json"
run "$skua" bench --compare "$work/old.json" "$work/new.json"
ok "a file that is cut off" has "$code $err" '^1 skua bench: .*/new.json: line 2, column 14: not a result'
run "$skua" bench --compare "$work/old.json" "$work/none.json"
ok "a file that does not exist" has "$code $err" '^1 skua bench: .*/none.json: No such file'
run "$skua" bench --compare "$work" "$work/old.json"
ok "a directory" has "$code $err" '^1 skua bench: .*: Is a directory'
run "$skua" bench --compare "$work/old.json"
ok "one file" has "$code $err" '^2 skua bench: --compare: expected two files'
run "$skua" bench --compare --rounds=1 "$work/old.json" "$work/old.json"
ok "an option of measurements" has "$code $err" '^2 .*it measures nothing'
run "$skua" bench --compare --threshold=-1 "$work/old.json" "$work/old.json"
ok "a threshold below 0" has "$code $err" '^2 .*--threshold: expected 0 to'
run "$skua" bench --threshold=5
ok "a threshold without files" has "$code $err" '^2 .*--threshold: needs --compare'
# Peers are bound to cores in the order of the machine, as PEs are.  A launcher that prints its
# command line replaces that of Open MPI.
case $("$skua" info --topology) in *Core*)
  mkdir "$work/bin"
  cp "$skua" "$work/bin/skua"
  printf '#!/bin/sh\necho "$@" >>%s/called\n' "$work" >"$work/bin/mpirun.openmpi"
  for name in bench-armci-openmpi skuarun; do printf '#!/bin/sh\n' >"$work/bin/$name"; done
  chmod +x "$work"/bin/*
  for cores in 1 4; do
    run env PATH="$work/bin:$PATH" HWLOC_SYNTHETIC="core:$cores pu:2" "$work/bin/skua" bench armci --rounds=1 --output="$work"
  done
  ok "two processes of a peer on one core are not bound" has "$(head -1 "$work/called")" ' --bind-to none -n 2 .*/bench-armci-openmpi '
  ok "on four cores they are bound to the first ones" has "$(tail -1 "$work/called")" \
    ' --map-by core --bind-to core -n 2 .*/bench-armci-openmpi '
  run env PATH="$work/bin:$PATH" HWLOC_SYNTHETIC="core:4 pu:2" "$work/bin/skua" bench armci --pes=4 --rounds=1 --output="$work"
  ok "pairs of more processes, too" has "$(tail -1 "$work/called")" ' --bind-to core -n 4 .*/bench-armci-openmpi '
esac
# A launcher that prints its command line and a result replaces skuarun.
mkdir -p "$work/grow"
cp "$skua" "$work/grow/skua"
cat >"$work/grow/skuarun" <<END
#!/bin/sh
echo "\$*" >>$work/grown
printf '{"bench":"fft1d","series":"skua","bytes":%s,"metric":"rate-%spe","value":%se9}\n' \
  \$((16 * (\$2 == 1 ? 1 << 20 : 1 << 22))) \$2 \$((\$2 == 1 ? 2 : 6))
case \$* in *bench-channels*)
  printf '{"bench":"channels","series":"channel","bytes":8,"metric":"roundtrip_us","value":%s}\n' \$2
esac
END
apps="barneshut fft1d fillboundary fmm gtcshift leanmd lu matmul3d pairs randomaccess stencil3d"
for name in $apps bench-channels bench-checkpoint bench-mixed bench-scaling bench-zerocopy; do printf '#!/bin/sh\n' >"$work/grow/$name"; done
for app in $apps; do printf '#!/bin/sh\n' >"$work/grow/bench-${app}_limit"; done
chmod +x "$work"/grow/*
run env PATH="$work/grow:$PATH" SKUA_DRIVER=ucx "$work/grow/skua" bench zerocopy --rounds=2 --output="$work"
ok "a setting that rows replace is named once" test "$(printf '%s\n' "$err" | grep -c 'set SKUA_DRIVER themselves')" = 1
run env PATH="$work/grow:$PATH" SKUA_DRIVER=ucx "$work/grow/skua" bench fft1d --weak --pes=1,4 --rounds=1 --output="$work"
ok "--weak grows the problem with the PEs" has "$(cat "$work/grown")" '^-n 4 -t 1 .*/fft1d --log2=22 '
ok "it replaces no setting" sh -c '! echo "$1" | grep themselves' sh "$err"
ok "and its limit" has "$(cat "$work/grown")" '^-n 4 .*/bench-fft1d_limit limit 22$'
ok "with its efficiency" has "$out" '^ +4 .* 6.00 +0.750 '
ok "in files of their own" grep -q '^fft1d,skua,67108864,efficiency-4pe,0.75$' "$work/bench-fft1d-weak.csv"
: >"$work/grown"
run env PATH="$work/grow:$PATH" "$work/grow/skua" bench scaling --only=fft1d --pes=1,4 --rounds=1 --output="$work"
ok "scaling measures both problems" has "$(cat "$work/grown")" '^-n 4 .*--log2=20 '
ok "and both efficiencies" has "$(cat "$work/bench-scaling.csv")" '^scaling,skua,8,eff-fft1d-weak-4pe,0.75$'
: >"$work/grown"
run env PATH="$work/grow:$PATH" "$work/grow/skua" bench scaling --only=apps --pes=2 --rounds=1 --output="$work"
for app in $apps; do
  ok "scaling measures PEs of $app as processes" has "$(cat "$work/grown")" "^-n 2 (-t 1 )?.*/$app .*--series=skua( |$)"
  ok "and as threads" has "$(cat "$work/grown")" "^-n 2 -t 2 .*/$app .*--series=skua-threads( |$)"
  [ "$app" = lu ] || # it measures matrix products itself
    ok "and its limit" has "$(cat "$work/grown")" "^-n 2 .*/bench-${app}_limit limit [0-9]"
done
ok "it chooses the size of a problem" has "$(cat "$work/grown")" '^-n 2 .*/bench-fmm_limit limit 100000,3,100000$'
ok "and of one that grows" has "$(cat "$work/grown")" '^-n 2 .*/bench-fmm_limit limit 100000,3,200000$'
ok "problems that cannot grow are measured once" \
  test "$(grep -c '^-n 2 .*/pairs .*--series=skua$' "$work/grown")" = 1
: >"$work/grown"
run env PATH="$work/grow:$PATH" "$work/grow/skua" bench objects --pes=4 --rounds=1 --output="$work"
ok "a benchmark of two PEs measures its kernels on others" has "$(cat "$work/grown")" '^-n 4 -t 1 .*/bench-scaling skua entries,tasks$'
ok "in files of its own" test -s "$work/bench-objects-pes.csv" -a ! -e "$work/bench-objects.csv"
: >"$work/grown"
run env PATH="$work/grow:$PATH" "$work/grow/skua" bench channels --pes=2,4 --rounds=1 --output="$work"
ok "pairs of PEs are measured within a host" has "$(cat "$work/grown")" '^-n 4 -t 4 --pin=(auto|[0-9,]+) .*/bench-channels$'
ok "and half of them on each of two" has "$(cat "$work/grown")" '^-n 4 -t 2 .*-s shared_memory=0 .*/bench-channels 100000 8$'
ok "with a table for each number" has "$out" '^4 PEs: 2 pairs '
ok "of what was measured" sh -c 'printf "%s\n" "$1" | sed "1,/^4 PEs/d" | grep -qE "^ +8 +4.00$"' sh "$out"
ok "and metrics that name the number" sh -c 'grep -qxF "channels,channel,8,roundtrip_us,2" "$1" &&
  grep -qxF "channels,channel,8,roundtrip_us-4pe,4" "$1"' sh "$work/bench-channels.csv"
ok "and a plot" grep -q '>4 PEs: Round trip' "$work/bench-channels.svg"
: >"$work/grown"
run env PATH="$work/grow:$PATH" HWLOC_SYNTHETIC="core:4 pu:1" "$work/grow/skua" bench mixed --pes=4 --rounds=1 --output="$work"
ok "a host of more PEs alone" has "$(cat "$work/grown")" '^-n 4 -t 4 --pin=[0-9,]* .*/bench-mixed alone$'
ok "and beside another one" has "$(cat "$work/grown")" '^-n 8 -t 4 --pin=[0-9,]* .*/bench-mixed busy busy$'
: >"$work/grown"
run env PATH="$work/grow:$PATH" TMPDIR="$work" "$work/grow/skua" bench checkpoint --pes=2,4 --rounds=1 --output="$work"
ok "more PEs make a checkpoint" has "$(cat "$work/grown")" '^-n 4 .*/bench-checkpoint disk .*/checkpoints 256$'
ok "in a table of their own" has "$out" '^Checkpoints of 256 MB on 4 PEs$'
ok "where each value has its number of PEs" grep -q '^checkpoint,dd,1048576,write_gbs-4pe,' "$work/bench-checkpoint.csv"
: >"$work/grown"
run env PATH="$work/grow:$PATH" HWLOC_SYNTHETIC="core:4 pu:1" "$work/grow/skua" bench balance --pes=4,5 --rounds=1 --output="$work"
ok "balance measures applications on the given numbers of PEs" has "$(cat "$work/grown")" '^-n 5 .*/leanmd --size=4,4,4 '
ok "which refer to one PE" has "$(cat "$work/grown")" '^-n 1 .*/leanmd --size=4,4,4 '
case $("$skua" info --topology) in *Core*)
  ok "and a droplet" has "$(cat "$work/grown")" '^-n 4 .*--set=balance=refine .*/leanmd --size=6,6,6 --droplet '
  ok "where each has a core" sh -c '! echo "$1" | grep "^-n 5 .*--droplet" && echo "$2" | grep -q "^ 5 PEs: skipped, this host has 4 cores"' sh "$(cat "$work/grown")" "$out"
esac
# Every benchmark has a meaning for other numbers of PEs.
refused=''
for name in $("$skua" bench --help | sed -n '/^Benchmarks:/,$s/^  \([a-z0-9][a-z0-9]*\)  .*/\1/p'); do
  run env PATH="$work/grow:$PATH" TMPDIR="$work" "$work/grow/skua" bench "$name" --pes=4 --rounds=1 --output="$work"
  [ "$code" != 2 ] || refused="$refused $name"
done
ok "all benchmarks accept --pes: ${refused:-all}" test -z "$refused"
# The second run of this launcher interrupts the benchmark and does not end by itself.
cat >"$work/grow/skuarun" <<END
#!/bin/sh
test -e $work/first && kill -INT \$PPID && exec sleep 60
touch $work/first
printf '{"bench":"fft1d","series":"skua","bytes":16777216,"metric":"rate-1pe","value":2e9}\n'
END
run env PATH="$work/grow:$PATH" "$work/grow/skua" bench fft1d --pes=1,4 --rounds=1 --output="$work"
ok "an interrupted benchmark says so" has "$code $err" 'interrupted; the tables'
ok "and prints what it measured before" has "$out" '^ +1 +2.00 '
run "$skua" resize 0
ok "no PEs to resize to" has "$code $err" '^2 skua resize: 0: expected a number of PEs from 1'
run "$skua" resize
ok "no number of PEs" has "$code $err" '^2 skua resize: expected a number of PEs'
run "$skua" tour --frobnicate
ok "tour: an unknown option is named" has "$code $err" '^2 skua tour: --frobnicate: unexpected argument'
run "$skua" tour --help
ok "tour --help" has "$code $out" '^0 usage: skua tour'
tap_end
