"""The methods of this work beside the best of the others."""
