"""Governance: who may do what with which element, decided on protected state alone (KIP 2.0 §28 to §31).

The protected state of a Space is one versioned control document, `plane.py`; `authority.py` is what it comes to for one
principal; `sight.py` judges elements by it and `view.py` is the Space as that principal sees it, which is all the rest
of the engine ever reads for them. `access.py` puts these together for an operation. `control.py` changes the protected
state and `elements.py` what it says of single elements; `approvals.py` and `audit.py` keep what waits and what was
decided.
"""
