"""Transports: how a message reaches people outside the service; webhook, NATS, console, and the courier that uses them.

Transports deliver and nothing else. Always: no transaction is open while anything is sent; an attempt takes ten seconds
at most; nothing that a receiver answers decides anything, and none of its words are kept; a webhook's address is
resolved once, checked, and that very address is connected to.
"""
