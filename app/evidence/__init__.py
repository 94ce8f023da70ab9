"""Evidence: what a skeptic made of a finding, for one call.

This room owns verifications. Always: a verification names the digest of the call that it is for, ends at its
deadline, and serves one admission; anything else about it does not count, and the call is weighed without it.
"""
