"""The routes, one file per resource."""

from blender_dp.service.http.routes import (
    campaigns,
    enrolments,
    opt_in,
    planning,
    relayed_reports,
    report_tokens,
    watching,
)
from blender_dp.service.http.routes.documents import HANDLERS as DOCUMENTS
from blender_dp.service.http.routes.logs import read_audit_log, read_log
from blender_dp.service.http.routes.release_files import HANDLERS as RELEASE_FILES
from blender_dp.service.http.routes.trends import read_trends

HANDLERS = (
    *(campaigns.create_campaign, campaigns.put_campaign, campaigns.list_campaigns),
    campaigns.read_campaign,
    *(campaigns.move_campaign, campaigns.read_progress, campaigns.retry_job),
    *(enrolments.create_enrolments, enrolments.enrol, opt_in.contribute, opt_in.withdraw),
    report_tokens.issue_report_token,
    *(relayed_reports.send_relayed_reports, relayed_reports.read_relayed_reports),
    *(*DOCUMENTS, *RELEASE_FILES, read_trends, read_log, read_audit_log),
    *(planning.plan, watching.health, watching.metrics, watching.whoami),
)
"""Every documented route but that of the reports, which needs no framework."""
