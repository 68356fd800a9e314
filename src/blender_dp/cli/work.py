"""``blender-dp work``: the service's jobs in a separate process."""

from blender_dp.cli.options import Flag
from blender_dp.cli.service_options import ServiceOptions, require_service_extra


def work(
    *,
    storage: ServiceOptions = ServiceOptions(),  # noqa: B008 - frozen
    once: Flag = False,
) -> None:
    """Run the jobs of a collection service: head lists, releases, erasing, deadlines.

    For a service that was started with --no-jobs, on the same database and keys. Any number may
    run; each job is done once. Ctrl-C or SIGTERM stops it within ten seconds, and another takes
    over what it left. Exit status: 0 when stopped, 1 if it had to end itself by force or if, with
    --once, the database had no time for some jobs, 2 if it cannot start.

    Parameters
    ----------
    once
        Do what waits now, then stop. A job that the database has no time for, such as erasing
        while a backup reads, is left for the next time and not waited for.
    """
    require_service_extra("work")
    from blender_dp.cli.serving import work_forever  # noqa: PLC0415 - an extra

    work_forever(storage, once=once)
