"""The HTML report and the output directory it lies in."""
