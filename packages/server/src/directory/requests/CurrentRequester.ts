import type { Actor } from "@coffer/domain/access/Actor"
import { Conflict } from "@coffer/domain/errors/Errors"
import * as Effect from "effect/Effect"
import { Authenticator } from "../../access/caller/Authenticator.js"
import { Requester } from "../../access/caller/Requester.js"
import { type RequestRow, requestsRepo } from "./Repo.js"

/** Finds whoever asked, with the rights of now. Fails with Conflict if it may not act any more. */
export const makeCurrentRequester = Effect.gen(function* () {
  const repo = yield* requestsRepo
  const { delegate } = yield* Authenticator

  const actorNow = Effect.fnUntraced(function* (row: RequestRow) {
    const gone = new Conflict({ message: `${row.actor_name} may not act any more` })
    if (row.delegation_id !== null) {
      return (yield* Effect.mapError(
        delegate(row.delegation_id),
        () => new Conflict({ message: `the delegation of ${row.actor_name} has ended` })
      )).actor
    }
    if (row.actor_type === "user") {
      const user = yield* repo.user({ id: row.actor_id })
      if (user === undefined) return yield* gone
      const { superadmin, ...person } = user
      const actor: Actor = {
        type: "user",
        ...person,
        superadmin: superadmin === 1,
        sessionId: null,
        sessionKind: null,
        // A call that needs a recent login had one when it was asked for.
        loginIsRecent: true,
        mayRecover: false,
        hasPasskey: false,
        passkeyIsRecent: false,
        delegation: null
      }
      return actor
    }
    const account = yield* repo.account({ id: row.actor_id })
    if (account === undefined) return yield* gone
    const { project, project_id } = account
    const actor: Actor = {
      type: "service_account",
      id: account.id,
      name: account.name,
      orgId: account.org_id,
      orgName: account.org,
      project: project_id === null || project === null ? null : { id: project_id, name: project },
      reveal: account.reveal === 1,
      credential: { type: "request", id: row.id, sessionId: null }
    }
    return actor
  })

  return (row: RequestRow): Effect.Effect<Requester, Conflict> =>
    Effect.map(actorNow(row), (actor) => new Requester(actor, row.org_id))
})
