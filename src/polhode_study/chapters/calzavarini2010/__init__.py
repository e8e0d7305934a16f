"""The leapfrog of Calzavarini (2010): its misprints, and friction."""
