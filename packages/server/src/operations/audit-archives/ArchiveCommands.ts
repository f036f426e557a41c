import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { readFile } from "node:fs/promises"
import { AuditLog } from "../../audit/AuditLog.js"
import { localFailure } from "../../base/files/LocalFailure.js"
import { ServerConfig } from "../../base/Config.js"
import { StartupError } from "../../base/StartupError.js"
import { timestamp } from "../../base/Time.js"
import { Jobs } from "../../database/jobs/Jobs.js"
import { verifyEveryLog } from "../../edges/trail/EveryLog.js"
import { Trail } from "../../edges/trail/Trail.js"
import { Instance, InstanceLive } from "../../keys/Instance.js"
import { KeyringLive } from "../../keys/Keyring.js"
import { makeObjectStore } from "../backups/ConfiguredStore.js"
import { EngineLive } from "../Engine.js"
import { openArchive } from "./ArchiveFile.js"
import { archiveJob } from "./ArchiveJob.js"
import { AuditArchives, type Plan } from "./AuditArchives.js"

const configuredStore = Effect.flatMap(ServerConfig, ({ backups }) =>
  backups === null
    ? new StartupError({ message: "archives go to the store of the backups: set BACKUP_S3_ENDPOINT or BACKUP_DIR" })
    : makeObjectStore(backups)
)

const services = Layer.mergeAll(AuditArchives.Default, Trail.Default, Jobs.Default).pipe(
  Layer.provideMerge(AuditLog.Default),
  Layer.provideMerge(InstanceLive),
  Layer.provideMerge(EngineLive),
  Layer.provide(KeyringLive)
)

const planLine = ({ after, heldBy, log, to }: Plan): string => {
  const held =
    heldBy === null ? "" : `; the ${heldBy} have not read the next ones yet`.replace("stream have", "stream has")
  return `${log}: ${to === after ? "no entry leaves" : `entries ${after + 1} to ${to} leave`}${held}`
}

/** `coffer-server audit archive`. Returns whether all logs were archived. */
export const archiveOffline = (day: string, dryRun: boolean) =>
  Effect.gen(function* () {
    const archives = yield* AuditArchives
    const jobs = yield* Jobs
    const store = yield* configuredStore
    const before = timestamp(Date.parse(day))
    const plans = yield* archives.plans(before)
    for (const plan of plans) yield* Console.log(planLine(plan))
    if (plans.length === 0) yield* Console.log("no entry is older")
    if (dryRun) return true
    const done = yield* jobs.runAlone(archiveJob, (fenced) => archives.archive(store, before, fenced))
    if (Option.isNone(done)) {
      return yield* new StartupError({ message: "a server archives now: try again when it is done" })
    }
    for (const { first_seq, last_seq, log, name, sha256 } of done.value.archives) {
      yield* Console.log(`${log}: entries ${first_seq} to ${last_seq} are in ${name} (sha256 ${sha256})`)
    }
    for (const problem of done.value.problems) yield* Console.error(`coffer-server: ${problem}`)
    return done.value.problems.length === 0
  }).pipe(
    Effect.catchTag("NotArchived", "StoreFailure", ({ message }) => new StartupError({ message })),
    Effect.scoped,
    Effect.provide(services)
  )

const verifyFile = (path: string) =>
  Effect.gen(function* () {
    const { auditKey } = yield* Instance
    const content = yield* Effect.tryPromise({ try: () => readFile(path), catch: localFailure })
    const { header } = yield* openArchive(auditKey, content)
    yield* Console.log(`${path}: entries ${header.first_seq} to ${header.last_seq} of ${header.log} are whole`)
    return true
  }).pipe(
    Effect.catchTags({
      ArchiveDamaged: ({ message }) => Effect.as(Console.error(`coffer-server: ${path} ${message}`), false),
      LocalFailure: ({ reason }) => Effect.as(Console.error(`coffer-server: ${path} cannot be read: ${reason}`), false)
    })
  )

/** `coffer-server audit verify`. Returns whether everything is whole. */
export const verifyOffline = (files: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    if (files.length > 0) return (yield* Effect.forEach(files, verifyFile)).every((isWhole) => isWhole)
    const { logs, problems } = yield* verifyEveryLog
    const { backups } = yield* ServerConfig
    const kept = backups === null ? null : yield* (yield* AuditArchives).check(yield* configuredStore)
    const all = [...problems, ...(kept?.problems ?? [])]
    for (const problem of all) yield* Console.error(`coffer-server: ${problem}`)
    const archives =
      kept === null
        ? "; archives are not checked without BACKUP_DIR or BACKUP_S3_ENDPOINT"
        : `, ${kept.archives} archives`
    if (all.length === 0) yield* Console.log(`the audit logs are whole: ${logs} logs${archives}`)
    return all.length === 0
  }).pipe(Effect.scoped, Effect.provide(services))
