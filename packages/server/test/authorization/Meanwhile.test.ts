import { afterAll, assert, beforeAll, describe, it } from "vitest"
import {
  type Ask,
  askOf,
  type Endpoint,
  endpoints,
  parametersOf,
  type Parameter,
  pathOf,
  type Place
} from "./Contract.js"
import { type Caller, restsOn, type Scene, type Scenes, startScenes } from "./Scene.js"
import { word } from "./Service.js"

// Rights and change are one: what is taken from a caller between the arrival of a request and its change keeps the change from
// happening, however late it is taken.

let server: Scenes

beforeAll(async () => {
  server = await startScenes()
})

afterAll(async () => {
  await server.stop()
})

/** What is taken away meanwhile, for which calls, and how a call is refused then. */
interface Loss {
  readonly statuses: ReadonlyArray<401 | 403 | 404>
  readonly concerns: (endpoint: Endpoint, kind: Caller["kind"]) => boolean
  readonly happens: (scene: Scene) => Promise<unknown>
}

const has = (endpoint: Endpoint, parameter: Parameter) => parametersOf(endpoint).includes(parameter)
const orgOf = ({ place }: Scene) => `/api/orgs/${place.org_name}`

const losses: Readonly<Record<string, Loss>> = {
  "the sessions of the caller are ended": {
    statuses: [401],
    concerns: (_, kind) => kind === "user",
    happens: ({ caller }) => server.asRoot("POST", `/api/users/${caller.id}/end-sessions`)
  },
  "the caller logs out": {
    statuses: [401],
    concerns: (_, kind) => kind === "user",
    happens: ({ caller }) => server.do(caller.headers, "DELETE", "/api/auth/logout")
  },
  "the caller is disabled": {
    statuses: [401],
    concerns: (_, kind) => kind === "user",
    happens: ({ caller }) => server.asRoot("POST", `/api/users/${caller.id}/disable`)
  },
  "the key of the caller is replaced": {
    statuses: [401],
    concerns: (_, kind) => kind === "account",
    happens: (scene) => server.asRoot("POST", `${orgOf(scene)}/service-accounts/${scene.caller.id}/rotate`, {})
  },
  "the account that calls is revoked": {
    // Its rules go with it: what finds that out before the change says so.
    statuses: [401, 403],
    concerns: (_, kind) => kind === "account",
    happens: (scene) => server.asRoot("DELETE", `${orgOf(scene)}/service-accounts/${scene.caller.id}`)
  },
  "the role of the caller is taken": {
    statuses: [403],
    concerns: (endpoint, kind) => kind === "user" && restsOn(endpoint).role !== undefined,
    happens: (scene) => server.asRoot("PATCH", `${orgOf(scene)}/members/${scene.caller.id}`, { role: "member" })
  },
  "the rule of the caller is revoked": {
    statuses: [403],
    concerns: (endpoint, kind) => kind === "account" || restsOn(endpoint).permission !== undefined,
    happens: (scene) => server.asRoot("DELETE", `${orgOf(scene)}/acl/${scene.caller.rule ?? ""}`)
  },
  "the caller is put out of the organization": {
    statuses: [404],
    concerns: (endpoint, kind) => kind === "user" && restsOn(endpoint).role !== undefined,
    happens: (scene) => server.asRoot("DELETE", `${orgOf(scene)}/members/${scene.caller.id}`)
  },
  "the caller is a superadmin no more": {
    statuses: [403],
    concerns: (endpoint) => restsOn(endpoint).superadmin,
    happens: () => server.setSuperadmins()
  },
  "the environment is removed": {
    statuses: [404],
    concerns: (endpoint) => has(endpoint, "env_name"),
    happens: (scene) => server.asRoot("DELETE", `${orgOf(scene)}/projects/webshop/envs/prod`)
  },
  "the project is removed": {
    statuses: [404],
    concerns: (endpoint) => has(endpoint, "project_name"),
    happens: (scene) => server.asRoot("DELETE", `${orgOf(scene)}/projects/webshop`)
  },
  "the organization is removed": {
    statuses: [404],
    concerns: (endpoint, kind) => has(endpoint, "org_name") && kind === "user",
    happens: (scene) => server.asRoot("DELETE", orgOf(scene))
  },
  "the organization of the account is removed": {
    statuses: [401, 404],
    concerns: (endpoint, kind) => has(endpoint, "org_name") && kind === "account",
    happens: (scene) => server.asRoot("DELETE", orgOf(scene))
  }
}

/** These ask for no credential: there is nothing to take from whoever makes them. */
const open = ["login", "verify", "device", "token", "federate"].map((call) => `POST /api/auth/${call}`)

/** These need an other side: see the tests of `use`. */
const hasOtherSide = (path: string): boolean => /\/(use|approve|refuse)$/.test(path)

/** Those of backups first: each reads the whole database, which grows with every scene. */
const changing = endpoints
  .filter(({ call, method, path }) => method !== "GET" && !open.includes(call) && !hasOtherSide(path))
  .toSorted((a, b) => Number(b.path.includes("backups")) - Number(a.path.includes("backups")))

/** Requests that change something, where the contract's own would not. */
const bodies: Readonly<Record<string, (place: Place) => unknown>> = {
  "POST /api/orgs/:org_name/projects/:project_name/envs/:env_name/revert": () => ({ to: 1 }),
  "POST /api/backups/drill": ({ backup_id }) => ({ backup_id })
}

/** What has to be so for a call to change something. */
const before: Readonly<Record<string, (scene: Scene) => Promise<unknown>>> = {
  "POST /api/orgs/:org_name/projects/:project_name/envs/:env_name/secrets/:key/undelete": (scene) =>
    server.asRoot("DELETE", `${orgOf(scene)}/projects/webshop/envs/prod/secrets/SHARED`),
  "POST /api/users/:user_id/enable": ({ place }) => server.asRoot("POST", `/api/users/${place.user_id}/disable`)
}

const prepare = async (endpoint: Endpoint, kind: Caller["kind"]) => {
  const scene = await server.scene(endpoint, kind)
  await before[endpoint.call]?.(scene)
  const { caller, place } = scene
  const patterns = { project_pattern: "webshop", env_pattern: "staging" }
  const body = bodies[endpoint.call]?.(place)
  const ask: Ask = body === undefined ? askOf(endpoint, { place, fresh: word(), self: {}, patterns }) : { body }
  const { method } = endpoint
  return { scene, ask: { method, path: pathOf(endpoint, place), headers: caller.headers, body: ask.body } }
}

/** Which tables have changed. */
const changedSince = (before: ReadonlyMap<string, string>): ReadonlyArray<string> =>
  [...server.contents()].filter(([name, rows]) => before.get(name) !== rows).map(([name]) => name)

/** The last step of a call before which nothing has changed: the latest moment at which something can be taken. */
const lastStep = async (endpoint: Endpoint, kind: Caller["kind"]): Promise<number> => {
  const { ask } = await prepare(endpoint, kind)
  const before = server.contents()
  let last = 0
  const { status, text } = await server.ask(ask, {
    step: (step) => {
      if (changedSince(before).length === 0) last = step
      return undefined
    }
  })
  assert.isBelow(status, 300, `${kind}: ${text}`)
  assert.isNotEmpty(changedSince(before), `${kind}: it changes nothing even when nothing is taken`)
  return last
}

/** Makes a call while something is taken; it must be refused, and change nothing from then on. */
const assertRefused = async (
  endpoint: Endpoint,
  kind: Caller["kind"],
  [name, { happens, statuses }]: readonly [string, Loss],
  moment: number | "body"
) => {
  const { ask, scene } = await prepare(endpoint, kind)
  let after: ReadonlyMap<string, string> | undefined
  const take = async () => {
    await happens(scene)
    after = server.contents()
  }
  const { status, text } = await server.ask(
    ask,
    moment === "body" ? { body: take } : { step: (step) => (step === moment ? take() : undefined) }
  )
  const told = `${kind}, before ${moment}: ${name}: ${status} ${text}`
  if (after === undefined) return assert.fail(`nothing was taken: ${told}`)
  assert.include<unknown>(statuses, status, told)
  assert.deepStrictEqual(changedSince(after), [], told)
}

describe("a call changes nothing once its caller has lost the right to it, however late:", () => {
  it.each(changing.map((endpoint) => [endpoint.call, endpoint] as const))(
    "%s",
    async (_call, endpoint) => {
      const kinds = restsOn(endpoint).account ? (["user", "account"] as const) : (["user"] as const)
      for (const kind of kinds) {
        const last = await lastStep(endpoint, kind)
        assert.isAtLeast(last, 2, "the credential alone is looked at before the change")
        const taken = Object.entries(losses).filter(([, { concerns }]) => concerns(endpoint, kind))
        for (const loss of taken) await assertRefused(endpoint, kind, loss, last)
        // The server asks for the body when it has let the caller in.
        const [first] = taken
        if (endpoint.bodyLimit !== null && first !== undefined) await assertRefused(endpoint, kind, first, "body")
      }
    },
    300_000
  )
})
