import type { Email } from "@coffer/domain/base/Names"
import type { UserId } from "@coffer/domain/base/Ids"
import type * as Effect from "effect/Effect"
import type { AuditEvent } from "../../audit/AuditEvent.js"
import type { Transaction } from "../../database/Database.js"

/** A person who has logged in. */
export interface LoggedIn {
  readonly id: UserId
  readonly email: Email
  /** How often all logins of the person had been ended by then: what was ended since starts no session. */
  readonly ended: number
  /**
   * When the person proved who they are; null if that was not in the last 15 minutes, or the provider did not say when. A
   * provider logs people in without a question, so its login is a proof only of an earlier one.
   */
  readonly provenAt: string | null
}

/** The result of a login, and the resource of its audit entry. */
export interface CompletedLogin<A> {
  readonly result: A
  readonly resource: Pick<AuditEvent, "resource_type" | "resource_id">
}

/** Completes a login once the person is proven. Runs in the transaction of the login. */
export type Complete<A, E = never, R = never> = (user: LoggedIn) => Effect.Effect<CompletedLogin<A>, E, R | Transaction>
