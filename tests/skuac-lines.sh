#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# skuac-lines.sh - compilers report errors in embedded C at lines of the interface file, and errors
# in other generated code at lines of the generated file.
#
# usage: skuac-lines.sh SKUAC CC INCLUDE...
skuac=$1
cc=$2
shift 2
. "$(dirname "$0")/tap.sh"

includes=
for folder in "$@"; do
  includes="$includes -I$folder"
done

# Compiles a file with WRONG, an undeclared name, at the position $1.
try()
{
  sed "s/@$1@/WRONG/; s/@\([a-z]*\)@/1/g" >"$work/wrong.ci" <<'END'
mainmodule wrong {
    code { static int helper(void) { return @code@; } }

    readonly int variable = @readonly@, table[@dimension@];
    message Tile { int row[@row@]; };
    struct pair { int both[
        @both@]; };

    mainchare Main {
        state {
            int n = @default@;
            double x[n + @length@];
            int fixed[2][@constant@ + 1];
        }

        entry Main() {
            int local = @local@;

            serial {
                (void)helper();

                local += @serial@;
            }
            if (@if@ > local)
                for (int i = @first@; i < @while@;
                     i += @step@)
                    when go[
                        @reference@](int k) serial { (void)k; }
            forall [j] (@from@ : 3)
                more(1, @argument@);
        }

        entry void more(int m, int p) {
            serial { (void)m; (void)p; }
        }

        entry void go(int k);
        entry void send(int n, int v[n + @size@]);
    };
}
END
  run "$skuac" -o "$work" "$work/wrong.ci"
  ok "$1: translates" test "$code" = 0
  run "$cc" -std=gnu17 -fsyntax-only $includes "$work/wrong.ci.c"
  line=$(grep -n WRONG "$work/wrong.ci" | cut -d: -f1)
  ok "$1: does not compile" test "$code" != 0
  ok "$1: names line $line" has "$err" "wrong\.ci:$line:.*WRONG"
  ok "$1: names no other line" test -z "$(echo "$err" | grep -o 'wrong\.ci:[0-9]*:[0-9]*: error' |
    grep -v ":$line:")"
}

for place in code readonly dimension row both default length constant local serial if first while step reference from argument size; do
  try $place
done

# Types that no included header declares, and missing files.  They end up in the generated header,
# where they cause further errors: only the first error counts.
believed()
{
  sed "s/@$1@/$2/; s/@include@//; s/@[a-z]*@/int/g" >"$work/believed.ci" <<'END'
mainmodule believed {
    include "believed.h";
    @include@
    readonly @readonly@ variable;
    struct point { int x; @struct@ y; };
    message Tile { int n; @message@ x[n]; };

    mainchare Main {
        state {
            int n;
            @state@ s;
        }

        entry Main() {
            @local@ i = 0;

            serial { (void)i; }
        }

        entry void value(int n, @value@ v);
        entry void array(int n, @array@ v[n]);
        entry [sync] @result@ ask();
        entry [local] @pointer@ *look();
    };
    array [@index@] Other { state {} };
}
END
  : >"$work/believed.h"
  run "$skuac" -o "$work" "$work/believed.ci"
  ok "$1: translates" test "$code" = 0
  run "$cc" -std=gnu17 -fsyntax-only -I"$work" $includes "$work/believed.ci.c"
  line=$(grep -n WRONG "$work/believed.ci" | cut -d: -f1)
  ok "$1: does not compile" test "$code" != 0
  ok "$1: the first error names line $line" has \
    "$(echo "$err" | grep -m 1 error)" "believed\.ci:$line:.*WRONG"
}
# The type of a reference number is not an integer.
printf '#include <stdio.h>\ntypedef struct { int a; } tag;\n' >"$work/tag.h"
cat >"$work/tag.ci" <<'END'
module tags {
    include "tag.h";
    chare Main {
        state {}
        entry void tagged(tag t);
        entry void run() {
            when tagged[1](t);
        }
    };
}
END
run "$skuac" -o "$work" "$work/tag.ci"
run "$cc" -std=gnu17 -fsyntax-only -I"$work" $includes "$work/tag.ci.c"
ok "a reference number that is a struct: does not compile" test "$code" != 0
ok "and names the line of the when" has "$err" "tag\.ci:7:.*error"

# Types with a larger alignment than the memory of objects, messages and frames.
printf '#include <stdio.h>\ntypedef double wide __attribute__((aligned(32)));\n' >"$work/wide.h"
cat >"$work/wide.ci" <<'END'
module wides {
    include "wide.h";
    readonly wide fine;
    readonly int n;
    message Tile { int n; wide third; };
    struct pair { wide fourth; };
    chare Main {
        state { transient wide fifth; transient wide *pointer; }
        entry void run(wide sixth) {
            wide seventh = 3;
            serial { (void)sixth; (void)seventh; }
        }
        entry [local] wide look();
    };
}
END
run "$skuac" -o "$work" "$work/wide.ci"
run "$cc" -std=gnu17 -fsyntax-only -I"$work" $includes "$work/wide.ci.c"
for line in "5:.*third" "6:.*fourth" "8:.*fifth" "10:.*seventh"; do
  ok "a wide type: $line" has "$err" "wide\.ci:$line.* has an alignment of more than 16 bytes"
done
ok "a wide argument" has "$err" "Main.run: argument .sixth.* has an alignment of more than 16 bytes"
ok "no others" test "$(echo "$err" | grep -c 'error: static')" = 5

for place in readonly struct message state local value array result pointer index; do
  believed $place WRONG
done
believed state 'struct WRONG'
believed include 'include "WRONG.h";'

# The header contains no line numbers: it does not change when a line is added to a body.
cp "$work/believed.ci.h" "$work/before.h"
sed 's/serial { (void)i; }/serial {\n (void)i; }/' "$work/believed.ci" >"$work/more.ci"
mv "$work/more.ci" "$work/believed.ci"
run "$skuac" -o "$work" "$work/believed.ci"
ok "an additional line does not change the header" cmp "$work/believed.ci.h" "$work/before.h"

# Arguments of the wrong type are errors, even where plain C only warns.
types()
{
  cat >"$work/types.ci" <<END
mainmodule types {
    mainchare Main {
        state {}
        entry Main() {
            serial { $1; }
        }
        entry void array(int n, double x[n]) { serial { } }
        entry void text(string s) { serial { } }
        entry void to(Other_proxy o) { serial { } }
    };
    chare Other { state {} };
}
END
  run "$skuac" -o "$work" "$work/types.ci"
  ok "$1: translates" test "$code" = 0
  run "$cc" -std=gnu17 -fsyntax-only $includes "$work/types.ci.c"
  ok "$1: $2" test "$code" "$3" 0
  [ "$3" = = ] || ok "$1: names its line" has "$err" 'types\.ci:5:.*error'
}
types 'Main_array(Main_self(self), 1, (double[]){1})' 'is right' =
types 'Main_array(Main_self(self), 1, (float[]){1})' 'is wrong' !=
types 'Main_array(Main_self(self), 1)' 'is wrong' !=
types 'Main_text(Main_self(self), 3)' 'is wrong' !=
types 'Main_to(Main_self(self), Main_self(self))' 'is wrong' !=

# The #line directives of generated code are correct.
run "$skuac" -o "$work" "$work/wrong.ci"
ok "lines of the generated file are right" awk '
  /^#line [0-9]+ "wrong\.ci\.c"/ { if ($2 != NR + 1) bad = 1; seen = 1 } END { exit bad || !seen }' \
  "$work/wrong.ci.c"

tap_end
