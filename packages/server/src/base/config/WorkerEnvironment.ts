import * as Record from "effect/Record"
import * as Redacted from "effect/Redacted"
import type { Settings } from "../Config.js"
import type { PostgresSettings } from "./DatabaseSettings.js"
import type { Environment } from "./Variables.js"
import { dividePool } from "./WorkerSettings.js"

/** Variables that only the main process of a server reads. */
const main = /^SERVICE_(?:MASTER_KEY_COMMAND|DATABASE_MIGRATE_URL)$/

/**
 * Returns the settings of a worker as variables. They hold the secrets that the main process has read: a worker that is started
 * later gets the same, whatever has become of the files. The worker has its part of the pool, and migrates nothing.
 */
export const workerEnvironment = (
  environment: Environment,
  { logFormat, masterKey, workers }: Settings,
  { connections }: PostgresSettings,
  secrets: ReadonlyMap<string, string>
): Readonly<Record<string, string>> => ({
  ...Record.filter(
    Record.filter(environment, (value) => value !== undefined),
    (_, name) => !main.test(name) && !(name.endsWith("_FILE") && secrets.has(name.slice(0, -"_FILE".length)))
  ),
  ...Object.fromEntries([...secrets].filter(([name]) => !main.test(name))),
  SERVICE_MASTER_KEY: Redacted.value(masterKey),
  // Standard error of a worker is a pipe to the main process, whatever that writes to.
  SERVICE_LOG_FORMAT: logFormat,
  SERVICE_WORKERS: "1",
  SERVICE_DATABASE_MIGRATE: "check",
  SERVICE_DATABASE_POOL: String(dividePool(connections, workers).each)
})
