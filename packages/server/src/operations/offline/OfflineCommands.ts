import { AuditUntil } from "@coffer/domain/audit/AuditFilters"
import { BackupId } from "@coffer/domain/base/Ids"
import { Email } from "@coffer/domain/base/Names"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { parseArgs } from "node:util"
import { loadConfig, ServerConfig } from "../../base/Config.js"
import { parsePlace } from "../../base/config/DatabasePlace.js"
import type { Environment } from "../../base/config/Variables.js"
import { LoggingLive } from "../../base/logging/Logging.js"
import { requireSoundAddon } from "../../database/sqlite/Addon.js"
import { wrongUsage } from "../Usage.js"

/** Loads a module when a command runs that alone needs it. Otherwise, it would cost a server memory and time. */
export const loaded = <A>(load: () => Promise<A>) => Effect.promise(load)

/** Offline commands need no mail server, so SMTP_HOST is not required. */
const offline = <A, E, R>(environment: Environment, command: Effect.Effect<A, E, R | ServerConfig>) =>
  Effect.flatMap(Effect.zipRight(requireSoundAddon(), loadConfig({ ...environment, SMTP_HOST: "log" })), (settings) =>
    command.pipe(Effect.provide(LoggingLive), Effect.provideService(ServerConfig, settings))
  )

export const session = (environment: Environment, text: string | undefined) =>
  Effect.gen(function* () {
    const email = yield* Effect.option(Schema.decodeUnknown(Email)(text ?? ""))
    if (Option.isNone(email)) return yield* wrongUsage("session takes one e-mail address")
    const { offlineSession } = yield* loaded(() => import("./OfflineSession.js"))
    yield* Console.log(Redacted.value(yield* offline(environment, offlineSession(email.value))))
  })

export const restore = (environment: Environment, [flag, file, ...rest]: ReadonlyArray<string>) =>
  flag !== "--apply" || file === undefined || rest.length > 0
    ? wrongUsage("restore takes --apply and one file")
    : Effect.gen(function* () {
        const { applyRestore } = yield* loaded(() => import("../backups/Apply.js"))
        return yield* offline(environment, applyRestore(file))
      })

export const drill = (environment: Environment, [text, ...rest]: ReadonlyArray<string>) => {
  const id = text === undefined ? Option.some(undefined) : Schema.decodeUnknownOption(BackupId)(text)
  return rest.length > 0 || Option.isNone(id)
    ? wrongUsage("drill takes at most one backup's id")
    : Effect.gen(function* () {
        const { offlineDrill } = yield* loaded(() => import("../backups/OfflineDrill.js"))
        return yield* offline(environment, offlineDrill(id.value))
      })
}

export const migrations = (environment: Environment, words: ReadonlyArray<string>) => {
  const [flag, ...rest] = words
  if (rest.length > 0 || (flag !== undefined && flag !== "--check")) return wrongUsage("migrate takes only --check")
  return Effect.gen(function* () {
    const { migrateCommand } = yield* loaded(() => import("./MigrateCommand.js"))
    if (yield* offline(environment, migrateCommand(flag === "--check"))) process.exitCode = 3
  })
}

const sharesUsage =
  "master-key takes split with K/N (K from 2 on, N up to 255), or combine; the key and the shares come on standard input"

export const shares = ([word, numbers, ...rest]: ReadonlyArray<string>) => {
  const [, threshold = NaN, count = NaN] = (/^(\d{1,3})\/(\d{1,3})$/.exec(numbers ?? "") ?? []).map(Number)
  const isSplit = word === "split" && threshold >= 2 && threshold <= count && count <= 255
  if (rest.length > 0 || !(isSplit || (word === "combine" && numbers === undefined))) return wrongUsage(sharesUsage)
  return Effect.gen(function* () {
    const { combineMasterKey, splitMasterKey } = yield* loaded(() => import("./KeyShares.js"))
    return yield* isSplit ? splitMasterKey(threshold, count) : combineMasterKey
  })
}

export const copyUsage = "database copy takes --from and --to with a database each, and --dry-run and --json"

export const copy = (environment: Environment, words: ReadonlyArray<string>) => {
  const options = Either.try(() =>
    parseArgs({
      args: [...words],
      options: {
        from: { type: "string" },
        to: { type: "string" },
        "dry-run": { type: "boolean", default: false },
        json: { type: "boolean", default: false }
      }
    })
  )
  if (Either.isLeft(options)) return wrongUsage(copyUsage)
  const { "dry-run": dryRun, from, json, to } = options.right.values
  if (from === undefined || to === undefined) return wrongUsage(copyUsage)
  const place = (option: string, text: string) =>
    Either.mapLeft(parsePlace(text, environment), (rule) => `${option} ${rule}`)
  const places = Either.all({ from: place("--from", from), to: place("--to", to) })
  if (Either.isLeft(places)) return wrongUsage(places.left)
  const { from: origin, to: destination } = places.right
  return Effect.gen(function* () {
    const { copyDatabase } = yield* loaded(() => import("../copy/CopyCommand.js"))
    return yield* offline(environment, copyDatabase({ from: origin, to: destination, dryRun, json }))
  })
}

const auditUsage =
  "audit takes archive with --before and a day, and --dry-run; or verify, with files of archives or none"

export const auditArchives = (environment: Environment, [word, ...words]: ReadonlyArray<string>) => {
  const options = Either.try(() =>
    parseArgs({
      args: [...words],
      options: { before: { type: "string" }, "dry-run": { type: "boolean", default: false } },
      allowPositionals: true
    })
  )
  if (Either.isLeft(options)) return wrongUsage(auditUsage)
  const { positionals, values } = options.right
  const { before, "dry-run": dryRun } = values
  const isArchive = word === "archive" && positionals.length === 0 && before !== undefined
  if (!isArchive && (word !== "verify" || before !== undefined || dryRun)) return wrongUsage(auditUsage)
  const day = before === undefined ? Option.some("") : Schema.decodeUnknownOption(AuditUntil)(before)
  if (Option.isNone(day)) return wrongUsage("--before takes a day such as 2026-01-31, or a time in UTC")
  return Effect.gen(function* () {
    const { archiveOffline, verifyOffline } = yield* loaded(() => import("../audit-archives/ArchiveCommands.js"))
    const command = isArchive ? archiveOffline(day.value, dryRun) : verifyOffline(positionals)
    if (!(yield* offline(environment, command))) process.exitCode = 1
  })
}
