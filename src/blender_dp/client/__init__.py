"""The Python client of a collection service: one device, or a simulated population."""

from blender_dp.client.device import BlenderClient, Spending
from blender_dp.client.policy import ClientPolicy, RefusedError, Rule
from blender_dp.client.transport import ServiceRefusalError, UnreachableError

__all__ = [
    "BlenderClient",
    "ClientPolicy",
    "RefusedError",
    "Rule",
    "ServiceRefusalError",
    "Spending",
    "UnreachableError",
]
