import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Record from "effect/Record"
import { chmod, mkdir, writeFile } from "node:fs/promises"
import { join, relative, resolve } from "node:path"
import { settings } from "../../base/config/Unknown.js"
import type { Environment } from "../../base/config/Variables.js"
import { local } from "../../base/files/LocalFiles.js"
import { Listening } from "../../http/Listening.js"
import { refused, taken } from "./DevSettings.js"
import { DevRefused } from "./DevRefused.js"
import { createEnv, isGiven, readEnv } from "./EnvFile.js"

export interface OwnOptions {
  /** The folder of the database and of `.env`. */
  readonly data: string | undefined
  /** Whether it takes all settings of the environment, as a server does. */
  readonly anySettings: boolean
}

/** Makes the folder for its owner alone, and keeps git from adding what is in it. */
const makeFolder = (folder: string, given: string) =>
  local(() => mkdir(folder, { recursive: true })).pipe(
    Effect.flatMap((made) =>
      made === undefined
        ? Effect.void
        : local(async () => {
            await chmod(folder, 0o700)
            await writeFile(join(folder, ".gitignore"), "*\n")
          })
    ),
    Effect.mapError(({ reason }) => new DevRefused({ message: `the folder ${given} cannot be made: ${reason}` }))
  )

const namesOf = (environment: Environment, pattern: RegExp): ReadonlyArray<string> =>
  Object.keys(environment).filter((name) => pattern.test(name) && !!environment[name])

/** Settings without those of another server's data and address. */
const onlyOwn = (environment: Environment, kept: Environment, file: string) => {
  const outside = namesOf(environment, refused)
  if (outside.length > 0) {
    return new DevRefused({
      message: `dev has a database, a key and an address of its own: unset ${outside.join(", ")}`
    })
  }
  const exposing = namesOf(kept, /^SERVICE_(?:HOST|DATABASE_)/)
  return exposing.length === 0
    ? Effect.succeed(Record.filter(environment, (value, name) => taken.includes(name) && !!value))
    : new DevRefused({
        message: `dev serves this machine alone: remove ${exposing.join(", ")} from ${file}, or run coffer-server with these settings`
      })
}

/** Tells of settings of the environment that dev does not take, so that nobody waits for their effect. */
const tellIgnored = (environment: Environment, kept: Environment, file: string) => {
  const ignored = namesOf(environment, /^S/).filter(
    (name) => settings.includes(name) && !taken.includes(name) && kept[name] !== environment[name]
  )
  if (ignored.length === 0) return Effect.void
  const [them, are] = ignored.length === 1 ? ["it", "is"] : ["them", "are"]
  return Console.error(
    `dev ignores ${ignored.join(", ")}, which ${are} set outside of it: write ${them} to ${file}, or pass --any-settings.`
  )
}

const described = (url: string, folder: string, isMailed: boolean) => {
  const elsewhere = url === "http://127.0.0.1:7100" ? "" : ` --server-url ${url}`
  return [
    `Coffer is at ${url}, for this machine alone.`,
    "",
    `  In a browser   open ${url} and log in with your e-mail address`,
    `  In a terminal  npx coffer init${elsewhere}`,
    `  The code       ${isMailed ? "is mailed" : "appears here: no mail is sent"}`,
    `  The data       ${folder}: the database service.db, and the master key in .env`,
    "                 Keep a copy of .env: without the key, nobody can read the stored secrets",
    "  The end        Ctrl-C. The same command starts it again, with the same data"
  ].join("\n")
}

/** `coffer-server dev`: serves one person, with a database and a key that stay in a folder, by `serve`. */
export const ownServer = <A, E, R>(
  environment: Environment,
  { anySettings, data = "coffer-data" }: OwnOptions,
  serve: (environment: Environment) => Effect.Effect<A, E, R>
) =>
  Effect.gen(function* () {
    const folder = resolve(data)
    const file = relative("", join(folder, ".env"))
    const own = yield* anySettings ? Effect.succeed(environment) : onlyOwn(environment, {}, file)
    yield* makeFolder(folder, data)
    const isNew = !isGiven(own, "SERVICE_MASTER_KEY") && (yield* createEnv(file))
    if (isNew) {
      yield* Console.error(
        `Created ${file} with a fresh master key and SMTP_HOST=log: login codes appear here and are not mailed.`
      )
    }
    const kept = yield* readEnv(file)
    if (!anySettings) {
      yield* onlyOwn({}, kept, file)
      yield* tellIgnored(environment, kept, file)
    }
    const given = { ...kept, ...own }
    const isElsewhere = namesOf(given, /^SERVICE_DATABASE_/).length > 0
    const merged: Environment = {
      ...(isElsewhere ? {} : { SERVICE_DB_PATH: relative("", join(folder, "service.db")) }),
      ...(anySettings ? {} : { SERVICE_LOG_LEVEL: "warn" }),
      ...Record.filter(kept, (_, name) => !isGiven(own, name)),
      ...own
    }
    const hasOthers = namesOf(given, /^SERVICE_(?:HOST|DATABASE_|DB_PATH)/).length > 0
    return yield* serve(merged).pipe(
      Effect.provideService(Listening, (url) =>
        Console.log(hasOthers ? `Coffer is at ${url}.` : described(url, folder, merged["SMTP_HOST"] !== "log"))
      )
    )
  })
