#!/usr/bin/env python3
"""Compares two softsep binaries: recourse solves, exact separations and CPU seconds of each method on generated instances.

    tools/compare.py BEFORE AFTER [--sizes 10 15] [--gammas 0.1 0.5 0.9] [--methods ccg benders bundle sgd] [--limit 60]

One row per instance and method, both binaries in turn on one thread; the last row of a method has the sums. Exact separations
are counted from the log: lines "EXACT" of a binary that prints one for each, or the note at the end of a run.
"""
import argparse
import json
import os
import re
import resource
import subprocess
import tempfile


def run(binary, problem, method, limit, extra):
    """Solves a problem; the result, the number of exact separations and the CPU seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [binary, "solve", problem, "--method", method, "--certify", "exact", "--threads", "1", "--json", "--verbose"]
    done = subprocess.run(command + ["--time-limit", str(limit)] + extra, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    note = re.search(r"(\d+) exact separations", done.stderr)
    exact = int(note[1]) if note else done.stderr.count("EXACT")
    result = json.loads(done.stdout) if done.returncode == 0 else {"status": done.stderr.strip()[-60:]}
    return result, exact, seconds


def row(name, cells):
    print(f"{name:34s} " + " ".join(f"{cell:>12s}" for cell in cells), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("--families", nargs="+", default=["inventory", "energy", "network"])
    parser.add_argument("--sizes", nargs="+", type=int, default=[10, 15])
    parser.add_argument("--gammas", nargs="+", type=float, default=[0.1, 0.5, 0.9])
    parser.add_argument("--seeds", nargs="+", type=int, default=[1])
    parser.add_argument("--methods", nargs="+", default=["ccg", "benders", "bundle", "sgd"])
    parser.add_argument("--problems", nargs="*", default=[], help="problem files to compare on as well")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for each run")
    parser.add_argument("--options", nargs="*", default=[], help="further options of both, such as --gap=1e-4")
    given = parser.parse_args()
    head = ["solves", "→", "exact", "→", "cpu s", "→", "gap", "→"]
    with tempfile.TemporaryDirectory() as folder:
        problems = [(os.path.basename(path), path) for path in given.problems]
        for family in given.families:
            for n in given.sizes:
                for gamma in given.gammas:
                    for seed in given.seeds:
                        name = f"{family}-{n}-{gamma}-{seed}"
                        path = os.path.join(folder, name + ".json")
                        budget = ["--uncertainty", "budget", "--gamma", str(gamma)]
                        command = [given.after, "generate", family, "--n", str(n), "--seed", str(seed), "--out", path]
                        subprocess.run(command + budget, check=True, capture_output=True)
                        problems.append((name, path))
        for method in given.methods:
            row(method, head)
            sums = [0.0] * 6
            for name, path in problems:
                results = [run(binary, path, method, given.limit, given.options) for binary in (given.before, given.after)]
                cells = []
                for column, value in enumerate(
                    [r[0].get("recourse_solves", 0) for r in results] + [r[1] for r in results] + [r[2] for r in results]
                ):
                    sums[column] += value
                    cells.append(f"{value:.2f}" if column > 3 else str(value))
                gaps = [r[0].get("gap") for r in results]
                cells += ["-" if gap is None else f"{gap:.1e}" for gap in gaps]
                row(f"{method} {name}", cells)
            row(f"{method} all", [f"{value:.0f}" for value in sums[:4]] + [f"{value:.2f}" for value in sums[4:]])


if __name__ == "__main__":
    main()
