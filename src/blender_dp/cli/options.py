"""Options that several commands share, each described once."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from blender_dp.cli.option_names import option_name
from blender_dp.core.channels.relayed import RelayRules
from blender_dp.core.parameters import Parameters
from blender_dp.pages.words import Words

Output = Annotated[Path, Parameter(name=["--output", "-o"])]
Flag = Annotated[bool, Parameter(negative="")]


@Parameter(name="*", group="Relay")
@dataclass(frozen=True, slots=True, kw_only=True)
class RelayOptions:
    """Clients who report through a relay that works with nobody (sharp)."""

    relay: float | None = None
    """Share of the clients who use the relay. Default: none; in plan, that of the release."""
    relay_cap: float = 8.0
    """Most that a report may reveal if relay and collector collude, as an ε."""
    relay_dishonest: float = 0.2
    """Share of the relay's batch that may be dishonest."""

    def rules(self, usual: float = 0.0) -> RelayRules:
        """Return the share, ``usual`` if none was given, and the rules."""
        share = usual if self.relay is None else self.relay
        return RelayRules(share=share, epsilon_cap=self.relay_cap, dishonest=self.relay_dishonest)


ReaderWords = Annotated[Words, Parameter(name="*", group="Words")]
"""What the result is called in tables and pages."""

Promise = Annotated[Parameters, Parameter(name="*", group="Promise", name_transform=option_name)]
"""Every parameter of the algorithm as an option, with the description of its definition."""
