"""Long runs: drift, normalisation, reversibility, symplecticity, librations."""
