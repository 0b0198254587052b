#!/usr/bin/env python3
"""Times reading release artifacts into history: releases.py [RELEASES PAIRS]

Makes zips of zips (gen_release_zips.py; 50 releases of 30 models and devices unless stated) and reads them with
`ttreport ingest`. Prints seconds, CPU seconds and peak memory with their goals. Seconds are of this machine.
"""
import os, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import commands


def main(releases, pairs):
    with tempfile.TemporaryDirectory() as work:
        program = commands.build(work)
        zips = os.path.join(work, "zips")
        print(commands.sh(sys.executable, os.path.join(HERE, "gen_release_zips.py"), zips, str(releases), str(pairs),
                          cwd=work).strip())
        open(os.path.join(work, "ttreport.yaml"), "w").close()
        begin = time.monotonic()
        child = subprocess.Popen([program, "ingest", zips], cwd=work, text=True, stdout=subprocess.PIPE)
        said = child.stdout.read()
        _, status, use = os.wait4(child.pid, 0)
        took = time.monotonic() - begin
        if status or f"{releases * pairs} written" not in said:
            sys.exit(f"status {status}: {said[-500:]}")
        print(f"{'read and stored':<20} {took:8.1f} s    goal 5 for 50 x 30, on two idle cores")
        print(f"{'CPU':<20} {use.ru_utime + use.ru_stime:8.1f} s")
        print(f"{'peak memory':<20} {use.ru_maxrss / 1024:8.0f} MB   goal 300")


if __name__ == "__main__":
    if len(sys.argv) not in (1, 3):
        sys.exit(__doc__)
    main(*map(int, sys.argv[1:] or (50, 30)))
