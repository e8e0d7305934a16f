"""Energy in many-body runs: chess pieces and rods in a box."""
