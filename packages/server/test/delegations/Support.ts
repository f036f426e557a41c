import type { UserActor } from "@coffer/domain/access/Actor"
import { Authenticator } from "@coffer/server/access/caller/Authenticator"
import { Delegations, type DelegationRequest } from "@coffer/server/directory/delegations/Delegations"
import { Headers } from "@effect/platform"
import { Effect, Redacted } from "effect"
import { enter, transaction } from "../support/Services.js"

/** Makes a delegation of a person. */
export const delegate = (ada: UserActor, request: Partial<DelegationRequest> = {}) =>
  Effect.gen(function* () {
    const place = yield* enter(ada, "secret.list")
    const { create } = yield* Delegations
    return yield* transaction(
      create([place], ada, { name: "claude", permission: "read", expires_in: 8 * 3_600, ...request })
    )
  })

/** The caller of a delegation's token. */
export const identified = ({ token }: { readonly token: Redacted.Redacted }) =>
  Effect.flatMap(Authenticator, ({ identify }) =>
    identify(Headers.fromInput({ authorization: `Bearer ${Redacted.value(token)}` }))
  )
