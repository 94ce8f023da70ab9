"""What the policy language promises."""
