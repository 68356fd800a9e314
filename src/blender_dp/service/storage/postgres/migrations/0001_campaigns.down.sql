DROP TABLE
    campaigns, enrolments, contributions, report_ids, questions, counters, refusals, documents,
    chain_heads, log_entries, jobs, tokens;

DROP FUNCTION refuse_change;
