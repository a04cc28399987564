# shellcheck shell=bash
# benchcnn.bash: completion for bash. What may follow is asked of the program itself: benchcnn help --words [COMMAND].
# `cmake --install` puts it where bash-completion finds it; else: source scripts/completion/benchcnn.bash

# _benchcnn_offer CURRENT WORD...: those that begin with the last part of a comma-separated list; files for @files.
_benchcnn_offer() {
    local current=$1 word list
    shift
    list=${current%"${current##*,}"}
    for word in "$@"; do
        if [ "$word" = @files ]; then
            compopt -o filenames 2>/dev/null
            while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "$current")
        elif [[ $list$word == "$current"* ]]; then
            COMPREPLY+=("$list$word")
        fi
    done
}

# _benchcnn_words PROGRAM [COMMAND [WORD]]: a command may have a name of two words.
_benchcnn_words() {
    { [ -n "${3:-}" ] && "$1" help --words "$2 $3"; } || "$1" help --words ${2:+"$2"}
} 2>/dev/null

_benchcnn() {
    local line=${COMP_LINE:0:COMP_POINT} current="" before name values text
    local -a words options=() plain=() chosen=()
    read -ra words <<<"$line"
    if [[ $line != *[[:space:]] ]]; then
        current=${words[-1]}
        unset 'words[-1]'
    fi
    before=${words[-1]}
    if [[ $current == --*=* ]]; then
        before=${current%%=*} current=${current#*=}
    fi
    while IFS='|' read -r name values _; do
        if [[ $name == "$before" && $name == --* && $values != - ]]; then
            read -ra chosen <<<"$values"
            options=() plain=()
            break
        elif [ -z "$name" ]; then
            read -ra plain <<<"$values"
        elif [[ $name != --* || $current == -* ]]; then
            options+=("$name")
        fi
    done < <(_benchcnn_words "${words[@]:0:3}")
    COMPREPLY=()
    [[ $current == -* ]] && plain=()
    _benchcnn_offer "$current" "${chosen[@]}" "${plain[@]}" "${options[@]}"
    [[ ${COMPREPLY[0]:-} == *= ]] && compopt -o nospace 2>/dev/null
    # readline replaces what stands behind the last ':' or '=' alone.
    local kept=${current%"${current##*[:=]}"} i
    for i in "${!COMPREPLY[@]}"; do COMPREPLY[i]=${COMPREPLY[i]#"$kept"}; done
}

complete -F _benchcnn benchcnn
