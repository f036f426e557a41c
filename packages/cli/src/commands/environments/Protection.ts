import { defined } from "@coffer/domain/base/Defined"
import type { EnvPath } from "@coffer/domain/api/Paths"
import { Approvers, approverRoles, type Protection, protectionTerms } from "@coffer/domain/access/Protection"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { momentCell } from "../../base/Moments.js"
import { asking, atProject, type Call, yes } from "../../grammar/Command.js"
import { option } from "../../grammar/Fields.js"
import { aboveOf, existingEnv } from "../../grammar/PlaceArguments.js"
import { flag, old, oneOf } from "../../grammar/Specs.js"
import type { Codec } from "../../grammar/Specs.js"
import { confirm } from "../../terminal/Prompts.js"
import { note, printFields } from "../../terminal/Print.js"
import { doneView } from "../../terminal/View.js"
import { approversText } from "../requests/RequestView.js"

const env = existingEnv("The environment")

const isRole = (text: string): boolean => approverRoles.some((role) => role === text)

const approvers: Codec<Approvers> = {
  value: "text",
  description: "",
  decode: (option, text) =>
    Either.mapLeft(
      Schema.decodeUnknownEither(Approvers)(isRole(text) ? text : text.split(",")),
      () => `${option} takes owners, admins (owners too), or e-mail addresses, separated by commas`
    )
}

const people = protectionTerms.break_glass.from

const breakers: Codec<typeof people.Type> = {
  value: "text",
  description: "",
  decode: (option, text) =>
    Either.mapLeft(
      Schema.decodeUnknownEither(people)(text === "none" ? [] : text.split(",")),
      () => `${option} takes e-mail addresses, separated by commas, or none`
    )
}

const stuckText =
  "nobody could vote: let somebody else vote, or have a superadmin end it with coffer env unprotect NAME --break-glass REASON"

const aloneText = (people: ReadonlyArray<string>): string =>
  `those of ${people.join(", ")} could not get the votes: nobody else would vote on them`

const fieldsOf = (protection: Protection) => ({
  "approvals needed": protection.needed,
  approvers: approversText(protection.approvers),
  "own vote counts": protection.self,
  "break glass": protection.break_glass.join(", ") || "nobody",
  "requests wait": protection.expires_after,
  "votes need a passkey": protection.passkey,
  ...(protection.stuck === true && { stuck: stuckText }),
  ...(protection.without_voters !== undefined && { "own changes": aloneText(protection.without_voters) }),
  "set by": protection.updated_by,
  "set at": momentCell(protection.updated_at)
})

const read = (call: Call, path: EnvPath) => call("protections", (api) => api.get({ path }))

export const protection = atProject("protection", {
  description: "Show how an environment is protected: how many votes its changes need, and whose",
  examples: ["coffer env protection prod", "coffer env protection prod --json"],
  options: { env },
  place: aboveOf,
  run: ({ call, options, path }) =>
    Effect.map(read(call, { ...path, env_name: options.env.name }), (found) => ({
      json: found,
      text: printFields(fieldsOf(found))
    }))
})

/** The defaults of a new protection. */
const initial = { needed: 1, approvers: "admins", self: false, break_glass: [], passkey: false } as const

export const protect = atProject("protect", {
  description: "Require approvals for changes of an environment. Omitted settings keep their value",
  examples: [
    "coffer env protect prod --needed 2 --approvers admins --may-break-glass ada@example.com",
    "coffer env protect prod --approvers ada@example.com,grace@example.com --may-break-glass ada@example.com"
  ],
  options: {
    env,
    needed: option("needed", protectionTerms.needed.from, "How many people approve a change: 1 to 3; default: 1"),
    approvers: option(
      "approvers",
      approvers,
      "Who may vote: owners, admins (owners too), or e-mail addresses, separated by commas; default: admins"
    ),
    self: flag("self", "Count the requester's own vote"),
    notSelf: flag("not-self", "Do not count it; the default"),
    mayBreakGlass: option(
      "may-break-glass",
      breakers,
      "Who may change it at once with --break-glass: e-mail addresses, separated by commas, or none"
    ),
    expiresAfter: oneOf(
      option("requests-wait", protectionTerms.expires_after.from, "How long a request waits for votes; default: 72h"),
      old(option("expires-after", protectionTerms.expires_after.from, "Old form of --requests-wait"))
    ),
    passkey: flag("passkey", "Ask for a passkey with each vote"),
    notPasskey: flag("not-passkey", "Ask for none; the default"),
    ...asking
  },
  place: aboveOf,
  check: ({ notPasskey, notSelf, passkey, self }) => {
    if (self && notSelf) return "give either --self or --not-self"
    return passkey && notPasskey ? "give either --passkey or --not-passkey" : undefined
  },
  run: ({ call, options, path: project }) =>
    Effect.gen(function* () {
      const path = { ...project, env_name: options.env.name }
      const before = yield* read(call, path).pipe(Effect.catchTag("NotFound", () => Effect.succeed(undefined)))
      const { approvers, break_glass, needed, passkey, self } = before ?? initial
      const payload = {
        needed: options.needed ?? needed,
        approvers: options.approvers ?? approvers,
        self: options.self || (self && !options.notSelf),
        break_glass: options.mayBreakGlass ?? break_glass,
        passkey: options.passkey || (passkey && !options.notPasskey),
        ...defined({ expires_after: options.expiresAfter ?? before?.expires_after })
      }
      const set = yield* call("protections", (api) => api.set({ path, headers: {}, payload }))
      const votes = set.needed === 1 ? "the approval of 1 person" : `the approval of ${set.needed} people`
      const done = doneView(
        `${path.project_name}/${path.env_name} is protected: changes need ${votes}, of ${approversText(set.approvers)}`,
        set
      )
      const { without_voters: alone } = set
      if (alone === undefined) return done
      return { ...done, text: Effect.zipRight(done.text, note(`own changes: ${aloneText(alone)}`)) }
    })
})

export const unprotect = atProject("unprotect", {
  description: "End the protection of an environment, which needs its votes",
  examples: ["coffer env unprotect prod"],
  options: { env, yes, ...asking },
  place: aboveOf,
  run: ({ call, options, path }) =>
    Effect.gen(function* () {
      const { name } = options.env
      const place = `${path.project_name}/${name}`
      yield* confirm(`End the protection of ${place}?`, options.yes)
      yield* call("protections", (api) => api.remove({ path: { ...path, env_name: name }, headers: {} }))
      return doneView(`${place} is not protected any more`)
    })
})
