"""What `import deniable` adds to a bare interpreter: `python -m benchmarks.startup`."""

from __future__ import annotations

import subprocess
import sys

from benchmarks.measure import race

STATEMENTS = {
    "bare interpreter": "pass",
    "import deniable": "import deniable",
    "import deniable.responses": "import deniable.responses",
    "a response": "import deniable as dn; dn.respond(dn.warner(epsilon=1), 'yes')",
    "import deniable.engines.local": "import deniable.engines.local",
}
MOST = {"import deniable": 0.060}


def run(statement: str) -> None:
    subprocess.run([sys.executable, "-c", statement], check=True)


def main() -> None:
    times = race(
        {name: lambda code=code: run(code) for name, code in STATEMENTS.items()},
        rounds=15,
    )  # type: ignore[misc]
    bare = times["bare interpreter"]
    print(f"\nstartup, over a bare interpreter of {1000 * bare:.0f} ms")
    for name, seconds in times.items():
        more = seconds - bare
        bar = MOST.get(name)
        verdict = (
            ""
            if bar is None
            else f"  (at most {1000 * bar:.0f} ms: {'reached' if more <= bar else 'MISSED'})"
        )
        print(
            f"  {name:<40} + {1000 * more:6.1f} ms  = {seconds / bare:5.2f} ×{verdict}"
        )


if __name__ == "__main__":
    main()
