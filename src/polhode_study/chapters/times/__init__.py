"""What a step and a solution cost in time, measured on one machine."""
