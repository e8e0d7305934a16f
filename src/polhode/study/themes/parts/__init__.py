"""The parts of a method: kick, rotation and place of the torque, each exchanged alone."""
