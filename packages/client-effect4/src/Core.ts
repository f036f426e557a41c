import * as core from "@coffer/client/promise"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { callsOver } from "./Call.js"
import { errors, MissingSecret, type StartError } from "./Errors.js"
import { leasesOver } from "./Leases.js"
import type { CofferService, Options, Snapshot } from "./Service.js"

const credentialOf = (option: NonNullable<Options["credential"]>): NonNullable<core.ConnectOptions["credential"]> => {
  if ("apiKey" in option) return { apiKey: Redacted.value(option.apiKey) }
  if ("session" in option) return option
  return { account: option.account, ...(option.token && { token: Redacted.value(option.token) }) }
}

/** A time in milliseconds. The core refuses zero, with a message that names the option. */
const millis = (input: Duration.Input) =>
  Option.match(Duration.fromInput(input), { onNone: () => 0, onSome: Duration.toMillis })

const connectOptions = ({ credential, every, offline, ...same }: Options): core.ConnectOptions => ({
  ...same,
  ...(credential && { credential: credentialOf(credential) }),
  ...(every !== undefined && { every: millis(every) }),
  ...(offline && { offline: { folder: offline.folder, maxAge: millis(offline.maxAge) } })
})

const toSnapshot = ({ age, values, ...same }: core.PlainSnapshot): Snapshot => ({
  ...same,
  age: Duration.millis(age),
  values: new Map([...values].map(([key, value]) => [key, Redacted.make(value)]))
})

const attempt = <A>(work: (signal: AbortSignal) => Promise<A>): Effect.Effect<A, StartError> =>
  Effect.catch(Effect.tryPromise({ try: work, catch: (cause) => ({ cause }) }), ({ cause: error }) => {
    if (!(error instanceof core.CofferError)) return Effect.die(error)
    const { message, reason, retryAfter } = error
    return Effect.fail(new errors[reason]({ message, ...(retryAfter !== undefined && { retryAfter }) }))
  })

/** The service over a connection of the Promise core. */
const service = (
  connection: Pick<core.Connection, "call" | "lease" | "onChange" | "refresh" | "snapshot">
): CofferService => {
  const snapshot = Effect.sync(() => toSnapshot(connection.snapshot()))
  return {
    snapshot,
    get: (key) =>
      Effect.flatMap(snapshot, ({ place, refused, values }) => {
        const [value, why] = [values.get(key), refused.get(key)]
        if (value !== undefined) return Effect.succeed(value)
        const message = why === undefined ? `${key} does not exist in ${place}` : `${why} (${place})`
        return Effect.fail(new MissingSecret({ key, place, message, ...(why !== undefined && { refused: why }) }))
      }),
    changes: Stream.callback((queue) => {
      const emit = () => void Queue.offerUnsafe(queue, toSnapshot(connection.snapshot()))
      const listen = Effect.sync(() => connection.onChange(emit))
      return Effect.andThen(Effect.acquireRelease(listen, Effect.sync), Effect.sync(emit))
    }),
    refresh: attempt(connection.refresh).pipe(
      Effect.catchTags({ BadSetting: Effect.die, EmptyEnvironment: Effect.die }),
      Effect.andThen(snapshot),
      Effect.withSpan("coffer.read", { kind: "client", attributes: { "coffer.place": connection.snapshot().place } })
    ),
    call: callsOver(connection),
    lease: leasesOver(connection)
  }
}

/** Reads the environment, then follows its changes until the scope ends. */
export const open = Effect.fnUntraced(function* (options: Options) {
  const warnings = yield* Queue.unbounded<string>()
  yield* Queue.take(warnings).pipe(Effect.flatMap(Effect.logWarning), Effect.forever, Effect.forkScoped)
  // The polls keep no process alive. The layer does, as on Effect 3.
  yield* Effect.forkScoped(Effect.forever(Effect.sleep("1 hour")))
  const onWarning = (message: string) => void Queue.offerUnsafe(warnings, message)
  const start = async (signal: AbortSignal) => {
    const connection = await core.connect({ ...connectOptions(options), onWarning })
    // An interruption while the connection is made, or before the effect has it.
    if (signal.aborted) await connection.close()
    signal.addEventListener("abort", () => void connection.close())
    return connection
  }
  const end = ({ close }: core.Connection) => Effect.promise(close)
  return service(yield* Effect.acquireRelease(attempt(start), end, { interruptible: true }))
})

/** Secrets in memory, and what changes them. */
export const testSecrets = (initial: Readonly<Record<string, string>>) => {
  const values = new Map(Object.entries(initial))
  const listeners = new Set<(change: core.Change) => void>()
  let revision = 1
  const change = (key: string, edit: () => unknown) =>
    Effect.sync(() => {
      edit()
      revision += 1
      for (const listener of listeners) listener({ keys: [key] })
    })
  const coffer = service({
    snapshot: () => ({ place: "test/test/test", revision, age: 0, values: new Map(values), refused: new Map() }),
    refresh: () => Promise.resolve(),
    call: () => Promise.reject(new Error("Coffer.layerTest has no server to call")),
    lease: () => Promise.reject(new Error("Coffer.layerTest has no server to lease from")),
    onChange: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    }
  })
  const set = (key: string, value: string) => change(key, () => values.set(key, value))
  const remove = (key: string) => change(key, () => values.delete(key))
  return { coffer, test: { set, remove } }
}
