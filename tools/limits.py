#!/usr/bin/env python3
"""Solves instances of all families under short time limits, and flags runs that do not keep them.

    tools/limits.py SOFTSEP [--limits 1 5 20] [--only unit-commitment newsvendor] [--sets budget polyhedron ellipsoid]
                            [--sizes small large] [--method auto] [--certify exact] [--slack 2]

One line for each run: the limit, wall-clock and CPU seconds, status, gap, who ended it and how the upper bound is known.
A line ends with "LATE" where the run took more than the limit and the slack, "NO DECISION" where it has none, and
"NO BOUND" where the decision has no upper bound, with the seconds that `softsep evaluate` then takes for one exact separation or
bound of it, with the same limit. The last lines count the flags. The wall clock is that of a machine with a free core.
"""
import argparse
import json
import os
import re
import resource
import subprocess
import tempfile
import time

# Arguments of `softsep generate` by family and size, without the set.
FAMILIES = {
    "location-transportation": {"small": "--n 15", "medium": "--n 40", "large": "--n 80"},
    "inventory": {"small": "--n 10", "medium": "--n 20", "large": "--n 40"},
    "energy": {"small": "--n 10", "medium": "--n 20", "large": "--n 40"},
    "network": {"small": "--n 6", "medium": "--n 12", "large": "--n 20"},
    "newsvendor": {"small": "--n 10", "medium": "--n 20", "large": "--n 40"},
    "network-design": {"small": "--n 6 --pairs 6", "medium": "--n 8 --pairs 12", "large": "--n 12 --pairs 20"},
    "unit-commitment": {
        "small": "--n 4 --periods 12", "medium": "--n 6 --periods 24", "large": "--n 6 --periods 48",
    },
    "lot-sizing": {"small": "--n 2 --periods 8", "medium": "--n 2 --periods 12", "large": "--n 4 --periods 24"},
    "facility-location": {
        "small": "--n 10 --customers 20", "medium": "--n 20 --customers 40", "large": "--n 40 --customers 80",
    },
}

# The options of `softsep generate` for each set.
SETS = {
    "budget": "--uncertainty budget --gamma 0.25",
    "polyhedron": "--uncertainty polyhedron --gamma 0.25",
    "ellipsoid": "--uncertainty ellipsoid",
}


def timed(command):
    """Runs a command; its process, wall-clock and CPU seconds."""
    start, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True)
    wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return done, wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def evaluation(binary, path, result, limit):
    """The seconds of one evaluation of a decision, and whether it bounds it; nothing where it fails."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as decision:
        decision.write(json.dumps(result))
        decision.flush()
        command = [binary, "evaluate", path, "--x", decision.name, "--time-limit", str(limit), "--json"]
        done, wall, _ = timed(command)
    if done.returncode != 0:
        return "cannot be evaluated"
    answer = json.loads(done.stdout)
    bounds = "bounds" if answer.get("exact") or answer.get("upper_bound") else "does not bound"
    return f"evaluate {bounds} it in {wall:.1f} s"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--limits", nargs="+", type=float, default=[1, 5, 20])
    parser.add_argument("--only", nargs="+", default=[], help="families; a family is taken whose name begins so")
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS))
    sizes = ["small", "medium", "large"]
    parser.add_argument("--sizes", nargs="+", choices=sizes, default=sizes)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--method", default="auto")
    parser.add_argument("--certify", default="exact")
    parser.add_argument("--slack", type=float, default=2.0, help="seconds by which a run may pass its limit")
    given = parser.parse_args()
    counts = {"runs": 0, "LATE": 0, "NO DECISION": 0, "NO BOUND": 0, "FAILED": 0}
    with tempfile.TemporaryDirectory() as folder:
        for family, sizes in FAMILIES.items():
            if given.only and not any(family.startswith(name) for name in given.only):
                continue
            for size in given.sizes:
                for kind in given.sets:
                    name = f"{family} {size} {kind}"
                    path = os.path.join(folder, name.replace(" ", "-") + ".json")
                    command = [given.binary, "generate", family, *sizes[size].split(), *SETS[kind].split()]
                    command += ["--seed", str(given.seed), "--out", path]
                    subprocess.run(command, check=True, capture_output=True)
                    for limit in given.limits:
                        command = [given.binary, "solve", path, "--method", given.method, "--certify", given.certify]
                        done, wall, cpu = timed(command + ["--time-limit", str(limit), "--json"])
                        counts["runs"] += 1
                        try:
                            result = json.loads(done.stdout)
                        except ValueError:
                            result = {"status": done.stderr.strip()[-60:] or "no result"}
                        flags = []
                        if wall > limit + given.slack:
                            flags.append("LATE")
                        if done.returncode not in (0, 1) or "lower_bound" not in result:
                            flags.append("FAILED")
                        elif result.get("objective") is None:
                            flags.append("NO DECISION")
                        elif result.get("upper_bound") is None:
                            flags.append("NO BOUND")
                        for flag in flags:
                            counts[flag] += 1
                        gap = result.get("gap")
                        method = re.sub(r".*→ *", "", str(result.get("method", "-")))
                        line = f"{name:44s} {limit:4g} s: wall {wall:6.1f}, cpu {cpu:6.1f}, {result['status']:>10s}, "
                        line += f"gap {'-' if gap is None else f'{gap:.1e}':>7s}, {method}"
                        if "NO BOUND" in flags:
                            flags.append(f"({evaluation(given.binary, path, result, limit)})")
                        print(line, *flags, flush=True)
    print(", ".join(f"{count} {what}" for what, count in counts.items()))


if __name__ == "__main__":
    main()
