"""Admissions and effects: the answers that permit, and the consequences that may happen once.

This room owns admissions (reserved → executed | not_executed | unknown) with their leases and idempotency keys, and
effect keys. Always: a key has at most one open or executed admission; only "not executed" frees it; an admission
whose lease has ended is unknown, whether or not a sweep has said so. Everything here happens under the tenant's head.
"""
