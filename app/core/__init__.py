"""The pure ring: values and rules without I/O, clock, randomness, environment, ORM or web.

Everything here is a function of its arguments, so that it can be tested by tables of known answers and
re-run on what was recorded.
"""
