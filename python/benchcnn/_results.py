"""What verifying says: a result for each check, a verdict for each problem."""

import math

from ._library import Error

GRAVITY = ("UNSUPPORTED", "SKIPPED", "PASSED", "MISTRUSTED", "FAILED")


class Result:
    """What one check said.

    check: its name, "exact", "bound", "memory"... state: "PASSED", "FAILED", "MISTRUSTED" (it held, but on results too
    uniform to prove anything), "SKIPPED", "UNSUPPORTED". reason: a sentence, "" for PASSED. place: the element furthest
    out, with what was expected and what came. where: the first wrong elements and a picture of where they lie.
    precision: what the results are consistent with, "f32", "tf32"... budget_used: the largest error as a share of what
    rounding may make of it; NaN where no bound was involved. arrays: of a failure: what went in, by name, and of each
    output NAME_expected and NAME_got, in float64; else None.
    """

    def __init__(self, raw, arrays=None):
        self.arrays = arrays
        self.check, self.state, self.reason, self.place, self.where, self.precision, self.transform = (
            (getattr(raw, name) or b"").decode(errors="replace")
            for name in ("check", "state", "reason", "worst", "where", "precision", "transform"))
        self.budget_used = raw.budget_used

    def __repr__(self):
        return f"<{self.check} {self.state}{': ' if self.reason else ''}{self.reason}>"


class Verdict:
    """What became of a problem: `results`, a Result for each check, and the gravest `state` of them. `exception`: what the
    callable raised, with its traceback; None where it raised nothing."""

    def __init__(self, name, problem, results, exception=None):
        self.name, self.problem, self.results, self.exception = name, problem, results, exception

    @property
    def state(self):
        return max((r.state for r in self.results), key=GRAVITY.index, default="SKIPPED")

    @property
    def passed(self):
        """All checks PASSED, but for those that have nothing to say here."""
        return self.state == "PASSED"

    @property
    def failed(self):
        """The results that are FAILED."""
        return [r for r in self.results if r.state == "FAILED"]

    @property
    def reason(self):
        """Of the first result that is not PASSED, else ""."""
        first = next((r for r in self.results if r.state == self.state and r.state != "PASSED"), None)
        return "" if first is None else first.reason

    @property
    def place(self):
        """Of the first failure that has one: the element furthest out; else ""."""
        return next((r.place for r in self.failed if r.place), "")

    @property
    def arrays(self):
        """Of the first failure that has some: see Result."""
        return next((r.arrays for r in self.failed if r.arrays), None)

    def __bool__(self):
        return self.passed

    def __str__(self):
        return "\n".join(self._lines())

    def __repr__(self):
        return f"<Verdict {self.state} {self.name} {self.problem}>"

    def _lines(self):
        by_state = [(word, [r.check for r in self.results if r.state == state])
                    for word, state in (("failed", "FAILED"), ("mistrusted", "MISTRUSTED"), ("passed", "PASSED"))]
        parts = [f"{self.state:<11} {self.name:<14} {self.problem}"]
        parts += [f"{word}: {' '.join(checks)}" for word, checks in by_state if checks]
        used = [r.budget_used for r in self.results if not math.isnan(r.budget_used)]
        if used:
            parts.append(f"{100 * max(used):.2g} % of the bound" if math.isfinite(max(used)) else "beyond any bound")
        remark = next((r.reason for r in self.results if r.reason and r.state == self.state), "") if not self.failed else ""
        yield " | ".join(parts + ([remark] if remark else []))
        failed, said = self.failed, set()
        if any(r.check == "exact" for r in failed):  # the precision of something else says nothing
            failed = [r for r in failed if r.check != "precision"]
        for i, r in enumerate(failed):
            text = r.reason + (f": {r.place}" if r.place and r.place not in r.reason else "")
            if text not in said:
                yield f"    {r.check} {r.state}: {text}"
            said.add(text)
            yield from (f"    {line}" for line in r.where.splitlines() if i == 0)


class Verdicts(list):
    """Verdicts of several problems."""

    @property
    def passed(self):
        """None FAILED or is MISTRUSTED, and at least one PASSED."""
        states = [v.state for v in self]
        return "PASSED" in states and "FAILED" not in states and "MISTRUSTED" not in states

    @property
    def failed(self):
        """The verdicts that are FAILED."""
        return [v for v in self if v.state == "FAILED"]

    def __str__(self):
        count = {state: sum(v.state == state for v in self) for state in GRAVITY}
        return "\n".join([str(v) for v in self] + [", ".join(f"{count[s]} {s}" for s in reversed(GRAVITY) if count[s])])


class VerificationFailed(Error):
    """What was computed is wrong. `verdict` says what and where."""

    def __init__(self, verdict):
        super().__init__(str(verdict), "wrong result")
        self.verdict = verdict
