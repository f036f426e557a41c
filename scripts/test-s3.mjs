/**
 * Runs the backup tests against a real object store, which the BACKUP_S3_ variables name. The tests store objects only
 * under their own prefixes, and remove them at the end.
 */
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"

const required = ["BACKUP_S3_ENDPOINT", "BACKUP_S3_BUCKET", "BACKUP_S3_ACCESS_KEY", "BACKUP_S3_SECRET_KEY"]
const missing = required.filter((name) => !process.env[name])

if (missing.length > 0) {
  process.stderr.write(`test:s3: ${missing.join(", ")} must be set; CONTRIBUTING.md says how\n`)
  process.exitCode = 2
} else {
  const vitest = fileURLToPath(new URL("../node_modules/vitest/vitest.mjs", import.meta.url))
  const args = [
    vitest,
    "run",
    "--project",
    "server",
    "packages/server/test/backups",
    "--maxWorkers=2",
    "--minWorkers=1"
  ]
  process.exitCode = spawnSync(process.execPath, args, { stdio: "inherit" }).status ?? 1
}
