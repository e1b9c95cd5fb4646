# SPDX-License-Identifier: Apache-2.0
#
# list.awk - with parse.awk: prints a line for each public name: kind, name, header.
function emit(    i, m)
{
    for (i = 1; i <= items; i++) {
        print kind[i], name[i], header_name[of_header[i]], doc[i] == "" ? "undocumented" : ""
        if (code[i] ~ /^(typedef )?enum/)
            for (m = 1; m <= members[i]; m++)
                print "value", member_name[i, m], header_name[of_header[i]]
    }
}
