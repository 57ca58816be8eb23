"""Hindsight in test mode: starts it, sends nothing itself, and asserts what an application has sent."""
from .expect import Expectation
from .server import Hindsight, HindsightError
from .tables import Table

__all__ = ["Expectation", "Hindsight", "HindsightError", "Table"]
