"""The database ring: connections, the two doors to them, and the books a group of commands works in.

`Database.transact` and `Database.read` are the only ways to a connection. A `Reader` cannot write; a `Writer` is only
ever handed to a command that the door commits. Nothing else commits, and no network call is made inside.
"""
