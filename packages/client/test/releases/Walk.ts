import { EnvName, OrgName, ProjectName, SecretKey } from "@coffer/domain/base/Names"
import { Context, Effect, Layer, Redacted } from "effect"
import type { Coffer } from "../../src/Coffer.js"
import type { connect } from "../../src/promise.js"

/** The exports of a release of the client. */
export interface Client {
  readonly Coffer: typeof Coffer
  readonly connect: typeof connect
}

/** Where a walk goes: an environment `dev/app/dev` that holds `A`, and a key that reads and writes its project. */
export interface Target {
  readonly url: string
  readonly apiKey: string
}

/** A key that no server knows. */
export const unknownKey = `svc_sa_${"x".repeat(49)}`

/** The kind of a failure. Its sentence may change with any release. */
const kindOf = (error: unknown): string => {
  if (!(error instanceof Error)) throw error
  return "reason" in error && "retryAfter" in error ? String(error.reason) : error.name
}

const kindOfFailure = (work: () => unknown): unknown => {
  try {
    return work()
  } catch (error) {
    return kindOf(error)
  }
}

const write = async ({ apiKey, url }: Target, method: string, key: string, body?: object) => {
  const answer = await fetch(`${url}/api/orgs/dev/projects/app/envs/dev/secrets/${key}`, {
    method,
    headers: { "x-api-key": apiKey, "content-type": "application/json" },
    body: body === undefined ? null : JSON.stringify(body)
  })
  if (!answer.ok) throw new Error(`${method} ${key}: ${answer.status} ${await answer.text()}`)
}

/** Typed calls: of records, lists, an envelope of the contract, and of what the account may not do. */
const callsOf = ({ Coffer }: Client, { apiKey, url }: Target) =>
  Effect.gen(function* () {
    const layer = Coffer.layer({ server: url, place: "dev/app/dev", credential: { apiKey: Redacted.make(apiKey) } })
    const coffer = Context.get(yield* Layer.build(layer), Coffer)
    const path = {
      org_name: OrgName.make("dev"),
      project_name: ProjectName.make("app"),
      env_name: EnvName.make("dev")
    }
    const me = yield* coffer.call("auth", (api) => api.me())
    const { data: secrets } = yield* coffer.call("secrets", (api) => api.list({ path, urlParams: {} }))
    const { data: projects } = yield* coffer.call("projects", (api) => api.list({ path }))
    const absent = yield* Effect.flip(
      coffer.call("secrets", (api) => api.get({ path: { ...path, key: SecretKey.make("NONE") }, urlParams: {} }))
    )
    const forbidden = yield* Effect.flip(coffer.call("members", (api) => api.list({ path })))
    const { revision } = yield* coffer.snapshot
    return {
      me: me.type,
      secrets: secrets.map(({ key, version }) => `${key} ${version}`),
      projects: projects.map(({ name }) => name),
      absent: absent._tag,
      forbidden: forbidden._tag,
      revision
    }
  }).pipe(Effect.scoped, Effect.runPromise)

/**
 * Does with a release of the client what applications do: reads, follows, misses and is refused. Returns what the
 * application sees, which must be the same for each pair of client and server.
 */
export const walk = async (client: Client, target: Target): Promise<Readonly<Record<string, unknown>>> => {
  const options = {
    server: target.url,
    place: "dev/app/dev",
    credential: { apiKey: target.apiKey },
    every: 600_000,
    name: "walk 1.0.0"
  }
  const failed = (more: Partial<typeof options>) => client.connect({ ...options, ...more }).then(() => "read", kindOf)
  const coffer = await client.connect(options)
  const first = coffer.all()
  await coffer.refresh()
  await write(target, "PUT", "B", { value: "two\n" })
  await write(target, "PUT", "LINK", { value: "<${B}>", kind: "reference" })
  await coffer.refresh()
  const changed = coffer.all()
  await write(target, "DELETE", "B?force=1")
  await coffer.refresh()
  const broken = { ...coffer.all(), LINK: kindOfFailure(() => coffer.get("LINK")) }
  await coffer.close()
  const withKeys = await client.connect({ ...options, keys: ["A", "NONE"] })
  const some = { ...withKeys.all(), NONE: kindOfFailure(() => withKeys.get("NONE")) }
  await withKeys.close()
  return {
    first,
    changed,
    broken,
    some,
    unknownKey: await failed({ credential: { apiKey: unknownKey } }),
    noPlace: await failed({ place: "dev/app/nowhere" }),
    foreignPlace: await failed({ place: "other/app/dev" }),
    calls: await callsOf(client, target)
  }
}
