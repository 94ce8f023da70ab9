"""Approvals: the questions that people decide, their votes, and the authority that they lend each other.

This room owns questions, votes, delegations and ended runs. Always: a call has at most one live question; a deadline
is over exactly at its time, whether or not a sweep ran; a yes covers one call, once, and is counted again before it is
used; votes are kept and never changed. Everything here happens under the tenant's head.
"""
