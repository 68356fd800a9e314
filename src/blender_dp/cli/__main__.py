"""``python -m blender_dp.cli``, for where the script is not on the path."""

from blender_dp.cli import main

main()
