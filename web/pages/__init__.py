"""One small file for each page. A page never imports another page."""
