"""Parts that every server process needs: connections, bodies, problems, log lines, databases."""
