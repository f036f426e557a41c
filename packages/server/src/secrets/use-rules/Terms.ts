import { UseTerms } from "@coffer/domain/secrets/UseRule"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { RuleRow } from "./Repo.js"

// The accounts are kept by id: their names in the text are those of the last change.
const decode = Schema.decode(Schema.parseJson(UseTerms.omit("accounts")))

/** Returns the terms of a stored rule. */
export const termsOf = ({ accounts, terms }: Pick<RuleRow, "accounts" | "terms">): Effect.Effect<UseTerms> =>
  Effect.map(Effect.orDie(decode(terms)), (others) => ({ ...others, accounts }))

export const isLive = ({ expires_at }: UseTerms, now: string): boolean => expires_at === null || expires_at > now
