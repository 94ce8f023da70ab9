"""The policy language: documents, and what they say of a call.

A document is read whole and strictly, and everything in it is compiled when it is loaded. Weighing is a function of
the document, the call, the caller and the time; what is stored (spend, effects, approvals) comes after.
"""

from app.core.policy.approvers import ApproverRule
from app.core.policy.documents import load
from app.core.policy.knobs import Knobs
from app.core.policy.limits import Limit
from app.core.policy.policies import Policy
from app.core.policy.problems import DocumentError, Problem
from app.core.policy.terms import Terms
from app.core.policy.weighing import Weighing

__all__ = ["ApproverRule", "DocumentError", "Knobs", "Limit", "Policy", "Problem", "Terms", "Weighing", "load"]
