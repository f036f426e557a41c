/**
 * The service's promises about the secrets of environments, in plain maps. The model is written from the contract, and knows
 * nothing of tables, ids or encryption.
 */

export interface Version {
  value: string
  readonly by: string
  readonly at: string
  destroyed: boolean
}

/** One life of a key: from its creation on, through removals and returns. */
export interface Life {
  readonly number: number
  readonly versions: Array<Version>
  updated: string
}

/** The changes of one revision. */
interface Revision {
  readonly revision: number
  readonly created_at: string
  readonly created_by: string
  readonly keys: ReadonlyArray<{ readonly key: string; readonly version: number; readonly change: string }>
}

interface Env {
  readonly number: number
  revision: number
  readonly revisions: Array<Revision>
  /** Which version of which life each key had, by revision. */
  readonly snapshots: Array<ReadonlyMap<string, { readonly life: Life; readonly version: number }>>
  readonly live: Map<string, Life>
  /** The lives of a key that ended, the latest last. */
  readonly ended: Map<string, Array<Life>>
}

export interface Entry {
  readonly action: string
  readonly actor: string
  readonly life: number
  readonly metadata: Readonly<Record<string, unknown>>
}

export type Refusal = "NotFound" | "Conflict" | "ValidationError"
export type Outcome = { readonly refused: Refusal } | { readonly answer: unknown }

export interface Who {
  readonly name: string
  readonly at: string
}

const refused = (tag: Refusal): Outcome => ({ refused: tag })
const answered = (answer: unknown): Outcome => ({ answer })
const sorted = <A>(byKey: Iterable<readonly [string, A]>) => [...byKey].sort(([a], [b]) => (a < b ? -1 : 1))

export const currentOf = (life: Life): Version => life.versions.at(-1)!

export class Model {
  private readonly envs = new Map<string, Env>()
  readonly entries: Array<Entry> = []
  private lives = 0

  constructor(names: ReadonlyArray<string>) {
    for (const name of names) this.renew(name)
  }

  /** Removes an environment, and makes a new one of its name. */
  renew(name: string): void {
    this.envs.set(name, {
      number: this.lives++,
      revision: 0,
      revisions: [],
      snapshots: [new Map()],
      live: new Map(),
      ended: new Map()
    })
  }

  /** Ends a change of an environment. */
  private commit(env: Env, who: Who, keys: Revision["keys"]): void {
    env.revision++
    env.revisions.unshift({ revision: env.revision, created_at: who.at, created_by: who.name, keys })
    env.snapshots.push(new Map([...env.live].map(([key, life]) => [key, { life, version: life.versions.length }])))
  }

  env(name: string): Env {
    return this.envs.get(name)!
  }

  /** Returns the bundle that a reader of the whole environment is shown. */
  bundle(name: string) {
    const { live, revision } = this.env(name)
    const data = sorted(live).map(([key, life]) => ({
      key,
      value: currentOf(life).value,
      version: life.versions.length,
      updated_at: life.updated
    }))
    return { revision, data }
  }

  private record(action: string, who: Who, life: Life, metadata: Readonly<Record<string, unknown>>): void {
    this.entries.push({ action, actor: who.name, life: life.number, metadata })
  }

  private put(env: Env, key: string, value: string, who: Who): Life {
    const life = env.live.get(key) ?? { number: this.lives++, versions: [], updated: who.at }
    life.versions.push({ value, by: who.name, at: who.at, destroyed: false })
    life.updated = who.at
    env.live.set(key, life)
    return life
  }

  private end(env: Env, key: string, life: Life): void {
    env.live.delete(key)
    env.ended.set(key, [...(env.ended.get(key) ?? []), life])
  }

  private written(key: string, life: Life): Outcome {
    return answered({
      key,
      version: life.versions.length,
      created_at: life.versions[0]!.at,
      updated_at: life.updated
    })
  }

  set(name: string, key: string, value: string, expected: number | undefined, who: Who): Outcome {
    const env = this.env(name)
    const version = env.live.get(key)?.versions.length ?? 0
    if (expected !== undefined && expected !== version) return refused("Conflict")
    const life = this.put(env, key, value, who)
    this.commit(env, who, [{ key, version: version + 1, change: version === 0 ? "created" : "updated" }])
    this.record("secret.set", who, life, { key, version: version + 1 })
    return this.written(key, life)
  }

  remove(name: string, key: string, expected: number | undefined, who: Who): Outcome {
    const env = this.env(name)
    const life = env.live.get(key)
    if (life === undefined) return refused("NotFound")
    if (expected !== undefined && expected !== life.versions.length) return refused("Conflict")
    this.end(env, key, life)
    this.commit(env, who, [{ key, version: life.versions.length, change: "deleted" }])
    this.record("secret.delete", who, life, { key, version: life.versions.length })
    return answered(undefined)
  }

  undelete(name: string, key: string, who: Who): Outcome {
    const env = this.env(name)
    const ended = env.ended.get(key) ?? []
    const life = ended.at(-1)
    if (life === undefined) return refused("NotFound")
    if (env.live.has(key)) return refused("Conflict")
    ended.pop()
    env.live.set(key, life)
    life.updated = who.at
    this.commit(env, who, [{ key, version: life.versions.length, change: "undeleted" }])
    this.record("secret.undelete", who, life, { key, version: life.versions.length })
    return this.written(key, life)
  }

  rollback(name: string, key: string, to: number, expected: number | undefined, who: Who): Outcome {
    const env = this.env(name)
    const life = env.live.get(key)
    if (life === undefined) return refused("NotFound")
    if (expected !== undefined && expected !== life.versions.length) return refused("Conflict")
    const earlier = life.versions[to - 1]
    if (earlier === undefined) return refused("NotFound")
    if (earlier.destroyed) return refused("Conflict")
    this.put(env, key, earlier.value, who)
    this.commit(env, who, [{ key, version: life.versions.length, change: "updated" }])
    this.record("secret.set", who, life, { key, version: life.versions.length, rolled_back_to: to })
    return this.written(key, life)
  }

  destroy(name: string, key: string, wanted: ReadonlyArray<number>, who: Who): Outcome {
    const life = this.env(name).live.get(key)
    if (life === undefined) return refused("NotFound")
    const descending = [...new Set(wanted)].sort((a, b) => b - a)
    for (const version of descending) {
      if (life.versions[version - 1] === undefined) return refused("NotFound")
      if (version === life.versions.length) return refused("Conflict")
    }
    for (const version of descending) {
      const row = life.versions[version - 1]!
      if (!row.destroyed) this.record("secret.destroy", who, life, { key, version })
      row.destroyed = true
      row.value = ""
    }
    const all = this.versions(life)
    return answered(descending.map((version) => all.find((row) => row.version === version)))
  }

  /** The list of a life's versions, newest first. */
  versions(life: Life) {
    return life.versions
      .map(({ at, by, destroyed }, index) => ({
        version: index + 1,
        created_at: at,
        created_by: by,
        current: index + 1 === life.versions.length,
        destroyed
      }))
      .reverse()
  }

  private apply(
    env: Env,
    wanted: ReadonlyMap<string, string | null>,
    dryRun: boolean,
    who: Who,
    told: (key: string, version: number) => readonly [action: string, metadata: Readonly<Record<string, unknown>>],
    first?: () => void
  ): Outcome {
    const data = sorted(wanted).map(([key, value]) => {
      const life = env.live.get(key)
      const version = life?.versions.length ?? 0
      if (value === null) return { key, version, change: life === undefined ? "unchanged" : "deleted" }
      if (life === undefined) return { key, version: 1, change: "created" }
      return currentOf(life).value === value
        ? { key, version, change: "unchanged" }
        : { key, version: version + 1, change: "updated" }
    })
    const changed = data.filter(({ change }) => change !== "unchanged")
    if (dryRun || changed.length === 0) return answered({ revision: env.revision, data })
    first?.()
    for (const { key, version } of changed) {
      const value = wanted.get(key)!
      if (value === null) {
        const life = env.live.get(key)!
        this.end(env, key, life)
        this.record("secret.delete", who, life, { key, version })
      } else {
        const [action, metadata] = told(key, version)
        this.record(action, who, this.put(env, key, value, who), metadata)
      }
    }
    this.commit(env, who, changed)
    return answered({ revision: env.revision, data })
  }

  write(
    name: string,
    request: { readonly set: Readonly<Record<string, string>>; readonly delete: ReadonlyArray<string> },
    options: { readonly dryRun: boolean; readonly matches: boolean },
    who: Who
  ): Outcome {
    const keys = Object.keys(request.set)
    if (request.delete.some((key) => keys.includes(key))) return refused("ValidationError")
    if (!options.matches) return refused("Conflict")
    const wanted = new Map<string, string | null>(Object.entries(request.set))
    for (const key of request.delete) wanted.set(key, null)
    return this.apply(this.env(name), wanted, options.dryRun, who, (key, version) => ["secret.set", { key, version }])
  }

  copy(from: string, to: string, keys: ReadonlyArray<string> | undefined, dryRun: boolean, who: Who): Outcome {
    const source = this.env(from)
    const chosen = keys ?? [...source.live.keys()]
    if (chosen.some((key) => !source.live.has(key))) return refused("NotFound")
    const versions = new Map(chosen.map((key) => [key, source.live.get(key)!.versions.length]))
    const wanted = new Map(chosen.map((key) => [key, currentOf(source.live.get(key)!).value]))
    return this.apply(this.env(to), wanted, dryRun, who, (key, version) => [
      "secret.copy",
      { key, version, from, from_version: versions.get(key) }
    ])
  }

  revert(
    place: { readonly project: string; readonly env: string },
    to: number,
    options: { readonly dryRun: boolean; readonly matches: boolean },
    who: Who
  ): Outcome {
    const env = this.env(place.env)
    const then = env.snapshots[to]
    if (then === undefined) return refused("NotFound")
    if (!options.matches) return refused("Conflict")
    const wanted = new Map<string, string | null>([...env.live.keys()].map((key) => [key, null]))
    for (const [key, { life, version }] of then) {
      const earlier = life.versions[version - 1]!
      if (earlier.destroyed) return refused("Conflict")
      wanted.set(key, earlier.value)
    }
    return this.apply(
      env,
      wanted,
      options.dryRun,
      who,
      (key, version) => ["secret.set", { key, version, reverted_to: to }],
      () =>
        this.entries.push({
          action: "env.revert",
          actor: who.name,
          life: env.number,
          metadata: { ...place, to, revision: env.revision + 1 }
        })
    )
  }

  diff(here: string, there: string) {
    const [mine, others] = [this.env(here).live, this.env(there).live]
    return [...new Set([...mine.keys(), ...others.keys()])].sort().map((key) => {
      const [a, b] = [mine.get(key), others.get(key)]
      if (b === undefined) return { key, status: "only_here" }
      if (a === undefined) return { key, status: "only_there" }
      return { key, status: currentOf(a).value === currentOf(b).value ? "same" : "different" }
    })
  }
}
