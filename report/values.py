"""values.py: values of records as texts of the page."""
import re

import jinja2
from markupsafe import Markup

# Control characters, and those that turn the direction of the text around them or take no room.
OBEYED = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")


def shown(value):
    """A value as it is put into the page: no character of it is obeyed by anyone. Markup is the page's own."""
    if value is None:
        return ""
    if isinstance(value, (Markup, jinja2.Undefined)) or (type(value) is str and value.isprintable()):
        return value
    def code(match):
        number = ord(match.group())
        return f"\\x{number:02x}" if number < 256 else f"\\u{number:04x}"
    return OBEYED.sub(code, str(value))


def number(record, field):
    value = record.get(field)
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def text(record, field):
    value = record.get(field)
    return value if isinstance(value, str) else ""


def quantity(value, unit):
    """64.6 TFLOP/s from 6.46e13 and flop/s."""
    unit = {"flop/s": "FLOP/s", "byte/s": "B/s"}.get(unit, unit)
    if value is None or not value > 0:
        return ""
    for factor, prefix in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n")):
        if value >= 0.9995 * factor:
            break
    return f"{value / factor:.3g} {prefix}{unit}"


def grouped(value):
    return f"{value:,.0f}" if value is not None else ""


def percent(value, digits=1):
    """Small shares keep two digits: 0.051 %."""
    if value is None:
        return ""
    return f"{100 * value:.2g} %" if digits == 1 and 0 < value < 0.01 else f"{100 * value:.{digits}f} %"


def knobs(record):
    """Settings that differ from their defaults, as a user would write them."""
    value = record.get("knobs")
    return " ".join(f"{k}={v}" for k, v in value.items()) if isinstance(value, dict) else ""


def words(*values):
    return " ".join(str(v) for v in values if v not in (None, "", False))
