"""Spend: what is held and spent on scopes, counted exactly.

This room owns the entries (the truth, only ever inserted), the totals of every scope, and the buckets that make any
window a sum of few rows. Always: totals and buckets equal the entries; entries are written for every scope, limited
or not, with or without a cost, so that a new limit starts with the truth. Nothing here locks a row: whoever writes
holds the tenant's head, so a scope that has no row yet is as safe as one that does.
"""
