import { UserId } from "@coffer/domain/base/Ids"
import { authRepo } from "@coffer/server/access/caller/credentials/Repo"
import { Database } from "@coffer/server/database/Database"
import { Effect } from "effect"
import { type Endpoint, endpoints, pathOf, type Place } from "../../authorization/Contract.js"
import { type Caller, type Stage, scenesOn } from "../../authorization/Scene.js"
import { machines, people, word } from "../../authorization/Service.js"
import { publicUrl } from "../../federations/Signer.js"
import { newSession } from "../../support/NewSession.js"
import type { Json } from "../../support/Program.js"
import { email } from "../../support/Services.js"
import { passkeysOf, type SoftAuthenticator } from "../../support/SoftAuthenticator.js"
import { bodyOf } from "./Bodies.js"
import { isDeclared } from "./Declared.js"
import { envs, groups, keys, makeKnown, projects, type Random, randomOf } from "./Places.js"

interface Person {
  readonly id: string
  readonly email: string
  headers: Caller["headers"]
  readonly devices: Array<SoftAuthenticator>
}

interface Organization {
  readonly name: string
  readonly accounts: Array<Caller["headers"]>
}

const firstValues = Object.fromEntries(keys.map((key) => [key, `first value of ${key}`]))

const roles = ["owner", "owner", "admin", "admin", "developer", "member"]

/** How often a call is made; one that is not here, once. */
const weights: ReadonlyArray<readonly [RegExp, number]> = [
  [/\/backups|^DELETE \/api\/orgs\/:org_name$|service-accounts\/:sa_id\/federations\/try/, 0],
  [/^POST .*\/requests\/:request_id\/(approve|refuse)$/, 10],
  [/^(PUT|DELETE|PATCH) .*\/secrets\/:key$|\/bundle$/, 8],
  [/\/members\/:user_id$|\/protection$|\/users\/:user_id\/(en|dis)able$/, 4],
  [/^DELETE .*\/(projects\/:project_name|envs\/:env_name)$/, 0.3],
  [/\/api\/auth\/(login|verify|device|token|federate)$|^DELETE \/api\/auth\/sessions$/, 0.5]
]
const weightOf = ({ call }: Endpoint): number => weights.find(([pattern]) => pattern.test(call))?.[1] ?? 1

/** The calls that change something, each as often as it is made. */
const changing = endpoints
  .filter(({ method }) => method !== "GET")
  .flatMap((endpoint) => Array.from({ length: Math.round(weightOf(endpoint) * 10) }, () => endpoint))

/** Everything that people and accounts change in the same few places, on several servers at once. */
export const makeTraffic = async (servers: readonly [Stage, ...ReadonlyArray<Stage>], seed: number) => {
  const [first] = servers
  const root = await scenesOn(first)
  const known = makeKnown()
  const counts = new Map<string, number>()
  const wrong: Array<string> = []

  const sessionOf = async (id: string): Promise<Caller["headers"]> => {
    const { id: session, row, token } = newSession(UserId.make(id), new Date().toISOString(), "operator")
    await first.run(
      Effect.flatMap(Effect.all([Database, authRepo]), ([{ transaction }, { insertSession }]) =>
        transaction(insertSession(row))
      )
    )
    for (const { name } of organizations) known.note("session_id", name, session)
    return people(token)
  }

  const organizations: ReadonlyArray<Organization> = ["one", "two"].map((name) => ({
    name: `${name}-${word()}`,
    accounts: []
  }))
  const persons: Array<Person> = []
  for (const _ of roles) {
    const address = email(`${word()}@example.com`)
    const { headers, id } = await root.person(address)
    persons.push({ id, email: address, headers, devices: [] })
    for (const { name } of organizations) known.note("user_id", name, id)
  }
  const addresses = persons.map((person) => person.email)

  const call = async (
    random: Random,
    endpoint: Endpoint,
    org: string,
    ask: { readonly headers: Caller["headers"]; readonly path: string; readonly body?: unknown }
  ) => {
    const sent = { method: endpoint.method, ...ask }
    const { status, text } = await random.pick(servers).send(sent)
    const body: Json = text.startsWith("{") ? JSON.parse(text) : undefined
    const counted = `${status} ${body?.error?.code ?? ""}`
    counts.set(counted, (counts.get(counted) ?? 0) + 1)
    if (!isDeclared(endpoint, { status, text, body })) wrong.push(`${endpoint.call}: ${status} ${text.slice(0, 500)}`)
    known.noteAnswer(endpoint.path, org, status, body)
    return { status, body }
  }

  /** A call by root, of which only what it brings counts. */
  const asRoot = async (method: string, path: string, body?: unknown): Promise<Json> => {
    const { text } = await first.send({ method, path, headers: root.root, ...(body !== undefined && { body }) })
    return text.startsWith("{") ? JSON.parse(text) : undefined
  }

  /** Makes again what calls have removed. */
  const repair = async ({ accounts, name }: Organization): Promise<void> => {
    const org = `/api/orgs/${name}`
    await asRoot("POST", "/api/orgs", { name })
    for (const [index, { email, id }] of persons.entries()) {
      await asRoot("POST", `/api/users/${id}/enable`)
      await asRoot("POST", `${org}/members`, { email, role: roles[index] })
      await asRoot("PATCH", `${org}/members/${id}`, { role: roles[index] })
    }
    for (const group of groups) await asRoot("POST", `${org}/groups`, { name: group })
    for (const project of projects) {
      await asRoot("POST", `${org}/projects`, { name: project })
      for (const env of envs) {
        await asRoot("PATCH", `${org}/projects/${project}/envs/${env}/bundle`, { set: firstValues })
      }
    }
    await asRoot("PUT", `${org}/projects/webshop/envs/prod/protection`, { needed: 1, approvers: "admins", self: true })
    for (const account of ["ci", "agent"]) {
      const made = await asRoot("POST", `${org}/service-accounts`, { name: account })
      if (typeof made?.api_key !== "string") continue
      accounts.push(machines(made.api_key))
      known.note("sa_id", name, made.id)
      const rule = { project_pattern: "*", env_pattern: "*", permission: "admin" }
      await asRoot("POST", `${org}/acl`, { subject_type: "service_account", subject_id: made.id, ...rule })
    }
  }

  /** Makes again what a person who did not find something may have missed. */
  const mend = async ({ env_name, org_name, project_name }: Place, { email, id }: Person): Promise<void> => {
    const org = `/api/orgs/${org_name}`
    const role = roles[persons.findIndex((person) => person.id === id)]
    await asRoot("POST", `${org}/members`, { email, role })
    await asRoot("POST", `${org}/projects`, { name: project_name })
    await asRoot("PATCH", `${org}/projects/${project_name}/envs/${env_name}/bundle`, { set: firstValues })
  }

  const passkey = async (random: Random, person: Person): Promise<void> => {
    const device = person.devices.at(-1)
    const { proof, register } = passkeysOf(async (method, path, body) => {
      const sent = { method, path, headers: person.headers, ...(body !== undefined && { body }) }
      const { status, text } = await random.pick(servers).send(sent)
      if (status >= 300) throw new Error(text)
      return text === "" ? undefined : JSON.parse(text)
    }, publicUrl)
    if (device === undefined) person.devices.push((await register("laptop")).device)
    else await proof(device)
  }

  const headersOf = (random: Random, organization: Organization, { requires }: Endpoint) => {
    if (requires === "superadmin" || requires === "org.create") return { headers: root.root }
    const account = random.chance(0.1) ? organization.accounts.at(random.chance(0.5) ? -1 : -2) : undefined
    if (account !== undefined) return { headers: account }
    const person = random.pick(random.chance(0.8) ? persons.slice(0, 4) : persons)
    return { headers: person.headers, person }
  }

  /** Makes one call, or what takes several. */
  const step = async (random: Random): Promise<void> => {
    const organization = random.pick(organizations)
    if (random.chance(0.015)) return repair(organization)
    if (random.chance(0.01)) return passkey(random, random.pick(persons)).catch(() => undefined)
    const endpoint = random.pick(changing)
    const { headers, person } = headersOf(random, organization, endpoint)
    const place = known.place(random, organization.name)
    const { body } = bodyOf(endpoint, { random, place, people: addresses, accounts: ["ci", "agent"] })
    const { body: found, status } = await call(random, endpoint, organization.name, {
      path: pathOf(endpoint, place),
      headers: {
        ...headers,
        ...(random.chance(0.7) && { prefer: "respond-async" }),
        ...(random.chance(0.1) && { "x-coffer-break-glass": "INC-12" })
      },
      ...(body !== undefined && { body })
    })
    if (typeof found?.api_key === "string") organization.accounts.push(machines(found.api_key))
    if (person === undefined) return
    if (status === 404 && random.chance(0.3)) await mend(place, person)
    if (status !== 401) return
    await asRoot("POST", `/api/users/${person.id}/enable`)
    person.headers = await sessionOf(person.id)
  }

  await Promise.all(organizations.map(repair))

  return {
    /** Makes calls until a time, so many at once. */
    run: async (until: number, atOnce: number): Promise<void> => {
      const work = async (worker: number) => {
        const random = randomOf(seed * 1_000 + worker)
        while (Date.now() < until) await step(random)
      }
      await Promise.all(Array.from({ length: atOnce }, (_, worker) => work(worker)))
    },
    /** How many answers of each kind there were. */
    counts: (): ReadonlyMap<string, number> => counts,
    /** The answers that the contract does not declare. */
    wrong: (): ReadonlyArray<string> => wrong
  } as const
}
