import {
  askOf,
  type Endpoint,
  federationBody,
  type Place,
  connectionBody,
  roleBody,
  rotationBody,
  useRuleBody,
  webhookBody
} from "../../authorization/Contract.js"
import { word } from "../../authorization/Service.js"
import { connections, envs, groups, keys, projects, type Random } from "./Places.js"

interface About {
  readonly random: Random
  readonly place: Place
  /** The addresses of the people. */
  readonly people: ReadonlyArray<string>
  readonly accounts: ReadonlyArray<string>
}

const org = "/api/orgs/:org_name"
const project = `${org}/projects/:project_name`
const env = `${project}/envs/:env_name`
const secret = `${env}/secrets/:key`

const soon = (random: Random): string => new Date(Date.now() + random.pick([1_000, 3_000, 90_000_000])).toISOString()
const role = (random: Random) => random.pick(["owner", "owner", "admin", "admin", "developer", "member"])
const some = (random: Random, all: ReadonlyArray<string>) =>
  random.shuffled(all).slice(0, random.pick([1, 2, all.length]))

const values = (random: Random) => Object.fromEntries(some(random, keys).map((key) => [key, `value ${word()}`]))

/** Requests that meet others: of the same people, groups, keys and places. */
const bodies: Readonly<Record<string, (about: About) => unknown>> = {
  [`POST ${org}/members`]: ({ people, random }) => ({ email: random.pick(people), role: role(random) }),
  [`PATCH ${org}/members/:user_id`]: ({ random }) => ({ role: role(random) }),
  [`POST ${org}/projects`]: ({ random }) => ({ name: random.pick(projects) }),
  [`PATCH ${project}`]: ({ place, random }) =>
    random.chance(0.7) ? { strict: random.chance(0.3) } : { name: place.project_name },
  [`PATCH ${org}`]: ({ place }) => ({ name: place.org_name }),
  [`POST ${project}/envs`]: ({ random }) => ({
    name: random.pick([...envs, "pr-1", "pr-2"]),
    ...(random.chance(0.6) && { from: "staging", expires_at: soon(random) })
  }),
  [`PATCH ${env}`]: ({ random }) => ({ expires_at: random.chance(0.5) ? null : soon(random) }),
  [`PATCH ${env}/bundle`]: ({ random }) => ({
    set: values(random),
    ...(random.chance(0.2) && { delete: [`K${random.pick(keys)}`] })
  }),
  [`POST ${env}/copy`]: ({ random }) => ({ from: random.pick(envs) }),
  [`POST ${env}/revert`]: ({ random }) => ({ to: random.pick([1, 2, 3]) }),
  [`PUT ${env}/protection`]: ({ people, random }) => ({
    needed: random.pick([1, 2]),
    approvers: random.pick(["owners", "admins", some(random, people)]),
    self: random.chance(0.5),
    break_glass: random.chance(0.5) ? some(random, people) : [],
    expires_after: random.pick(["60s", "72h"])
  }),
  [`PUT ${secret}`]: ({ place, random }) =>
    random.chance(0.15)
      ? { value: `\${${random.pick(keys)}}`, kind: "reference" }
      : { value: `value of ${place.key} ${word()}` },
  [`PATCH ${secret}`]: ({ people, random }) => ({
    owner: random.pick([null, ...people]),
    ...(random.chance(0.5) ? { rotate_every_days: 1 } : { expires_at: soon(random) })
  }),
  [`POST ${secret}/rollback`]: ({ random }) => ({ version: random.pick([1, 2]) }),
  [`POST ${secret}/use-rules`]: ({ accounts, people, random }) => ({
    ...useRuleBody,
    accounts: [random.pick([...accounts, ...people])],
    approval: random.pick(["none", "each"])
  }),
  [`POST ${env}/connections`]: ({ random }) => ({ ...connectionBody, name: random.pick(connections) }),
  [`POST ${env}/rotations`]: ({ random }) => ({ ...rotationBody, connection: random.pick(connections) }),
  [`POST ${env}/roles`]: ({ random }) => ({ ...roleBody, connection: random.pick(connections) }),
  [`POST ${env}/roles/:role_name/leases`]: () => ({}),
  [`POST ${env}/leases/:lease_id/renew`]: () => ({}),
  [`PATCH ${env}/rotations/:rotation_name`]: ({ random }) => ({ paused: random.chance(0.5) }),
  [`POST ${env}/use`]: ({ place }) => ({ method: "GET", url: "https://api.invalid/v1/x", secrets: [place.key] }),
  [`PUT ${project}/declared/:key`]: ({ random }) => ({ required_in: some(random, envs) }),
  [`PUT ${project}/previews`]: () => ({ from: "staging", pattern: "pr-*" }),
  [`POST ${org}/acl`]: ({ people, place, random }) => ({
    ...random.pick([
      { subject_type: "user", email: random.pick(people) },
      { subject_type: "group", group: random.pick(groups) },
      { subject_type: "service_account", subject_id: place.sa_id }
    ]),
    project_pattern: random.pick(["*", "webshop"]),
    env_pattern: random.pick(["*", "prod"]),
    permission: random.pick(["read", "write", "admin"]),
    ...(random.chance(0.4) && { expires_at: soon(random) })
  }),
  [`POST ${org}/groups`]: ({ random }) => ({ name: random.pick(groups) }),
  [`PATCH ${org}/groups/:group_name`]: ({ random }) => ({ name: random.pick(groups) }),
  [`PUT ${org}/groups/:group_name/members`]: ({ people, random }) => ({ emails: some(random, people) }),
  [`POST ${org}/groups/:group_name/members`]: ({ people, random }) => ({ email: random.pick(people) }),
  [`PUT ${org}/group-mappings`]: ({ random }) => ({
    mappings: some(random, groups).map((group) => ({ provider_group: "team", group }))
  }),
  [`POST ${org}/service-accounts/:sa_id/rotate`]: ({ random }) => ({ grace_seconds: random.pick([0, 60]) }),
  [`PATCH ${org}/service-accounts/:sa_id`]: ({ random }) => ({
    allowed_networks: random.pick([null, ["127.0.0.1"], ["192.0.2.1"]])
  }),
  [`POST ${org}/service-accounts/:sa_id/federations`]: () => ({ ...federationBody, name: word() }),
  [`POST ${org}/webhooks`]: () => ({ ...webhookBody, events: ["*"] }),
  [`PATCH ${org}/webhooks/:webhook_id`]: ({ random }) => ({ enabled: random.chance(0.7), skip: random.chance(0.3) }),
  [`POST ${org}/requests`]: ({ place, random }) => ({
    kind: "access",
    project: place.project_name,
    env: place.env_name,
    permission: random.pick(["read", "write"]),
    expires_in: 60,
    reason: "INC-12"
  }),
  "POST /api/auth/login": ({ people, random }) => ({ email: random.pick(people) }),
  "POST /api/auth/verify": ({ people, random }) => ({ email: random.pick(people), code: "000000" }),
  "POST /api/auth/federate": ({ place, random }) => ({
    token: "e30.e30.e30",
    account: `${place.org_name}/${random.pick(["ci", "agent"])}`
  }),
  // The same new people in another order: imports make their users.
  "POST /api/imports": ({ random }) => ({
    name: `imported-${word()}`,
    organization: [
      ...random
        .shuffled(["x", "y", "z"].map((name) => `${name}${Math.floor(Date.now() / 1_000)}@example.com`))
        .map((email) => JSON.stringify({ members: { email, role: "member" } })),
      JSON.stringify({ projects: { name: "webshop", strict: false, environments: [{ name: "prod" }] } })
    ].join("\n")
  }),
  "POST /api/imports/:import_id/finish": () => ({
    counts: { projects: 1, environments: 1, secrets: 0, versions: 0, use_rules: 0, declared: 0 }
  })
}

/** A body and a query for a call; those of the contract's own tests where the call meets no other by them. */
export const bodyOf = (endpoint: Endpoint, about: About): { readonly body?: unknown } => {
  const own = bodies[endpoint.call]
  if (own !== undefined) return { body: own(about) }
  const { place } = about
  const { body } = askOf(endpoint, {
    place,
    fresh: word(),
    self: {},
    patterns: { project_pattern: "*", env_pattern: "*" }
  })
  return body === undefined ? {} : { body }
}
