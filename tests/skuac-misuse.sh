#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# skuac-misuse.sh - programs that misuse generated code end with an error that names the misuse;
# programs that only look wrong succeed.
#
# usage: skuac-misuse.sh SKUAC CC SKUARUN LIBRARIES INCLUDE...
skuac=$1
cc=$2
skuarun=$3
libraries=$4
shift 4
. "$(dirname "$0")/tap.sh"
export SKUA_PIN=none

includes=
for folder in "$@"; do
  includes="$includes -I$folder"
done

cat >"$work/odd.h" <<'END'
struct odd {
    int when, wrong;
};
END

# Runs a program whose main chare executes $1.
try()
{
  sed "s|@do@|$1|" >"$work/wrong.ci" <<'END'
mainmodule wrong {
    include <stdio.h>;

    message Note { int x; };

    code { static Note *kept; }

    mainchare Main {
        state { int after; }
        entry Main() {
            serial { @do@ self->after++; }
            when again() serial { skua_exit(0); }
        }
        entry void again();
        entry void array(int n, double x[n]) { serial { } }
        entry void wrong() { serial { helper(self); } }
        entry [threaded] void slow();
        entry [reductiontarget] void total(double heat);
        entry [reductiontarget] void list(int n, double heat[n]);
        entry void hold(Note *note);
        entry void free_it() { when hold(Note *note) serial { Note_free(note); } }
        entry void keep_it() {
            when hold(Note *note) serial { kept = note; }
            serial { Note_free(kept); }
        }
        entry void keep_rightly() {
            when hold(Note *note) serial { kept = note; note = NULL; }
            serial { Note_free(kept); skua_exit(0); }
        }
        entry void pass_twice() { when hold(Note *note) forall [i] (0 : 1) sink(note); }
        entry void sink(Note *note) { serial { (void)note; } }
        entry void text(string s) { serial { printf("%s\n", s ? s : "nothing"); skua_exit(0); } }
    };

    group Table {
        state { int sum; }
        entry [aggregate] void add(int x);
    };

    chare Square {
        state {}
        entry [sync] int square(int x);
    };

    code {
        static void helper(Main *self) {
            Main_array(Main_self(self), -2, NULL); /* not the last act: it stays on the stack */
            self->after++;
        }
        void Main_on_slow(Main *self) {
            helper(self);
            self->after++;
        }
        void Main_on_total(Main *self, double heat) { (void)self, (void)heat; }
        void Main_on_list(Main *self, int n, const double *heat) { (void)self, (void)n, (void)heat; }
        void Table_on_add(Table *self, int x) { self->sum += x; }
        int Square_on_square(Square *self, int x) { (void)self; return x * x; }
    }

    include "odd.h";

    struct odd;

    chare Taker {
        state {}
        entry void take(odd o) { serial { (void)o; skua_exit(0); } }
    };

    code {
        /* Processes a field less when it is called to measure (when: 0), pack (1) or unpack (2). */
        void odd_pup(skua_pup *p, odd *it)
        {
            int when = skua_pup_sizing(p) ? 0 : skua_pup_packing(p) ? 1 : 2;

            skua_pup_value(p, &it->when);
            if (when != it->when)
                skua_pup_value(p, &it->wrong);
        }
        void odd_free(odd *it) { (void)it; }
        static void take_odd(int when, int wrong)
        {
            odd it = {when, wrong};

            Taker_take(Taker_new(), &it);
        }
    }
}
END
  run "$skuac" -o "$work" "$work/wrong.ci"
  ok "$1: translates" test "$code" = 0
  run "$cc" -std=gnu17 -g -O2 $includes -o "$work/wrong" "$work/wrong.ci.c" -L"$libraries" -lskua \
    -Wl,-rpath,"$libraries"
  ok "$1: compiles" test "$code" = 0
  run timeout 20 "$skuarun" -n 2 "$work/wrong"
}

# Runs such a program, which must end with the error $2.
refused()
{
  try "$1"
  ok "$1: ends the job" test "$code" = 134
  ok "$1: names the misuse" has "$err" "aborted: $2"
}

refused 'Main_array(Main_self(self), -1, NULL);' "Main.array: the length of argument .x' is -1"
refused 'Square_square(Square_new(), 3);' 'Square.square waits for a result before the program has started'
refused 'Table_new(); Table_new();' 'skua_stream_bind: stream "Table.add" is bound on this PE already'

refused 'Taker_take(Taker_new(), NULL);' "Taker.take: argument .o' is NULL on PE 0"
refused 'take_odd(1, 0);' "pup of argument .o' of Taker.take packs 4 bytes less than it measured"
refused 'take_odd(0, 1);' "pup of argument .o' of Taker.take: packing goes beyond what was possible, at .it->wrong'"
refused 'take_odd(2, 0);' "pup of argument .o' of Taker.take unpacks 4 bytes less than were packed"

# A backtrace shows the callers, including inlined ones, at lines of the interface file.
shows()
{
  does=$1
  export SKUA_BACKTRACE=1
  try "$does"
  unset SKUA_BACKTRACE
  shift
  for line in "$@"; do
    ok "$does: the backtrace shows $line" has "$err" "(in|called from) $line"
  done
}
if command -v addr2line >/dev/null; then
  shows 'Main_array(Main_self(self), -1, NULL);' 'Main__create_serial_1 at wrong\.ci:11'
  shows 'Main_wrong(Main_self(self));' 'helper at wrong\.ci:47' 'Main__wrong_serial_1 at wrong\.ci:16'
  shows 'Main_slow(Main_self(self));' 'helper at wrong\.ci:47' 'Main_on_slow at wrong\.ci:51'
fi
refused 'skua_complete(Main_total_done(Main_self(self)), "four", 4);' \
  'Main.total takes .double heat., 8 bytes, but the result of the reduction on PE 0 has 4 bytes; do the contributions'
refused 'skua_complete(Main_list_done(Main_self(self)), "four", 4);' \
  'Main.list takes .int n, const double .heat., a multiple of 8 bytes, but the result'

refused 'Main_pass_twice(Main_self(self)); Main_hold(Main_self(self), Note_new());' \
  'Main.sink is called with a message that is NULL: it has been passed on or kept'

export SKUA_CHECKED_MESSAGES=1
refused 'Main_free_it(Main_self(self)); Main_hold(Main_self(self), Note_new());' \
  'the end of its .when.: a message of handler Main::hold was freed by skua_msg_free on PE 0, in .* before; set it to NULL'
refused 'Main_keep_it(Main_self(self)); Main_hold(Main_self(self), Note_new());' \
  'skua_msg_free: a message of handler Main::hold was freed by the end of its .when. on PE 0 before; set it to NULL'
try 'Main_keep_rightly(Main_self(self)); Main_hold(Main_self(self), Note_new());'
ok "a message of a when may be kept" test "$code$err" = 0
unset SKUA_CHECKED_MESSAGES

try 'Main_text(Main_self(self), NULL);'
ok "a string may be NULL" test "$code $out" = '0 nothing'
try 'Main_array(Main_self(self), 0, NULL); Main_again(Main_self(self));'
ok "an array may be empty" test "$code" = 0
try 'take_odd(9, 3);'
ok "a packed struct arrives" test "$code" = 0

tap_end
