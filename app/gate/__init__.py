"""The gate: the commands that cross rooms, and the desk that groups them.

A command runs in memory, in a tenant's lane, against what was read under the head's lock; its answer leaves after the
commit. Order inside one transaction, always: lock the head, read, run the commands one after the other, write.
"""
