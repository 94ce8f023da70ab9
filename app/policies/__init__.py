"""Policies: documents as immutable revisions, and which one is in force.

This room owns the revisions. Always: a revision never changes; a version label names one hash for ever; the revision
in force stands in the tenant's head, so that it changes for all replicas in one step; a document that does not load
is never stored, and leaves the one in force where it is.
"""
