"""The floor that the questions stand on: validation, ties, tails, quadrature."""
