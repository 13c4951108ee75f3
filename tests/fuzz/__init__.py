"""A permanent attack on the library: random fits, interrupts, and what must hold after each."""
