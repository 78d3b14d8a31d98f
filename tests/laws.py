"""How many examples a law is tried with: few each time, many in the profile `nightly`.

`pytest --hypothesis-profile=nightly tests/kip/belief/test_recorded_laws.py` and the like.
"""

from __future__ import annotations

from hypothesis import HealthCheck, settings

NIGHTLY = "nightly"
# How long an example takes says more of what else the machine does than of the code.
settings.register_profile("patient", parent=settings(), deadline=None)
settings.load_profile("patient")
settings.register_profile(NIGHTLY, max_examples=10_000, deadline=None)
# An example, and making one, takes as long as the machine is busy with something else.
settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("default")


def law(each_time: int, *, by_night: int = 10_000, steps: int = 50) -> settings:
    """Settings of one law.

    steps  the longest run of a state machine
    """
    is_night = settings.get_current_profile_name() == NIGHTLY
    return settings(
        max_examples=by_night if is_night else each_time,
        stateful_step_count=steps,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
