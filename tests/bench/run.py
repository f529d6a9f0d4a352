# Copyright (c) Jupyter ACP contributors.
# Distributed under the terms of the Modified BSD License.
"""`make bench`: one table of ratios from one run, each repetition next to its own baseline.

Times mean nothing on their own here: machines are noisy. What counts is a ratio between two things
measured one right after the other, and of those the median.
"""

import argparse
import sys
import time

import measures


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer and smaller, in a minute")
    parser.add_argument("names", nargs="*", help=f"some of: {', '.join(measures.ALL)}")
    options = parser.parse_args()
    unknown = set(options.names) - set(measures.ALL)
    if unknown:
        parser.error(f"there is no measure {', '.join(sorted(unknown))}")
    rows = []
    for name, measure in measures.ALL.items():
        if options.names and name not in options.names:
            continue
        start = time.monotonic()
        rows.extend(measure(options.quick))
        print(f"  {name}: {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
    print(table(rows))
    missed = [row for row in rows if not row.ok]
    print(f"\n{len(rows) - len(missed)} of {len(rows)} bars met.")


def table(rows):
    head = ("what", "measured", "bar", "stretch", "")
    body = [
        (row.what, row.shown, row.bar, row.stretch, "ok" if row.ok else "MISSED") for row in rows
    ]
    widths = [max(len(line[column]) for line in [head, *body]) for column in range(len(head))]
    lines = [
        " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        for line in [head, *body]
    ]
    lines.insert(1, "-|-".join("-" * width for width in widths))
    return "\n".join(f"| {line} |" for line in lines)


if __name__ == "__main__":
    main()
