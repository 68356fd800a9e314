"""Rules that all documents share: versions, digests, fields, files."""
