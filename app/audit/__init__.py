"""The record: one signed hash chain per tenant, appended under the lock of the tenant's head.

This room owns the heads and the records. Always: a record commits with the change that it is about; `seq` has no gap;
`ts` never runs backwards; what was hashed is what is stored; nothing is ever updated or deleted but the head itself.
The head row is the tenant's lock: whoever writes a tenant's state takes it first, in a statement of its own.
"""
