"""The lasting output of a finished study: manifests with checksums, archives, and research-object metadata."""
