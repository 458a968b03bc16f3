#!/usr/bin/env python3
"""Writes a newsvendor with transshipment as an aro/1 file: N items, each of which can replace some others, and demands in a
two-sided budget set.

    tools/newsvendor.py N GAMMA SEED OUT
"""
import json
import random
import sys


def newsvendor(n, gamma, seed):
    rng = random.Random(seed)
    center = [rng.uniform(20, 60) for _ in range(n)]
    scale = [mean * rng.uniform(0.2, 0.5) for mean in center]
    orders = [{"name": f"order{i}", "cost": rng.uniform(4, 8), "upper": 200} for i in range(n)]
    recourse, balance, used = [], [], []
    for i in range(n):
        recourse.append({"name": f"short{i}", "cost": rng.uniform(15, 25)})
        recourse.append({"name": f"left{i}", "cost": rng.uniform(0.2, 1.5)})
        balance.append({f"short{i}": 1, f"left{i}": -1})
        used.append({})
    for i in range(n):
        for j in rng.sample([k for k in range(n) if k != i], min(4, n - 1)):
            name = f"move{i}_{j}"
            recourse.append({"name": name, "cost": rng.uniform(1, 4)})
            balance[j][name], balance[i][name], used[i][name] = 1, -1, 1
    rows = [
        {"name": f"balance{i}", "y": balance[i], "x": {f"order{i}": 1}, "xi": {f"demand{i}": -1}, "lower": 0, "upper": 0}
        for i in range(n)
    ]
    rows += [{"name": f"stock{i}", "y": used[i], "x": {f"order{i}": -1}, "upper": 0} for i in range(n)]
    budget = {"kind": "budget", "budget": gamma, "sides": "two", "center": center, "scale": scale}
    return {
        "format": "aro/1",
        "name": f"newsvendor with transshipment, {n} items",
        "first_stage": {"variables": orders, "constraints": []},
        "uncertainty": {"parameters": [f"demand{i}" for i in range(n)], "set": budget},
        "recourse": {"variables": recourse, "constraints": rows},
    }


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__.strip())
    with open(sys.argv[4], "w") as out:
        json.dump(newsvendor(int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])), out)
