import type { OrgPath } from "@coffer/domain/api/Paths"
import type { FederationTrial } from "@coffer/domain/directory/Federation"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { CannotDo, NotThere, WrongUsage } from "../../base/Failures.js"
import type { Call } from "../../grammar/Command.js"
import type { NameOrId } from "../../subjects/Subjects.js"
import { questionAbout } from "../../grammar/Words.js"
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

/** Says what each federation of the token's issuer expects. */
const noteFailures = ({ federations, issuer }: FederationTrial) => {
  const own = federations.filter(({ failed }) => !failed.some(({ claim }) => claim === "iss"))
  if (own.length === 0) return note(`no federation is for the issuer ${JSON.stringify(issuer)}`)
  return Effect.forEach(
    own.flatMap(({ failed, name }) => failed.map((one) => ({ name, ...one }))),
    ({ claim, expected, found, name }) =>
      note(`${name}: ${claim} must be ${JSON.stringify(expected)}, and is ${found ?? "absent"}`)
  )
}

/** Says whether an account would sign in with a token. */
export const testFederation = Effect.fnUntraced(function* (
  call: Call,
  path: OrgPath,
  account: NameOrId,
  given: string
) {
  const token = yield* tokenFrom(given)
  const { data } = yield* call("serviceAccounts", (api) => api.list({ path }))
  const found = data.find(({ id, name }) => id === account || name === account)
  if (found === undefined) {
    const question = questionAbout(
      account,
      data.map(({ name }) => name)
    )
    return yield* new NotThere({
      message: `there is no service account ${account} in ${path.org_name}${question} coffer service-account list shows them`
    })
  }
  const reference = `${path.org_name}/${found.name}`
  const trial = yield* call("federations", (api) => api.try({ path: { ...path, sa_id: found.id }, payload: { token } }))
  if (trial.takes === null) {
    yield* noteFailures(trial)
    const why = trial.signed ? "" : ": it is malformed, or its signature does not hold"
    return yield* new CannotDo({ message: `no federation of account ${reference} takes this token${why}` })
  }
  return doneView(`${reference} signs in with this token, via federation ${trial.takes}`, trial)
})
