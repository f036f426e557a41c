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
import { Background } from "./Background.js"
import { open } from "./Follow.js"
import { Held } from "./internal/Send.js"
import type { CredentialOption, Options } from "./Options.js"
import { callsOver } from "./promise/Calls.js"
import type { Change, ConnectOptions, Connection } from "./promise/Connected.js"
import { CofferError, MissingSecretError } from "./promise/CofferError.js"
import { leasesOver } from "./promise/Leases.js"
import { reload } from "./promise/Reloaded.js"
import type { Snapshot } from "./Service.js"

export type { Api, Asking, Call, Group, RequestOf, ResponseOf } from "./promise/CallTypes.js"
export { CallError, type CallReason } from "./promise/CallError.js"
export type { Change, ConnectOptions, Connection, PlainSnapshot } from "./promise/Connected.js"
export { CofferError, MissingSecretError, type Reason } from "./promise/CofferError.js"
export type { ChangeRequested, CommonTag, Contract } from "./promise/Contract.js"
export type { Lease, LeasedCredential, LeaseOptions } from "./promise/LeasedUser.js"
export type { Reloaded } from "./promise/Reloaded.js"

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
  const warning = options.onWarning ?? warn
  const logger = loggerFor(warning)
  const scope = await Effect.runPromise(Scope.make())
  const listeners = new Set<(change: Change) => void>()
  const provide = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    effect.pipe(
      Effect.provide(logger),
      Effect.provideService(Background, (polls) =>
        polls.pipe(Effect.withClock(clock), Effect.provideService(Held, false))
      )
    )
  const started = Effect.gen(function* () {
    const { exchange, followed: coffer } = yield* Scope.extend(open(toOptions(options)), scope)
    let current = yield* coffer.snapshot
    const note = (next: Snapshot) =>
      Effect.sync(() => {
        const keys = changedKeys(current, next)
        current = next
        if (keys.length > 0) for (const listener of listeners) queueMicrotask(() => listener({ keys }))
      })
    yield* coffer.changes.pipe(Stream.runForEach(note), Effect.forkIn(scope))
    return { coffer, current: () => current, exchange, note }
  }).pipe(provide)
  const { coffer, current, exchange, note } = await run(Effect.onError(started, () => Scope.close(scope, Exit.void)))
  const opened = new Set<() => Promise<void>>()
  const leases = new Set<() => Promise<void>>()
  const close = async () => {
    // Their ends are requests.
    await Promise.all([...leases].map((end) => end()))
    await Effect.runPromise(Scope.close(scope, Exit.void))
    await Promise.all([...opened].map((end) => end()))
  }
  const watched: Pick<Connection, "get" | "onChange" | "snapshot"> = {
    get: (key) =>
      Either.match(secretIn(current(), key), {
        onLeft: ({ message, place }) => {
          throw new MissingSecretError(key, place, message)
        },
        onRight: Redacted.value
      }),
    snapshot: () => {
      const { age, place, refused, revision, values } = Effect.runSync(coffer.snapshot)
      return { place, revision, age: Duration.toMillis(age), values: textsOf({ values }), refused }
    },
    onChange: (listener) => {
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
      }
    }
  }
  return {
    ...watched,
    all: () => Object.fromEntries(textsOf(current())),
    refresh: () => run(Effect.provide(Effect.flatMap(coffer.refresh, note), logger)),
    reload: (keys, open, close = () => undefined) => {
      const values = () => textsOf(current())
      return reload({ ...watched, open: opened, values, warn: warning }, { keys, open, close })
    },
    call: callsOver(exchange),
    lease: leasesOver({ exchange, place: options.place, provide, warn: warning, open: leases }),
    close,
    [Symbol.asyncDispose]: close
  }
}
