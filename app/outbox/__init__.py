"""The outbox: messages to the outside, written with the change that causes them and delivered afterwards.

This room owns webhooks, messages and deliveries. Always: a message and its deliveries commit with the change that they
tell of, or not at all; a message is the same bytes at every attempt; a delivery is claimed before it is attempted, by
SKIP LOCKED and without the tenant's head, and a claim ends by itself, so that what a dead worker held is attempted
again. So a receiver gets every message at least once, in no promised order.
"""
