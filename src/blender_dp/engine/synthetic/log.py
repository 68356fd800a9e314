"""A synthetic log in memory: ids in columns, strings on demand."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from blender_dp.core.errors import ParameterError
from blender_dp.engine.synthetic import names
from blender_dp.engine.synthetic.output import shuffled
from blender_dp.engine.synthetic.shapes import Shape


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SyntheticLog:
    """Records of users, row by row, users in order.

    Writing a log shuffles its rows; the order here is the order of drawing.
    """

    shape: Shape
    seed: int
    users: int
    user: NDArray[np.int64]
    """Id of the user, from 0."""
    query: NDArray[np.int64]
    """Id of the query: its rank by popularity, from 0."""
    url: NDArray[np.int64]
    """Id of the URL within the query, from 0."""

    def __post_init__(self) -> None:
        for name, column in (("query", self.query), ("url", self.url)):
            if len(column) != len(self.user):
                requirement = f"as long as user, {len(self.user)} rows"
                raise ParameterError(name, requirement, len(column))

    def to_arrow(self) -> pa.Table:
        """Return the records as a table of user, query and url, in the order of a written log."""
        order = shuffled(len(self), self.seed)
        user, query, url = self.user[order], self.query[order], self.url[order]
        columns = (self.user_names(user), self.query_names(query), self.url_names(query, url))
        return pa.table(dict(zip(("user", "query", "url"), columns, strict=True)))

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Stream the records to any library that reads Arrow."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def __len__(self) -> int:
        """Return the number of records."""
        return len(self.user)

    def query_name(self, query: int) -> str:
        """Return the text of a query."""
        return str(self.query_names(np.array([query]))[0])

    def url_name(self, query: int, url: int) -> str:
        """Return the text of a URL."""
        return str(self.url_names(np.array([query]), np.array([url]))[0])

    def user_names(self, user: NDArray[np.int64]) -> Any:  # noqa: ANN401 - pyarrow is untyped
        """Return the users' ids as a pyarrow string array."""
        return names.digits(user)

    def query_names(self, query: NDArray[np.int64]) -> Any:  # noqa: ANN401 - pyarrow is untyped
        """Return the texts of the queries as a pyarrow string array."""
        if self.shape is Shape.YANDEX:
            return names.digits(names.query_numbers(query))
        return names.query_words(query)

    def url_names(self, query: NDArray[np.int64], url: NDArray[np.int64]) -> Any:  # noqa: ANN401 - pyarrow is untyped
        """Return the texts of the URLs as a pyarrow string array."""
        if self.shape is Shape.YANDEX:
            return names.digits(names.url_numbers(query, url))
        return names.url_addresses(query, url)
