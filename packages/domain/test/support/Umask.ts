// That of most shells, whatever starts the tests, and whatever a file before this one left in its worker.
process.umask(0o022)
