#!/usr/bin/env node
// Docker starts `docker-credential-coffer get` for the registries that its configuration gives to `coffer`.
process.argv.splice(2, 0, "helper", "docker")
require("./coffer.js")
