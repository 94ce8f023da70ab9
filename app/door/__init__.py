"""The door: what everybody passes who comes over HTTP, to the API as to the console.

It owns the one table of rights, the one table from what can go wrong to a status, and the house that routes work with.
Always: who asks is known by something that the authority of this moment accepts, and has the route's right, before
anything else of a request is looked at; nothing here knows how an answer is written.
"""
