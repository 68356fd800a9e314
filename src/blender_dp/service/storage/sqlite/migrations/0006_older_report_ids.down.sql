INSERT INTO report_ids (campaign, id, tag)
WITH RECURSIVE place (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM place WHERE i < 39)
SELECT campaign, substr(reports, 24 * i + 1, 16), substr(reports, 24 * i + 17, 8)
FROM older_report_ids JOIN place ON 24 * i < length(reports);

DROP TABLE older_report_ids;
