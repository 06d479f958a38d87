"""Published sources of the methods, shared by `cite`, the HTML report and the documentation."""
