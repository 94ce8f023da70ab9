"""Grants: who may ask for what, where a tenant has switched them on.

This room owns the grants and the switch. Always: a grant's terms never change, it is only ever revoked; the chain of
what it was delegated from is walked on each call, so ending one ends all below it at once; a row that cannot be read
harms its own chain and no other; and every change raises the tenant's authority epoch.
"""
