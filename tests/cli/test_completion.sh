#!/usr/bin/env bash
# test_completion.sh BENCHCNN: what bash and zsh offer behind the Tab key; each value that is offered is one that the program
# takes. The shells are given the files of scripts/completion, as `cmake --install` puts them down.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/cli.sh"
mkdir "$tmp/bin" "$tmp/here"
ln -s "$(realpath "$benchcnn")" "$tmp/bin/benchcnn"
PATH=$tmp/bin:$PATH
touch "$tmp/here/mine.jsonl" "$tmp/here/a file.jsonl"

# ---- What is offered, is taken: a recipe of it all is checked, and not run.
offered() { "$benchcnn" help --words "$1" | sed -n "s/^--$2|\([^|]*\)|.*/\1/p"; }
for option in op dir dtype layout math check mode impl problems net; do
    values=$(offered verify $option)
    [ -n "$values" ] || fail "verify --$option offers nothing"
    for value in $values; do
        [ "$value" = @files ] || echo "verify --$option $value"
    done
done >"$tmp/recipe"
{
    for value in $(offered bench cache); do echo "bench --cache $value --net thesis"; done
    for value in $(offered train optimizer); do echo "train --net thesis --impl cpu --optimizer $value"; done
    for value in $(offered train data-on); do echo "train --net thesis --impl cpu --data-on $value"; done
    for value in $(offered compare fail-on); do echo "compare $tmp/here/mine.jsonl $tmp/here/mine.jsonl --fail-on $value"; done
    for value in $(offered table format); do echo "table $tmp/here/mine.jsonl --format $value"; done
    for value in $(offered table kind); do echo "table $tmp/here/mine.jsonl --kind $value"; done
} >>"$tmp/recipe"
tests=$((tests + 1))
"$benchcnn" run "$tmp/recipe" --out "$tmp/records" --dry-run >"$tmp/said" 2>&1 || fail "offered, but not taken: $(cat "$tmp/said")"
[ "$(wc -l <"$tmp/recipe")" -gt 60 ] || fail "only $(wc -l <"$tmp/recipe") values are offered"

# Every option of --help is offered, and no other.
for command in $("$benchcnn" help --words | sed -n 's/^\([a-z]*\)|.*/\1/p'); do
    [ "$command" = help ] && continue
    tests=$((tests + 1))
    diff <("$benchcnn" help --words "$command" | sed -n 's/^--\([a-z-]*\)|.*/\1/p' | grep -vx help | sort) \
        <("$benchcnn" help "$command" | sed -n 's/^  --\([a-z-]*\) .*/\1/p' | sort) >"$tmp/said" || fail "$command: $(cat "$tmp/said")"
done

# ---- bash. offers LINE WORD...: exactly these; offers_among LINE WORD...: these among others.
cat >"$tmp/ask.bash" <<'END'
. "$1/scripts/completion/benchcnn.bash"
complete -p benchcnn >/dev/null || exit 1
COMP_LINE=$2 COMP_POINT=${#2}
_benchcnn
printf '%s\n' "${COMPREPLY[@]}"
END
sources=$PWD
ask() { (cd "$tmp/here" && bash --norc "$tmp/ask.bash" "$sources" "$1" 2>&1 | sort -u | paste -sd ' '); }
offers() {
    tests=$((tests + 1))
    [ "$(ask "$1")" = "$2" ] || fail "bash offers behind '$1': $(ask "$1"), not $2"
}
offers 'benchcnn ver' verify
offers 'benchcnn --v' --version
offers 'benchcnn help pe' peaks
offers 'benchcnn verify --dt' --dtype
offers 'benchcnn verify --dtype ' 'all bf16 bf16:bf16:f32 f16 f16:f16:f32 f32 f64 s8:s8:s32 s8:s8:s8 s8:s8:u8 u8:s8:s32 u8:s8:s8 u8:s8:u8'
offers 'benchcnn verify --dtype f32,' 'f32,all f32,bf16 f32,bf16:bf16:f32 f32,f16 f32,f16:f16:f32 f32,f32 f32,f64 f32,s8:s8:s32 f32,s8:s8:s8 f32,s8:s8:u8 f32,u8:s8:s32 f32,u8:s8:s8 f32,u8:s8:u8'
offers 'benchcnn verify --dir=BWD_' 'BWD_D BWD_W'
offers 'benchcnn verify --impl cpu:di' direct
offers 'benchcnn verify --impl cpu:naive,cpu:di' direct
offers 'benchcnn verify --set cpu.is' cpu.isa=
offers 'benchcnn verify --quiet --layout n' 'nchw nhwc'
offers 'benchcnn verify --threads ' ''
offers 'benchcnn bench --net every' every_layer
offers 'benchcnn data ' 'cifar10 fetch make mnist'
offers 'benchcnn run cpu_' cpu_smoke
offers 'benchcnn compare ' 'a file.jsonl mine.jsonl'
offers 'benchcnn verify --out mi' mine.jsonl
offers 'benchcnn sweep ra' ranks=
offers 'benchcnn sweep ranks=1,2 --laun' --launcher
offers 'benchcnn nonsense --' ''

# ---- zsh, in a terminal of its own: what stands behind the Tab key.
if command -v zsh >/dev/null; then
    tests=$((tests + 1))
    zsh -n scripts/completion/_benchcnn || fail "zsh -n"
    cat >"$tmp/ask.zsh" <<'END'
zmodload zsh/zpty
zpty z "cd $2/here; TERM=dumb PS1= exec sh -c 'echo \$\$ >$2/shell; exec zsh -f -i'"
type_in() { zpty -w z "$1" }
type_in "fpath=($1/scripts/completion \$fpath); PATH=$2/bin:\$PATH; autoload -Uz compinit; compinit -D -u; setopt no_beep; echo READY"
zpty -r z text '*READY*READY*'
zpty -w -n z "$3"$'\t'
text=
repeat 30; do
    zpty -r -t z part && text+=$part
    sleep 0.05
done
print -r -- "$text"
zpty -d z
END
    completes() {
        tests=$((tests + 1))
        timeout 20 zsh -f "$tmp/ask.zsh" "$PWD" "$tmp" "$1" 2>&1 | sed 's/\x1b\[[0-9;?]*[a-zA-Z]//g' >"$tmp/said"
        # One that outlives its terminal reads it again and again, for ever.
        [ ! -s "$tmp/shell" ] || kill -KILL "$(cat "$tmp/shell")" 2>/dev/null
        rm -f "$tmp/shell"
        grep -qF -- "$2" "$tmp/said" || fail "zsh makes of '$1': $(cat -v "$tmp/said"), not '$2'"
    }
    completes 'benchcnn ver' 'verify'
    completes 'benchcnn verify --dt' '--dtype'
    completes 'benchcnn verify --layout nh' 'nhwc'
    completes 'benchcnn verify --impl cpu:naive,cpu:di' 'cpu:naive,cpu:direct'
    completes 'benchcnn run cpu_' 'cpu_smoke'
    completes 'benchcnn compare mi' 'mine.jsonl'
else
    echo "zsh is not installed: its completion is not tried"
fi

finish
