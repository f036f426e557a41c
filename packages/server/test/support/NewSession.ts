import { randomUUID } from "node:crypto"
import { SessionId, type UserId } from "@coffer/domain/base/Ids"
import { hashToken, mintToken } from "@coffer/server/keys/Token"
import { Effect, Redacted } from "effect"

/** A session that no login has made: the row of it, and its token. */
export const newSession = (userId: UserId, now: string, provenBy: "login" | "operator" = "login") => {
  const token = Redacted.value(Effect.runSync(mintToken("session")))
  const id = SessionId.make(randomUUID())
  const from = { ip: null, program: null, machine: null, userAgent: null }
  return {
    id,
    token,
    row: { id, userId, kind: "token", hash: hashToken(token), ...from, provenAt: now, provenBy, now }
  }
}
