#!/usr/bin/env bash
# test_manual.sh BENCHCNN: the manual page has every command and option, and is formatted without a warning.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/cli.sh"
command -v groff >/dev/null || { echo "SKIPPED: groff is not installed"; exit 77; }

"$benchcnn" help --man >"$tmp/benchcnn.1" || fail "help --man"
tests=$((tests + 1))
groff -man -Tutf8 -ww "$tmp/benchcnn.1" >"$tmp/page" 2>"$tmp/warnings" || fail "groff ended with $?"
[ -s "$tmp/warnings" ] && fail "groff warns: $(head -5 "$tmp/warnings")"
if command -v man >/dev/null; then
    tests=$((tests + 1))
    LC_ALL=C.UTF-8 MANWIDTH=200 man --warnings -l "$tmp/benchcnn.1" >"$tmp/page" 2>"$tmp/warnings" || fail "man ended with $?"
    [ -s "$tmp/warnings" ] && fail "man warns: $(head -5 "$tmp/warnings")"
fi
sed -i 's/\x1b\[[0-9;]*m//g; s/.\x08//g' "$tmp/page"

# expects TEXT: it stands in the page, which has blanks and line ends where it likes.
tr -s ' \n' '  ' <"$tmp/page" >"$tmp/words"
expects() {
    tests=$((tests + 1))
    grep -qF -- "$1" "$tmp/words" || fail "the page lacks '$1'"
}
for command in $("$benchcnn" help --words | sed -n 's/^\([a-z]*\)|.*/\1/p'); do
    [ "$command" = help ] && continue
    expects "$("$benchcnn" "$command" --help | sed -n "1s/^benchcnn $command: //p" | cut -c1-40)"
    for option in $("$benchcnn" help --words "$command" | sed -n 's/^--\([a-z-]*\)|.*/\1/p' | grep -vx help); do expects " --$option "; done
done
for status in 0 1 2 3 130; do expects " $status "; done
expects "EXIT STATUS"

finish
