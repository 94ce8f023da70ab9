"""A day at an airline's and a shop's service desk, played against a service of its own."""
