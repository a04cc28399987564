#!/usr/bin/env bash
# test_pictures.sh BENCHCNN: every picture under results/ and docs/ shows the records that lie there, as plots/ draws them today. A line
# of results/pictures.recipe says of each what draws it. Nothing is drawn, and gnuplot is not needed: a picture bears a mark of
# what it was drawn of.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/cli.sh"
benchcnn=$(realpath "$benchcnn")

# check FOLDER: what is wrong with the pictures of FOLDER/results and FOLDER/docs, a line each.
check() (
    cd "$1" || exit
    while IFS= read -r line; do
        asked=()
        eval "asked=($line)" # quotes as in a shell
        "$benchcnn" "${asked[@]}" --dry-run >"$tmp/said" 2>"$tmp/why" || {
            grep -v 'up to date$' "$tmp/said"
            cat "$tmp/why"
            echo "    draw it anew: benchcnn $line"
        }
        sed 's/  .*//' "$tmp/said" >>"$tmp/named"
    done < <(grep -v '^#' results/pictures.recipe)
    find results docs -name '*.svg' -o -name '*.png' | sort | comm -23 - <(sort "$tmp/named") |
        sed 's|$|  has no line in results/pictures.recipe|'
    sort "$tmp/named" | uniq -d | sed 's|$|  has two lines in results/pictures.recipe|'
    rm "$tmp/named"
)
# pages FOLDER: which reports of FOLDER/results embed other records than those that lie beside them, a line each.
pages() (
    cd "$1" || exit
    find results -name '*.html' | sort | while IFS= read -r page; do
        names=$(grep -oE 'download="[^"]+[.]gz"' "$page" | cut -d'"' -f2)
        [ -n "$names" ] || echo "$page  embeds no records"
        for name in $names; do
            sed -n "s|.*download=\"$name\" href=\"data:application/gzip;base64,\([^\"]*\)\".*|\1|p" "$page" | base64 -d | gunzip |
                cmp -s - "$(dirname "$page")/${name%.gz}" ||
                echo "$page  OUT OF DATE: ${name%.gz} differs; write it anew: benchcnn report $(dirname "$page")/${name%.gz} --out $page"
        done
    done
)
tests=$((tests + 1))
check . >"$tmp/out"
pages . >>"$tmp/out"
[ ! -s "$tmp/out" ] || fail "pictures of results/: $(cat "$tmp/out")"
# What the pages say draws a picture is the line that does.
while IFS= read -r command; do
    grep -qxF -- "${command#benchcnn }" results/pictures.recipe || fail "results/pictures.recipe has no such line: $command"
done < <(grep -rhoE --include='*.md' 'benchcnn plot [^`]*--out results/[^` ]*' README.md docs results | tr -s ' ')

# ---- Can it fail? A copy, in which ten pictures are wrong.
copy=$tmp/copy
mkdir "$copy"
cp -r results docs plots bench "$copy"
check "$copy" >"$tmp/out"
[ ! -s "$tmp/out" ] || fail "an equal copy is not up to date: $(cat "$tmp/out")"
change() { # FILE FROM TO, once
    grep -qF -- "$2" "$copy/$1" || fail "$1 has no '$2' to change"
    sed -i "0,/$2/s/$2/$3/" "$copy/$1"
}
change results/h200/awnn_table1.jsonl '"median_s":2.00223997e-05' '"median_s":3.00223997e-05'
change results/h200/gpu_records.jsonl '"samples":108' '"samples":109'
change plots/roofline.gp 'lw 2' 'lw 3'
change plots/karv_workers.dat '4   3.20' '4   3.30'
rm "$copy/results/errors.png"
cp "$copy/results/errors.svg" "$copy/results/h200/fused.svg"
cp "$copy/results/errors.svg" "$copy/results/other.svg"
cp "$copy/results/errors.svg" "$copy/docs/drawing.svg"
rm "$copy/results/h200/thesis_table_4_3".*
check "$copy" >"$tmp/out"
pages "$copy" >>"$tmp/out"
says() { # WHAT WORDS
    tests=$((tests + 1))
    holds "with $1 the test" "$tmp/out" "$2"
}
says "another value in a record" "results/h200/awnn_figure_7.svg  OUT OF DATE|results/h200/awnn_figure_7_plans.png  OUT OF DATE|results/h200/solved.svg  OUT OF DATE|draw it anew: benchcnn $(grep awnn_figure_7 results/pictures.recipe)"
says "another value in a report's record" "results/h200/gpu_records.html  OUT OF DATE: gpu_records.jsonl differs; write it anew: benchcnn report results/h200/gpu_records.jsonl --out results/h200/gpu_records.html"
says "another program of plots/" "results/h200/roofline.svg  OUT OF DATE|results/h200/roofline.png  OUT OF DATE|results/h200/conv_roofline.svg  OUT OF DATE|draw it anew: benchcnn plot roofline "
says "another published figure" "results/xeon2/karv_workers.svg  OUT OF DATE|draw it anew: benchcnn plot workers "
says "a missing picture" "results/errors.png  MISSING|draw it anew: benchcnn plot errors "
says "the picture of something else" "results/h200/fused.svg  OUT OF DATE|draw it anew: benchcnn plot results/h200/fused.jsonl"
says "a picture that nothing draws" "results/other.svg  has no line in results/pictures.recipe"
says "a picture of a page that nothing draws" "docs/drawing.svg  has no line in results/pictures.recipe"
says "records that are gone" "results/h200/thesis_table_4_3.jsonl: No such file|draw it anew: benchcnn plot goals "
[ "$(grep -c 'draw it anew\|has no line\|has two' "$tmp/out")" -eq 10 ] || fail "others are wrong, too: $(cat "$tmp/out")"
finish
