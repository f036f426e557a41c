/** `npm start`: `coffer-server dev` with the settings and the data in the root of the repository. */
import { fileURLToPath } from "node:url"

process.chdir(fileURLToPath(new URL("../", import.meta.url)))
process.argv.push("dev", "--data", ".", "--any-settings")
await import("../packages/server/bin/coffer-server.js")
