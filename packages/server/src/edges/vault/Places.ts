import { CurrentActor } from "@coffer/domain/Actor"
import { OrgName } from "@coffer/domain/Names"
import { Effect, Option, Schema } from "effect"
import { notVisible } from "../../access/NotFound.js"
import type { Namespace } from "../../http/vault/Contract.js"
import { accountOf } from "./KeySessions.js"

const decodeOrg = Schema.decodeOption(OrgName)

/** The namespace of a request, or null. Vault's clients may end it with a slash; the root namespace is empty. */
export const namespaceOf = (headers: Namespace): string | null => {
  const namespace = headers["x-vault-namespace"]?.replace(/\/$/, "")
  return namespace === undefined || namespace === "" ? null : namespace
}

/** The organization that a request names, or else that of its account. Whether it exists is not looked at. */
export const orgOf = (headers: Namespace) =>
  Effect.gen(function* () {
    const account = yield* Effect.flatMap(CurrentActor, accountOf)
    const namespace = namespaceOf(headers)
    if (namespace === null) return account.orgName
    return yield* Option.match(decodeOrg(namespace), {
      onNone: () => notVisible("the namespace"),
      onSome: Effect.succeed
    })
  })
