"""Normal forms: what the standard library answers, also of texts made to keep it busy."""

from __future__ import annotations

import time
import unicodedata
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brain.unicode import normalize

FORMS = ("NFC", "NFD", "NFKC", "NFKD")
MARKS = "\u0301\u0323\u0344\u0315\u1dce\u093c\u3099\u0f71\u0f72\u0f73\u05b0"


@given(st.sampled_from(FORMS), st.text(st.sampled_from("aé\u1e69\uac00\u1100\u0f77" + MARKS), max_size=400))
def test_what_comes_out_is_what_unicode_says(form: Any, text: str) -> None:
    assert normalize(form, text) == unicodedata.normalize(form, text)


@settings(deadline=None)  # the sets of marks are made at the first call
@given(
    st.sampled_from(FORMS),
    st.text(max_size=5),
    st.text(st.sampled_from(MARKS), min_size=60, max_size=200),
    st.sampled_from(["", "\U0001d165", "\U0001d16d" * 60, "\U000110ba\U0001f600"]),
)
def test_long_runs_of_marks_are_no_exception(form: Any, before: str, marks: str, astral: str) -> None:
    text = before + marks + before + marks + astral + marks
    assert normalize(form, text) == unicodedata.normalize(form, text)


@pytest.mark.parametrize("form", FORMS)
def test_a_long_run_of_marks_takes_no_longer_than_other_text(form: Any) -> None:
    began = time.thread_time()
    normalize(form, "a" + "\u0301\u0323" * 500_000)
    assert time.thread_time() - began < 10  # the standard library takes over an hour


def test_every_mark_stands_in_one_of_the_first_two_planes() -> None:
    assert not [code for code in range(0x20000, 0x110000) if unicodedata.combining(chr(code))]
