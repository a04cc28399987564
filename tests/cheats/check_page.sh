#!/usr/bin/env bash
# check_page.sh: the museum's folder, its list and its page name the same cheats, and each says in its first line what it does.
# shellcheck disable=SC2016  # backquotes of Markdown
cd "$(dirname "$(realpath "$0")")" || exit 2
failed=0
same() { # WHAT NAMES
    local differ
    differ=$(diff <(sort <<<"$names") <(sort <<<"$2")) && return
    echo "FAILED: the folder (<) and $1 (>) differ:" && grep '^[<>]' <<<"$differ"
    failed=1
}
names=$(for file in *.c *.cu; do echo "${file%.*}"; done)
same "the list" "$(grep -oE '^[a-z0-9_]+ ' list | tr -d ' ')"
same "docs/cheats.md, which matrix.sh writes," "$(sed -nE 's/^\| `([a-z0-9_]+)` \|.*/\1/p' ../../docs/cheats.md)"
for file in *.c *.cu; do
    grep -qE "^(KERNEL_)?CHEAT\(${file%.*}\)$" "$file" || { echo "FAILED: $file does not end in CHEAT(${file%.*})" && failed=1; }
    [[ $(head -1 "$file") == '/* It'* ]] || { echo "FAILED: $file does not say what it does" && failed=1; }
done
[ "$(wc -w <<<"$names")" -ge 60 ] || { echo "FAILED: there are $(wc -w <<<"$names") cheats only" && failed=1; }
exit $failed
