#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the timeline of a recovery, from a run that it measures.

usage: survive-timeline.py SKUARUN PROGRAM OUTPUT.svg

PROGRAM is the test `checkpoint` of the tests.  It runs on 4 PEs with a checkpoint in memory every 0.3
seconds, and one of its processes is killed after 1 second.
"""
import re
import subprocess
import sys
import time

WIDTH, LEFT, ROW = 900, 90, 26
COLOURS = {"run": "#4878a8", "again": "#d98c3f", "down": "#c8c8c8"}


def measure(skuarun, program):
    job = subprocess.Popen([skuarun, "-v", "--survive=0.3", "--pin=none", "-n", "4", program, "none", "900", "due"],
                           stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    pids, events, killed = [], [], False
    began = time.time()
    for line in job.stderr:
        found = re.search(r"process \d+ is pid (\d+)", line)
        if found:
            pids.append(found.group(1))
        found = re.match(r"skuarun: ([\d.]+) s, epoch (\d+): (.*)", line)
        if found:
            events.append((float(found.group(1)), int(found.group(2)), found.group(3)))
        if len(pids) == 4 and time.time() - began >= 1 and not killed:
            subprocess.run(["kill", "-9", pids[2]], check=False)
            killed = True
    code = job.wait()
    if code:
        sys.exit(f"the job has failed with code {code}")
    return events, time.time() - began


def moment(events, what, epoch):
    return next(t for t, e, w in events if w == what and e == epoch)


def draw(events, end, path):
    lost = moment(events, "a process is lost", 1)
    ended = moment(events, "all processes have ended", 1)
    started = moment(events, "processes are started", 2)
    restored = moment(events, "images are restored", 2)
    marks = [t for t, e, w in events if w == "a checkpoint is complete"]
    last = max([t for t in marks if t < lost], default=0)
    again = min(end, restored + lost - last)
    scale = (WIDTH - LEFT - 20) / end
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{4 * ROW + 110}" '
           'font-family="sans-serif" font-size="12">']

    def bar(row, begin, stop, colour):
        out.append(f'<rect x="{LEFT + begin * scale:.1f}" y="{20 + row * ROW}" width="{max(1, (stop - begin) * scale):.1f}" '
                   f'height="{ROW - 8}" fill="{COLOURS[colour]}"/>')

    def note(t, row, text):
        x = LEFT + t * scale
        out.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="14" y2="{26 + 4 * ROW + row * 16}" stroke="#444" stroke-dasharray="3,3"/>')
        out.append(f'<text x="{x:.1f}" y="{38 + 4 * ROW + row * 16}" text-anchor="end">{text}</text>')

    for process in range(4):
        out.append(f'<text x="8" y="{33 + process * ROW}">process {process}</text>')
        bar(process, 0, lost if process == 2 else ended, "run")
        bar(process, lost if process == 2 else ended, restored, "down")
        bar(process, restored, again, "again")
        bar(process, again, end, "run")
    for t in marks:
        x = LEFT + t * scale
        out.append(f'<path d="M{x - 4:.1f},6 h8 l-4,8 z" fill="#2a7f3f"/>')
    note(lost, 0, f"process 2 is killed: {lost:.2f} s")
    note(restored, 1, f"all restored: {restored - lost:.2f} s later (ended {ended - lost:.2f}, started {started - lost:.2f})")
    note(again, 2, f"the work since the last checkpoint, {lost - last:.2f} s, is done again")
    out.append(f'<text x="{LEFT}" y="{102 + 4 * ROW}" fill="#2a7f3f">triangles: checkpoints in memory are complete; '
               f'the job ends after {end:.2f} s</text></svg>')
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(out) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    draw(*measure(sys.argv[1], sys.argv[2]), sys.argv[3])
