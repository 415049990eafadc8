"""Our figures against those of a named peer, both sides in turn within one run."""
