"""All methods on all torque classes."""
