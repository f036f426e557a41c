import type { OrgId } from "@coffer/domain/base/Ids"
import * as Effect from "effect/Effect"
import { Mailer, type Notice } from "../../base/mail/Mailer.js"
import { afterCommit } from "../../database/Database.js"
import { makeProtections } from "./Protections.js"

/** Mails all owners of an organization after the commit. No rate limit applies: the event concerns the whole organization. */
export const makeOwnerNotices = Effect.gen(function* () {
  const mailer = yield* Mailer
  const { votersOf } = yield* makeProtections

  return Effect.fnUntraced(function* (orgId: OrgId, notice: Omit<Notice, "to">) {
    const owners = yield* votersOf(orgId, "owners")
    yield* afterCommit(
      Effect.forEach(owners, ({ email }) => mailer.sendNotice({ to: email, ...notice }), { discard: true })
    )
  })
})
