// As bin/coffer-server.js: SQLite makes some of its files with default modes.
process.umask(0o077)
