import { readProblem } from "@coffer/client/internal/FileError"
import { type Federation, PublicKeys } from "@coffer/domain/directory/Federation"
import { keylessPieces } from "@coffer/domain/guides/Keyless"
import type { OrgPath } from "@coffer/domain/api/Paths"
import type { ServiceAccountId } from "@coffer/domain/base/Ids"
import { FederationName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { readFileSync } from "node:fs"
import { defined } from "@coffer/domain/base/Defined"
import { momentCell } from "../../base/Moments.js"
import { CannotDo, NotThere, WrongUsage } from "../../base/Failures.js"
import { atOrg, type Call, wide, yes } from "../../grammar/Command.js"
import { argument, requiredOption } from "../../grammar/Fields.js"
import { completedBy } from "../../grammar/Specs.js"
import { accountId } from "../../subjects/Subjects.js"
import { questionAbout } from "../../grammar/Words.js"
import { endOf } from "../../grammar/Times.js"
import { note, write } from "../../terminal/Print.js"
import { confirm } from "../../terminal/Prompts.js"
import { doneView, listView } from "../../terminal/View.js"
import { trustedBy } from "./Issuers.js"
import { account, trustFields, trustProblem } from "./TrustOptions.js"
import { testFederation } from "./TestFederation.js"
import { Version } from "../../base/Version.js"

const decodeKeys = Schema.decodeUnknown(Schema.parseJson(PublicKeys))

const readKeys = (file: string) =>
  Effect.try({
    try: () => readFileSync(file, "utf8"),
    catch: (cause) => new CannotDo({ message: `${file} cannot be read: ${readProblem(cause)}` })
  }).pipe(
    Effect.flatMap((text) =>
      Effect.mapError(
        decodeKeys(text),
        () =>
          new WrongUsage({
            message: `${file} is not a set of public keys (JWKS) for RSA of 2048 bits or more, P-256 or Ed25519`
          })
      )
    )
  )

const isNarrow = (conditions: Readonly<Record<string, string>>) =>
  Object.keys(conditions).some((key) => !/_id$/.test(key))

const trust = atOrg("trust", {
  description: "Let a service account sign in with tokens of a CI system or cluster, without a key",
  examples: [
    "coffer service-account trust ci --github acme/webshop --repository-id 74 --owner-id 65 --environment production",
    "coffer service-account trust ci --gitlab acme/webshop --project-id 20 --ref main",
    "coffer service-account trust ci --kubernetes shop/deploy --jwks cluster.json",
    "coffer service-account trust ci --buildkite 0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d50 --ref main --jwks cluster.json",
    "coffer service-account trust ci --issuer https://gitlab.com --claim namespace_id=72 --claim ref=main --name group"
  ],
  options: trustFields,
  check: trustProblem,
  run: ({ call, options, path, server }) =>
    Effect.gen(function* () {
      const sa_id = yield* accountId(call, path, options.account)
      const { conditions, issuer, system } = yield* trustedBy(options)
      const { end, maxAge: max_age, ttl } = options
      const expires_at = end === undefined ? undefined : new Date(yield* endOf(end)).toISOString()
      const jwks = options.jwks === undefined ? undefined : yield* readKeys(options.jwks)
      const name = options.name ?? FederationName.make(system)
      const payload = { name, issuer, conditions, ...defined({ jwks, ttl, max_age, expires_at }) }
      const made = yield* call("federations", (api) => api.create({ path: { ...path, sa_id }, payload }))
      const { audience } = made
      const use = {
        server: server.base,
        audience,
        account: audience.slice(audience.indexOf("/") + 1),
        place: "ORG/PROJECT/ENV",
        environment: options.environment,
        serviceAccount: conditions["/kubernetes.io/serviceaccount/name"]
      }
      const pieces = keylessPieces(system, use, yield* Version)
      const text = Effect.gen(function* () {
        yield* note(`service account ${options.account} trusts ${issuer} (federation ${name}); the lines for it:`)
        if (!isNarrow(conditions)) {
          yield* note("any job there can sign in, also of branches: narrow it by --environment or --ref")
        }
        yield* write(pieces.map(({ lines }) => lines).join(""))
      })
      return { json: made, text }
    })
})

const conditionsText = ({ conditions }: Federation) =>
  Object.entries(conditions)
    .map(([pointer, value]) => `${pointer}=${value}`)
    .join(" ")

const columns = {
  name: ({ name }: Federation) => name,
  issuer: ({ issuer }: Federation) => issuer,
  conditions: conditionsText,
  audience: ({ audience }: Federation) => audience,
  expires: ({ expires_at }: Federation) => momentCell(expires_at),
  "last used": ({ last_used_at }: Federation) => momentCell(last_used_at),
  // At the end: scripts take the others by their number.
  "max age": ({ max_age }: Federation) => `${max_age} s`,
  session: ({ ttl }: Federation) => `${ttl} s`,
  "created by": ({ created_by }: Federation) => created_by
}

/** Whether an account has a key. It is taken to have one where the caller may not see accounts. */
const hasKeyOf = (call: Call, path: OrgPath, account: ServiceAccountId) =>
  call("serviceAccounts", (api) => api.list({ path })).pipe(
    Effect.map(({ data }) => data.find(({ id }) => id === account)?.key_hint !== ""),
    Effect.orElseSucceed(() => true)
  )

const list = atOrg("trust list", {
  description: "List whose tokens a service account signs in with",
  examples: ["coffer service-account trust list ci"],
  options: { account, wide },
  run: ({ call, options, path }) =>
    Effect.gen(function* () {
      const sa_id = yield* accountId(call, path, options.account)
      const federations = yield* call("federations", (api) => api.list({ path: { ...path, sa_id } }))
      const hasKey = federations.data.length > 0 || (yield* hasKeyOf(call, path, sa_id))
      const none = hasKey
        ? `service account ${options.account} signs in with its key alone`
        : `service account ${options.account} has no key and trusts nobody, so nothing signs in as it; let it trust a CI system or cluster with: coffer service-account trust ${options.account}; or give it a key with: coffer service-account rotate ${options.account}`
      return listView(federations, columns, none, ["name", "conditions", "last used"])
    })
})

const revoke = atOrg("trust revoke", {
  description: "Take no more tokens of a CI system or cluster, and end the sessions",
  examples: ["coffer service-account trust revoke ci github"],
  options: {
    account,
    name: completedBy("federation", argument("NAME", FederationName, "The federation, as trust list names it")),
    yes
  },
  run: ({ call, options: { account, name, yes }, path }) =>
    Effect.gen(function* () {
      const sa_id = yield* accountId(call, path, account)
      const { data } = yield* call("federations", (api) => api.list({ path: { ...path, sa_id } }))
      const found = data.find((federation) => federation.name === name)
      if (found === undefined) {
        return yield* new NotThere({
          message: `service account ${account} has no federation ${name}${questionAbout(
            name,
            data.map((federation) => federation.name)
          )} coffer service-account trust list shows them`
        })
      }
      yield* confirm(`Revoke the federation ${name} of ${account}, with its sessions?`, yes)
      const federation_id = found.id
      yield* call("federations", (api) => api.revoke({ path: { ...path, sa_id, federation_id } }))
      return doneView(`federation ${name} of ${account} revoked, and its sessions ended`)
    })
})

const tryIt = atOrg("trust try", {
  description: "Say whether a token lets a service account sign in, and which condition fails",
  examples: ["coffer service-account trust try ci --token - < token.jwt"],
  options: {
    account,
    token: requiredOption("token", Schema.String, "- reads the token from standard input")
  },
  run: ({ call, options, path }) => testFederation(call, path, options.account, options.token)
})

export const trustCommands = [trust, list, revoke, tryIt]
