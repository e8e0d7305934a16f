"""The documentation: pages written from the registry, the schema and measured results, and Sphinx around them."""
