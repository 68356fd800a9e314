"""Output of a whole result, shared by commands: shows it and prints its place."""

from pathlib import Path

from blender_dp.cli.terminal import RESULTS, print_json, print_ranking, say
from blender_dp.core.blender import BlenderResult, finish
from blender_dp.core.head_list.known_list import KnownList
from blender_dp.core.population import ReportingClients
from blender_dp.engine.released_tables import query_table
from blender_dp.pages.outputs import REPORT, notes
from blender_dp.pages.words import Words
from blender_dp.wire.published.estimates import read_clients, read_opt_in
from blender_dp.wire.published.head_list import read_head_list
from blender_dp.wire.published.release import user_counts


def blended_result(
    head_list: Path, opt_in_estimates: Path, client_estimates: Path
) -> BlenderResult:
    """Blend both sides' files; refuse them if they do not belong together."""
    published = read_head_list(head_list)
    curated = read_opt_in(opt_in_estimates, published).estimate()
    clients = ReportingClients(
        counts=read_clients(client_estimates, published),
        records_per_client=curated.parameters.records_per_client,
    )
    return finish(curated, clients)


def say_unused(known: KnownList) -> None:
    """Say that known queries were of no use, as ``--list auto`` chose to list records."""
    say(f"Records are listed, so the queries that {known.name} names are not used.")


def show_result(
    result: BlenderResult, output: Path, words: Words | None = None, *, as_json: bool
) -> None:
    """Print the ranking, or a summary that a program can read."""
    for note in notes(result):
        say(note)
    if not result.private:
        say("Made with a seed: an experiment, not private; do not publish it.")
    if as_json:
        print_json(
            {
                "output": str(output),
                "private": result.private,
                "queries": len(result.head_list.queries),
                "records": len(result.head_list.records()),
            }
        )
        return
    users = sum(user_counts(result).values())
    print_ranking(query_table(result), users, (words or Words()).query_name or "query")
    RESULTS.print(f"\nreport: {output / REPORT}")
