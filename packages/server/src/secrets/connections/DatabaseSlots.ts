import { Overloaded } from "@coffer/domain/errors/Errors"
import * as Effect from "effect/Effect"
import { makeFairSemaphore } from "../../base/FairSemaphore.js"
import { sharedBounds } from "../../base/SharedBounds.js"
import type { ConnectionRow } from "./Repo.js"

const patience = "10 seconds"

const full = new Overloaded({
  message: "all logins to this database are in use: try again in 1 second",
  retryAfter: 1
})

/** Bounds the logins to one database at the same time. Slots go to the waiting tenants in turn. */
export class DatabaseSlots extends Effect.Service<DatabaseSlots>()("@coffer/server/DatabaseSlots", {
  sync: () => {
    const slots = new Map<string, { readonly inside: ReturnType<typeof makeFairSemaphore>["inside"]; users: number }>()

    /** Runs an effect that logs in once. */
    const inSlot =
      ({ host, port }: Pick<ConnectionRow, "host" | "port">) =>
      <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
        const key = `${host.toLowerCase()}:${port}`
        return Effect.acquireUseRelease(
          Effect.sync(() => {
            const own = slots.get(key) ?? { inside: makeFairSemaphore(sharedBounds.renewedDatabase).inside, users: 0 }
            own.users++
            slots.set(key, own)
            return own
          }),
          ({ inside }) => inside(effect),
          (own) =>
            Effect.sync(() => {
              own.users--
              if (own.users === 0) slots.delete(key)
            })
        )
      }

    /** The same for a caller: fails with Overloaded if the effect has not begun in time. */
    const inSlotSoon =
      (at: Pick<ConnectionRow, "host" | "port">) =>
      <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | Overloaded, R> =>
        Effect.suspend(() => {
          let hasBegun = false
          const begun = Effect.suspend(() => {
            hasBegun = true
            return effect
          })
          const waiting = Effect.sleep(patience).pipe(
            Effect.zipRight(Effect.suspend(() => (hasBegun ? Effect.never : full)))
          )
          return Effect.raceFirst(inSlot(at)(begun), waiting)
        })

    return { inSlot, inSlotSoon } as const
  }
}) {}
