import type { Actor } from "@coffer/domain/access/Actor"
import { type Questions, replyMillis } from "@coffer/mcp/Questions"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { uuidV7 } from "../../base/Uuid.js"
import { makeUsedOnce } from "../../database/limits/UsedOnce.js"
import { Keyring } from "../../keys/Keyring.js"
import { openText, sealText } from "../../keys/Sealed.js"

const State = Schema.parseJson(
  Schema.Struct({
    id: Schema.String,
    call: Schema.String,
    kind: Schema.Literal("confirm", "approve", "votes"),
    about: Schema.String,
    expires: Schema.Number
  })
)
const encode = Schema.encodeSync(State)
const decode = Schema.decodeOption(State)

const longestState = 4_096

const subjectOf = (actor: Actor): string =>
  actor.type === "user" ? `user ${actor.id} ${actor.delegation?.id ?? ""}`.trim() : `account ${actor.id}`

/**
 * The questions of agents' calls between rounds, sealed into what the host sends back: any server answers, and none keeps a
 * question. A state opens for its caller alone, for 5 minutes, and is used once.
 */
export const makeSealedQuestions = Effect.gen(function* () {
  const { loginFlowKey } = yield* Keyring
  const isFirstUse = yield* makeUsedOnce

  return (actor: Actor, run: <A>(effect: Effect.Effect<A>) => Promise<A>): Questions => {
    const subject = subjectOf(actor)
    const purpose = `question of an agent: ${subject}`
    return {
      ask: (call, { about, kind }) =>
        run(
          Effect.gen(function* () {
            const expires = (yield* Clock.currentTimeMillis) + replyMillis
            return sealText(loginFlowKey, purpose, encode({ id: yield* uuidV7, call, kind, about, expires }))
          })
        ),
      redeem: (call, state) =>
        run(
          Effect.gen(function* () {
            const text = state.length > longestState ? null : openText(loginFlowKey, purpose, state)
            const found = text === null ? undefined : Option.getOrUndefined(decode(text))
            const now = yield* Clock.currentTimeMillis
            if (found === undefined || found.call !== call || found.expires < now) return null
            const { about, id, kind } = found
            return (yield* isFirstUse("agent reply", subject, id)) ? { kind, about } : null
          })
        )
    }
  }
})
