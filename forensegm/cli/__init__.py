"""The command line: one file per command over the public API; `main.main` starts them."""
