#!/usr/bin/env python3
"""Solves instances of all families with the methods of one binary, with a hand-written C&CG beside them, one line each.

    tools/shapes.py SOFTSEP [--only unit-commitment lot-sizing] [--seeds 1 2 3] [--methods auto branch-and-cut ccg]
                            [--peer "python3 PATH/ccg_milp.py --solver highs --master highs"] [--limit 60] [--gap 1e-3]

A line says what a run reached: gap, CPU seconds, recourse solves, exact separations, the kind of its certificate and
the method that ended it. The peer is a command that takes a problem file, --gap and --limit, and prints a JSON line. At the
end stands the ratio of the first method's CPU seconds to those of the best other run, per shape and in the median.
"""
import argparse
import json
import os
import re
import resource
import shlex
import statistics
import subprocess
import tempfile

# Arguments of `softsep generate` by the name of the shape. "{seed}" is filled in.
SHAPES = {
    "newsvendor-10-b3": "newsvendor --n 10 --uncertainty budget --budget 3",
    "newsvendor-15-b5": "newsvendor --n 15 --uncertainty budget --budget 5",
    "newsvendor-15-poly": "newsvendor --n 15 --uncertainty polyhedron --gamma 0.25",
    "newsvendor-12-ell": "newsvendor --n 12 --uncertainty ellipsoid",
    "unit-commitment-5x12-b3": "unit-commitment --n 5 --periods 12 --uncertainty budget --budget 3",
    "unit-commitment-5x12-poly": "unit-commitment --n 5 --periods 12 --uncertainty polyhedron --gamma 0.25",
    "unit-commitment-6x24-b4": "unit-commitment --n 6 --periods 24 --uncertainty budget --budget 4",
    "unit-commitment-10x24-b4": "unit-commitment --n 10 --periods 24 --uncertainty budget --budget 4",
    "lot-sizing-2x12-b1": "lot-sizing --n 2 --periods 12 --uncertainty budget --budget 1",
    "lot-sizing-2x12-b3": "lot-sizing --n 2 --periods 12 --uncertainty budget --budget 3",
    "lot-sizing-4x8-b2": "lot-sizing --n 4 --periods 8 --uncertainty budget --budget 2",
    "network-design-6": "network-design --n 6 --pairs 6 --uncertainty budget --budget 2",
    "network-design-8": "network-design --n 8 --pairs 12 --uncertainty budget --budget 4",
    "facility-location-10": "facility-location --n 10 --customers 20 --uncertainty budget --budget 2",
    "facility-location-15-b3": "facility-location --n 15 --customers 30 --uncertainty budget --budget 3",
    "facility-location-20-b3": "facility-location --n 20 --customers 40 --uncertainty budget --budget 3",
    "facility-location-30-b2": "facility-location --n 30 --customers 60 --uncertainty budget --budget 2",
    "inventory-10-b.5": "inventory --n 10 --uncertainty budget --gamma 0.5",
    "inventory-20-b.2": "inventory --n 20 --uncertainty budget --gamma 0.2",
    "energy-10-b.5": "energy --n 10 --uncertainty budget --gamma 0.5",
    "network-10-b.5": "network --n 10 --uncertainty budget --gamma 0.5",
    "network-8-ell": "network --n 8 --uncertainty ellipsoid",
    "location-30-b.5": "location-transportation --n 30 --uncertainty budget --gamma 0.5",
    "location-30-list": "location-transportation --n 30 --uncertainty scenarios --scenarios 5000",
    "location-int-20-b.3": "location-transportation --n 20 --mixed-integer --uncertainty budget --gamma 0.3",
    "location-int-20-list": "location-transportation --n 20 --mixed-integer --uncertainty scenarios --scenarios 5000",
}


def timed(command):
    """Runs a command; its process and CPU seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def solve(binary, problem, method, given):
    """A run of a method; gap, CPU seconds and the other cells of its line."""
    limits = ["--gap", str(given.gap), "--time-limit", str(given.limit), "--threads", str(given.threads)]
    command = [binary, "solve", problem, "--method", method, "--certify", "exact", "--json", "--verbose"]
    done, cpu = timed(command + limits)
    if done.returncode != 0 and not done.stdout.startswith("{"):
        return None, cpu, [last_line(done.stderr) or f"exit {done.returncode}"]
    result = json.loads(done.stdout)
    exact = re.search(r"(\d+) exact separations", done.stderr)
    certificate = (result.get("certificate") or {}).get("kind", "-")
    cells = [result.get("recourse_solves"), exact[1] if exact else "-", certificate, result.get("method")]
    return result.get("gap"), cpu, [str(cell) for cell in cells]


def last_line(text):
    """The last line of a message, shortened."""
    lines = text.strip().splitlines()
    return lines[-1][:60] if lines else ""


def peer(command, problem, given):
    """A run of the hand-written C&CG."""
    done, cpu = timed(shlex.split(command) + [problem, "--gap", str(given.gap), "--limit", str(given.limit)])
    try:
        result = json.loads(done.stdout.strip().splitlines()[-1])
    except (ValueError, IndexError):
        return None, cpu, [last_line(done.stderr) or "no answer"]
    cells = [str(result.get("solves")), str(result.get("exact")), "-", (result.get("note") or "-")[:50]]
    return result.get("gap"), result.get("cpu", cpu), cells


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--only", nargs="*", default=[], help="shapes whose names begin with one of these")
    parser.add_argument("--seeds", nargs="+", type=int, default=[1])
    parser.add_argument("--methods", nargs="+", default=["auto", "branch-and-cut", "ccg", "bundle"])
    parser.add_argument("--peer", help="command of a hand-written C&CG")
    parser.add_argument("--problems", nargs="*", default=[], help="problem files to solve as well")
    parser.add_argument("--limit", type=float, default=60.0)
    parser.add_argument("--gap", type=float, default=1e-3)
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    ratios = {}
    with tempfile.TemporaryDirectory() as folder:
        problems = [(os.path.basename(path), path) for path in given.problems]
        for name, arguments in SHAPES.items():
            if given.only and not any(name.startswith(start) for start in given.only):
                continue
            for seed in given.seeds:
                path = os.path.join(folder, f"{name}-{seed}.json")
                command = [given.binary, "generate"] + arguments.split() + ["--seed", str(seed), "--out", path]
                subprocess.run(command, check=True, capture_output=True)
                problems.append((f"{name}-{seed}", path))
        print(f"{'shape and seed':30s} {'method':15s} {'gap':>9s} {'cpu s':>8s}  solves, exact, certificate, ended by")
        for name, path in problems:
            runs = [(method, solve(given.binary, path, method, given)) for method in given.methods]
            if given.peer:
                runs.append(("peer", peer(given.peer, path, given)))
            for method, (gap, cpu, cells) in runs:
                shown = "-" if gap is None else f"{gap:.1e}"
                print(f"{name:30s} {method:15s} {shown:>9s} {cpu:8.2f}  {', '.join(cells)}", flush=True)
            # A run that has not closed the gap counts with the limit.
            is_closed = [gap is not None and gap <= given.gap * 1.0001 for _, (gap, _, _) in runs]
            seconds = [cpu if closed else max(cpu, given.limit) for closed, (_, (_, cpu, _)) in zip(is_closed, runs)]
            if len(runs) > 1:
                ratios[name] = max(seconds[0], 0.01) / max(min(seconds[1:]), 0.01)
    for name, ratio in ratios.items():
        print(f"{name:30s} first to best other {ratio:6.2f}")
    if ratios:
        values = list(ratios.values())
        print(f"median {statistics.median(values):.2f}, largest {max(values):.2f}")


if __name__ == "__main__":
    main()
