"""What the laws of the ensembles mean in time, for a torque of any price."""
