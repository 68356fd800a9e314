"""Files of test vectors: JSON with one case per line, so that a new case is one new line."""

import json
from pathlib import Path

HERE = Path(__file__).parent


def write_vectors(name: str, vectors: dict[str, object]) -> None:
    """Write ``vectors`` beside this file: one line per field, or per case of a field."""
    fields = ",\n".join(f"{_line(field)}: {_cases(value)}" for field, value in vectors.items())
    (HERE / name).write_text(f"{{\n{fields}\n}}\n", encoding="utf-8")


def _cases(value: object) -> str:
    if isinstance(value, list) and any(isinstance(case, dict | list) for case in value):
        return "[\n" + ",\n".join(_line(case) for case in value) + "\n]"
    if isinstance(value, dict) and any(isinstance(case, dict | list) for case in value.values()):
        cases = (f"{_line(name)}: {_line(case)}" for name, case in value.items())
        return "{\n" + ",\n".join(cases) + "\n}"
    return _line(value)


def _line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
