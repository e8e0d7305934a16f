"""The methods, and the accuracy of the references."""
