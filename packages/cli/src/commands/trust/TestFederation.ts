import { failedConditions } from "@coffer/domain/Claims"
import type { OrgPath } from "@coffer/domain/api/Paths"
import { parseJson } from "@coffer/client/internal/ParseJson"
import type { ServerUrl } from "@coffer/client/internal/ServerUrl"
import type { Federation } from "@coffer/domain/Federation"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import { CannotDo, NotThere, WrongUsage } from "../../Failures.js"
import { type Call, clientWith } from "../../grammar/Command.js"
import type { NameOrId } from "../../subjects/Subjects.js"
import { readBytes, standardInput } from "../../terminal/Bytes.js"
import { note } from "../../terminal/Print.js"
import { doneView } from "../../terminal/View.js"

const maxInputLength = 8_000

const noToken = new WrongUsage({ message: "standard input holds no signed token (JWT)" })

const tokenFrom = Effect.fnUntraced(function* (given: string) {
  if (given !== "-") {
    return yield* new WrongUsage({
      message: "a token on the command line can be read by others: write --token - and give it on standard input"
    })
  }
  const text = (yield* readBytes(standardInput, maxInputLength, noToken)).toString("latin1").trim()
  return /^[\w-]+\.[\w-]+\.[\w-]+$/.test(text) ? Redacted.make(text) : yield* noToken
})

const claimsOf = (token: Redacted.Redacted) => {
  const [, payload = ""] = Redacted.value(token).split(".")
  const found = Option.getOrUndefined(parseJson(Buffer.from(payload, "base64url").toString("utf8")))
  return Predicate.isRecord(found) ? found : {}
}

/** Says what each federation of the token's issuer expects. */
const noteConditions = (token: Redacted.Redacted, federations: ReadonlyArray<Federation>) => {
  const claims = claimsOf(token)
  const own = federations.filter(({ issuer }) => issuer === claims["iss"])
  if (own.length === 0) return note(`no federation is for the issuer ${JSON.stringify(claims["iss"] ?? null)}`)
  return Effect.forEach(
    own.flatMap(({ conditions, name }) =>
      failedConditions(claims, conditions).map(({ expected, found, pointer }) => ({ name, expected, found, pointer }))
    ),
    ({ expected, found, name, pointer }) =>
      note(
        `${name}: ${pointer} must be ${JSON.stringify(expected)}, and is ${found === undefined ? "absent" : JSON.stringify(found)}`
      )
  )
}

/** Signs in with a token as a machine would, and ends the session at once. */
export const testFederation = Effect.fnUntraced(function* (
  call: Call,
  server: ServerUrl,
  path: OrgPath,
  account: NameOrId,
  given: string
) {
  const token = yield* tokenFrom(given)
  const { data } = yield* call("serviceAccounts", (api) => api.list({ path }))
  const found = data.find(({ id, name }) => id === account || name === account)
  if (found === undefined) {
    return yield* new NotThere({ message: `there is no service account ${account} in ${path.org_name}` })
  }
  const reference = `${path.org_name}/${found.name}`
  const { expires_at, token: secret } = yield* call("auth", (api) =>
    api.federate({ payload: { token, account: reference } })
  ).pipe(
    Effect.catchTag("Unauthorized", ({ message }) =>
      Effect.gen(function* () {
        const federations = yield* call("federations", (api) => api.list({ path: { ...path, sa_id: found.id } }))
        yield* noteConditions(token, federations.data)
        return yield* new CannotDo({ message })
      })
    )
  )
  const machine = yield* clientWith(server, Option.some({ type: "session", secret }))
  const { via } = { via: undefined, ...(yield* machine.call("auth", (api) => api.me({}))) }
  yield* machine.call("auth", (api) => api.logout({}))
  return doneView(`${reference} signs in with this token, via ${via ?? "a federation"}`, {
    account: reference,
    via: via ?? null,
    expires_at
  })
})
