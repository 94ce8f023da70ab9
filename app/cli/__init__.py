"""The operator's command, `countersignd`: runs the service, migrates, and manages tenants, keys and policies.

A command here parses, calls what the rooms offer, and prints; it decides nothing. It never prints a secret but the one
that it was asked to make.
"""
