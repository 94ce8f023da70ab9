"""What helps to write a policy: remarks on it, cases that it must decide, its differences, the harm that it covers.

Nothing here decides a call that somebody asked; all of it is a function of documents.
"""
