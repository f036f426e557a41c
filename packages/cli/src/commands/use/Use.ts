import { idOf } from "../../grammar/IdKinds.js"
import { UseRuleId } from "@coffer/domain/base/Ids"
import { SecretKey } from "@coffer/domain/base/Names"
import { placementText } from "@coffer/domain/secrets/PlacementText"
import { UseMethod } from "@coffer/domain/secrets/UseMethod"
import type { Use, UseRule } from "@coffer/domain/secrets/UseRule"
import type { UseResponse } from "@coffer/domain/secrets/UseRequest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { defined } from "@coffer/domain/base/Defined"
import { asking, atEnv, group, wide, yes } from "../../grammar/Command.js"
import { argument, option, optionalArgument } from "../../grammar/Fields.js"
import { completedBy } from "../../grammar/Specs.js"
import { note, write } from "../../terminal/Print.js"
import { confirm } from "../../terminal/Prompts.js"
import { doneView, listView } from "../../terminal/View.js"
import { key } from "../secrets/KeyArguments.js"
import { proxyCommand } from "./Proxy.js"
import {
  allowFields,
  allowProblem,
  editFields,
  editProblem,
  headers,
  isPlaced,
  placeOf,
  secrets,
  store,
  termsOf
} from "./UseOptions.js"

const shared = {
  hosts: ({ hosts }: Pick<UseRule, "hosts">) => hosts.join(" "),
  methods: ({ methods }: Pick<UseRule, "methods">) => methods.join(" "),
  paths: ({ paths }: Pick<UseRule, "paths">) => paths.join(" ")
}

const ruleColumns = {
  id: ({ id }: UseRule) => id,
  ...shared,
  place: ({ place }: UseRule) => placementText(place),
  accounts: ({ accounts }: UseRule) => accounts.join(", "),
  approval: ({ approval }: UseRule) => approval
}

const useColumns = {
  key: (use: Use) => use.key,
  ...shared,
  approval: (use: Use) => use.approval,
  "left this minute": (use: Use) => use.left_this_minute,
  "left today": (use: Use) => use.left_today
}

const list = atEnv("list", {
  description: "List the use rules of a secret, or without a key what you may use",
  examples: ["coffer use list STRIPE_KEY", "coffer use list"],
  options: { key: completedBy("key", optionalArgument("KEY", SecretKey, "The secret; needs admin")), wide },
  run: ({ call, options, path }) => {
    const { key } = options
    return key === undefined
      ? Effect.map(
          call("use", (api) => api.uses({ path })),
          (uses) => listView(uses, useColumns, "no use rule of this environment names you")
        )
      : Effect.map(
          call("useRules", (api) => api.list({ path: { ...path, key } })),
          (rules) =>
            listView(
              rules,
              ruleColumns,
              `no rule lets anybody use ${key}; make one with: coffer use allow`,
              ["id", "hosts", "accounts", "paths", "methods", "approval"],
              `change one with: coffer use edit ${key} ID`
            )
        )
  }
})

const allow = atEnv("allow", {
  description: "Let accounts use a secret in requests of the server, without seeing it",
  examples: [
    "coffer use allow STRIPE_KEY --host api.stripe.com --path '/v1/refunds/*' --method POST --account agent --as-header 'authorization: Bearer {}'"
  ],
  options: { key, ...allowFields, ...asking },
  check: allowProblem,
  run: ({ call, options, path }) =>
    Effect.gen(function* () {
      const place = yield* placeOf(options)
      const { account: accounts, host: hosts, key, path: paths } = options
      const payload = { ...(yield* termsOf(options)), hosts, paths, accounts, place }
      const rule = yield* call("useRules", (api) => api.create({ path: { ...path, key }, payload }))
      return doneView(`${accounts.join(", ")} may use ${key} at ${hosts.join(", ")} (rule ${rule.id})`, rule)
    })
})

const ruleId = completedBy(
  "use-rule",
  argument("RULE_ID", idOf(UseRuleId), "The rule's id, as coffer use list KEY shows it")
)

const edit = atEnv("edit", {
  description: "Change a use rule: options that are left out stay as they are",
  examples: ["coffer use edit STRIPE_KEY 0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1dc0 --per-day 100 --approval each"],
  options: { key, ruleId, ...editFields, ...asking },
  check: editProblem,
  run: ({ call, options, path }) =>
    Effect.gen(function* () {
      const { key, neverEnds, ruleId: use_rule_id } = options
      const place = isPlaced(options) ? yield* placeOf(options) : undefined
      const payload = { ...(yield* termsOf(options)), ...defined({ place }), ...(neverEnds && { expires_at: null }) }
      const rule = yield* call("useRules", (api) => api.update({ path: { ...path, key, use_rule_id }, payload }))
      return doneView(`rule ${rule.id} of ${key} changed`, rule)
    })
})

const revoke = atEnv("revoke", {
  description: "Remove a use rule",
  examples: ["coffer use revoke STRIPE_KEY 0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1dc0"],
  options: {
    key,
    ruleId,
    yes,
    ...asking
  },
  run: ({ call, options: { key, ruleId: use_rule_id, yes }, path }) =>
    Effect.gen(function* () {
      yield* confirm(`Remove the use rule ${use_rule_id} of ${key}?`, yes)
      yield* call("useRules", (api) => api.delete({ path: { ...path, key, use_rule_id } }))
      return doneView(`rule ${use_rule_id} of ${key} removed`)
    })
})

/** The body of the response; its status and what was done with it are notes. */
const responseView = (response: UseResponse) => ({
  json: response,
  text: Effect.gen(function* () {
    const { body, body_base64, scrubbed, status, stored, truncated } = response
    yield* note(
      `status ${status}${truncated ? ", cut at the rule's limit" : ""}${scrubbed > 0 ? `, ${scrubbed} times scrubbed` : ""}`
    )
    if (stored !== undefined) yield* note(`stored as version ${stored.version} of ${stored.key}`)
    if (body !== undefined) yield* write(body)
    else if (body_base64 !== undefined) yield* write(`${body_base64}\n`)
  })
})

const request = atEnv("request", {
  description: "Make a request with secrets: the server sends it, and you never see the values",
  examples: [
    "coffer use request GET https://api.stripe.com/v1/refunds --secret STRIPE_KEY",
    "coffer use request POST https://api.example.com/v1/keys --secret API_KEY --store /key/secret=API_KEY"
  ],
  options: {
    method: argument("METHOD", UseMethod, "The method"),
    url: argument("URL", Schema.NonEmptyString, "The address; it must fit a use rule of each secret"),
    secrets,
    headers,
    data: option("data", Schema.String, "The body of the request"),
    store
  },
  check: ({ secrets }) => (secrets.length === 0 ? "name at least one --secret" : undefined),
  run: ({ call, options: { data: body, headers, method, secrets, store, url }, path }) =>
    Effect.map(
      call("use", (api) =>
        api.use({
          path,
          payload: { method, url, secrets, headers: Object.fromEntries(headers), ...defined({ body, store }) }
        })
      ),
      responseView
    )
})

export const useCommand = group("use", "Secrets that accounts use without seeing them", [
  list,
  allow,
  edit,
  revoke,
  request,
  proxyCommand
])
