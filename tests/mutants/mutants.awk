# mutants.awk: reads lists of mutants (*.mutants): broken implementations, each the real one with one small change in its
# source.
#
#   awk -f mutants.awk LIST...
#       a line for each mutant: name, of, verify, units, changed files and why, with tabs between
#   awk -f mutants.awk -v wanted=NAME -v file=FILE LIST SOURCE
#       the text of SOURCE, which is FILE, with the changes that mutant NAME makes in it
#
# A list is a text of entries like this one; `#` in the first column begins a comment:
#
#   mutant naive.fwd.last_tap
#   why    the last column of the kernel is left out
#   of     cpu:naive
#   verify --op conv --dir FWD
#   unit   impl_cpu/conv_naive.c
#   in     impl_cpu/conv_naive.inc
#    for (int64_t i = 0; i < d->kh; i++)
#   -    for (int64_t j = 0; j < d->kw; j++) {
#   +    for (int64_t j = 0; j < d->kw - 1; j++) {
#
# `unit` names a source file that is compiled anew (repeated for more), `in` the file that is changed (repeated for more
# changes), followed by the change as a unified diff has it: lines to be found (' ' kept, '-' taken out) and lines put in
# ('+'). `verify` says what of `benchcnn verify` must notice it. What an entry leaves out of `of`, `verify`, `unit` and `in`
# is as in the entry before it. White space does not count when lines are compared, so that a formatter does not part a
# mutant from its source. What is found must be there exactly once: a mutant that silently is the original would prove nothing.

function stop(text) {
    print "mutants: " text > "/dev/stderr"
    failed = 1
    exit 1
}
function wrong(text) { stop(FILENAME ":" FNR ": " text) }

# ---- Lists.
function end_entry(    what, i) {
    if (name == "") return
    what = why == "" ? "'why'" : of == "" ? "'of'" : verify == "" ? "'verify'" : units == "" ? "'unit'" : ""
    if (what == "" && changes == 0) what = "a change after 'in'"
    for (i = 1; i <= changes; i++) if (what == "" && !has_lines[i]) what = "a change after 'in'"
    if (what != "") stop(place ": mutant " name " has not " what)
    if (wanted == "") print name "\t" of "\t" verify "\t" units "\t" files "\t" why
    name = ""
}
function begin_entry(value) {
    end_entry()
    if (value in known) wrong("a second mutant " value)
    # It becomes the name of a program.
    if (value !~ /^[a-z0-9_][a-z0-9_.]*$/) wrong("the name '" value "' may hold a-z, 0-9, _ and . only")
    known[value]
    name = value
    place = FILENAME ":" FNR
    why = files = ""
    changes = 0
    split("", said)
}
function begin_change() {
    has_lines[++changes] = 0
    if (index(" " files " ", " " into " ") == 0) files = files (files == "" ? "" : " ") into
}
function add_line() {
    if (name == "" || into == "") wrong("a line of a change, but no 'in' before it: '" $0 "'")
    if (changes == 0) begin_change()
    has_lines[changes] = 1
    if (name != wanted || into != file) return
    to_make = changes
    change[changes, ++size[changes]] = $0
}
function add_field(key, value) {
    if (name == "") wrong("'" key "' before any mutant")
    if (said[key]++ && key ~ /^(why|of|verify)$/) wrong("a second '" key "'")
    if (key == "why") why = value
    else if (key == "of") of = value
    else if (key == "verify") verify = value
    else if (key == "unit") units = said[key] > 1 ? units " " value : value
    else if (key == "in") { into = value; begin_change() }
    else wrong("'" key "' is none of mutant, why, of, verify, unit, in")
}

# ---- Changes.
function squeezed(text) { gsub(/[ \t\r]/, "", text); return text }
# How many lines the change looks for, if they stand at this line of the source; otherwise 0.
function stands_at(c, at,    i, found) {
    for (i = 1; i <= size[c]; i++) {
        if (change[c, i] ~ /^[+]/) continue
        if (at + found > lines || squeezed(substr(change[c, i], 2)) != squeezed(line[at + found])) return 0
        found++
    }
    return found
}
function make(c,    i, at, place, times, found, first, result, n, same) {
    for (i = 1; i <= size[c]; i++) if (change[c, i] !~ /^[+]/) found++
    if (!found) stop("mutant " wanted " says not where in " file " its lines belong")
    for (at = 1; at <= lines; at++) if (stands_at(c, at)) { times++; place = at }
    for (i = 1; change[c, i] ~ /^[+]/;) i++
    first = substr(change[c, i], 2)
    if (!times) stop("mutant " wanted ": " file " has not the text to be changed, which begins '" first "'")
    if (times > 1)
        stop("mutant " wanted ": " file " has the text to be changed " times " times; add lines around '" first "'")
    for (at = 1; at < place; at++) result[++n] = line[at]
    for (i = 1; i <= size[c]; i++) {
        if (change[c, i] ~ /^[+]/) { result[++n] = substr(change[c, i], 2); continue }
        if (change[c, i] ~ /^ /) result[++n] = line[at]
        at++
    }
    for (; at <= lines; at++) result[++n] = line[at]
    same = n == lines
    for (i = 1; i <= n; i++) {
        if (squeezed(result[i]) != squeezed(line[i])) same = 0
        line[i] = result[i]
    }
    if (same) stop("mutant " wanted " changes nothing in " file)
    lines = n
}

BEGIN { if (wanted != "") source = ARGV[ARGC - 1] }
wanted != "" && FILENAME == source { line[++lines] = $0; next }
FNR == 1 { end_entry(); of = verify = units = into = "" }
/^(#|$)/ { next }
/^[-+ ]/ { add_line(); next }
{
    key = $1
    sub(/^[^ ]+ */, "")
    if ($0 == "") wrong("'" key "' of what?")
    if (key == "mutant") begin_entry($0)
    else add_field(key, $0)
}
END {
    if (failed) exit 1
    end_entry()
    if (failed || wanted == "") exit failed
    if (!(wanted in known)) stop("there is no mutant " wanted)
    for (c = 1; c <= to_make; c++) if (size[c] > 0) make(c)
    for (i = 1; i <= lines; i++) print line[i]
}
