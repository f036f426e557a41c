import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import type { Scope } from "effect/Scope"
import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { basename, join, resolve } from "node:path"
import { local } from "../../base/files/LocalFiles.js"
import { LocalFailure } from "../../base/files/LocalFailure.js"
import { lock } from "../../database/sqlite/Lock.js"
import { DevRefused } from "./DevRefused.js"

/** The state that a server needs to go on with the data of a folder. It is beside the data, because both live as long. */
const State = Schema.parseJson(
  Schema.Struct({
    master_key: Schema.Redacted(Schema.String),
    api_key: Schema.Redacted(Schema.String),
    place: Schema.String
  })
)
export type State = typeof State.Type

const stateFile = "dev.json"
const lockName = "dev"

/** Folders of dev servers in the directory of temporary files name the process that made them. */
const named = /^coffer-dev-([0-9]+)-/

/** How old a folder without a process is before it may be removed: its lock may not be there yet. */
const minAgeMillis = 60_000

const remove = (folder: string) => local(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }))

const isDead = (pid: number): boolean =>
  Either.match(
    Either.try({
      try: () => process.kill(pid, 0),
      catch: (error) => error instanceof Error && "code" in error && error.code
    }),
    { onLeft: (code) => code === "ESRCH", onRight: () => false }
  )

/** Whether no process holds the lock of a server in the folder. */
const isUnlocked = (folder: string) =>
  Effect.flatMap(
    local(() => readdir(folder, { recursive: true })),
    (files) =>
      Effect.scoped(
        Effect.forEach(
          files.filter((file) => basename(file) === `${lockName}.lock`),
          (file) => lock(join(folder, file).replace(/\.lock$/, "")),
          { discard: true }
        )
      )
  ).pipe(
    Effect.as(true),
    Effect.orElseSucceed(() => false)
  )

/** Removes the folders that killed servers of this user have left. A folder that cannot be judged stays. */
const removeStale = Effect.gen(function* () {
  const now = yield* Clock.currentTimeMillis
  for (const name of yield* local(() => readdir(tmpdir()))) {
    const pid = named.exec(name)?.[1]
    if (pid === undefined || !isDead(Number(pid))) continue
    const folder = join(tmpdir(), name)
    yield* Effect.gen(function* () {
      const found = yield* local(() => lstat(folder))
      const isOurs = found.isDirectory() && (process.getuid === undefined || found.uid === process.getuid())
      if (isOurs && now - found.mtimeMs > minAgeMillis && (yield* isUnlocked(folder))) yield* remove(folder)
    }).pipe(Effect.ignore)
  }
}).pipe(Effect.ignore)

const unusable = <A>(folder: string, work: Effect.Effect<A, DevRefused | LocalFailure>) =>
  Effect.mapError(work, (error): DevRefused =>
    error instanceof LocalFailure
      ? new DevRefused({ message: `the folder ${folder} cannot be used: ${error.reason}` })
      : error
  )

/** Checks that a folder holds nothing that is not a dev server's, or makes it. Returns whether it is new. */
const claim = (given: string) => {
  const folder = resolve(given)
  return Effect.gen(function* () {
    const files = yield* Effect.matchEffect(
      local(() => mkdir(folder, { mode: 0o700 })),
      {
        onFailure: () => local(() => readdir(folder)),
        onSuccess: () => Effect.succeed<ReadonlyArray<string>>([])
      }
    )
    if (files.length > 0 && !files.includes(stateFile)) {
      return yield* new DevRefused({
        message: `--folder ${given} holds other files, which would be removed at the end: name an empty folder`
      })
    }
    yield* local(() => chmod(folder, 0o700))
    return { folder, isNew: files.length === 0 }
  })
}

export interface DevFolder {
  readonly path: string
  /** Null for a new folder. */
  readonly state: State | null
  readonly keep: (state: State) => Effect.Effect<void, DevRefused>
}

const fresh = Effect.map(
  local(() => mkdtemp(join(tmpdir(), `coffer-dev-${process.pid}-`))),
  (folder) => ({ folder, isNew: true })
)

/**
 * The folder of a server's database and key, which is removed with the scope if this process holds its lock. What a killed
 * server leaves in `given` is served again, and stays if that fails.
 */
export const devFolder = (given: string | undefined): Effect.Effect<DevFolder, DevRefused, Scope> =>
  Effect.gen(function* () {
    yield* removeStale
    const held = yield* Effect.acquireRelease(
      Effect.map(given === undefined ? unusable(tmpdir(), fresh) : unusable(given, claim(given)), (found) => ({
        ...found,
        isOurs: given === undefined
      })),
      ({ folder, isNew, isOurs }, exit) =>
        isOurs && (isNew || Exit.isSuccess(exit) || Exit.isInterrupted(exit))
          ? Effect.ignoreLogged(remove(folder))
          : Effect.void
    )
    const { folder, isNew } = held
    yield* lock(join(folder, lockName)).pipe(
      Effect.mapError(() => new DevRefused({ message: `the folder ${folder} is in use by another coffer-server dev` })),
      Effect.tap(() =>
        Effect.sync(() => {
          held.isOurs = true
        })
      ),
      Effect.uninterruptible
    )
    const path = join(folder, stateFile)
    const state = isNew
      ? null
      : yield* Effect.flatMap(
          local(() => readFile(path, "utf8")),
          Schema.decode(State)
        ).pipe(Effect.mapError(() => new DevRefused({ message: `${path} is damaged: remove ${folder}` })))
    return {
      path: folder,
      state,
      keep: (state) =>
        Effect.flatMap(Effect.orDie(Schema.encode(State)(state)), (text) =>
          unusable(
            folder,
            local(() => writeFile(path, text, { mode: 0o600, flag: "wx" }))
          )
        )
    }
  })
