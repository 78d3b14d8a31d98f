"""What `/openapi.json` states is true: Schemathesis calls every operation of it at random and judges each answer.

Inputs that fit the description and inputs that do not, in every content type, over real connections, by somebody who
may do everything. No answer is a server error, none has a status, a content type, a header or a body that is not
described, and what is described as impossible is refused.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from typing import Any

import cbor2
import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import CheckFunction, not_a_server_error
from schemathesis.core.parameters import ParameterLocation
from schemathesis.specs.openapi import checks as of_openapi
from starlette.routing import Route

from brain.http.app import ROUTES
from brain.http.openapi import document
from brain.http.operating import HEALTH_ROUTES, METRICS_ROUTES, PATHS
from tests.http.listening import listening
from tests.http.strictness import closed
from tests.http.test_access import MANAGER, PUBLIC_KEY, cwt

pytestmark = pytest.mark.slow

SERVED: list[Route] = [*ROUTES, *HEALTH_ROUTES, *METRICS_ROUTES]
DESCRIPTION = document(SERVED, shard=0, is_guarded=True, free=PATHS)

TEXTS = ("text/plain", "text/markdown", "application/gzip")
EXAMPLES = 8
CHECKS: list[CheckFunction] = [
    not_a_server_error,
    of_openapi.status_code_conformance,
    of_openapi.content_type_conformance,
    of_openapi.response_headers_conformance,
    of_openapi.response_schema_conformance,
    of_openapi.negative_data_rejection,
    of_openapi.unsupported_method,
    of_openapi.allow_header_conformance,
]


@schemathesis.serializer("application/cbor")
def as_cbor(_: schemathesis.SerializationContext, value: Any) -> bytes:
    """Bodies of the second content type."""
    return cbor2.dumps(value)


@schemathesis.serializer("text/markdown")
def as_text(_: schemathesis.SerializationContext, value: Any) -> bytes:
    """Bodies that are bare text."""
    return str(value).encode("utf-8", "surrogatepass")


@schemathesis.serializer("application/gzip")
def as_archive(_: schemathesis.SerializationContext, value: Any) -> bytes:
    """Bodies that are bytes: an archive of something."""
    return gzip.compress(str(value).encode("utf-8", "surrogatepass"))


@schemathesis.deserializer("application/cbor")
def of_cbor(_: schemathesis.DeserializationContext, response: schemathesis.Response) -> Any:
    """Answers of the second content type."""
    return cbor2.loads(response.content)


config = schemathesis.Config()
schema = schemathesis.openapi.from_dict(closed(DESCRIPTION), config=config)
schema.config.seed = 6


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the real service listens, with a Space `home` in it."""
    with listening(
        tmp_path_factory.mktemp("described"),
        token=cwt("*", "*"),
        ed25519_pubkeys=(PUBLIC_KEY,),
        managers=(MANAGER,),
        auth_failures_per_minute=10**6,
        llm_max_concurrency=64,
    ) as service:
        yield service.url


@schema.parametrize()
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
def test_every_answer_is_one_the_description_states(case: schemathesis.Case, address: str) -> None:
    components = case.meta.components if case.meta is not None else {}
    wrong = {place for place, found in components.items() if found.mode is schemathesis.GenerationMode.NEGATIVE}
    if ParameterLocation.PATH not in wrong and len(case.path_parameters.get("space_id", "")) % 4:
        case.path_parameters["space_id"] = "home"  # what it does to a Space that is there is of interest, too
    checks = CHECKS
    if wrong <= {ParameterLocation.HEADER} or case.media_type in TEXTS:
        # Ours are any text, and so is a text; the credential is one that is good.
        checks = [check for check in CHECKS if check is not of_openapi.negative_data_rejection]
    case.call_and_validate(
        base_url=address, headers={"authorization": f"Bearer {cwt('*', '*')}"}, checks=checks, timeout=60
    )
