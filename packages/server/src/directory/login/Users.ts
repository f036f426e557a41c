import { UserId } from "@coffer/domain/base/Ids"
import type { Email } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import { now } from "../../base/Time.js"
import { uuidV4 } from "../../base/Uuid.js"
import { authRepo } from "../../access/caller/credentials/Repo.js"
import { method } from "../../base/tracing/Traced.js"

/** Creates users: at their first login, by an invitation, or from the configuration. */
export class Users extends Effect.Service<Users>()("@coffer/server/Users", {
  effect: Effect.gen(function* () {
    const repo = yield* authRepo

    /** Finds or creates the user with an address. A new user is named by the part before `@`. Call it in a transaction. */
    const ensure = method("Users.ensure", function* (email: Email) {
      const found = yield* repo.findUser({ email })
      if (found !== undefined) return found
      const user = { id: UserId.make(yield* uuidV4), name: email.slice(0, email.indexOf("@")) }
      const [inserted] = yield* repo.insertUser({ ...user, email, now: yield* now })
      // Undefined if another transaction has just created the same user.
      return (
        inserted ?? (yield* repo.findUser({ email })) ?? (yield* Effect.dieMessage("a user is there and not there"))
      )
    })

    return { ensure } as const
  })
}) {}
