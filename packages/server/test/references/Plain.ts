/**
 * A plain interpreter of references: what each call does to the secrets of a project, by the rules alone. A world never
 * changes; a call makes another one.
 */
export const envs = ["prod", "shared", "far"] as const
export type Env = (typeof envs)[number]
export const keys = ["A", "B", "C", "D"] as const
export type Key = (typeof keys)[number]

/** ada owns the organization; the others have what rights they are given, and blind is never given a value. */
export const people = ["ada", "bob", "blind"] as const
export type Person = (typeof people)[number]
export type Right = "none" | "read" | "write"

export interface Stored {
  readonly kind: "text" | "reference"
  readonly text: string
}
export type Contents = Readonly<Record<string, Stored>>

/** The secrets by environment, now and at all revisions; the versions by secret; the rights by person and environment. */
export interface World {
  readonly live: Readonly<Record<string, Contents>>
  readonly past: Readonly<Record<string, ReadonlyArray<Contents>>>
  readonly versions: Readonly<Record<string, ReadonlyArray<Stored>>>
  readonly removed: Readonly<Record<string, ReadonlyArray<Stored>>>
  readonly rights: Readonly<Record<string, Right>>
}

export type AtomicCall =
  | {
      readonly call: "text" | "refer"
      readonly by: Person
      readonly env: Env
      readonly key: Key
      readonly text: string
    }
  | { readonly call: "remove" | "force" | "undelete"; readonly by: Person; readonly env: Env; readonly key: Key }
  | { readonly call: "rollback"; readonly by: Person; readonly env: Env; readonly key: Key; readonly version: number }
  | { readonly call: "copy"; readonly by: Person; readonly env: Env; readonly key: Key; readonly to: Env }
  | { readonly call: "revert"; readonly by: Person; readonly env: Env; readonly to: number }
  | {
      readonly call: "bundle"
      readonly by: Person
      readonly env: Env
      readonly references: ReadonlyArray<readonly [Key, string]>
      readonly removals: ReadonlyArray<Key>
    }

export type Call =
  | AtomicCall
  | { readonly call: "renameKey"; readonly by: Person; readonly env: Env; readonly key: Key; readonly to: Key }
  | { readonly call: "renew"; readonly env: Env }
  | { readonly call: "right"; readonly who: Exclude<Person, "ada">; readonly env: Env; readonly right: Right }

export const emptyWorld: World = {
  live: Object.fromEntries(envs.map((env) => [env, {}])),
  past: Object.fromEntries(envs.map((env) => [env, [{}]])),
  versions: {},
  removed: {},
  rights: { "bob prod": "write", "bob far": "write", "blind prod": "write", "blind shared": "read" }
}

export const rightOf = (world: World, who: Person, env: string): Right =>
  who === "ada" ? "write" : (world.rights[`${who} ${env}`] ?? "none")

/** An escape, or a reference with its names. */
const pieces = /\$\$\{|\$\{(?:(?<env>[a-z]+):)?(?<key>[A-Z])\}/g

const targets = (text: string) =>
  [...text.matchAll(pieces)].flatMap(({ groups }) =>
    groups?.key === undefined ? [] : [{ env: groups.env ?? null, key: groups.key }]
  )

/** Returns the value that a secret leads to for a person who may read some environments; null if nothing. */
export const valueOf = (world: World, who: Person, env: string, key: string, depth = 0): string | null => {
  if (depth > 5 || rightOf(world, who, env) === "none") return null
  const stored = world.live[env]?.[key]
  if (stored === undefined) return null
  if (stored.kind === "text") return stored.text
  let isWhole = true
  const filled = stored.text.replaceAll(pieces, (_, other: string | undefined, target: string | undefined) => {
    if (target === undefined) return "${"
    const value = valueOf(world, who, other ?? env, target, depth + 1)
    if (value === null) isWhole = false
    return value ?? ""
  })
  return isWhole ? filled : null
}

type Live = World["live"]

/** The longest way down from a secret; Infinity for a circle. */
const depthOf = (live: Live, env: string, key: string, way: ReadonlyArray<string> = []): number => {
  const id = `${env}:${key}`
  if (way.includes(id)) return Infinity
  const stored = live[env]?.[key]
  if (stored === undefined || stored.kind === "text") return 0
  return Math.max(
    0,
    ...targets(stored.text).map((target) => 1 + depthOf(live, target.env ?? env, target.key, [...way, id]))
  )
}

/** Whether somebody may read every environment that a secret passes. */
const mayPass = (world: World, who: Person, live: Live, env: string, key: string, depth = 0): boolean => {
  if (rightOf(world, who, env) === "none") return false
  const stored = live[env]?.[key]
  return (
    depth > 6 ||
    stored?.kind !== "reference" ||
    targets(stored.text).every((target) => mayPass(world, who, live, target.env ?? env, target.key, depth + 1))
  )
}

const isWellFormed = (live: Live): boolean => envs.every((env) => keys.every((key) => depthOf(live, env, key) <= 5))

const isReferred = (live: Live, env: string, key: string): boolean =>
  envs.some((other) =>
    Object.values(live[other] ?? {}).some(
      ({ kind, text }) =>
        kind === "reference" && targets(text).some((target) => (target.env ?? other) === env && target.key === key)
    )
  )

const isSame = (one: Stored | undefined, other: Stored | undefined): boolean =>
  one?.kind === other?.kind && one?.text === other?.text

/** The secrets of all environments after keys of one changed; null if that is refused. */
const changed = (
  world: World,
  by: Person,
  env: Env,
  changes: ReadonlyArray<readonly [string, Stored | null]>,
  options: { readonly force?: boolean; readonly strict?: boolean } = {}
): Live | null => {
  const next = new Map(Object.entries(world.live[env] ?? {}))
  for (const [key, stored] of changes) {
    if (stored === null) next.delete(key)
    else next.set(key, stored)
  }
  const live = { ...world.live, [env]: Object.fromEntries(next) }
  for (const [key, stored] of changes) {
    if (stored === null) {
      if (options.force !== true && isReferred(live, env, key)) return null
    } else if (stored.kind === "reference") {
      for (const target of targets(stored.text)) {
        const there = target.env ?? env
        if (!mayPass(world, by, live, there, target.key)) return null
        if (options.strict === true && live[there]?.[target.key] === undefined) return null
      }
    }
  }
  return isWellFormed(live) ? live : null
}

/** As `changed`, for calls that leave a value alone if it is what they write. */
const altered = (...[world, by, env, changes, options]: Parameters<typeof changed>): Live | null => {
  const here = world.live[env] ?? {}
  const differing = changes.filter(([key, stored]) => !isSame(here[key], stored ?? undefined))
  return changed(world, by, env, differing, options)
}

/** The secrets of all environments after a call; null if it is refused. */
const liveAfter = (world: World, call: Exclude<Call, { readonly call: "renew" | "right" }>): Live | null => {
  const { by, env } = call
  if (rightOf(world, by, env) !== "write" && call.call !== "copy") return null
  const here = world.live[env] ?? {}
  switch (call.call) {
    case "text":
      return changed(world, by, env, [[call.key, { kind: "text", text: call.text }]])
    case "refer":
      return changed(world, by, env, [[call.key, { kind: "reference", text: call.text }]], { strict: true })
    case "bundle": {
      const written = call.references.map(([key, text]) => [key, { kind: "reference", text } as const] as const)
      return altered(world, by, env, [...call.removals.map((key) => [key, null] as const), ...written], {
        strict: true
      })
    }
    case "remove":
    case "force":
      return here[call.key] === undefined
        ? null
        : changed(world, by, env, [[call.key, null]], { force: call.call === "force" })
    case "undelete": {
      const last = world.removed[`${env}:${call.key}`]?.at(-1)
      return here[call.key] !== undefined || last === undefined ? null : changed(world, by, env, [[call.key, last]])
    }
    case "rollback": {
      const version = world.versions[`${env}:${call.key}`]?.[call.version - 1]
      return version === undefined ? null : changed(world, by, env, [[call.key, version]])
    }
    case "copy": {
      const stored = here[call.key]
      const may = rightOf(world, by, env) !== "none" && rightOf(world, by, call.to) === "write"
      return stored === undefined || !may ? null : altered(world, by, call.to, [[call.key, stored]])
    }
    case "revert": {
      const then = world.past[env]?.[call.to]
      if (then === undefined) return null
      return altered(
        world,
        by,
        env,
        keys.map((key) => [key, then[key] ?? null])
      )
    }
    case "renameKey": {
      const stored = here[call.key]
      if (stored === undefined || by === "blind") return null
      return altered(world, by, env, [[call.key, null] as const, [call.to, stored] as const], { strict: true })
    }
  }
}

/** Returns the world after a call; null if the call is refused. */
export const after = (world: World, call: Call): World | null => {
  if (call.call === "right") return { ...world, rights: { ...world.rights, [`${call.who} ${call.env}`]: call.right } }
  if (call.call === "renew") {
    const others = (all: World["versions"]) =>
      Object.fromEntries(Object.entries(all).filter(([id]) => !id.startsWith(`${call.env}:`)))
    return {
      ...world,
      live: { ...world.live, [call.env]: {} },
      past: { ...world.past, [call.env]: [{}] },
      versions: others(world.versions),
      removed: others(world.removed)
    }
  }
  const live = liveAfter(world, call)
  if (live === null) return null
  // These write a version of the same value, too.
  const writes = call.call === "text" || call.call === "refer" || call.call === "rollback" || call.call === "undelete"
  const [past, versions, removed] = [{ ...world.past }, { ...world.versions }, { ...world.removed }]
  for (const env of envs) {
    const [before, now] = [world.live[env] ?? {}, live[env] ?? {}]
    const moved = keys.filter(
      (key) => !isSame(before[key], now[key]) || (writes && call.env === env && call.key === key)
    )
    if (moved.length > 0) past[env] = [...(past[env] ?? []), now]
    for (const key of moved) {
      const id = `${env}:${key}`
      const [stored, known] = [now[key], versions[id] ?? []]
      if (stored === undefined) {
        removed[id] = known
        versions[id] = []
      } else if (call.call === "undelete") {
        versions[id] = removed[id] ?? []
        removed[id] = []
      } else versions[id] = [...known, stored]
    }
  }
  return { ...world, live, past, versions, removed }
}
