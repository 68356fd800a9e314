"""``blender-dp work``: runs the service's jobs in a separate process."""

from blender_dp.cli.options import Flag
from blender_dp.cli.service_options import ServiceOptions, require_service_extra


def work(
    *,
    storage: ServiceOptions = ServiceOptions(),  # noqa: B008 - frozen
    once: Flag = False,
) -> None:
    """Run the jobs of a collection service: head lists, releases, erasures and deadlines.

    For a service that was started with --no-jobs, on the same database and keys. Any number of such
    processes may run; each job is done once. Ctrl-C or SIGTERM stops it within ten seconds, and
    another process takes over its job. Exit status: 0 when stopped, 1 if it was ended by force or
    if, with --once, the database was too busy for some jobs, 2 if it cannot start.

    Parameters
    ----------
    once
        Run the waiting jobs, then stop. A job for which the database is too busy, such as an
        erasure during a backup, is left for the next time.
    """
    require_service_extra("work")
    from blender_dp.cli.serving import work_forever  # noqa: PLC0415 - an extra

    work_forever(storage, once=once)
