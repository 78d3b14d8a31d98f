"""Comparing the manifests with the marks."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance import requirements
from conformance.requirements import CollectionError, marks, rows

MANIFEST = """
| id | requirement | source | how a test sees it | P |
| --- | --- | --- | --- | --- |
| KI-LEX-001 | One | §1 | it | A |
| KI-LEX-002 | Two, with `a | b` | §1 | it | B! |
| ~~KI-LEX-003~~ | Dead | §1 | it | A |
"""


def test_rows_have_their_priority_and_dead_ones_are_gone(tmp_path: Path) -> None:
    (tmp_path / "kip.md").write_text(MANIFEST, "utf-8")
    assert rows(tmp_path) == {"KI-LEX-001": "A", "KI-LEX-002": "B"}


def test_marks_are_read_as_pytest_collects_them(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "import pytest\n\n"
        '@pytest.mark.requirement("KI-LEX-001")\n'
        "@pytest.mark.parametrize('x', [pytest.param(1, marks=pytest.mark.requirement('KI-LEX-002')), 2])\n"
        "def test_it(x):\n    pass\n",
        "utf-8",
    )
    assert marks(tmp_path) == {"KI-LEX-001": 2, "KI-LEX-002": 1}


def test_tests_that_cannot_be_collected_are_no_zero(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "test_broken.py").write_text("import nothing_of_that_name\n", "utf-8")
    with pytest.raises(CollectionError, match="nothing_of_that_name"):
        marks(tmp_path)
    monkeypatch.setattr(requirements, "marks", lambda: marks(tmp_path))
    assert requirements.main([]) == 2
    assert "cannot be collected" in capsys.readouterr().out


def test_the_comparison_counts_what_is_missing_and_refuses_unknown_marks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(requirements, "rows", lambda: {"KI-LEX-001": "A", "KI-LEX-002": "B", "BR-HTTP-001": "A"})
    monkeypatch.setattr(requirements, "marks", lambda: {"KI-LEX-001": 3})
    assert requirements.main(["--list", "KI-"]) == 0
    out = capsys.readouterr().out
    assert "priority A: 1 of 1 rows have a test" in out
    assert "  KI-LEX: 1 B without a test" in out
    assert "no test: KI-LEX-002 (B)" in out
    assert "BR-HTTP" not in out
    monkeypatch.setattr(requirements, "marks", lambda: {"KI-NOPE-001": 1})
    assert requirements.main([]) == 1
    assert "mark without a row: KI-NOPE-001" in capsys.readouterr().out
