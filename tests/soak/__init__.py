"""`python -m tests.soak --minutes 10`: everything at once, for long, while processes and connections die.

Agents ask, report, redeem, cancel and repeat themselves over two processes of the service, until each request has its
answer. Meanwhile processes are killed, connections cut and backends ended. Afterwards everything that is stored has to
be explained by the record, and everything that was answered has to be in it.
"""
