import { currentActor, CurrentCaller, type ServiceAccountActor } from "@coffer/domain/access/Actor"
import { ValidationError } from "@coffer/domain/errors/Errors"
import { AccountReference } from "@coffer/domain/directory/AccountReference"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { Access } from "../../access/Access.js"
import { Authenticator } from "../../access/caller/Authenticator.js"
import { Exchange } from "../../directory/federations/Exchange.js"
import { accountOf, KeySessions } from "./KeySessions.js"
import { metadataOf, withToken } from "./Responses.js"

/** Vault's words, the same for every reason. */
const refused = new ValidationError({ message: "invalid role or secret ID" })

const unnamed = new ValidationError({
  message: "role: must be ORGANIZATION/ACCOUNT, such as acme/deploy, or an account of the namespace"
})

const elsewhere = new ValidationError({ message: "role: names an account of another organization than the namespace" })

const decodeReference = Schema.decode(AccountReference)

/** Whether a login means the account: `account`, or `org/account`, in its own organization's namespace or in none. */
const isMeant = ({ name, orgName }: ServiceAccountActor, role: string, namespace: string | null): boolean =>
  (role === name || role === `${orgName}/${name}`) && (namespace === null || namespace === orgName)

/** Logins in the form of Vault's, which end in a session of a service account. A failed one is ValidationError. */
export class Logins extends Effect.Service<Logins>()("@coffer/server/Logins", {
  effect: Effect.gen(function* () {
    const access = yield* Access
    const { identifyKey } = yield* Authenticator
    const exchange = yield* Exchange
    const sessions = yield* KeySessions

    /** With an account's key. */
    const approle = Effect.fnUntraced(
      function* (role: string, key: Redacted.Redacted, namespace: string | null) {
        const caller = yield* identifyKey(Redacted.value(key))
        const account = caller.actor
        if (!isMeant(account, role, namespace)) return yield* refused
        const starting = access.change(currentActor, (actor) => Effect.flatMap(accountOf(actor), sessions.start))
        const { token, ...lifetime } = yield* Effect.provideService(starting, CurrentCaller, caller)
        return yield* withToken(token, lifetime, metadataOf(account))
      },
      Effect.catchTag("Unauthorized", () => refused)
    )

    /** With a token of an issuer that a federation of the account names. */
    const federated = Effect.fnUntraced(
      function* (role: string, jwt: Redacted.Redacted, namespace: string | null) {
        const named = role.includes("/") || namespace === null ? role : `${namespace}/${role}`
        const reference = yield* Effect.mapError(decodeReference(named), () => unnamed)
        const [organization = "", account = ""] = reference.split("/")
        // Depends on the request alone, so it reveals nothing about accounts.
        if (namespace !== null && namespace !== organization) return yield* elsewhere
        const { expires_at, token } = yield* exchange.federate(jwt, reference)
        const millis = yield* Clock.currentTimeMillis
        const ttl = Math.max(0, Math.ceil((Date.parse(expires_at) - millis) / 1000))
        return yield* withToken(token, { ttl, renewable: false }, { account, organization })
      },
      Effect.catchTag("Unauthorized", ({ message }) => new ValidationError({ message }))
    )

    return { approle, federated } as const
  }),
  dependencies: [Authenticator.Default, Exchange.Default, KeySessions.Default]
}) {}
