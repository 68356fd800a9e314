"""Entry point ``python -m blender_dp.cli``, if the script is not on the path."""

from blender_dp.cli import main

main()
