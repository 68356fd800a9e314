"""The privacy certificate: what every group spends, computed exactly."""
