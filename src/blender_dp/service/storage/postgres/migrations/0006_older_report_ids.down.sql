DROP TABLE older_report_ids;
