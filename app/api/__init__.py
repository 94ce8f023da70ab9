"""The HTTP ring: one router a resource, and the door that every request passes.

A route parses, runs one command, and maps what it returned. Always: who asks is known and has the right before a body
is read; bodies go through the one JSON loader; `problems` writes whatever goes wrong; nothing that is answered or
logged holds a value of somebody's arguments.
"""
