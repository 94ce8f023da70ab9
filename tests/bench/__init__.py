"""`make bench`: how many admissions a second, measured against a route that does nothing, in one run.

The no-op is an authenticated route of the same app, through the same loader and model, so the ratio says what the
decision, the reservations, the record and its signature cost, and little about the machine.
"""
