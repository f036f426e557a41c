import { AllowedNetwork, Grace } from "@coffer/domain/directory/ServiceAccount"
import { ServiceAccountName } from "@coffer/domain/base/Names"
import type { ServiceAccount, ServiceAccountWithKey } from "@coffer/domain/directory/ServiceAccount"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { defined } from "@coffer/domain/base/Defined"
import { momentCell } from "../../base/Moments.js"
import { atOrg, group, wide, yes } from "../../grammar/Command.js"
import { isConfigured } from "../../grammar/Configured.js"
import { argument, option, repeatedOption, secondsOf } from "../../grammar/Fields.js"
import { completedBy, flag } from "../../grammar/Specs.js"
import { accountPlace, keyTerms } from "./AccountOptions.js"
import { accountId, NameOrId } from "../../subjects/Subjects.js"
import { note, printJson, write } from "../../terminal/Print.js"
import { confirm } from "../../terminal/Prompts.js"
import { doneView, listView } from "../../terminal/View.js"
import { usageColumn } from "../access/UsageText.js"
import { programProblem, showSteps, stepsFor } from "./ProgramLines.js"
import { trustCommands } from "../trust/Trust.js"

const columns = {
  id: (account: ServiceAccount) => account.id,
  name: (account: ServiceAccount) => account.name,
  project: (account: ServiceAccount) => account.project,
  networks: (account: ServiceAccount) => account.allowed_networks?.join(",") ?? "any",
  reveal: (account: ServiceAccount) => (account.reveal ? "yes" : "no"),
  key: (account: ServiceAccount) => (account.key_hint === "" ? "none" : `…${account.key_hint}`),
  expires: (account: ServiceAccount) => momentCell(account.expires_at),
  "last used": (account: ServiceAccount) => momentCell(account.last_used_at)
}

const noteNetworks = (accounts: ReadonlyArray<ServiceAccount>) =>
  Effect.forEach(
    accounts.flatMap(({ name, network_notes = [] }) => network_notes.map((text) => `${name}: ${text}`)),
    note,
    { discard: true }
  )

const list = atOrg("list", {
  description: "List the service accounts",
  examples: ["coffer service-account list", "coffer service-account list --json"],
  options: { wide },
  run: ({ call, path }) =>
    Effect.map(
      Effect.tap(
        call("serviceAccounts", (api) => api.list({ path })),
        ({ data }) => noteNetworks(data)
      ),
      (accounts) =>
        listView(
          accounts,
          { ...columns, ...usageColumn(accounts.data) },
          "there are no service accounts; make one with: coffer service-account create NAME",
          ["name", "project", "key", "usage", "reveal", "expires"]
        )
    )
})

/** Prints only the key to standard output, for scripts. */
const printKey = Effect.fnUntraced(function* (
  account: ServiceAccountWithKey,
  json: boolean,
  sentence: string,
  more: object = {}
) {
  const api_key = Redacted.value(account.api_key)
  yield* json ? printJson({ ...account, api_key, ...more }) : write(`${api_key}\n`)
  yield* note(`${sentence}; the key is shown this once: keep it where its program finds it, as SERVICE_API_KEY`)
})

const network = repeatedOption(
  "network",
  AllowedNetwork,
  "Let it call from this network alone, such as 10.20.0.0/16; may be given again"
)

const create = atOrg("create", {
  description: "Create a service account and print its key, once",
  examples: [
    "coffer service-account create ci --at 'webshop/*' --for 90d",
    "coffer service-account create agent --no-reveal",
    "coffer service-account create deploy --no-key",
    "coffer service-account create panel --program dokploy --at webshop/prod"
  ],
  options: {
    name: argument("NAME", ServiceAccountName, "The service account's name"),
    at: accountPlace,
    noReveal: flag("no-reveal", "Never give it a value: it can write, list, copy and roll back, but not read"),
    noKey: flag("no-key", "Make no key: it signs in with tokens of a CI system or cluster that it trusts"),
    network,
    terms: keyTerms
  },
  place: ({ at }) => defined({ org: at.org, env: at.env ?? undefined }),
  check: ({ noKey, noReveal, terms: { days, program } }) =>
    noKey && days !== undefined
      ? "--for is how long the key lasts, and --no-key makes none"
      : programProblem({ program, noKey, noReveal }),
  run: ({ call, json, options, path, server, settings }) =>
    Effect.gen(function* () {
      const { at, name, network, noKey, noReveal, terms } = options
      const { days, program } = terms
      const { project = yield* settings.project } = at
      const use = program && {
        ...{ program, server: server.base, org: path.org_name, account: name, hasKey: !noKey },
        ...{ project: project ?? (yield* settings.project), env: yield* settings.env }
      }
      const payload = {
        name,
        ...defined({
          project: project ?? undefined,
          expires_in_days: days,
          reveal: noReveal ? false : undefined,
          key: noKey ? false : undefined,
          allowed_networks: network.length === 0 ? undefined : network
        })
      }
      const { api_key, ...made } = yield* call("serviceAccounts", (api) => api.create({ path, payload }))
      const where = project === null ? "PLACE" : `${project}/${at.env?.split("/").at(-1) ?? "ENV"}`
      // Without its options, the next command line finds the organization that this directory is tied to.
      const isTied = yield* isConfigured(path)
      const grant = `coffer acl grant account:${made.name} ${where} read${isTied ? "" : ` --org ${path.org_name}`}`
      const sentence = `service account ${made.name} created in ${path.org_name}; give it access with: ${grant}`
      const lines = use && { lines: stepsFor(use.program, use) }
      if (api_key !== undefined) yield* printKey({ ...made, api_key }, json, sentence, lines)
      else {
        if (json) yield* printJson({ ...made, ...lines })
        yield* note(`${sentence}; it has no key: let it sign in with coffer service-account trust '${made.name}'`)
      }
      if (use !== undefined && !json) yield* showSteps(use.program, use)
    })
})

const nameOrId = completedBy("account", argument("NAME_OR_ID", NameOrId, "The service account, by name or id"))

const edit = atOrg("edit", {
  description: "Change the networks that a service account may call from",
  examples: [
    "coffer service-account edit ci --network 10.20.0.0/16 --network 2001:db8:7::/48",
    "coffer service-account edit ci --any-network"
  ],
  options: { nameOrId, network, anyNetwork: flag("any-network", "Let it call from anywhere") },
  check: ({ anyNetwork, network }) =>
    anyNetwork === network.length > 0 ? "say from where it may call: --network, or --any-network" : undefined,
  run: ({ call, options: { nameOrId, network }, path }) =>
    Effect.gen(function* () {
      const sa_id = yield* accountId(call, path, nameOrId)
      const payload = { allowed_networks: network.length === 0 ? null : network }
      const account = yield* call("serviceAccounts", (api) =>
        api.update({ path: { ...path, sa_id }, headers: {}, payload })
      )
      const from = account.allowed_networks
      return doneView(
        `service account ${account.name} may call from ${from === undefined ? "anywhere" : `${from.join(", ")} alone, from now on`}`,
        account
      )
    })
})

const rotate = atOrg("rotate", {
  description: "Give a service account a new key and print it, once",
  examples: ["coffer service-account rotate ci", "coffer service-account rotate ci --grace 1h"],
  options: {
    nameOrId,
    grace: option(
      "grace",
      secondsOf(Grace),
      "How long the old key stays valid too, such as 15m, at most 7d; default: not at all"
    )
  },
  run: ({ call, json, options: { grace, nameOrId }, path }) =>
    Effect.gen(function* () {
      const sa_id = yield* accountId(call, path, nameOrId)
      const payload = defined({ grace_seconds: grace })
      const account = yield* call("serviceAccounts", (api) => api.rotate({ path: { ...path, sa_id }, payload }))
      const old = (grace ?? 0) === 0 ? "its old key is good no more" : `its old key stays good for ${grace} s`
      yield* printKey(account, json, `service account ${account.name} has a new key; ${old}`)
    })
})

const revoke = atOrg("revoke", {
  description: "End a service account and its key, with its access rules",
  examples: ["coffer service-account revoke ci"],
  options: { nameOrId, yes },
  run: ({ call, options, path }) =>
    Effect.gen(function* () {
      const sa_id = yield* accountId(call, path, options.nameOrId)
      yield* confirm(`Revoke the service account ${options.nameOrId}, with its access rules?`, options.yes)
      yield* call("serviceAccounts", (api) => api.revoke({ path: { ...path, sa_id } }))
      return doneView(`service account ${options.nameOrId} revoked`)
    })
})

export const serviceAccountCommand = group("service-account", "Accounts for programs, which call with an API key", [
  list,
  create,
  edit,
  rotate,
  revoke,
  ...trustCommands
])
