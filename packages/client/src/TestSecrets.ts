import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"
import type { Followed } from "./Follow.js"
import type { Call } from "./internal/Call.js"
import type { CofferService, Snapshot, TestCofferService } from "./Service.js"

interface Held {
  readonly revision: number
  readonly values: ReadonlyMap<string, Redacted.Redacted>
}

const toSnapshot = ({ revision, values }: Held): Snapshot => ({
  place: "test/test/test",
  revision,
  age: Duration.zero,
  values,
  refused: new Map()
})

const lease: CofferService["lease"] = () => Effect.dieMessage("Coffer.layerTest has no server to lease from")
const call: Call = () => Effect.dieMessage("Coffer.layerTest has no server to call")

/** Secrets in memory. */
export const testSecrets = Effect.fnUntraced(function* (values: Readonly<Record<string, string>>) {
  const held = yield* SubscriptionRef.make<Held>({
    revision: 1,
    values: new Map(Object.entries(values).map(([key, value]) => [key, Redacted.make(value)]))
  })
  const change = (edit: (values: Map<string, Redacted.Redacted>) => void) =>
    SubscriptionRef.update(held, ({ revision, values }) => {
      const next = new Map(values)
      edit(next)
      return { revision: revision + 1, values: next }
    })
  const snapshot = Effect.map(SubscriptionRef.get(held), toSnapshot)
  const followed: Followed = { snapshot, changes: Stream.map(held.changes, toSnapshot), refresh: snapshot }
  const test: TestCofferService = {
    set: (key, value) => change((next) => next.set(key, Redacted.make(value))),
    remove: (key) => change((next) => next.delete(key))
  }
  return { followed, call, lease, test }
})
