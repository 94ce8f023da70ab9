"""Identity: who asks, what they may do, and what has been revoked.

This room owns principals with their roles, credentials (API keys, of which only a hash is kept) with their rights, and
revocations. Always: a body never says who asks; every change raises the tenant's authority epoch and appends its record
in one transaction under the tenant's head; and what is served from memory is one immutable `Authority` under one epoch.
"""
