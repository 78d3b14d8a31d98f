"""Every setting, in one table: name, unit, default, meaning. Read once at start, then passed in.

A setting is an environment variable of the same name in upper case; `.env` in the working directory is read too, and
the environment wins over it. A name in `.env` that is no setting, a variable whose name is almost one, and values that
do not fit stop the start with the setting's name, never with its value.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict
from pydantic_settings import SettingsError as UnreadableSettings

DEFAULT_PORT = 8042
OFFLINE_MODEL = "builtin/offline"
BUILTIN_EMBEDDINGS = "builtin"
_LOOPBACK = ("127.", "localhost", "::1")
_ORIGIN = re.compile(
    r"[a-z][a-z0-9+.-]*://[^/?#@\s:\[\]]+(:\d{1,5})?|[a-z][a-z0-9+.-]*://\[[0-9a-fA-F:.]+\](:\d{1,5})?"
)
_HOST = re.compile(r"[^/?#@\s:\[\]]+|\[?[0-9a-fA-F:.]+\]?")

_NOT_SERVED: Mapping[str, tuple[str, ...]] = {
    "BRAIN_RUNTIME_CONFIG": (),
    "JUDGE_MODEL_API_KEY": (),
    "JUDGE_MODEL_FAMILY": (),
    "JUDGE_MODEL_NAME": (),
    "JUDGE_MODEL_API_BASE": (),
    "MCP_AUTH_TOKEN": (),
    "MCP_AUTO_CREATE_SPACE": ("false",),
    "MCP_AUTO_CREATE_TIER": (),
    "MCP_HTTP_ALLOWED_HOSTS": (),
    "MCP_HTTP_ALLOWED_ORIGINS": (),
    "MCP_HTTP_AUTO_CREATE_SPACE": ("false",),
    "MCP_HTTP_AUTO_CREATE_TIER": (),
    "MCP_HTTP_ENABLED": ("false",),
    "MCP_HTTP_PATH_PREFIX": (),
    "MCP_SPACE_ID": (),
}
"""Settings of the service ours stands in for whose part this release does not have, and values that ask for nothing:
whoever sets one should know that it does nothing."""


_OTHERS = ("AWS_ENDPOINT_URL_",)
"""Beginnings of names that are other programs' settings, however near they are to ours."""


class SettingsError(Exception):
    """The settings do not fit together; the text names each one at fault and shows no value."""


class Settings(BaseSettings):
    """What one process runs with."""

    model_config = SettingsConfigDict(
        env_file=".env", env_file_encoding="utf-8", extra="forbid", frozen=True, populate_by_name=True
    )

    # --- where it listens and stores ---
    listen_addr: str = Field("127.0.0.1:8042", description="Address and port to listen on.")
    storage: Literal["local", "neo4j", "memory"] = Field(
        "local",
        description="`local` keeps one SQLite file per Space; `neo4j` keeps all in a Neo4j database; `memory` forgets "
        "everything at exit.",
    )
    local_db_path: Path = Field(Path("data"), description="Folder of the Space files when `STORAGE=local`.")
    sqlite_durability: Literal["full", "normal"] = Field(
        "full", description="`full` survives power loss; `normal` survives only a killed process, and commits faster."
    )
    neo4j_uri: str = Field(
        "bolt://127.0.0.1:7687", description="Where Neo4j listens when `STORAGE=neo4j`: `bolt://…` or `neo4j://…`."
    )
    neo4j_user: str = Field("neo4j", description="Name to log in to Neo4j with.")
    neo4j_password: SecretStr = Field(SecretStr(""), description="Password to log in to Neo4j with.")
    neo4j_database: str = Field("neo4j", description="Name of the database in Neo4j; nothing else should use it.")
    neo4j_deployment: str = Field(
        "", max_length=64, description="Sets the Spaces of several deployments in one Neo4j database apart."
    )

    # --- who answers ---
    model_family: str = Field("anthropic", description="Provider family of the model, as litellm names it.")
    model_name: str = Field("deepseek-v4-pro", description="Name of the model at its provider.")
    model_api_base: str = Field(
        "https://api.deepseek.com/anthropic", description="Base address of the provider's interface."
    )
    model_api_key: SecretStr = Field(
        SecretStr(""), description="Key of the provider; empty selects the key-free `builtin/offline`."
    )
    model_context_window: int = Field(
        400_000,
        ge=1_024,
        description="Tokens of one request to the model and of its answer together; what is longer is not sent, and "
        "told as `too_long`.",
    )
    model_max_output: int = Field(8_192, ge=256, description="Output tokens asked of the model per call, at most.")
    model_timeout_ms: int = Field(120_000, ge=1_000, description="Milliseconds one model call may take.")
    llm_max_concurrency: int = Field(
        64,
        ge=0,
        description="Calls of models at a time, of all processes where they share a Redis; 0 counts as 1.",
    )
    https_proxy: SecretStr = Field(
        SecretStr(""), description="Proxy for calls to providers; empty for none. It may carry a password."
    )
    model_input_price: float = Field(
        0, ge=0, description="Price of a million input tokens, in any currency, for the metric of cost; 0 for unknown."
    )
    model_output_price: float = Field(0, ge=0, description="Price of a million output tokens, likewise.")

    # --- models of Spaces' own ---
    space_secret_keys: SecretStr = Field(
        SecretStr(""),
        description="Keys that secrets of Spaces are sealed with, each 32 bytes as base64; comma-separated: the first "
        "seals, all open. Empty: no Space can have a model of its own.",
    )
    byok_allowed_hosts: Annotated[tuple[str, ...], NoDecode] = Field(
        (),
        description="Hosts (`name` or `name:port`) that Spaces' own models may be served from although they are "
        "private or without TLS; `*` for any; comma-separated.",
    )

    # --- Spaces in archives ---
    archive_signing_key: SecretStr = Field(
        SecretStr(""), description="Private key, as `brain cwt keys` prints it, that signs exported Spaces."
    )
    archive_pubkeys: Annotated[tuple[str, ...], NoDecode] = Field(
        (),
        description="Public keys whose archives may be imported, beside this service's own; comma-separated.",
    )
    archive_limit_bytes: int = Field(
        4 * 1024**3,
        ge=1024,
        description="Largest archive imported over HTTP; it is kept on the disk meanwhile.",
    )

    # --- backups in a bucket ---
    aws_bucket: str = Field(
        "", description="Bucket that `s3:///…` names as target and source of backups; no Space is served from it."
    )
    aws_region: str = Field("", description="Region of the bucket; empty for what the AWS library finds.")
    aws_endpoint_url: str = Field(
        "", description="Address of a store that speaks the S3 protocol; empty for that of AWS."
    )
    aws_access_key_id: SecretStr = Field(
        SecretStr(""), description="Id of the key that opens the bucket; empty for what the AWS library finds."
    )
    aws_secret_access_key: SecretStr = Field(SecretStr(""), description="The key itself.")
    aws_session_token: SecretStr = Field(SecretStr(""), description="What belongs to a key that is lent for a time.")

    # --- what is alike ---
    embedding_family: str = Field(
        "",
        description="Provider family of the embeddings, as litellm names it; `builtin` compares spelling without one; "
        "empty for search by words alone.",
    )
    embedding_name: str = Field("", description="Name of the embedding model at its provider.")
    embedding_api_base: str = Field("", description="Base address of the embeddings; empty for the family's own.")
    embedding_api_key: SecretStr = Field(SecretStr(""), description="Key for the embeddings.")
    embedding_dimensions: int = Field(0, ge=0, le=8192, description="Size asked of a vector; 0 for the model's own.")
    embedding_batch: int = Field(32, ge=1, le=2048, description="Texts embedded in one call, at most.")
    embedding_timeout_ms: int = Field(30_000, ge=100, description="Milliseconds one call for embeddings may take.")

    # --- who may call ---
    ed25519_pubkeys: Annotated[tuple[str, ...], NoDecode] = Field(
        (),
        description="Public keys whose tokens (CWT) are good, each as base64; comma-separated. Empty turns "
        "authentication off.",
    )
    managers: Annotated[tuple[str, ...], NoDecode] = Field(
        (), description="Subjects of tokens that may create Spaces and set their tiers; comma-separated."
    )
    allow_open_access: bool = Field(
        False, description="Whether to serve without authentication on an address others can reach."
    )
    auth_failures_per_minute: int = Field(
        600, ge=1, description="Failed credentials of one address in a minute after which it is told 429."
    )

    # --- how Spaces behave ---
    space_packages: Annotated[tuple[str, ...], NoDecode] = Field(
        ("general", "everyday"),
        description="Packages a new Space starts with, beside the Cognitive Memory Profile; comma-separated.",
    )
    memory_attribution: Literal["speaker", "named", "open"] = Field(
        "speaker", description="Whom a remembered claim may name as its speaker."
    )

    # --- how it runs ---
    http_max_concurrency: int = Field(1024, ge=0, description="Requests at a time; 0 counts as 1.")
    body_limit_bytes: int = Field(2 * 1024 * 1024, ge=1024, description="Largest request body.")
    body_timeout_ms: int = Field(30_000, ge=100, description="How long a client may take to send a request's body.")
    connection_timeout_ms: int = Field(
        10_000, ge=100, description="How long a client may take to send headers, or to take 64 KiB of an answer."
    )
    kip_timeout_ms: int = Field(
        15_000,
        ge=10,
        description="How long a caller's own KIP request, document, probe or look for attention may take, waiting for "
        "its turn included.",
    )
    kip_max_concurrency: int = Field(
        256, ge=1, description="Callers' own KIP requests of one Space at a time; more are `RateLimited`."
    )
    http_allowed_hosts: Annotated[tuple[str, ...], NoDecode] = Field(
        (), description="Host names answered to beside loopback ones; `*` for any; comma-separated."
    )
    cors_origins: Annotated[tuple[str, ...], NoDecode] = Field(
        (), description="Origins browsers may call from; empty for none, `*` for all; comma-separated."
    )
    sharding_idx: int = Field(0, ge=0, description="Which shard this process serves.")
    work_queue: Literal["embedded", "celery"] = Field(
        "embedded",
        description="Who does background work: `embedded` this process, `celery` the workers (`brain worker`).",
    )
    redis_url: SecretStr = Field(
        SecretStr("redis://127.0.0.1:6379/0"), description="Redis that carries wake-ups when `WORK_QUEUE=celery`."
    )
    worker_concurrency: int = Field(2, ge=1, le=256, description="Processes of one worker that do passes.")
    worker_soft_limit_ms: int = Field(
        2_100_000, ge=1_000, description="After how long a worker stops a task and counts that against its entry."
    )
    worker_hard_limit_ms: int = Field(
        2_400_000, ge=1_000, description="After how long a task that could not be stopped loses its process."
    )
    sweep_interval_ms: int = Field(30_000, ge=100, description="How often forgotten wake-ups are looked for.")
    lease_ttl_ms: int = Field(15_000, ge=1_000, description="How long a worker's lease lasts without renewal.")
    shutdown_grace_ms: int = Field(10_000, ge=0, description="How long a stopping process lets runs finish.")
    space_idle_ms: int = Field(540_000, ge=1_000, description="After how long without use a Space is closed.")
    metrics_addr: str = Field(
        "same",
        description="Where `/metrics`, `/healthz` and `/readyz` are served: `same` beside the service, `off`, or an "
        "address and port of their own, which a worker needs.",
    )
    otel_exporter_otlp_endpoint: str = Field(
        "", description="Base address of an OpenTelemetry collector (OTLP over HTTP) that takes traces; empty for none."
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="Lowest level that is logged.")

    @field_validator(
        "space_packages",
        "cors_origins",
        "http_allowed_hosts",
        "ed25519_pubkeys",
        "managers",
        "byok_allowed_hosts",
        "archive_pubkeys",
        mode="before",
    )
    @classmethod
    def _listed(cls, value: object) -> object:
        return _parts(value) if isinstance(value, str) else value

    @field_validator("log_level", mode="before")
    @classmethod
    def _level(cls, value: object) -> object:
        return value.lower() if isinstance(value, str) else value

    @field_validator("cors_origins")
    @classmethod
    def _origins(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if any(one != "*" and _ORIGIN.fullmatch(one) is None for one in value):
            raise ValueError("must be `*` or origins as browsers send them: https://HOST or https://HOST:PORT, no path")
        return value

    @field_validator("http_allowed_hosts")
    @classmethod
    def _hosts(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if any(one != "*" and _HOST.fullmatch(one) is None for one in value):
            raise ValueError("must be `*` or names of hosts, without scheme, port and path")
        return value

    @field_validator("metrics_addr")
    @classmethod
    def _metrics_address(cls, value: str) -> str:
        return value if value in ("same", "off") else cls._address(value)

    @field_validator("otel_exporter_otlp_endpoint")
    @classmethod
    def _collector(cls, value: str) -> str:
        if value and not value.startswith(("http://", "https://")):
            raise ValueError("must be an http:// or https:// address")
        return value

    @field_validator("aws_endpoint_url")
    @classmethod
    def _bucket_address(cls, value: str) -> str:
        if value and re.fullmatch(r"https?://[^/?#@\s]+/?", value) is None:
            raise ValueError("must be http://HOST:PORT or https://HOST")
        return value

    @field_validator("neo4j_uri")
    @classmethod
    def _database(cls, value: str) -> str:
        if re.fullmatch(r"(bolt|neo4j)(\+s|\+ssc)?://\S+", value) is None:
            raise ValueError("must be bolt://HOST:PORT or neo4j://HOST:PORT")
        return value

    @field_validator("listen_addr")
    @classmethod
    def _address(cls, value: str) -> str:
        host, colon, port = value.rpartition(":")
        if not colon or not host or not port.isascii() or not port.isdigit() or int(port) > 65_535:
            raise ValueError("must be HOST:PORT")
        return value

    @field_validator("archive_signing_key")
    @classmethod
    def _signing_key(cls, value: SecretStr) -> SecretStr:
        if value.get_secret_value():
            from brain.auth.cwt import read_private_key

            read_private_key(value.get_secret_value())
        return value

    @field_validator("ed25519_pubkeys", "archive_pubkeys")
    @classmethod
    def _keys(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if value:
            from brain.auth.cwt import read_public_keys  # the cryptography, for who asks for it

            read_public_keys(value)
        return value

    @field_validator("space_secret_keys")
    @classmethod
    def _sealing_keys(cls, value: SecretStr) -> SecretStr:
        texts = _parts(value.get_secret_value())
        if texts:
            from brain.auth.sealing import Sealer  # the cryptography, for who asks for it

            Sealer.of_texts(texts)
        return value

    @field_validator("redis_url")
    @classmethod
    def _broker(cls, value: SecretStr) -> SecretStr:
        if not value.get_secret_value().startswith(("redis://", "rediss://", "redis+socket://")):
            raise ValueError("must be a redis://, rediss:// or redis+socket:// address")
        return value

    @model_validator(mode="after")
    def _fits_together(self) -> Settings:
        if self.work_queue == "celery" and self.storage == "memory":
            raise ValueError("WORK_QUEUE is celery, so STORAGE cannot be memory: workers would see none of it")
        if self.worker_hard_limit_ms <= self.worker_soft_limit_ms:
            raise ValueError("WORKER_HARD_LIMIT_MS must be more than WORKER_SOFT_LIMIT_MS")
        if self.has_provider and not (self.model_family.strip() and self.model_name.strip()):
            raise ValueError("MODEL_API_KEY is set, so MODEL_FAMILY and MODEL_NAME must be too")
        if self.embedding_family not in ("", BUILTIN_EMBEDDINGS) and not self.embedding_name.strip():
            raise ValueError("EMBEDDING_FAMILY names a provider, so EMBEDDING_NAME must be set too")
        if self.embedding_family == BUILTIN_EMBEDDINGS and self.embedding_dimensions:
            raise ValueError("EMBEDDING_DIMENSIONS is for providers; EMBEDDING_FAMILY is builtin")
        if self.metrics_addr == self.listen_addr and self.port:
            raise ValueError("METRICS_ADDR is LISTEN_ADDR; say METRICS_ADDR=same, or give it an address of its own")
        if self.model_max_output >= self.model_context_window:
            raise ValueError("MODEL_MAX_OUTPUT must be less than MODEL_CONTEXT_WINDOW: nothing could be asked")
        if bool(self.aws_access_key_id.get_secret_value()) != bool(self.aws_secret_access_key.get_secret_value()):
            raise ValueError("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY must be set both or not at all")
        if self.managers and not self.ed25519_pubkeys:
            raise ValueError("MANAGERS is set, so ED25519_PUBKEYS must be too: without keys everybody manages")
        return self

    @property
    def host(self) -> str:
        """The address to bind, without brackets."""
        return self.listen_addr.rpartition(":")[0].strip("[]")

    @property
    def is_on_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        return self.host.startswith(_LOOPBACK)

    @property
    def port(self) -> int:
        """The port to bind; 0 picks a free one."""
        return int(self.listen_addr.rpartition(":")[2])

    @property
    def own_metrics_address(self) -> tuple[str, int] | None:
        """Host and port of METRICS_ADDR when it is an address of its own."""
        host, colon, port = self.metrics_addr.rpartition(":")
        return (host.strip("[]"), int(port)) if colon else None

    @property
    def sealing_keys(self) -> tuple[str, ...]:
        """Keys that secrets of Spaces are sealed with, as base64."""
        return _parts(self.space_secret_keys.get_secret_value())

    @property
    def has_provider(self) -> bool:
        """Whether a real model is configured."""
        return bool(self.model_api_key.get_secret_value())


def _parts(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def load_settings(**overrides: object) -> Settings:
    """The settings of this process: flags over environment over `.env` over defaults.

    raises  SettingsError naming each setting at fault, with what it must be and without its value
    """
    for name, value in os.environ.items():
        if name in _NOT_SERVED and value and value.lower() not in _NOT_SERVED[name]:
            raise SettingsError(f"cannot start: {_not_served(name)}")
        meant = _almost_a_setting(name)
        if meant is not None:
            raise SettingsError(f"cannot start: {name} is no setting; {meant} is")
    try:
        return Settings(**overrides)  # type: ignore[arg-type]
    except ValidationError as failure:
        faults = "; ".join(_told(str(fault["loc"][0]) if fault["loc"] else "", fault) for fault in failure.errors())
        raise SettingsError(f"cannot start: {faults}") from None
    except (UnreadableSettings, UnicodeDecodeError):
        raise SettingsError("cannot start: .env cannot be read as UTF-8 lines of NAME=value") from None


def _told(name: str, fault: object) -> str:
    """One fault, without the value that is at fault."""
    assert isinstance(fault, dict)  # noqa: S101 - as pydantic gives them
    if fault["type"] == "extra_forbidden":
        return _not_served(name.upper()) if name.upper() in _NOT_SERVED else f"{name.upper()} is no setting"
    text = str(fault["msg"]).removeprefix("Value error, ")
    return f"{name.upper()}: {text}" if name else text


def _not_served(name: str) -> str:
    return f"{name} is for a part that this release does not have; leave it out"


def use_proxy(settings: Settings) -> None:
    """Have this process and its children call providers by way of HTTPS_PROXY, wherever that was set: those who call
    take it from the environment."""
    proxy = settings.https_proxy.get_secret_value()
    if proxy:
        os.environ["HTTPS_PROXY"] = proxy


def _almost_a_setting(name: str) -> str | None:
    """The setting that a variable's name misses by a little, or None; it has to begin with the same word."""
    names = [known.upper() for known in Settings.model_fields]
    if name in names or name in _NOT_SERVED or name.startswith(_OTHERS):
        return None
    family, underscore, _ = name.partition("_")
    siblings = [known for known in names if underscore and known.startswith(f"{family}_")]
    close = difflib.get_close_matches(name, siblings, n=1, cutoff=0.89)
    return close[0] if close else None
