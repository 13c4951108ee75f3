"""Pure functions on arrays: row norms, proximal maps, linear systems, compiled sweeps."""
