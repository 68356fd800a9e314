"""What a collection would find, before anything is collected."""
