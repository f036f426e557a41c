import { Permission } from "@coffer/domain/access/AclRule"
import { type ApprovalRequest, Reason } from "@coffer/domain/requests/ApprovalRequest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { momentText } from "../../base/Moments.js"
import { WrongUsage } from "../../base/Failures.js"
import { atEnv, group } from "../../grammar/Command.js"
import { argument, codecOf, option } from "../../grammar/Fields.js"
import { inPlace, optionalPlace } from "../../grammar/PlaceForm.js"
import { orOld } from "../../grammar/Specs.js"
import { lasting, millisUntil } from "../../grammar/Times.js"
import { ask, canAsk } from "../../terminal/Prompts.js"
import { doneView } from "../../terminal/View.js"
import { readRequests } from "./Requests.js"
import { askedFor, placeOf } from "./RequestText.js"

/** More requests are not searched for an equal one. */
const mostRead = 200

const permissions = "use values without seeing them, read them, write them, or admin"

const why = option("reason", Reason, "Why, for the people who vote; asked for at a terminal")

/** The reason, which a person can type. An empty line is none. */
const reasonOf = Effect.fnUntraced(function* (given: string | undefined) {
  if (given !== undefined) return given
  if (!(yield* canAsk))
    return yield* new WrongUsage({ message: "--reason is missing: say why, for the people who vote" })
  const text = yield* ask("Why, for the people who vote: ")
  return yield* Either.mapLeft(codecOf(Reason).decode("the reason", text), (message) => new WrongUsage({ message }))
})

const request = atEnv("request", {
  description: "Ask for a permission in an environment for a while; people vote on it",
  examples: [
    "coffer access request webshop/prod read --for 1h --reason INC-12",
    "coffer access request prod write --for 30m --reason 'INC-12: roll the key'"
  ],
  options: {
    place: optionalPlace,
    permission: orOld(
      argument("PERMISSION", Permission, permissions),
      { permission: option("permission", Permission, permissions) },
      ({ permission }) => Either.fromNullable(permission, () => "--permission is missing")
    ),
    end: lasting("it lasts, from the approval on"),
    why
  },
  place: inPlace,
  check: ({ end }) => (end === undefined ? "--for is missing: say how long, such as --for 1h" : undefined),
  run: ({ call, options: { end = "", permission, why }, path: { env_name, org_name, project_name } }) =>
    Effect.gen(function* () {
      const reason = yield* reasonOf(why)
      const waiting = yield* readRequests(call, { org_name }, { state: "pending", kind: "access" }, mostRead).pipe(
        // Whoever may not list requests may still ask.
        Effect.orElseSucceed((): { readonly data: ReadonlyArray<ApprovalRequest> } => ({ data: [] }))
      )
      const same = waiting.data.find(
        (each) =>
          each.is_own && each.project === project_name && each.env === env_name && each.permission === permission
      )
      if (same !== undefined) {
        return doneView(
          `request ${same.id} asks for ${askedFor(same)} in ${placeOf(same)} already, and waits for approval until ${momentText(same.expires_at)}; see it with: coffer request show ${same.id}; for another one, first run: coffer request withdraw ${same.id}`,
          same
        )
      }
      const expires_in = Math.ceil((yield* millisUntil(end)) / 1_000)
      const made = yield* call("requests", (api) =>
        api.create({
          path: { org_name },
          payload: {
            kind: "access",
            project: project_name,
            env: env_name,
            permission,
            expires_in,
            reason
          }
        })
      )
      return doneView(
        `request ${made.id} asks for ${askedFor(made)} in ${placeOf(made)}, and waits for approval; see it with: coffer request show ${made.id}`,
        made
      )
    })
})

export const accessCommand = group("access", "Access to an environment for a while", [request])
