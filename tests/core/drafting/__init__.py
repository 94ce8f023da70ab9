"""What helps to write a policy."""
