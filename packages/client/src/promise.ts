/** `@coffer/client/promise`: the client for programs without Effect. */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Either from "effect/Either"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Logger from "effect/Logger"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { type ReadError, secretIn, type StartError } from "./Errors.js"
import { Background, open } from "./Follow.js"
import { Held } from "./internal/Send.js"
import type { CredentialOption, Options } from "./Options.js"
import type { Snapshot } from "./Service.js"

/** The options of `connect`. Times are in milliseconds. */
export interface ConnectOptions {
  /** The address of the server, such as `https://coffer.example.com`. */
  readonly server: string
  /** The environment, as ORGANIZATION/PROJECT/ENVIRONMENT. */
  readonly place: string
  /** By default, the API key in `SERVICE_API_KEY` or `SERVICE_API_KEY_FILE`, or else the account in `SERVICE_ACCOUNT`. */
  readonly credential?:
    { readonly apiKey: string } | { readonly account: string; readonly token?: string } | { readonly session: "stored" }
  /** Reads only these keys. By default, reads all. */
  readonly keys?: ReadonlyArray<string>
  /** How often to ask for changes. By default, every 30,000. */
  readonly every?: number
  /** Keeps an encrypted copy of the values for starts without the server. */
  readonly offline?: { readonly folder: string; readonly maxAge: number }
  /** The name of the application for the audit log, such as `shop` or `shop 1.4.0`. */
  readonly name?: string
  /** Receives warnings, as when the environment cannot be read. By default, they are warnings of the process. */
  readonly onWarning?: (message: string) => void
}

type Reason = ReadError["_tag"] | StartError["_tag"]

/** An option is wrong, or the server could not be read. `reason` says which error it was. */
export class CofferError extends Error {
  override readonly name = "CofferError"
  /** How many seconds the server asks to wait before the next request. */
  readonly retryAfter: number | undefined
  constructor(
    readonly reason: Reason,
    message: string,
    retryAfter?: number
  ) {
    super(message)
    this.retryAfter = retryAfter
  }
}

/** The environment has no such key, or the key has no value because its references are refused. */
export class MissingSecretError extends Error {
  override readonly name = "MissingSecretError"
  constructor(
    readonly key: string,
    readonly place: string,
    message: string
  ) {
    super(message)
  }
}

/** A change of an environment: keys and no values. */
export interface Change {
  /** The keys that are new, have another value or are gone. */
  readonly keys: ReadonlyArray<string>
}

/** The secrets of an environment at one moment. */
export interface PlainSnapshot {
  /** ORGANIZATION/PROJECT/ENVIRONMENT. */
  readonly place: string
  /** The revision of the environment. Undefined if the values come from the offline copy. */
  readonly revision: number | undefined
  /** The milliseconds since the server last confirmed these values. */
  readonly age: number
  readonly values: ReadonlyMap<string, string>
  /** The keys without a value because their references are refused, each with the server's sentence. */
  readonly refused: ReadonlyMap<string, string>
}

/** The secrets of an environment, kept up to date. They do not keep the process alive. */
export interface Connection extends AsyncDisposable {
  /** The value of a key. Throws `MissingSecretError`. */
  readonly get: (key: string) => string
  /** All values by key. */
  readonly all: () => Readonly<Record<string, string>>
  /** The current values with their revision and age. */
  readonly snapshot: () => PlainSnapshot
  /** Calls back after each change. Returns a function that ends it. */
  readonly onChange: (listener: (change: Change) => void) => () => void
  /** Reads the environment now. Rejects with `CofferError`; the last values stay. */
  readonly refresh: () => Promise<void>
  /** Ends the requests for changes. */
  readonly close: () => Promise<void>
}

const credentialOption = (credential: NonNullable<ConnectOptions["credential"]>): CredentialOption => {
  if ("apiKey" in credential) return { apiKey: Redacted.make(credential.apiKey) }
  if ("session" in credential) return credential
  const { account, token } = credential
  return { account, ...(token !== undefined && { token: Redacted.make(token) }) }
}

const toOptions = ({ credential, ...same }: ConnectOptions): Options => ({
  ...same,
  ...(credential && { credential: credentialOption(credential) })
})

/** Waits with a timer that does not keep the process alive. */
const sleep = (duration: Duration.Duration): Effect.Effect<void> =>
  Effect.async((resume) => {
    const timer = setTimeout(() => resume(Effect.void), Duration.toMillis(duration))
    timer.unref()
    return Effect.sync(() => clearTimeout(timer))
  })

const clock = Object.assign(Clock.make(), { sleep })

const warn = (message: string) => process.emitWarning(message, "CofferWarning")

const loggerFor = (onWarning: (message: string) => void) =>
  Logger.replace(
    Logger.defaultLogger,
    Logger.make(({ logLevel, message }) => {
      const text = [message].flat().map(String).join(" ")
      if (logLevel._tag === "Warning" || logLevel._tag === "Error") onWarning(text)
    })
  )

/** The result of an effect as a promise, without Effect's own wrapper of failures. The process lives until it has come. */
const run = async <A>(effect: Effect.Effect<A, ReadError | StartError>): Promise<A> => {
  // The effect may wait for a poll, which holds nothing.
  const held = setInterval(() => undefined, 60_000)
  const exit = await Effect.runPromiseExit(effect)
  clearInterval(held)
  return Exit.match(exit, {
    onSuccess: (value) => value,
    onFailure: (cause) => {
      const failure = Cause.failureOption(cause)
      if (failure._tag === "None") throw Cause.squash(cause)
      const { _tag, message } = failure.value
      const retryAfter = "retryAfter" in failure.value ? failure.value.retryAfter : undefined
      throw new CofferError(_tag, message, retryAfter)
    }
  })
}

const textsOf = ({ values }: Pick<Snapshot, "values">): ReadonlyMap<string, string> =>
  new Map([...values].map(([key, value]) => [key, Redacted.value(value)]))

const changedKeys = (before: Snapshot, after: Snapshot): ReadonlyArray<string> => {
  const [old, current] = [textsOf(before), textsOf(after)]
  return [...new Set([...old.keys(), ...current.keys()])].filter((key) => old.get(key) !== current.get(key)).sort()
}

/** Reads the environment, then follows its changes until `close`. Rejects with `CofferError`. */
export const connect = async (options: ConnectOptions): Promise<Connection> => {
  const logger = loggerFor(options.onWarning ?? warn)
  const scope = await Effect.runPromise(Scope.make())
  const listeners = new Set<(change: Change) => void>()
  const started = Effect.gen(function* () {
    const { followed: coffer } = yield* Scope.extend(open(toOptions(options)), scope)
    let current = yield* coffer.snapshot
    const note = (next: Snapshot) =>
      Effect.sync(() => {
        const keys = changedKeys(current, next)
        current = next
        if (keys.length > 0) for (const listener of listeners) queueMicrotask(() => listener({ keys }))
      })
    yield* coffer.changes.pipe(Stream.runForEach(note), Effect.forkIn(scope))
    return { coffer, current: () => current, note }
  }).pipe(
    Effect.provide(logger),
    Effect.provideService(Background, (polls) =>
      polls.pipe(Effect.withClock(clock), Effect.provideService(Held, false))
    )
  )
  const close = () => Effect.runPromise(Scope.close(scope, Exit.void))
  const { coffer, current, note } = await run(Effect.onError(started, () => Scope.close(scope, Exit.void)))
  return {
    get: (key) =>
      Either.match(secretIn(current(), key), {
        onLeft: ({ message, place }) => {
          throw new MissingSecretError(key, place, message)
        },
        onRight: Redacted.value
      }),
    all: () => Object.fromEntries(textsOf(current())),
    snapshot: () => {
      const { age, place, refused, revision, values } = Effect.runSync(coffer.snapshot)
      return { place, revision, age: Duration.toMillis(age), values: textsOf({ values }), refused }
    },
    onChange: (listener) => {
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
      }
    },
    refresh: () => run(Effect.provide(Effect.flatMap(coffer.refresh, note), logger)),
    close,
    [Symbol.asyncDispose]: close
  }
}
