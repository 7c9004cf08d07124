from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from deniable.cli import demo
from deniable.cli.demo import DATABASE, truth
from deniable.designs import Design
from deniable.estimates import estimate
from deniable.estimates.stages import combine
from deniable.order.ladders import Ladder
from deniable.survey import Survey
from deniable.tallies import Tally
from deniable.tallies.stages import StageTallies
from tests.support.commands import done, run, start

SURVEY = Path(__file__).parents[3] / "examples" / "survey.toml"
FILES = {
    *(DATABASE, "overtime-design.json", "overtime-tally.json", "overtime.png"),
    *("sick-leave-design.json", "sick-leave-tally.json", "sick-leave.png"),
    *("exhaustion-ladder.json", "exhaustion-tally.json", "exhaustion.png"),
}


def test_the_demo_fields_a_whole_survey(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "demo"
    shown = " ".join(
        done("demo", "--out", folder, "--people", 1000, "--once").stdout.split()
    )
    assert {
        path.name
        for path in folder.iterdir()
        if not path.name.startswith(f"{DATABASE}-")
    } == FILES
    design = Design.from_json((folder / "overtime-design.json").read_bytes())
    counted = Tally.from_json((folder / "overtime-tally.json").read_bytes(), design)
    assert counted.respondents == 1000
    made = estimate(counted)
    true = truth(Survey.read(SURVEY).question("overtime"), 1000)
    for category, share in made.params.items():
        assert f"{share:.1%}" in shown
        # Seven standard errors: false alarms at a rate far below 1e-9.
        assert abs(share - true[category]) < 7 * made.errors.max()
    stages = Ladder.from_json((folder / "exhaustion-ladder.json").read_bytes())
    raised = StageTallies.from_json(
        (folder / "exhaustion-tally.json").read_bytes(), stages
    )
    assert [each.respondents for each in raised.seen] == [1000, 334, 112]
    assert f"{combine(raised).params['never']:.1%}" in shown
    weights = combine(raised).evidence.weights
    told = [
        f"{each.respondents} ({weight:.0%} of the weight)"
        for each, weight in zip(raised.finest, weights, strict=True)
    ]
    assert [each.split(" ")[0] for each in told] == ["666", "222", "112"]
    for each in told:
        assert f": {each}" in shown
    assert (folder / "overtime.png").read_bytes().startswith(b"\x89PNG")
    refused = run("demo", "--out", folder, "--once")
    assert refused.exit_code == 2
    assert "--force" in refused.stderr


def test_the_demo_leaves_its_pages_up_until_it_is_stopped(tmp_path: Path) -> None:
    words = ("demo", "--out", tmp_path, "--people", 200, "--json")
    with start(*words, folder=tmp_path) as running:
        try:
            survey, results, token = reached(running)
            for address, wanted in (
                (survey, "Working life"),
                (f"{results}/working-life", "200 respondents"),
            ):
                request = urllib.request.Request(
                    address, headers={"Authorization": f"Bearer {token}"}
                )
                with urllib.request.urlopen(request) as page:
                    assert wanted in page.read().decode()
        finally:
            # only to the demo; Ctrl-C reaches the collector as well
            running.send_signal(signal.SIGTERM)
            out, _ = running.communicate(timeout=300)
    assert running.returncode == 0
    told = json.loads(out)
    assert {Path(name).name for name in told["files"]} == FILES
    assert set(told["questions"]) == {"overtime", "sick-leave", "exhaustion"}
    assert told["questions"]["overtime"]["respondents"] == 200
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(survey)


def test_a_port_that_is_taken_is_told_before_anything_is_written(
    tmp_path: Path,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        refused = run(
            "demo",
            "--out",
            tmp_path / "demo",
            "--once",
            "--port",
            taken.getsockname()[1],
        )
    assert refused.exit_code == 2
    assert refused.stderr.count("error:") == 1
    assert "Address already in use" in refused.stderr
    assert not (tmp_path / "demo").exists()


@pytest.mark.parametrize(
    "words", [("demo", "--out", "demo"), ("serve", "--database", "demo")]
)
def test_a_missing_package_of_the_collector_is_told_before_anything_is_written(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "deniable.collector.serve", raising=False)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    refused = run(*words)
    assert refused.exit_code == 2
    assert "'uvicorn', which is not installed" in refused.stderr
    assert not list(tmp_path.iterdir())


def reached(running: subprocess.Popen[bytes]) -> tuple[str, str, str]:
    """Return the addresses of the survey and of its results, and the token, as the demo prints them at the end."""
    assert running.stderr is not None
    said = []
    for line in running.stderr:
        said.append(line.decode())
        if "sign in there with" in said[-1]:
            survey, results, token = (line.split()[-1] for line in said[-3:])
            return survey, results, token
    raise AssertionError("".join(said))


def test_the_truth_is_a_population() -> None:
    for question in Survey.read(SURVEY).questions:
        shares = truth(question, 1000)
        assert sum(shares.values()) == pytest.approx(1)
        assert min(shares.values()) > 0
        assert all(
            round(1000 * share, 9) == round(1000 * share)
            for share in shares.values()
        )


def test_the_survey_of_the_demo_is_the_example() -> None:
    packed = Path(demo.__file__).with_name("survey.toml")
    assert packed.read_bytes() == SURVEY.read_bytes()
