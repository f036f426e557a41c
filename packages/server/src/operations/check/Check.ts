import type { Email } from "@coffer/domain/base/Names"
import type { ServerSetting } from "@coffer/domain/server/ServerFacts"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { loadConfig, ServerConfig } from "../../base/Config.js"
import type { ConfigProblems } from "../../base/config/ConfigProblems.js"
import { unknownMessage, unknownSettings } from "../../base/config/Unknown.js"
import type { Environment } from "../../base/config/Variables.js"
import { requireSoundAddon } from "../../database/sqlite/Addon.js"
import { LoggingLive } from "../../base/logging/Logging.js"
import { databaseChecks } from "./DatabaseChecks.js"
import { fileChecks, stagingChecks } from "./FileChecks.js"
import { failed, type Finding, ok, warning } from "./Finding.js"
import { mailCheck } from "./MailCheck.js"
import { shownSettings } from "../../base/config/ShownSettings.js"
import { postgresChecks } from "./PostgresChecks.js"
import { storeCheck } from "./StoreCheck.js"
import { certificateCheck } from "./CertificateCheck.js"

export interface CheckOptions {
  readonly mailTo: Email | null
  readonly json: boolean
}

const unknown = (environment: Environment): ReadonlyArray<Finding> =>
  unknownSettings(environment).map((setting) =>
    warning("settings", unknownMessage(setting), `correct or remove ${setting.variable}`)
  )

const wrong = ({ problems }: ConfigProblems): ReadonlyArray<Finding> =>
  problems.map(({ rule, variable }) => failed("settings", `${variable} ${rule}`, `correct ${variable}`))

const checks = (environment: Environment, mailTo: Email | null) =>
  Effect.gen(function* () {
    const settings = yield* loadConfig(environment)
    const [database, certificate, mail, store] = yield* Effect.all(
      [
        settings.postgres === null ? databaseChecks(settings) : postgresChecks(settings, settings.postgres),
        certificateCheck(settings),
        mailCheck(settings, mailTo),
        storeCheck(settings)
      ],
      { concurrency: "unbounded" }
    ).pipe(Effect.provide(LoggingLive), Effect.provideService(ServerConfig, settings))
    return [
      ok("settings", "all settings are valid"),
      ...database,
      ...(settings.postgres === null ? fileChecks(settings.dbPath, environment) : stagingChecks(settings, environment)),
      certificate,
      mail,
      store
    ]
  })

const settingLine = ({ source, value, variable }: ServerSetting): string =>
  `  ${variable.padEnd(28)} ${value ?? "-"}${source === variable ? "" : ` (${source})`}`

const findingLines = ({ message, name, next, status }: Finding): ReadonlyArray<string> => [
  `  ${status.padEnd(7)}  ${name.padEnd(8)}  ${message}`,
  ...(next === undefined ? [] : [`${" ".repeat(21)}do: ${next}`])
]

const report = (settings: ReadonlyArray<ServerSetting>, findings: ReadonlyArray<Finding>): string => {
  const failures = findings.filter(({ status }) => status === "failed").length
  return [
    "settings",
    ...settings.map(settingLine),
    "checks",
    ...findings.flatMap(findingLines),
    failures === 0 ? "no check failed" : `${failures} of ${findings.length} checks failed`
  ].join("\n")
}

/**
 * `coffer-server check`: prints all settings with their sources, without secrets, and checks what the server needs. It works
 * whether or not a server runs. Returns whether no check failed.
 */
export const check = (environment: Environment, { json, mailTo }: CheckOptions): Effect.Effect<boolean> =>
  Effect.gen(function* () {
    const outcome = yield* Effect.either(checks(environment, mailTo))
    const problems = Either.isLeft(outcome) ? outcome.left.problems : []
    const settings = shownSettings(environment, problems)
    const sqlite = yield* Effect.match(requireSoundAddon(), {
      onFailure: ({ message }) => [
        failed("sqlite", message, "docs/install.md, SQLite for other platforms, has the commands")
      ],
      onSuccess: () => []
    })
    const findings = [
      ...unknown(environment),
      ...sqlite,
      ...Either.match(outcome, { onLeft: wrong, onRight: (found) => found })
    ]
    const isGood = findings.every(({ status }) => status !== "failed")
    yield* Console.log(
      json ? JSON.stringify({ ok: isGood, settings, checks: findings }, null, 2) : report(settings, findings)
    )
    return isGood
  })
