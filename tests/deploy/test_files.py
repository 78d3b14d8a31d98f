"""The files of a deployment are held against their published schemas, and against what this service really has."""

from __future__ import annotations

import configparser
import json
import re
import shlex
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import compose_spec
import kubernetes_validate
import pytest
import yaml

from brain.commands import main
from brain.http.app import ROUTES
from brain.http.operating import PATHS
from brain.observe.outlook import Figures
from brain.settings import Settings, load_settings

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
MANIFESTS = sorted((DEPLOY / "kubernetes").rglob("*.yaml"))
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
SETTINGS = {name.upper() for name in Settings.model_fields}
SECRETS = {name.upper() for name, field in Settings.model_fields.items() if "Secret" in str(field.annotation)}
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
OURS = ("api", "worker", "beat")


def documents(path: Path) -> Iterator[dict[str, Any]]:
    yield from yaml.safe_load_all(path.read_text())


def of_kind(*kinds: str) -> list[dict[str, Any]]:
    return [found for path in MANIFESTS for found in documents(path) if found["kind"] in kinds]


def containers() -> list[dict[str, Any]]:
    """Those of this service."""
    pods = [found["spec"]["template"]["spec"] for found in of_kind("Deployment", "StatefulSet")]
    return [container for pod in pods for container in pod["containers"] if container["image"] == "brain"]


def is_command(name: str) -> bool:
    """Whether `brain NAME` is a command."""
    with pytest.raises(SystemExit) as ended:
        main([name, "--help"])
    return ended.value.code == 0


@pytest.mark.requirement("BR-OPS-015", "BR-OPS-019")
class TestCompose:
    def test_it_is_a_compose_file_by_the_specification(self) -> None:
        read = compose_spec.PyCompose.from_json(json.dumps(COMPOSE))
        read.validate()
        assert set(read.service_names()) == {*OURS, "neo4j", "redis"}

    @pytest.mark.parametrize("fault", ['{"services": {"a": {"portz": []}}}', '{"services": {"a": {"ports": 1}}}'])
    def test_what_holds_it_against_the_specification_finds_faults(self, fault: str) -> None:
        with pytest.raises(ValueError):
            compose_spec.PyCompose.from_json(fault)

    @pytest.mark.parametrize("name", OURS)
    def test_our_services_run_commands_and_settings_there_are(self, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        service = COMPOSE["services"][name]
        assert is_command(service["command"][0])
        assert set(service["environment"]) <= SETTINGS
        assert not set(service["environment"]) & {"NEO4J_PASSWORD", "MODEL_API_KEY", "EMBEDDING_API_KEY"}
        for variable, value in service["environment"].items():
            monkeypatch.setenv(variable, value)
        assert load_settings(neo4j_password="given").work_queue == "celery"
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]

    def test_every_service_is_watched_or_says_why_not_and_waits_for_what_it_needs(self) -> None:
        for name, service in COMPOSE["services"].items():
            assert "healthcheck" in service, name
            for needed, condition in service.get("depends_on", {}).items():
                assert condition == {"condition": "service_healthy"}
                assert not COMPOSE["services"][needed]["healthcheck"].get("disable")
        assert [name for name, found in COMPOSE["services"].items() if found["healthcheck"].get("disable")] == ["beat"]

    def test_only_the_api_is_reachable_and_only_from_this_machine(self) -> None:
        ports = {name: service["ports"] for name, service in COMPOSE["services"].items() if "ports" in service}
        assert ports == {"api": ["127.0.0.1:8042:8042"]}

    def test_probes_ask_ports_and_paths_that_are_served(self) -> None:
        for name in ("api", "worker"):
            service = COMPOSE["services"][name]
            [(port, path)] = re.findall(r"http://127\.0\.0\.1:(\d+)(/\w+)", " ".join(service["healthcheck"]["test"]))
            listens = [service["environment"].get(variable, "") for variable in ("LISTEN_ADDR", "METRICS_ADDR")]
            assert any(address.endswith(f":{port}") for address in listens)
            assert path in PATHS

    def test_a_password_is_asked_for_and_never_given(self) -> None:
        text = (ROOT / "docker-compose.yml").read_text()
        assert "${NEO4J_PASSWORD:?" in text
        assert set(COMPOSE["volumes"]) == {"neo4j"}
        for service in OURS:
            assert COMPOSE["services"][service]["env_file"] == ["deploy/brain.env"]

    def test_the_example_of_secrets_has_settings_alone_and_no_secret(self) -> None:
        lines = (DEPLOY / "brain.env.example").read_text().splitlines()
        given = dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))
        assert set(given) <= SETTINGS
        assert not any(given.values())


@pytest.mark.requirement("BR-OPS-016", "BR-OPS-019")
class TestImage:
    TEXT = (DEPLOY / "Dockerfile").read_text()

    def last_stage(self) -> str:
        return self.TEXT[self.TEXT.rindex("\nFROM ") :]

    def test_it_runs_as_10001_and_keeps_spaces_under_app_db(self) -> None:
        stage = self.last_stage()
        assert "USER 10001:10001" in stage
        assert "--gid 10001" in stage
        assert "--uid 10001" in stage
        assert "LOCAL_DB_PATH=/app/db" in stage
        assert "VOLUME /app/db" in stage

    def test_what_built_it_is_not_in_it(self) -> None:
        stage = self.last_stage()
        assert not re.search(r"pip install|apt-get|build-essential|gcc", stage)
        assert "COPY --from=build" in stage
        assert "COPY ." not in self.TEXT.replace("COPY --from", "")

    def test_its_settings_extras_and_commands_are_there(self) -> None:
        project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
        [extras] = re.findall(r"ARG EXTRAS=(\S+)", self.TEXT)
        assert set(extras.split(",")) == set(project["optional-dependencies"])
        names = set(re.findall(r"\b([A-Z][A-Z0-9_]+)=", self.last_stage()))
        assert names - {"PATH", "PYTHONDONTWRITEBYTECODE"} <= SETTINGS
        assert not names & SECRETS
        [command] = re.findall(r"^CMD (\[.*\])$", self.TEXT, re.M)
        assert all(map(is_command, json.loads(command)))

    def test_its_health_is_asked_for_where_it_listens(self) -> None:
        [(port, path)] = re.findall(r"http://127\.0\.0\.1:(\d+)(/\w+)", self.last_stage())
        assert f"LISTEN_ADDR=0.0.0.0:{port}" in self.TEXT
        assert f"EXPOSE {port}" in self.TEXT
        assert path == "/healthz"

    def test_everything_that_is_copied_is_let_through(self) -> None:
        copied = [word for line in re.findall(r"^COPY (?!--from)(.*)$", self.TEXT, re.M) for word in line.split()[:-1]]
        ignored = (ROOT / ".dockerignore").read_text().splitlines()
        for name in copied:
            assert (ROOT / name).exists()
            assert f"!{name}" in ignored


@pytest.mark.requirement("BR-OPS-017", "BR-OPS-019")
class TestKubernetes:
    @pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.name)
    def test_a_manifest_is_one_by_the_published_schemas(self, path: Path) -> None:
        for found in documents(path):
            if found["kind"] != "Kustomization":
                kubernetes_validate.validate(found, "1.32", strict=True)

    def test_what_holds_them_against_the_schemas_finds_faults(self) -> None:
        [found] = [found for found in of_kind("Deployment") if found["metadata"]["name"] == "brain-api"]
        found["spec"]["replica"] = 2
        with pytest.raises(kubernetes_validate.ValidationError):
            kubernetes_validate.validate(found, "1.32", strict=True)

    def test_the_kustomization_has_every_file_beside_it(self) -> None:
        [kustomization] = of_kind("Kustomization")
        beside = {path.name for path in (DEPLOY / "kubernetes").glob("*.yaml")} - {"kustomization.yaml"}
        assert set(kustomization["resources"]) == beside

    def test_our_containers_run_commands_with_settings_there_are(self) -> None:
        assert len(containers()) == 4
        [config] = of_kind("ConfigMap")
        assert set(config["data"]) <= SETTINGS - {"NEO4J_PASSWORD", "MODEL_API_KEY"}
        for container in containers():
            assert is_command(container["args"][0])
            assert {entry["name"] for entry in container.get("env", [])} <= SETTINGS
            assert container["securityContext"]["readOnlyRootFilesystem"] is True
            assert container["securityContext"]["allowPrivilegeEscalation"] is False

    def test_nobody_is_root_and_no_secret_stands_in_a_manifest(self) -> None:
        for found in of_kind("Deployment", "StatefulSet"):
            pod = found["spec"]["template"]["spec"]
            assert pod["securityContext"]["runAsNonRoot"] is True
            if any(container["image"] == "brain" for container in pod["containers"]):
                assert (pod["securityContext"]["runAsUser"], pod["securityContext"]["runAsGroup"]) == (10001, 10001)
        assert not of_kind("Secret")

    def test_probes_ask_ports_and_paths_that_are_served(self) -> None:
        asked = 0
        for container in containers():
            ports = {port["name"]: port["containerPort"] for port in container.get("ports", [])}
            assert set(ports.items()) <= {("http", 8042), ("metrics", 9100)}
            for name in ("startupProbe", "livenessProbe", "readinessProbe"):
                probe = container.get(name, {}).get("httpGet")
                if probe is not None:
                    asked += 1
                    assert probe["port"] in ports
                    assert probe["path"] == ("/readyz" if name == "readinessProbe" else "/healthz")
        assert asked == 9

    def test_selectors_find_the_pods_they_are_for(self) -> None:
        pods = [
            (found["metadata"]["name"], found["spec"]["template"]["metadata"]["labels"])
            for found in of_kind("Deployment", "StatefulSet")
        ]
        for found in of_kind("Service", "PodDisruptionBudget"):
            selector = found["spec"]["selector"]
            wanted = selector.get("matchLabels", selector).items()
            assert len([name for name, labels in pods if wanted <= labels.items()]) == 1, found["metadata"]["name"]

    def test_workers_grow_with_a_number_that_is_told(self) -> None:
        [scaler] = of_kind("HorizontalPodAutoscaler")
        [metric] = scaler["spec"]["metrics"]
        wanted = metric["external"]["metric"]
        [family] = [found for found in Figures().gauges() if found.name == wanted["name"]]
        labels = [dict(zip(family.labels, sample.labels, strict=True)) for sample in family.samples]
        assert wanted["selector"]["matchLabels"] in labels
        [worker] = [found for found in of_kind("Deployment") if found["metadata"]["name"] == "brain-worker"]
        assert "replicas" not in worker["spec"]

    def test_a_pod_is_given_the_time_it_takes_to_stop(self) -> None:
        [config] = of_kind("ConfigMap")
        grace_s = int(config["data"]["SHUTDOWN_GRACE_MS"]) / 1000
        for found in of_kind("Deployment"):
            pod = found["spec"]["template"]["spec"]
            if pod["containers"][0]["image"] == "brain":
                assert pod["terminationGracePeriodSeconds"] >= grace_s + 5 + 10


@pytest.mark.requirement("BR-OPS-017", "BR-OPS-019")
class TestUnits:
    def test_there_is_one_for_each_process_and_one_for_all_in_one(self) -> None:
        assert [path.name for path in UNITS] == [
            "brain-api.service",
            "brain-beat.service",
            "brain-worker.service",
            "brain.service",
        ]

    @pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
    def test_a_unit_runs_a_command_with_settings_there_are(self, path: Path) -> None:
        service = self.section(path)
        program, command = service["ExecStart"].split()
        assert program == "/opt/brain/bin/brain"
        assert is_command(command)
        given = dict(word.split("=", 1) for word in shlex.split(service["Environment"]))
        assert set(given) <= SETTINGS - SECRETS
        assert service["User"] == "brain"
        assert service["EnvironmentFile"].lstrip("-") == "/etc/brain/brain.env"

    @pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
    def test_a_unit_may_do_little_beside_its_work(self, path: Path) -> None:
        service = self.section(path)
        for name in ("NoNewPrivileges", "ProtectHome", "PrivateTmp", "PrivateDevices", "RestrictNamespaces"):
            assert service[name] == "yes"
        assert service["ProtectSystem"] == "strict"
        assert service["CapabilityBoundingSet"] == ""
        assert int(service["TimeoutStopSec"]) * 1000 > Settings.model_fields["shutdown_grace_ms"].default + 10_000

    @pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
    def test_systemd_takes_it(self, path: Path, tmp_path: Path) -> None:
        if shutil.which("systemd-analyze") is None:
            pytest.skip("there is no systemd here; the other tests have looked at what it says")
        program = shutil.which("true")
        assert program is not None
        unit = tmp_path / path.name
        unit.write_text(path.read_text().replace("/opt/brain/bin/brain", program))
        done = subprocess.run(["systemd-analyze", "verify", str(unit)], capture_output=True, text=True, check=False)
        assert path.name not in done.stderr, done.stderr

    def section(self, path: Path) -> dict[str, str]:
        parser = configparser.ConfigParser(interpolation=None)
        parser.optionxform = str  # type: ignore[assignment,method-assign]  # names keep their case
        parser.read(path)
        return dict(parser["Service"])


def test_operators_paths_are_no_routes_of_callers() -> None:
    assert not PATHS & {route.path for route in ROUTES}
