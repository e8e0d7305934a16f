"""Style of figures, tables and numbers, and typesetting of the report, independent of their content."""
