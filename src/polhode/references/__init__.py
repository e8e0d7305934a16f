"""Exact solutions: closed forms, one file each, and the arbitrary-precision Taylor integrator that checks them."""
