"""Reports: terminal, JSON, Markdown, SARIF and HTML, all from the same Report object."""
