"""The methods, their references, the classes of torque and the problems."""
