"""Bodies as they are sent: pydantic models, strict and closed, and what becomes of them in the product's own types."""
