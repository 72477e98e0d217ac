"""What people look at: overlays, panels, tables, the HTML report. Plain dicts and numpy in, no model and no tensor."""

from forensegm.reports.draw import color_mask, error_map, heat, overlay, palette
from forensegm.reports.html import write_report
from forensegm.reports.panels import contact_sheet, legend, panel
from forensegm.reports.tables import format_value, metrics_markdown, metrics_table

__all__ = [
    "color_mask",
    "contact_sheet",
    "error_map",
    "format_value",
    "heat",
    "legend",
    "metrics_markdown",
    "metrics_table",
    "overlay",
    "palette",
    "panel",
    "write_report",
]
