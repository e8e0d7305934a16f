"""Analysis of the results as numbers and data frames: fitted orders, drifts, rankings, statistics over initial states."""
