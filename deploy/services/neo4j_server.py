"""Neo4j 5.26 community edition, without its archive: the same server started from the jars that Maven fetches.

The jars are kept for all checkouts of this user in `${XDG_CACHE_HOME:-~/.cache}/brain/neo4j-<version>`.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import secrets
import shutil
import subprocess
import tempfile
from pathlib import Path

from deploy.services import packages, ports
from deploy.services.errors import ServiceError

POM = Path(__file__).parent / "neo4j" / "pom.xml"
USER = "neo4j"
MAIN_CLASS = "org.neo4j.server.CommunityEntryPoint"
# Versions of Java that Neo4j 5.26 supports.
JAVA_VERSIONS = ("17", "21")
# One collector thread: this server shares a small machine with what is tested. NEO4J_JAVA_OPTIONS comes after and wins.
JAVA_OPTIONS = (
    "-Xmx1g",
    "-XX:+UseSerialGC",
    "-XX:+ExitOnOutOfMemoryError",
    "-XX:-UsePerfData",
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/java.io=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
)
CONFIGURATION = """\
server.default_listen_address={address}
server.bolt.listen_address={address}:{port}
server.http.enabled=false
server.https.enabled=false
server.memory.pagecache.size=256m
db.tx_log.preallocate=false
db.tx_log.rotation.size=32m
db.tx_log.rotation.retention_policy=1 files
db.logs.query.enabled=OFF
dbms.usage_report.enabled=false
"""
# Bolt 4.4: its magic number and one proposed version; then HELLO carries the password. SUCCESS is message 70.
BOLT_GREETING = bytes.fromhex("6060b01700000404000000000000000000000000")
BOLT_HELLO, BOLT_SUCCESS = b"\xb1\x01", b"\xb1\x70"
HASH_ROUNDS = 1024


class Neo4jServer:
    """How a Neo4j is installed, started and asked whether it is ready."""

    name = "neo4j"
    start_seconds = 240.0
    stop_seconds = 60.0

    def install(self) -> None:
        """Java and the jars, fetched once per version and user."""
        java()
        jars()

    def variables(self, port: int, password: str) -> dict[str, str]:
        """What the application reads, docs/configuration.md."""
        return {
            "NEO4J_URI": f"bolt://{ports.LOOPBACK}:{port}",
            "NEO4J_USER": USER,
            "NEO4J_PASSWORD": password,
            "NEO4J_DATABASE": "neo4j",
        }

    def prepare(self, folder: Path, port: int, password: str) -> list[str]:
        """Write the configuration and, before the first start, the password; the command that starts the server."""
        home = folder / "home"
        (home / "conf").mkdir(mode=0o700, parents=True, exist_ok=True)
        (home / "conf" / "neo4j.conf").write_text(CONFIGURATION.format(address=ports.LOOPBACK, port=port), "utf-8")
        first_password = home / "data" / "dbms" / "auth.ini"
        if not first_password.exists():
            first_password.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            first_password.touch(mode=0o600)
            first_password.write_text(password_entry(password), "ascii")
        return [
            java(),
            *JAVA_OPTIONS,
            *os.environ.get("NEO4J_JAVA_OPTIONS", "").split(),
            "-cp",
            f"{jars()}/*",
            MAIN_CLASS,
            f"--home-dir={home}",
            f"--config-dir={home / 'conf'}",
        ]

    def ready(self, port: int, password: str) -> bool:
        """Whether it takes our password over Bolt, which it speaks only when its databases are open."""
        hello = BOLT_HELLO + _packed(
            {"user_agent": "brain/1", "scheme": "basic", "principal": USER, "credentials": password}
        )
        chunks = len(hello).to_bytes(2) + hello + b"\0\0"
        return ports.ask(port, BOLT_GREETING + chunks, 8)[6:] == BOLT_SUCCESS

    def log(self, folder: Path) -> Path:
        """Where it says what went wrong."""
        return folder / "home" / "logs" / "neo4j.log"


def _packed(fields: dict[str, str]) -> bytes:
    """A small map of short texts as PackStream writes it."""
    texts = [text.encode() for pair in fields.items() for text in pair]
    return bytes([0xA0 + len(fields)]) + b"".join(b"\xd0" + len(text).to_bytes() + text for text in texts)


def password_entry(password: str) -> str:
    """The line `neo4j-admin dbms set-initial-password` would write, without a second JVM and a password in `ps`."""
    salt = secrets.token_bytes(32)
    digest = hashlib.sha256(salt + password.encode()).digest()
    for _ in range(HASH_ROUNDS - 1):
        digest = hashlib.sha256(digest).digest()
    return f"{USER}:SHA-256,{digest.hex()},{salt.hex()},{HASH_ROUNDS}:\n"


def java() -> str:
    """A Java that Neo4j supports: JAVA_HOME's, the search path's, or one of the system's others.

    raises  ServiceError when there is none and it cannot be installed
    """
    if found := _supported_java():
        return found
    if packages.may_install():
        packages.install("openjdk-17-jre-headless")
    if found := _supported_java():
        return found
    raise ServiceError(f"Neo4j needs Java {' or '.join(JAVA_VERSIONS)}: install one, or name it with JAVA_HOME")


def _supported_java() -> str | None:
    home = os.environ.get("JAVA_HOME")
    candidates = [
        *([Path(home) / "bin" / "java"] if home else []),
        *([Path(found)] if (found := shutil.which("java")) else []),
        *sorted(Path("/usr/lib/jvm").glob("*/bin/java")),
    ]
    for candidate in candidates:
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            said = subprocess.run(
                [candidate, "-version"], capture_output=True, text=True, timeout=60, check=True
            ).stderr
            if (version := re.search(r'version "(\d+)', said)) and version[1] in JAVA_VERSIONS:
                return str(candidate)
    return None


def jars() -> Path:
    """The folder of the server's jars, whole: it is fetched beside its place and moved there in one step.

    raises  ServiceError when Maven is missing or fails
    """
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "brain"
    folder = caches / f"neo4j-{version()}"
    if folder.is_dir():
        return folder
    caches.mkdir(parents=True, exist_ok=True)
    with (caches / f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.is_dir():
            for abandoned in caches.glob(f"{folder.name}.*.part"):
                shutil.rmtree(abandoned)
            part = Path(tempfile.mkdtemp(prefix=f"{folder.name}.", suffix=".part", dir=caches))
            _fetch(part)
            part.rename(folder)
    return folder


def version() -> str:
    """The version that the pom names."""
    found = re.search(r"<neo4j\.version>([\d.]+)</neo4j\.version>", POM.read_text("utf-8"))
    if not found:
        raise ServiceError(f"{POM} names no neo4j.version")
    return found[1]


def _fetch(target: Path) -> None:
    maven = packages.require("mvn", "maven")
    command = [maven, "-B", "-q", "-f", str(POM), "dependency:copy-dependencies", f"-DoutputDirectory={target}"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        said = "\n".join((done.stdout + done.stderr).splitlines()[-15:])
        raise ServiceError(f"Maven could not fetch the jars of Neo4j {version()}:\n{said}")
