import { UseTerms } from "@coffer/domain/UseRule"
import { Effect, Schema } from "effect"
import type { RuleRow } from "./Repo.js"

const decode = Schema.decode(Schema.parseJson(UseTerms))

/** What a stored rule allows. */
export const termsOf = ({ terms }: Pick<RuleRow, "terms">): Effect.Effect<UseTerms> => Effect.orDie(decode(terms))

export const isLive = ({ expires_at }: UseTerms, now: string): boolean => expires_at === null || expires_at > now
