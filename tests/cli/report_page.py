#!/usr/bin/env python3
"""report_page.py PAGE [RECORDS...]: what any page of `benchcnn report` must be: whole, of known elements, with nothing from
outside and one script, which its policy names; its colours readable; the records within it, as they are. HOSTILE in the
environment: a JSON list of texts that it must show. Prints what is wrong; status 1 where anything is."""
import base64
import gzip
import hashlib
import html.parser
import json
import os
import re
import sys

wrong = []
ELEMENTS = set("""html head meta link title style body header main nav section h1 h2 h3 p ul li a b i code button span dl dt dd div table thead tbody tr th td label
input figure figcaption script svg g path text tspan defs circle use rect line polyline polygon clippath lineargradient stop""".split())
REFERENCES = {"src", "href", "xlink:href", "action", "srcset", "poster", "data", "formaction", "background"}
VOID = {"meta", "link", "input"}


def check(holds, words):
    if not holds:
        wrong.append(words)


class Reader(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.texts, self.links, self.scripts, self.styles, self.policy, self.inside, self.buttons = [], [], [], [], "", "", []
        self.cells = []

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.inside = tag
        check(tag in ELEMENTS, f"an element <{tag}>")
        for name, value in attributes.items():
            check(not name.startswith("on"), f"an attribute {name}={value}")
            if name in REFERENCES:
                check(value.startswith(("#", "data:")), f"a reference to the outside: {value[:60]}")
            if name == "style":
                check(re.fullmatch(r"--w:\d+%", value), f"a style {value}")
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy":
            self.policy = attributes["content"]
        if tag == "a" and "download" in attributes:
            self.links.append(attributes)
        if tag == "button" and "data-m" in attributes:
            self.buttons.append(attributes["data-m"])
        if tag == "td":
            self.cells.append("")

    def handle_endtag(self, tag):
        self.inside = ""

    def handle_data(self, data):
        if self.inside == "script":
            self.scripts.append(data)
        elif self.inside == "style":
            self.styles.append(data)
        else:
            self.texts.append(data)
            if self.cells:
                self.cells[-1] += data

    def handle_comment(self, data):
        check(False, f"a comment {data[:60]}")


def shown(text):
    return re.sub("[\x00-\x1f\x7f-\x9f\u202a-\u202e]", lambda m: f"\\x{ord(m.group()):02x}" if ord(m.group()) < 256 else f"\\u{ord(m.group()):04x}", text)


def luminance(colour):
    parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    parts = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(a, b):
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def check_colours(css):
    """WCAG 2 AA: 4.5 for text, light, dark and on paper."""
    palettes = [dict(re.findall(r"--(\w+): (#[0-9a-f]{6});", body)) for body in re.findall(r":root \{([^}]*)\}", css)]
    check(len(palettes) == 3, f"{len(palettes)} palettes, not light, dark and paper")
    for palette in palettes:
        for ink in ("text", "soft", "link", "good", "bad", "doubt"):
            for ground in ("back", "panel"):
                ratio = contrast(palette[ink], palette[ground])
                check(ratio >= 4.5, f"{ink} {palette[ink]} on {ground} {palette[ground]} has a contrast of {ratio:.2f}, less than 4.5")
    used = set(re.findall(r"var\(--(\w+)\)", css)) - {"w"}
    check(used <= set(palettes[0]), f"colours that no palette names: {used - set(palettes[0])}")
    rest = re.sub(r":root \{[^}]*\}", "", css)
    check(set(re.findall(r"#[0-9a-f]{6}\b", rest)) <= {"#ffffff"}, "colours beside the palettes")


def main():
    path, records = sys.argv[1], sys.argv[2:]
    page = open(path, encoding="utf-8").read()
    reader = Reader()
    reader.feed(page)
    reader.close()
    check(page.startswith("<!DOCTYPE html>") and page.endswith("</html>\n"), "it is not whole")
    check(len(reader.scripts) == 1, f"{len(reader.scripts)} scripts")
    digest = base64.b64encode(hashlib.sha256("".join(reader.scripts).encode()).digest()).decode()
    check(f"script-src 'sha256-{digest}'" in reader.policy and "default-src 'none'" in reader.policy, f"its policy does not name its script: {reader.policy}")
    check(not re.search(r"https?://", re.sub(r"base64,[A-Za-z0-9+/=]*", "", "".join(reader.scripts + reader.styles))), "an address in its script or style")
    check_colours("".join(reader.styles))
    check(len(reader.links) == len(records), f"{len(reader.links)} files within it, not {len(records)}")
    for link, record in zip(reader.links, records):
        data = gzip.decompress(base64.b64decode(link["href"].split(",", 1)[1]))
        check(data == open(record, "rb").read(), f"{record} is not in it as it is")
        check(link["download"] == os.path.basename(record) + ".gz", f"{link['download']} is not {record}'s name")
    text = " ".join("".join(reader.texts).split())
    for hostile in json.loads(os.environ.get("HOSTILE", "[]")):
        check(" ".join(shown(hostile).split()) in text, f"it does not show {hostile!r} as {shown(hostile)!r}")
    check(not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", page), "characters that are obeyed")
    print("\n".join(wrong[:20]))
    sys.exit(1 if wrong else 0)


main()
