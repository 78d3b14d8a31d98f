"""One class per registered KIP error code (KIP 2.0 §86, §87).

The class name is the wire code. Each class fixes its category, its default retry class and a general hint; an
occurrence states what happened, and a better hint, details or retry class where it knows them. Doors turn these into
HTTP and MCP answers in one place; nothing else in the product invents error codes.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, ClassVar


class Category(StrEnum):
    """What an error is about (§86.2)."""

    ARTIFACT = "artifact"
    DATA = "data"
    EPISTEMIC = "epistemic"
    GOVERNANCE = "governance"
    HISTORY = "history"
    PROTOCOL = "protocol"
    RESOURCE = "resource"
    SCHEMA = "schema"
    SEARCH = "search"
    SYNTAX = "syntax"
    SYSTEM = "system"
    TRANSACTION = "transaction"
    TRANSPORT = "transport"


class Retry(StrEnum):
    """What has to change before sending again can help (§86.3)."""

    NON_RETRYABLE = "non_retryable"
    OUTCOME_LOOKUP_REQUIRED = "outcome_lookup_required"
    REQUIRES_AUTHORITY = "requires_authority"
    REQUIRES_DIFFERENT_INPUT = "requires_different_input"
    REQUIRES_NEW_SNAPSHOT = "requires_new_snapshot"
    REQUIRES_REACQUIRE_ARTIFACT = "requires_reacquire_artifact"
    REQUIRES_REFRESH = "requires_refresh"
    SAFE_SAME_REQUEST = "safe_same_request"


class KipError(Exception):
    """Base of every registered error; never raised itself.

    message  one sentence: what is wrong, in the caller's terms, without anything the caller may not see
    hint     one sentence: how to put it right; the class's general hint when the occurrence has none
    details  JSON values: position {line, column, snippet}, candidates, expected and found, plane, faults …
    retry    the class's default unless this occurrence knows better
    """

    category: ClassVar[Category]
    retry_class: ClassVar[Retry]
    meaning: ClassVar[str]
    general_hint: ClassVar[str]

    def __init__(
        self,
        message: str | None = None,
        *,
        hint: str | None = None,
        retry: Retry | None = None,
        after_ms: int | None = None,
        details: Mapping[str, Any] | None = None,
    ) -> None:
        self.message = message or self.meaning
        self.hint = hint or self.general_hint
        self.retry = retry or self.retry_class
        self.after_ms = after_ms
        self.details: dict[str, Any] = dict(details or {})
        super().__init__(self.message)

    @property
    def code(self) -> str:
        """The wire code."""
        return type(self).__name__

    def to_wire(self) -> dict[str, Any]:
        """The error object of a response (§86.1); `details` is left out when there are none."""
        retry: dict[str, Any] = {"class": self.retry.value}
        if self.after_ms is not None:
            retry["after_ms"] = self.after_ms
        wire: dict[str, Any] = {
            "code": self.code,
            "category": self.category.value,
            "message": self.message,
            "hint": self.hint,
            "retry": retry,
        }
        if self.details:
            wire["details"] = self.details
        return wire


class InvalidSyntax(KipError):
    """The text, or a value bound into it, does not form a legal statement. (§87.1)"""

    category = Category.SYNTAX
    retry_class = Retry.REQUIRES_DIFFERENT_INPUT
    meaning = "The text, or a value bound into it, does not form a legal statement."
    general_hint = "Correct the place the message names; nothing ran."


class InvalidIdentifier(KipError):
    """A name, reference or symbol is spelled in a form that cannot exist. (§87.1)"""

    category = Category.SYNTAX
    retry_class = Retry.REQUIRES_DIFFERENT_INPUT
    meaning = "A name, reference or symbol is spelled in a form that cannot exist."
    general_hint = "Use letters, digits and '_' for names, and kip://path@version/Name for exact symbols."


class InvalidRequestEnvelope(KipError):
    """The request object breaks a rule of its own shape, apart from any statement inside it. (§87.1)"""

    category = Category.PROTOCOL
    retry_class = Retry.REQUIRES_DIFFERENT_INPUT
    meaning = "The request object breaks a rule of its own shape, apart from any statement inside it."
    general_hint = 'Send {"kip": "2.0", "operations": [{"command": …}]} with only the documented members.'


class UnsupportedProtocolVersion(KipError):
    """The request asks for a protocol version this service does not speak. (§87.1)"""

    category = Category.PROTOCOL
    retry_class = Retry.NON_RETRYABLE
    meaning = "The request asks for a protocol version this service does not speak."
    general_hint = 'Send "kip": "2.0".'


class UnsupportedCapability(KipError):
    """A feature that is not offered here was asked for. (§87.1)"""

    category = Category.PROTOCOL
    retry_class = Retry.NON_RETRYABLE
    meaning = "A feature that is not offered here was asked for."
    general_hint = "Read DESCRIBE CAPABILITIES and ask for something it lists as supported."


class UnsupportedIsolation(KipError):
    """The named isolation level is not offered. (§87.1)"""

    category = Category.PROTOCOL
    retry_class = Retry.NON_RETRYABLE
    meaning = "The named isolation level is not offered."
    general_hint = 'Leave isolation out, or name "serializable".'


class LanguageMismatch(KipError):
    """The language label says one thing and the statement is another. (§87.1)"""

    category = Category.PROTOCOL
    retry_class = Retry.REQUIRES_DIFFERENT_INPUT
    meaning = "The language label says one thing and the statement is another."
    general_hint = "Drop the language label or make it fit the statement."


class ReadonlyViolation(KipError):
    """A statement that writes came in through a door that only reads. (§87.1)"""

    category = Category.PROTOCOL
    retry_class = Retry.REQUIRES_DIFFERENT_INPUT
    meaning = "A statement that writes came in through a door that only reads."
    general_hint = "Send FIND, DESCRIBE, LIST, SEARCH, HISTORY or CHANGES here; writes go through the writing door."


class DuplicateLocalHandle(KipError):
    """One block declares the same handle twice. (§87.1)"""

    category = Category.PROTOCOL
    retry_class = Retry.REQUIRES_DIFFERENT_INPUT
    meaning = "One block declares the same handle twice."
    general_hint = "Give each element of the block a handle of its own."


class DuplicateMutationTarget(KipError):
    """Two clauses of one transaction want different final values in one place. (§87.1)"""

    category = Category.PROTOCOL
    retry_class = Retry.REQUIRES_DIFFERENT_INPUT
    meaning = "Two clauses of one transaction want different final values in one place."
    general_hint = "Keep one of the two values, or write them in two transactions."


class SchemaSymbolNotFound(KipError):
    """No active package and no draft defines this name. (§87.2)"""

    category = Category.SCHEMA
    retry_class = Retry.REQUIRES_DIFFERENT_INPUT
    meaning = "No active package and no draft defines this name."
    general_hint = "Use a name from LIST TYPES or LIST PREDICATES, or DEFINE it first."


class SchemaSymbolAmbiguous(KipError):
    """Several packages export this name. (§87.2)"""

    category = Category.SCHEMA
    retry_class = Retry.REQUIRES_DIFFERENT_INPUT
    meaning = "Several packages export this name."
    general_hint = "Write the exact reference, kip://path@version/Name."


class SchemaSymbolConflict(KipError):
    """The name to define is taken. (§87.2)"""

    category = Category.SCHEMA
    retry_class = Retry.NON_RETRYABLE
    meaning = "The name to define is taken."
    general_hint = "Use the symbol that exists, or choose another name."


class SchemaFieldNotFound(KipError):
    """A closed definition has no such field. (§87.2)"""

    category = Category.SCHEMA
    retry_class = Retry.REQUIRES_DIFFERENT_INPUT
    meaning = "A closed definition has no such field."
    general_hint = "Use a field the definition lists; DESCRIBE TYPE or DESCRIBE FACET shows them."


class SchemaPackageUnavailable(KipError):
    """A package this needs is not installed here. (§87.2)"""

    category = Category.SCHEMA
    retry_class = Retry.REQUIRES_REFRESH
    meaning = "A package this needs is not installed here."
    general_hint = "Install the package, or map the named symbols."


class SchemaEnvironmentChanged(KipError):
    """The vocabulary changed while the request ran. (§87.2)"""

    category = Category.SCHEMA
    retry_class = Retry.REQUIRES_REFRESH
    meaning = "The vocabulary changed while the request ran."
    general_hint = "Read the vocabulary again and resend."


class HistoricalSchemaUnavailable(KipError):
    """The vocabulary of that sequence is no longer kept. (§87.2)"""

    category = Category.SCHEMA
    retry_class = Retry.NON_RETRYABLE
    meaning = "The vocabulary of that sequence is no longer kept."
    general_hint = "Ask at a later sequence."


class TypeMismatch(KipError):
    """A value has the wrong type for its place. (§87.2)"""

    category = Category.SCHEMA
    retry_class = Retry.REQUIRES_DIFFERENT_INPUT
    meaning = "A value has the wrong type for its place."
    general_hint = "Give the type the message names."


class ConstraintViolation(KipError):
    """A value has the right type and is still not allowed. (§87.2)"""

    category = Category.SCHEMA
    retry_class = Retry.REQUIRES_DIFFERENT_INPUT
    meaning = "A value has the right type and is still not allowed."
    general_hint = "Give a value the message allows."


class NotFoundOrNotVisible(KipError):
    """No element that you may see answers to this reference. (§87.3)"""

    category = Category.DATA
    retry_class = Retry.REQUIRES_DIFFERENT_INPUT
    meaning = "No element that you may see answers to this reference."
    general_hint = "Check the id or key; find it with SEARCH or FIND first."


class ReferenceError(KipError):  # noqa: A001 - the registry fixes the name
    """A parameter, handle or variable is used and never given. (§87.3)"""

    category = Category.DATA
    retry_class = Retry.REQUIRES_DIFFERENT_INPUT
    meaning = "A parameter, handle or variable is used and never given."
    general_hint = "Bind the parameter, or declare the handle in the same block."


class StructuralReferenceInvalid(KipError):
    """A reference points to something its field does not take. (§87.3)"""

    category = Category.DATA
    retry_class = Retry.REQUIRES_DIFFERENT_INPUT
    meaning = "A reference points to something its field does not take."
    general_hint = "Point to an element of the kind and type the field lists."


class IdentitySelectorRequired(KipError):
    """A write described an element where it has to name one. (§87.3)"""

    category = Category.DATA
    retry_class = Retry.REQUIRES_DIFFERENT_INPUT
    meaning = "A write described an element where it has to name one."
    general_hint = "Use a handle, an id, or {type, key}."


class NameIdentityForbidden(KipError):
    """A name was used to pick the element to write. (§87.3)"""

    category = Category.DATA
    retry_class = Retry.REQUIRES_DIFFERENT_INPUT
    meaning = "A name was used to pick the element to write."
    general_hint = "Select by id or by type and key; names may repeat."


class IdentityConflict(KipError):
    """Two elements claim one identity, or a key fits several. (§87.3)"""

    category = Category.DATA
    retry_class = Retry.REQUIRES_DIFFERENT_INPUT
    meaning = "Two elements claim one identity, or a key fits several."
    general_hint = "Add the type to the key, use the id, or choose another key."


class ClientKeyConflict(KipError):
    """This client key already stands for other content. (§87.3)"""

    category = Category.DATA
    retry_class = Retry.REQUIRES_DIFFERENT_INPUT
    meaning = "This client key already stands for other content."
    general_hint = "Resend the first content, or use a new client key."


class IdentityMergeConflict(KipError):
    """These two cannot become one: a side is unclear, a type differs, or a circle would close. (§87.3)"""

    category = Category.DATA
    retry_class = Retry.REQUIRES_DIFFERENT_INPUT
    meaning = "These two cannot become one: a side is unclear, a type differs, or a circle would close."
    general_hint = "Name one source and one target of the same type by id."


class ImmutableField(KipError):
    """This field is fixed once written. (§87.4)"""

    category = Category.EPISTEMIC
    retry_class = Retry.REQUIRES_DIFFERENT_INPUT
    meaning = "This field is fixed once written."
    general_hint = "Create a new element instead of changing this one."


class EpistemicRevisionRequired(KipError):
    """A claim's content is never edited. (§87.4)"""

    category = Category.EPISTEMIC
    retry_class = Retry.REQUIRES_DIFFERENT_INPUT
    meaning = "A claim's content is never edited."
    general_hint = "Assert the new content, with SUPERSEDING the old Assertion when it corrects it."


class EvidenceCorrectionRequired(KipError):
    """What was observed is never edited. (§87.4)"""

    category = Category.EPISTEMIC
    retry_class = Retry.REQUIRES_DIFFERENT_INPUT
    meaning = "What was observed is never edited."
    general_hint = 'Create new Evidence, then TRANSITION the old one TO "corrected" BY it.'


class InvalidLifecycleTransition(KipError):
    """The element cannot move from its present state to that one. (§87.4)"""

    category = Category.EPISTEMIC
    retry_class = Retry.REQUIRES_REFRESH
    meaning = "The element cannot move from its present state to that one."
    general_hint = "Read its state again and choose a move that is legal from there."


class RetractionNotAuthorized(KipError):
    """Only the one who made a claim, or a delegate, may retract it. (§87.4)"""

    category = Category.EPISTEMIC
    retry_class = Retry.REQUIRES_AUTHORITY
    meaning = "Only the one who made a claim, or a delegate, may retract it."
    general_hint = "Record the disagreement as a claim of its own instead."


class SupersessionMismatch(KipError):
    """The new claim does not take the place of the old one: actor, slot or contexts differ. (§87.4)"""

    category = Category.EPISTEMIC
    retry_class = Retry.REQUIRES_REFRESH
    meaning = "The new claim does not take the place of the old one: actor, slot or contexts differ."
    general_hint = (
        "Supersede only a claim of the same actor, subject, predicate and contexts; otherwise assert beside it."
    )


class EvidenceCorrectionConflict(KipError):
    """This Evidence is already corrected by another record, or the record cannot correct it. (§87.4)"""

    category = Category.EPISTEMIC
    retry_class = Retry.REQUIRES_REFRESH
    meaning = "This Evidence is already corrected by another record, or the record cannot correct it."
    general_hint = "Correct the newest record instead."


class ActivityTerminal(KipError):
    """A finished Activity does not change. (§87.4)"""

    category = Category.EPISTEMIC
    retry_class = Retry.REQUIRES_DIFFERENT_INPUT
    meaning = "A finished Activity does not change."
    general_hint = "Record what came later as a new Activity."


class ProjectionTargetUnbound(KipError):
    """BELIEF was given a subject or predicate that nothing binds. (§87.4)"""

    category = Category.EPISTEMIC
    retry_class = Retry.REQUIRES_DIFFERENT_INPUT
    meaning = "BELIEF was given a subject or predicate that nothing binds."
    general_hint = "Bind the subject with a pattern or a parameter first."


class ProjectionTargetUnbounded(KipError):
    """BELIEF would have to weigh the whole Space. (§87.4)"""

    category = Category.EPISTEMIC
    retry_class = Retry.REQUIRES_DIFFERENT_INPUT
    meaning = "BELIEF would have to weigh the whole Space."
    general_hint = "Name the subject and the predicate."


class ProjectionNotAuthorized(KipError):
    """You may not project belief under this policy. (§87.4)"""

    category = Category.EPISTEMIC
    retry_class = Retry.REQUIRES_AUTHORITY
    meaning = "You may not project belief under this policy."
    general_hint = "Ask the owner for the project permission."


class ProjectionPolicyUnavailable(KipError):
    """This epistemic policy is not known here. (§87.4)"""

    category = Category.EPISTEMIC
    retry_class = Retry.REQUIRES_REFRESH
    meaning = "This epistemic policy is not known here."
    general_hint = "Use a policy from LIST EPISTEMIC POLICIES."


class Unauthenticated(KipError):
    """The request carries no usable credential. (§87.5)"""

    category = Category.GOVERNANCE
    retry_class = Retry.REQUIRES_AUTHORITY
    meaning = "The request carries no usable credential."
    general_hint = "Send a valid credential."


class NotAuthorized(KipError):
    """The caller is known and may not do this. (§87.5)"""

    category = Category.GOVERNANCE
    retry_class = Retry.REQUIRES_AUTHORITY
    meaning = "The caller is known and may not do this."
    general_hint = "Leave this out, or ask somebody who holds the permission."


class RequiresApproval(KipError):
    """This waits until a second principal approves it. (§87.5)"""

    category = Category.GOVERNANCE
    retry_class = Retry.REQUIRES_AUTHORITY
    meaning = "This waits until a second principal approves it."
    general_hint = "Have another principal with the approve permission record the approval."


class RequiresStrongerAuthentication(KipError):
    """The way you authenticated is too weak for this. (§87.5)"""

    category = Category.GOVERNANCE
    retry_class = Retry.REQUIRES_AUTHORITY
    meaning = "The way you authenticated is too weak for this."
    general_hint = "Authenticate with a stronger method and resend."


class ActorBindingRequired(KipError):
    """This actor is reserved; only a principal bound to it may speak as it. (§87.5)"""

    category = Category.GOVERNANCE
    retry_class = Retry.REQUIRES_AUTHORITY
    meaning = "This actor is reserved; only a principal bound to it may speak as it."
    general_hint = "Attribute the claim to the person who made it."


class ProtectedSystemField(KipError):
    """System fields are written by the engine alone. (§87.5)"""

    category = Category.GOVERNANCE
    retry_class = Retry.NON_RETRYABLE
    meaning = "System fields are written by the engine alone."
    general_hint = "Leave _system out."


class ProtectedGovernanceField(KipError):
    """Governance fields are written by governance alone. (§87.5)"""

    category = Category.GOVERNANCE
    retry_class = Retry.NON_RETRYABLE
    meaning = "Governance fields are written by governance alone."
    general_hint = "Leave governance and merged_into out."


class ProtectedSchemaState(KipError):
    """The vocabulary of a Space changes only under schema authority. (§87.5)"""

    category = Category.GOVERNANCE
    retry_class = Retry.NON_RETRYABLE
    meaning = "The vocabulary of a Space changes only under schema authority."
    general_hint = "Ask the owner of the Space."


class LegalHoldConflict(KipError):
    """A legal hold keeps this element from being erased. (§87.5)"""

    category = Category.GOVERNANCE
    retry_class = Retry.REQUIRES_AUTHORITY
    meaning = "A legal hold keeps this element from being erased."
    general_hint = "Lift the hold first, with the permission to do so."


class PurgeDenied(KipError):
    """Other elements still refer to this one. (§87.5)"""

    category = Category.GOVERNANCE
    retry_class = Retry.REQUIRES_AUTHORITY
    meaning = "Other elements still refer to this one."
    general_hint = "Choose a REFERENCE POLICY, or purge the references first."


class VersionConflict(KipError):
    """The element has moved on since you read it. (§87.6)"""

    category = Category.TRANSACTION
    retry_class = Retry.REQUIRES_REFRESH
    meaning = "The element has moved on since you read it."
    general_hint = "Read it again and repeat the change against its present version."


class PreconditionFailed(KipError):
    """The Space has moved on since you read it. (§87.6)"""

    category = Category.TRANSACTION
    retry_class = Retry.REQUIRES_REFRESH
    meaning = "The Space has moved on since you read it."
    general_hint = "Read again and resend with the present coordinates."


class SerializationConflict(KipError):
    """Another writer was faster. (§87.6)"""

    category = Category.TRANSACTION
    retry_class = Retry.SAFE_SAME_REQUEST
    meaning = "Another writer was faster."
    general_hint = "Send the same request again."


class IdempotencyConflict(KipError):
    """This idempotency key belongs to another request. (§87.6)"""

    category = Category.TRANSACTION
    retry_class = Retry.REQUIRES_DIFFERENT_INPUT
    meaning = "This idempotency key belongs to another request."
    general_hint = "Use a new key for a new request."


class TransactionUnknown(KipError):
    """No kept outcome answers to this transaction or key. (§87.6)"""

    category = Category.TRANSACTION
    retry_class = Retry.OUTCOME_LOOKUP_REQUIRED
    meaning = "No kept outcome answers to this transaction or key."
    general_hint = "Check the id or key; outcomes are kept for a limited time."


class OutcomeUnknown(KipError):
    """Whether the write took place could not be established. (§87.6)"""

    category = Category.TRANSACTION
    retry_class = Retry.OUTCOME_LOOKUP_REQUIRED
    meaning = "Whether the write took place could not be established."
    general_hint = "Look the outcome up by its idempotency key before sending again."


class TransactionTooLarge(KipError):
    """The transaction is larger than this service takes. (§87.6)"""

    category = Category.TRANSACTION
    retry_class = Retry.REQUIRES_DIFFERENT_INPUT
    meaning = "The transaction is larger than this service takes."
    general_hint = "Split it."


class HistoricalSnapshotUnavailable(KipError):
    """The Space has no readable state at that sequence. (§87.7)"""

    category = Category.HISTORY
    retry_class = Retry.REQUIRES_NEW_SNAPSHOT
    meaning = "The Space has no readable state at that sequence."
    general_hint = "Ask between 0 and the present sequence, within retention."


class CursorMismatch(KipError):
    """The cursor belongs to another query. (§87.7)"""

    category = Category.HISTORY
    retry_class = Retry.REQUIRES_DIFFERENT_INPUT
    meaning = "The cursor belongs to another query."
    general_hint = "Send the query the cursor came from, or start without a cursor."


class CursorTypeMismatch(KipError):
    """The cursor belongs to another kind of statement. (§87.7)"""

    category = Category.HISTORY
    retry_class = Retry.REQUIRES_DIFFERENT_INPUT
    meaning = "The cursor belongs to another kind of statement."
    general_hint = "Use a cursor only with the kind of statement that gave it."


class CursorExpired(KipError):
    """The cursor can no longer be continued. (§87.7)"""

    category = Category.HISTORY
    retry_class = Retry.REQUIRES_NEW_SNAPSHOT
    meaning = "The cursor can no longer be continued."
    general_hint = "Start the query again without a cursor."


class CursorInvalid(KipError):
    """This is not a cursor this service gave out. (§87.7)"""

    category = Category.HISTORY
    retry_class = Retry.REQUIRES_NEW_SNAPSHOT
    meaning = "This is not a cursor this service gave out."
    general_hint = "Start the query again without a cursor."


class SearchModeUnsupported(KipError):
    """This search mode is not offered here. (§87.8)"""

    category = Category.SEARCH
    retry_class = Retry.REQUIRES_DIFFERENT_INPUT
    meaning = "This search mode is not offered here."
    general_hint = 'Use MODE "keyword", or read DESCRIBE CAPABILITIES.'


class SearchIndexUnavailable(KipError):
    """The search index is being rebuilt. (§87.8)"""

    category = Category.SEARCH
    retry_class = Retry.SAFE_SAME_REQUEST
    meaning = "The search index is being rebuilt."
    general_hint = "Send the same request again shortly."


class HistoricalSearchUnavailable(KipError):
    """Search in the past is not offered here. (§87.8)"""

    category = Category.SEARCH
    retry_class = Retry.NON_RETRYABLE
    meaning = "Search in the past is not offered here."
    general_hint = "Search the present, or use FIND … AS OF SEQ."


class ArtifactUnavailable(KipError):
    """The artifact handle is unknown or has expired. (§87.9)"""

    category = Category.ARTIFACT
    retry_class = Retry.REQUIRES_REACQUIRE_ARTIFACT
    meaning = "The artifact handle is unknown or has expired."
    general_hint = "Upload the artifact again."


class ArtifactTooLarge(KipError):
    """The artifact is larger than this service takes. (§87.9)"""

    category = Category.ARTIFACT
    retry_class = Retry.REQUIRES_DIFFERENT_INPUT
    meaning = "The artifact is larger than this service takes."
    general_hint = "Send a smaller artifact."


class ArtifactParseError(KipError):
    """The artifact is not strict JSON of the expected format. (§87.9)"""

    category = Category.ARTIFACT
    retry_class = Retry.REQUIRES_DIFFERENT_INPUT
    meaning = "The artifact is not strict JSON of the expected format."
    general_hint = "Send the artifact exactly as it was exported."


class DigestMismatch(KipError):
    """The content does not have the digest it claims. (§87.9)"""

    category = Category.ARTIFACT
    retry_class = Retry.REQUIRES_REACQUIRE_ARTIFACT
    meaning = "The content does not have the digest it claims."
    general_hint = "Fetch the content again and resend it unchanged."


class ProofInvalid(KipError):
    """The signature does not verify. (§87.9)"""

    category = Category.ARTIFACT
    retry_class = Retry.NON_RETRYABLE
    meaning = "The signature does not verify."
    general_hint = "Do not use this artifact."


class SignerUnknown(KipError):
    """The signer's key is not registered. (§87.9)"""

    category = Category.ARTIFACT
    retry_class = Retry.NON_RETRYABLE
    meaning = "The signer's key is not registered."
    general_hint = "Have the owner register the key."


class BlobUnavailable(KipError):
    """A blob the artifact refers to is missing. (§87.9)"""

    category = Category.ARTIFACT
    retry_class = Retry.REQUIRES_REACQUIRE_ARTIFACT
    meaning = "A blob the artifact refers to is missing."
    general_hint = "Send the blob with the artifact."


class CapsuleValidationFailed(KipError):
    """The Capsule contradicts its own schema or closure. (§87.9)"""

    category = Category.ARTIFACT
    retry_class = Retry.REQUIRES_DIFFERENT_INPUT
    meaning = "The Capsule contradicts its own schema or closure."
    general_hint = "Repair what the details list, or export again."


class ImportPreviewConflict(KipError):
    """The destination changed since the preview. (§87.9)"""

    category = Category.ARTIFACT
    retry_class = Retry.REQUIRES_REFRESH
    meaning = "The destination changed since the preview."
    general_hint = "Preview again, then import."


class ResourceExhausted(KipError):
    """The work would go past a stated bound. (§87.10)"""

    category = Category.RESOURCE
    retry_class = Retry.REQUIRES_DIFFERENT_INPUT
    meaning = "The work would go past a stated bound."
    general_hint = "Narrow the query: fewer hops, more bound ends, a smaller LIMIT."


class ResultLimitExceeded(KipError):
    """The answer does not fit the stated bound. (§87.10)"""

    category = Category.RESOURCE
    retry_class = Retry.REQUIRES_DIFFERENT_INPUT
    meaning = "The answer does not fit the stated bound."
    general_hint = "Ask for fewer rows or fields."


class ExecutionTimeout(KipError):
    """The deadline passed before the work was done. (§87.10)"""

    category = Category.RESOURCE
    retry_class = Retry.OUTCOME_LOOKUP_REQUIRED
    meaning = "The deadline passed before the work was done."
    general_hint = "Ask for less, or allow more time."


class RateLimited(KipError):
    """Too many requests at once. (§87.10)"""

    category = Category.RESOURCE
    retry_class = Retry.SAFE_SAME_REQUEST
    meaning = "Too many requests at once."
    general_hint = "Wait and send the same request again."


class InternalError(KipError):
    """Something failed inside the service. (§87.10)"""

    category = Category.SYSTEM
    retry_class = Retry.OUTCOME_LOOKUP_REQUIRED
    meaning = "Something failed inside the service."
    general_hint = "If this was a write, look its outcome up before sending again."


REGISTRY: Mapping[str, type[KipError]] = {cls.__name__: cls for cls in KipError.__subclasses__()}
"""Every registered code, in the order of §87."""
