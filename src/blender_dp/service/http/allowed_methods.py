"""Which methods a path has, whatever was asked of it."""

from litestar import Litestar

from blender_dp.service.http.reports.route import campaign_in


def allowed_methods(framework: Litestar, path: str) -> str | None:
    """Return them as the header ``Allow`` lists them; None if there is no such path."""
    methods = {"POST"} if campaign_in(path) else set[str]()
    for route in framework.routes:
        if _matches(route.path_format, path):
            methods |= {str(method) for method in getattr(route, "methods", ())}
    return ", ".join(sorted({*methods, "OPTIONS"})) if methods else None


def _matches(template: str, path: str) -> bool:
    wanted, given = template.strip("/").split("/"), path.strip("/").split("/")
    return len(wanted) == len(given) and all(
        part.startswith("{") or part == there for part, there in zip(wanted, given, strict=True)
    )
