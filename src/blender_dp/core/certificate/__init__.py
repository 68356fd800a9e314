"""The privacy certificate: the exact privacy cost for every group."""
