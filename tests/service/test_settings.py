"""Settings: one table, flags over environment over file over defaults, mistakes named without their values."""

from __future__ import annotations

import base64
import os
from pathlib import Path

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from brain.app import build
from brain.commands import main
from brain.http.budgets import Full
from brain.settings import OFFLINE_MODEL, Settings, SettingsError, load_settings, use_proxy
from tests.service.world import settings_for


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in Settings.model_fields:
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.chdir(tmp_path)


def public_key(number: int) -> str:
    key = Ed25519PrivateKey.from_private_bytes(bytes([number]) * 32).public_key()
    return base64.urlsafe_b64encode(key.public_bytes_raw()).decode()


KEYS = [public_key(number) for number in range(3)]

EXAMPLES: dict[str, tuple[str, str, str, object]] = {
    "listen_addr": ("127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3", "127.0.0.1:3"),
    "local_db_path": ("a", "b", "c", Path("c")),
    "storage": ("local", "memory", "local", "local"),
    "sqlite_durability": ("full", "normal", "full", "full"),
    "neo4j_uri": ("bolt://a", "bolt://b", "neo4j://c", "neo4j://c"),
    "neo4j_user": ("a", "b", "c", "c"),
    "neo4j_password": ("k1", "k2", "k3", "k3"),
    "neo4j_database": ("a", "b", "c", "c"),
    "neo4j_deployment": ("a", "b", "c", "c"),
    "memory_attribution": ("named", "open", "speaker", "speaker"),
    "work_queue": ("celery", "embedded", "celery", "celery"),
    "redis_url": ("redis://a", "redis://b", "rediss://c", "rediss://c"),
    "worker_concurrency": ("3", "4", "5", 5),
    "worker_hard_limit_ms": ("3000000", "4000000", "5000000", 5_000_000),
    "log_level": ("debug", "warning", "ERROR", "error"),
    "space_packages": ("general", "", "everyday,general", ("everyday", "general")),
    "http_allowed_hosts": ("a.test", "", "b.test,c.test", ("b.test", "c.test")),
    "cors_origins": ("*", "", "https://a.test, https://b.test", ("https://a.test", "https://b.test")),
    "model_api_key": ("k1", "k2", "k3", "k3"),
    "model_family": ("openai", "google", "xai", "xai"),
    "model_name": ("a", "b", "c", "c"),
    "model_context_window": ("50000", "60000", "70000", 70_000),
    "https_proxy": ("http://a", "http://b", "http://c", "http://c"),
    "embedding_family": ("builtin", "", "builtin", "builtin"),
    "embedding_name": ("a", "b", "c", "c"),
    "embedding_api_base": ("http://a", "http://b", "http://c", "http://c"),
    "embedding_api_key": ("k1", "k2", "k3", "k3"),
    "embedding_batch": ("20", "30", "40", 40),
    "ed25519_pubkeys": (KEYS[0], KEYS[1], f"{KEYS[2]}, {KEYS[0]}", (KEYS[2], KEYS[0])),
    "managers": ("a", "b", "c,d", ("c", "d")),
    "allow_open_access": ("true", "false", "true", True),
    "space_secret_keys": (KEYS[0], KEYS[1], f"{KEYS[2]},{KEYS[0]}", f"{KEYS[2]},{KEYS[0]}"),
    "archive_pubkeys": (KEYS[0], KEYS[1], f"{KEYS[2]}, {KEYS[0]}", (KEYS[2], KEYS[0])),
    "archive_signing_key": (KEYS[0], KEYS[1], KEYS[2], KEYS[2]),
    "byok_allowed_hosts": ("a.test", "", "b.test,c.test:80", ("b.test", "c.test:80")),
    "aws_bucket": ("a", "b", "c", "c"),
    "aws_region": ("a", "b", "c", "c"),
    "aws_endpoint_url": ("http://a", "http://b:1", "https://c", "https://c"),
    "aws_access_key_id": ("a", "b", "c", "c"),
    "aws_secret_access_key": ("a", "b", "c", "c"),
    "aws_session_token": ("a", "b", "c", "c"),
    "metrics_addr": ("off", "127.0.0.1:1", "same", "same"),
    "otel_exporter_otlp_endpoint": ("http://a", "http://b", "https://c", "https://c"),
    "model_api_base": ("http://a", "http://b", "http://c", "http://c"),
}


PAIR = ("aws_access_key_id", "aws_secret_access_key")
"""Settings that are set both or not at all."""


@pytest.mark.requirement("BR-CONF-001", "BR-CONF-037")
@pytest.mark.parametrize("name", list(Settings.model_fields))
def test_flags_win_over_environment_over_file_over_defaults(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_file, in_environment, as_flag, expected = EXAMPLES.get(name, ("2000", "3000", "4000", 4000))

    def value(**flags: str) -> object:
        found = getattr(load_settings(**flags), name)
        return found.get_secret_value() if hasattr(found, "get_secret_value") else found

    default = value()
    if name == "managers":  # which go with keys only
        monkeypatch.setenv("ED25519_PUBKEYS", KEYS[0])
    if name in PAIR:
        monkeypatch.setenv(next(other.upper() for other in PAIR if other != name), "x")
    (tmp_path / ".env").write_text(f"{name.upper()}={in_file}\n")
    from_file = value()
    monkeypatch.setenv(name.upper(), in_environment)
    from_environment = value()
    assert value(**{name: as_flag}) == expected
    assert from_file != from_environment
    documented = Settings.model_fields[name].default
    assert default == (documented.get_secret_value() if hasattr(documented, "get_secret_value") else documented)


@pytest.mark.requirement("BR-CONF-018")
@pytest.mark.parametrize(
    ("variable", "value", "told"),
    [
        ("LISTEN_ADDR", "nowhere", "LISTEN_ADDR"),
        ("LISTEN_ADDR", "127.0.0.1:70000", "LISTEN_ADDR"),
        ("STORAGE", "s3-do-not-tell", "STORAGE"),
        ("NEO4J_URI", "http://do-not-tell", "NEO4J_URI"),
        ("CORS_ORIGINS", "https://do-not-tell/path", "CORS_ORIGINS"),
        ("CORS_ORIGINS", "do-not-tell.test", "CORS_ORIGINS"),
        ("HTTP_ALLOWED_HOSTS", "https://do-not-tell.test", "HTTP_ALLOWED_HOSTS"),
        ("HTTP_ALLOWED_HOSTS", "a.test,do-not-tell.test:8042", "HTTP_ALLOWED_HOSTS"),
        ("MCP_AUTH_TOKEN", "do-not-tell", "MCP_AUTH_TOKEN is for a part that this release does not have"),
        ("BRAIN_RUNTIME_CONFIG", "/do-not-tell", "BRAIN_RUNTIME_CONFIG"),
        ("MCP_HTTP_ENABLED", "true", "MCP_HTTP_ENABLED"),
        ("LEASE_TTL_MS", "do-not-tell", "LEASE_TTL_MS"),
        ("HTTP_MAX_CONCURRENCY", "-1", "HTTP_MAX_CONCURRENCY"),
        ("MODEL_APIKEY", "sk-do-not-tell", "MODEL_API_KEY"),
        ("LISTEN_ADRR", "do-not-tell", "LISTEN_ADDR"),
        ("SPACE_PACKAGE", "do-not-tell", "SPACE_PACKAGES"),
    ],
)
def test_a_mistake_stops_the_start_with_its_name_and_without_its_value(
    variable: str, value: str, told: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(variable, value)
    assert main(["serve"]) == 2
    said = capsys.readouterr().err
    assert told in said
    assert value not in said
    assert "do-not-tell" not in said


@pytest.mark.requirement("BR-CONF-018")
def test_a_name_in_the_file_that_is_no_setting_stops_the_start(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("SOMETHING_ELSE=sk-do-not-tell\n")
    with pytest.raises(SettingsError, match="SOMETHING_ELSE is no setting") as told:
        load_settings()
    assert "do-not-tell" not in str(told.value)


@pytest.mark.requirement("BR-CONF-018")
def test_what_belongs_to_a_part_that_is_not_there_may_be_switched_off_and_not_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MCP_HTTP_ENABLED", "false")
    monkeypatch.setenv("JUDGE_MODEL_NAME", "")
    load_settings()
    (tmp_path / ".env").write_text("JUDGE_MODEL_API_KEY=sk-do-not-tell\n")
    with pytest.raises(
        SettingsError, match="JUDGE_MODEL_API_KEY is for a part that this release does not have"
    ) as told:
        load_settings()
    assert "do-not-tell" not in str(told.value)


@pytest.mark.requirement("BR-CONF-018")
@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"model_max_output": 50_000, "model_context_window": 50_000}, "MODEL_MAX_OUTPUT must be less"),
        ({"metrics_addr": "127.0.0.1:9", "listen_addr": "127.0.0.1:9"}, "METRICS_ADDR is LISTEN_ADDR"),
        ({"work_queue": "celery", "storage": "memory"}, "STORAGE cannot be memory"),
        ({"worker_soft_limit_ms": 9_000, "worker_hard_limit_ms": 9_000}, "WORKER_HARD_LIMIT_MS"),
    ],
)
def test_settings_that_contradict_each_other_stop_the_start(given: dict[str, object], told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        load_settings(**given)


@pytest.mark.requirement("BR-CONF-008")
def test_a_proxy_that_is_set_anywhere_is_used_by_whoever_calls_providers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "")
    settings = load_settings()
    use_proxy(settings)
    assert os.environ["HTTPS_PROXY"] == ""
    use_proxy(load_settings(https_proxy="http://proxy.test:3128"))
    [proxied] = [url for url, transport in httpx.AsyncClient()._mounts.items() if transport is not None]
    assert proxied.pattern == "https://"
    assert "proxy.test" not in repr(load_settings())


@pytest.mark.requirement("BR-CONF-018")
def test_other_programs_variables_are_let_be(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MODEL_PATH", "HTTP_PROXY", "LOGLEVEL", "STORAGE_DRIVER", "WORKER", "MODEL_X"):
        monkeypatch.setenv(name, "x")
    load_settings()


@pytest.mark.requirement("BR-CONF-018")
@pytest.mark.parametrize("missing", ["model_name", "model_family"])
def test_a_key_without_a_model_is_a_contradiction(missing: str) -> None:
    with pytest.raises(SettingsError, match="MODEL_API_KEY"):
        load_settings(model_api_key="sk-do-not-tell", **{missing: " "})


@pytest.mark.requirement("BR-CONF-018")
@pytest.mark.parametrize(
    ("chosen", "told"),
    [
        ({"embedding_family": "openai"}, "EMBEDDING_NAME"),
        ({"embedding_family": "builtin", "embedding_dimensions": 64}, "EMBEDDING_DIMENSIONS"),
    ],
)
def test_embeddings_that_contradict_themselves_stop_the_start(chosen: dict[str, object], told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        load_settings(**chosen)


@pytest.mark.requirement("BR-CONF-018")
def test_a_package_that_does_not_exist_stops_the_start(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"SPACE_PACKAGES: .*nonsense"):
        build(settings_for(tmp_path, space_packages=("general", "nonsense")))


@pytest.mark.requirement("BR-CONF-006", "BR-CONF-036")
def test_without_a_key_the_built_in_model_answers_and_with_one_the_named(tmp_path: Path) -> None:
    assert build(settings_for(tmp_path)).model.name == OFFLINE_MODEL
    settings = settings_for(tmp_path, model_api_key="k")
    assert build(settings).model.name == "anthropic/deepseek-v4-pro"
    assert settings.model_api_base == "https://api.deepseek.com/anthropic"


@pytest.mark.requirement("BR-CONF-038")
def test_a_concurrency_of_nothing_counts_as_one(tmp_path: Path) -> None:
    application = build(settings_for(tmp_path, llm_max_concurrency=0, http_max_concurrency=0))
    for budget in (application.http.state.model_budget, application.http.state.request_budget):
        with budget.place(), pytest.raises(Full), budget.place():
            pass


@pytest.mark.requirement("BR-CONF-002")
@pytest.mark.parametrize(
    ("address", "host", "port"),
    [("127.0.0.1:8042", "127.0.0.1", 8042), ("[::1]:80", "::1", 80), ("localhost:0", "localhost", 0)],
)
def test_an_address_is_host_and_port(address: str, host: str, port: int) -> None:
    settings = load_settings(listen_addr=address)
    assert (settings.host, settings.port) == (host, port)
    assert load_settings().listen_addr == "127.0.0.1:8042"
