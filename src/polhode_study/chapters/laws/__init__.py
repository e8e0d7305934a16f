"""What follows from the ensembles: which method for which torque, with which step."""
