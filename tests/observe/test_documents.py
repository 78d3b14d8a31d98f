"""The page for operators names what there is: metrics, checks, commands, settings."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from brain.commands import main
from brain.observe.health import checks_for
from brain.observe.measures import Measures
from brain.observe.outlook import Figures
from brain.settings import Settings
from brain.store.sqlite import SqliteStore
from tests.service.world import settings_for, world

PAGE = (Path(__file__).resolve().parents[2] / "docs/deploy.md").read_text()


@pytest.mark.requirement("BR-OPS-020")
def test_every_metric_is_documented_and_every_documented_metric_is_told(tmp_path: Path) -> None:
    measures = Measures(settings_for(tmp_path))
    measures.requests.add("/", "GET", "200")
    told = {family.name for family in measures.recorder.families()} | {family.name for family in Figures().gauges()}
    told |= set(re.findall(r"^# TYPE (brain_\w+)", measures.text().decode(), re.M))
    table = PAGE[PAGE.index("### What is counted") : PAGE.index("### Traces")]
    assert set(re.findall(r"`(brain_[a-z_]+)[`{]", table)) == told
    assert set(re.findall(r"`(brain_[a-z_]+)[`{]", PAGE)) == told


@pytest.mark.requirement("BR-OPS-020")
def test_every_check_is_documented(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    spaces = world(tmp_path).application.spaces
    names = {check.name for check in checks_for(settings_for(tmp_path), store, spaces)} | {"serving"}
    table = PAGE[PAGE.index("| check | fails when |") : PAGE.index("These paths take no token")]
    assert set(re.findall(r"^\| `(\w+)` \|", table, re.M)) == names
    spaces.close()
    store.close()


@pytest.mark.requirement("BR-OPS-013")
def test_every_command_and_setting_of_the_page_is_there() -> None:
    commands = set(
        re.findall(r"(?:^|[ /])brain (backup|restore|migrate|serve|worker|beat|cwt|[a-z]+ copy)\b", PAGE, re.M)
    )
    assert {"serve", "worker", "beat", "backup", "restore", "migrate", "cwt"} <= commands
    for command in commands:
        with pytest.raises(SystemExit) as ended:
            main([*command.split(), "--help"])
        assert ended.value.code == 0
    settings = {name.upper() for name in Settings.model_fields}
    named = set(re.findall(r"`([A-Z][A-Z0-9]*_[A-Z0-9_]+)(?:=[^`]*)?`", PAGE))
    assert named <= settings, named - settings


@pytest.mark.requirement("BR-OPS-020")
def test_the_runbook_has_ten_failures_with_what_to_look_at_and_what_to_do() -> None:
    table = PAGE[PAGE.index("## When something is wrong") :]
    rows = [row.split(" | ") for row in table.splitlines() if re.match(r"\| \d+\. ", row)]
    assert len(rows) == 10
    assert all(len(row) == 3 and all(cell.strip(" |") for cell in row) for row in rows)
