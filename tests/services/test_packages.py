"""Programs a service needs are found, or installed where that is ours to do, or named."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from deploy.services import ServiceError, packages


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A search path of its own, on which we are the administrator."""
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/bin")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    return tmp_path


def apt_get(system: Path, script: str) -> None:
    """An `apt-get` that notes what it is asked, then does this when asked to install."""
    text = f'#!/bin/sh\necho "$1" >>"{system}/asked"\n[ "$1" = update ] && exit 100\n{script}\n'
    (system / "apt-get").write_text(text, "ascii")
    (system / "apt-get").chmod(0o755)


def test_a_program_that_is_there_is_not_installed(system: Path) -> None:
    apt_get(system, "exit 1")
    assert packages.require("sh", "dash") == "/bin/sh"
    assert not (system / "asked").exists()


def test_a_missing_program_is_installed_from_what_lists_there_are(system: Path) -> None:
    apt_get(system, f'cp /bin/true "{system}/a-server"')
    assert packages.require("a-server", "a-package") == str(system / "a-server")
    assert (system / "asked").read_text("ascii").split() == ["update", "install"]


def test_a_failed_installation_says_what_the_installer_said(system: Path) -> None:
    apt_get(system, "echo no such package >&2; exit 100")
    with pytest.raises(ServiceError, match=r"(?s)could not install a-package.*no such package"):
        packages.require("a-server", "a-package")


def test_only_the_administrator_installs(system: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    apt_get(system, "exit 1")
    with pytest.raises(ServiceError, match=r"`a-server` is missing: install it .*apt-get install a-package"):
        packages.require("a-server", "a-package")
    assert not (system / "asked").exists()
