# shellcheck shell=bash disable=SC2154,SC2053,SC2016  # what run.sh knows; patterns; backquotes of Markdown
# row.sh, sourced by run.sh at its end: prints the row of docs/cheats.md: what caught this cheat, in the commands that it did
# not fool.
said() { # KIND PATTERN: whether one of those commands, whose names begin so, says it
    local command
    for command in "${caught[@]}"; do
        [[ $command == $1 ]] && grep -qsE -- "$2" "$tmp/$command" && return
    done
    return 1
}
# WHAT, or another word than 'x' for it, when it holds.
mark() { "${@:2}" && printf '%s' "$1"; }
ends='ended (its|the) process|a plug-in ended it|its process (was )?ended|a crash, with plug-ins'
checks=$(for command in "${caught[@]}"; do
    [[ $command == verify-* || $command == fuzz ]] || continue
    grep -hoE '"check":"[a-z]+","state":"(FAILED|MISTRUSTED)"' "$tmp/$command.jsonl" 2>/dev/null | cut -d'"' -f4
done | awk '!seen[$0]++' | paste -sd' ')
[ -n "$checks" ] || checks=$(mark unsupported said 'verify-*' 'UNSUPPORTED')
clock='FAILED: .*(timer|clock|ceiling)'
bench=$(mark x said 'bench-*' 'FAILED: ')
[ -z "$bench" ] || { said 'bench-*' "FAILED: .*($ends)|$clock" && bench=''; }
[[ " ${caught[*]} " != *' bench-plain '* || ${want[bench-plain]%%:*} -ne 0 ]] || bench=honest
[ -n "$bench" ] || bench=$(mark unsupported said 'bench-*' '[1-9][0-9]* not supported')
commands_missed=$(printf '%s\n' "${missed[@]}" | grep . | paste -sd' ' | sed -E 's/(verify|bench)-plain \1-isolate/\1/g')
what=$(sed -n '1,/\*\//p' "$here/$name".c* | tr '\n' ' ' | sed -E 's@^/\* @@; s@ *\*/.*@@; s@ +\* +@ @g; s@\|@/@g')
printf '| `%s` | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n' "$name" \
    "$(mark x said '*' 'benchcnn: plug-in |loading it:|opening and closing it:')" "$checks" "$bench" \
    "$(mark x said 'bench-*' "$clock")" "$(mark x said '*' "$ends")" \
    "$(mark x said '*' 'benchcnn: .*(something else|this program did not write|in the place of a record|is not the program)')" \
    "$(for command in "${caught[@]}"; do case $command:${want[$command]%%:*} in train:[1-9] | profile:[1-9]) echo x && break ;; esac; done)" \
    "$commands_missed" "$what"
