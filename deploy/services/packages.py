"""Programs of the system that a service needs: found, or installed where that is ours to do."""

from __future__ import annotations

import os
import shutil
import subprocess

from deploy.services.errors import ServiceError


def may_install() -> bool:
    """Whether this is a Debian-like system and we are its administrator, as in a container of CI."""
    return os.geteuid() == 0 and shutil.which("apt-get") is not None


def install(package: str) -> None:
    """Install a package of the system.

    raises  ServiceError with the end of what apt-get said
    """
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (
        ["apt-get", "update", "-qq"],
        ["apt-get", "install", "-y", "-qq", "--no-install-recommends", package],
    ):
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, env=environment
        )
    if done.returncode:  # what counts is the installation: the lists may be old and still good
        said = "\n".join((done.stdout + done.stderr).splitlines()[-10:])
        raise ServiceError(f"apt-get could not install {package}:\n{said}")


def require(program: str, package: str) -> str:
    """Path of a program, after installing its package when it is missing and may be installed.

    raises  ServiceError when it is missing and may not
    """
    if found := shutil.which(program):
        return found
    if may_install():
        install(package)
        if found := shutil.which(program):
            return found
    raise ServiceError(f"`{program}` is missing: install it (Debian and Ubuntu: apt-get install {package})")
