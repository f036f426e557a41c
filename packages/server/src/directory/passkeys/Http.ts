import { Api } from "@coffer/domain/Api"
import { Passkey } from "@coffer/domain/directory/Passkey"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Access } from "../../access/Access.js"
import { outcomeOf } from "../../database/Database.js"
import { longList } from "../../http/LongList.js"
import { notAccepted, Passkeys } from "./Passkeys.js"
import { verifyAssertion, verifyRegistration } from "./WebAuthn.js"

const listed = longList(Passkey)

export const PasskeysHttp = HttpApiBuilder.group(Api, "passkeys", (handlers) =>
  Effect.gen(function* () {
    const access = yield* Access
    const { person } = access
    const passkeys = yield* Passkeys

    return handlers
      .handle("list", () =>
        Effect.flatMap(Effect.flatMap(person("passkey.list"), passkeys.list), (data) => listed({ data }))
      )
      .handle("options", () => access.change(person("passkey.options"), passkeys.begin))
      .handle("create", ({ payload: { credential, name } }) =>
        Effect.gen(function* () {
          const { clientDataJSON, transports = [] } = credential.response
          const claimed = yield* access.change(person("passkey.create"), (actor) =>
            passkeys.claim(actor, "register", clientDataJSON)
          )
          if (claimed === null) return yield* notAccepted
          // Between two transactions: other changes of the person do not wait for it.
          const verified = yield* verifyRegistration(credential, claimed.challenge, yield* passkeys.relyingParty)
          if (verified === null) return yield* notAccepted
          return yield* access.change(person("passkey.create"), (actor) =>
            passkeys.create(actor, name, verified, transports)
          )
        })
      )
      .handle("delete", ({ path }) =>
        access.change(person("passkey.delete"), (actor) => passkeys.remove(actor, path.passkey_id))
      )
      .handle("challenge", ({ payload }) =>
        access.change(person("passkey.challenge"), (actor) => passkeys.challenge(actor, payload.session_id))
      )
      .handle("verify", ({ payload: { credential } }) =>
        Effect.gen(function* () {
          const { claimed, passkey } = yield* access.change(person("passkey.verify"), (actor) =>
            Effect.all({
              claimed: passkeys.claim(actor, "prove", credential.response.clientDataJSON),
              passkey: passkeys.named(actor, credential.id)
            })
          )
          const counter =
            claimed === null || passkey === undefined
              ? null
              : yield* verifyAssertion(credential, claimed.challenge, yield* passkeys.relyingParty, passkey.public_key)
          const proof = counter === null || passkey === undefined ? null : { passkey, counter }
          return yield* outcomeOf(
            access.change(person("passkey.verify"), (actor) => passkeys.prove(actor, claimed, proof))
          )
        })
      )
  })
).pipe(Layer.provide(Passkeys.Default))
