import { type Caller, CurrentCaller } from "@coffer/domain/access/Actor"
import type { OrgId } from "@coffer/domain/base/Ids"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { withService } from "../base/WithService.js"
import { Database, type Transaction } from "../database/Database.js"
import { orgScope, type Scope, userScope } from "../database/Scopes.js"
import { AuthenticatedCaller } from "./caller/AuthenticatedCaller.js"
import { Authenticator } from "./caller/Authenticator.js"
import type { FoundPlace } from "./place/PlaceRow.js"
import { Requester } from "./caller/Requester.js"

/** Requirements of a change besides its right and its step. */
export interface ChangeOptions {
  /** Scopes to lock besides that of the caller's changes. */
  readonly also?: ReadonlyArray<Scope>
  /**
   * Sends what the step reads together with what decides on the right. It gets the place as it was when the caller was
   * authenticated, which may have another one's name by now: its step then reads something else.
   */
  readonly ahead?: (found: FoundPlace) => Effect.Effect<void, never, Transaction>
}

/** A change that holds another scope than its organization's, whose name was another one's before. */
export class OtherScope extends Data.TaggedError("OtherScope")<{ readonly scope: Scope }> {}

const isOtherScope = (error: unknown): error is OtherScope => error instanceof OtherScope

/** The scope of a caller's changes: an account's organization, the one on the path, or else the person's own. */
const scopeOf = (caller: Caller): Scope => {
  const { actor } = caller
  if (actor.type === "service_account") return orgScope(actor.orgId)
  const org = caller instanceof AuthenticatedCaller || caller instanceof Requester ? caller.orgId : null
  return org === null ? userScope(actor.id) : orgScope(org)
}

/** Makes the changes of `Access`. `orgIdOf` is the organization of a place; null for what is none. */
export const makeChange = (orgIdOf: (place: unknown) => OrgId | null) =>
  Effect.gen(function* () {
    const { revalidate } = yield* Authenticator
    const database = yield* Database

    /**
     * Runs a change as one transaction with its authorization. It locks the scope of the caller's changes before anything is
     * read. The credential, the place and the rights are then read again, so a caller who was revoked, removed or
     * demoted until then cannot change anything.
     */
    return <P, E1, R1, A, E2, R2>(
      entering: Effect.Effect<P, E1, R1>,
      step: (place: P) => Effect.Effect<A, E2, R2>,
      { ahead = () => Effect.void, also = [] }: ChangeOptions = {}
    ) => {
      const attempt = (caller: Caller, scope: Scope) => {
        const { actor } = caller
        return database.change(
          [scope, ...also],
          Effect.provideServiceEffect(
            Effect.flatMap(entering, (place): Effect.Effect<A, E2 | OtherScope, R2> => {
              const org = orgIdOf(place)
              return org !== null && org !== scope.id ? new OtherScope({ scope: orgScope(org) }) : step(place)
            }),
            CurrentCaller,
            caller instanceof Requester
              ? Effect.succeed<Caller>(caller)
              : caller instanceof AuthenticatedCaller && caller.found !== null
                ? Effect.zipRight(ahead(caller.found), revalidate(actor))
                : revalidate(actor)
          )
        )
      }
      return withService(CurrentCaller, (caller) =>
        attempt(caller, scopeOf(caller)).pipe(
          Effect.catchIf(isOtherScope, ({ scope }) => attempt(caller, scope)),
          Effect.catchIf(isOtherScope, () =>
            Effect.dieMessage("the organization of a change was renamed twice while it waited")
          )
        )
      )
    }
  })
