import type { Json } from "../../support/Program.js"
import type { Parameter, Place } from "../../authorization/Contract.js"

/** Numbers that a seed determines. */
export const randomOf = (seed: number) => {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const below = (count: number): number => Math.floor(next() * count)
  return {
    chance: (share: number): boolean => next() < share,
    pick: <A>(some: ReadonlyArray<A>): A => {
      const found = some[below(some.length)]
      if (found === undefined) throw new Error("nothing to pick from")
      return found
    },
    shuffled: <A>(some: ReadonlyArray<A>): ReadonlyArray<A> =>
      some
        .map((one) => [next(), one] as const)
        .sort(([one], [other]) => one - other)
        .map(([, one]) => one)
  } as const
}
export type Random = ReturnType<typeof randomOf>

const none = "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e"
const kept = 12
/** How many of the newest a call may name: most of them still exist. */
const recent = 6

export const projects = ["webshop", "billing"]
export const envs = ["dev", "staging", "prod"]
export const keys = ["A", "B", "C", "D", "E", "SHARED"]
export const groups = ["one", "two"]
export const connections = ["one-db", "two-db"]
export const targets = ["first-target", "second-target"]

/** Which parameter the id of an answer is: of a call that creates, by the end of its path. */
const created: ReadonlyArray<readonly [end: RegExp, name: Parameter]> = [
  [/\/requests$/, "request_id"],
  [/\/acl$/, "rule_id"],
  [/\/service-accounts$/, "sa_id"],
  [/\/federations$/, "federation_id"],
  [/\/webhooks$/, "webhook_id"],
  [/\/test$/, "delivery_id"],
  [/\/use-rules$/, "use_rule_id"],
  [/\/delegations$/, "delegation_id"],
  [/\/passkeys$/, "passkey_id"],
  [/\/exports$/, "export_id"],
  [/\/imports$/, "import_id"]
]

/** The ids that answers have brought, of which calls name some later. */
export const makeKnown = () => {
  const known = new Map<string, Array<string>>()
  const note = (name: Parameter, org: string, id: string): void => {
    const ids = known.get(`${name} ${org}`) ?? []
    known.set(`${name} ${org}`, [...ids, id].slice(-kept))
  }
  return {
    note,
    ids: (name: Parameter, org: string): ReadonlyArray<string> => known.get(`${name} ${org}`) ?? [],
    /** Notes what an answer names. */
    noteAnswer: (path: string, org: string, status: number, body: Json): void => {
      if (status >= 300 || typeof body?.id !== "string") return
      const [, name] = status === 202 ? [null, "request_id" as const] : (created.find(([end]) => end.test(path)) ?? [])
      if (name !== undefined) note(name, org, body.id)
    },
    /** A place on the path of a call. */
    place: (random: Random, org: string): Place => {
      const id = (name: Parameter) =>
        random.pick([...(known.get(`${name} ${org}`) ?? []).toReversed(), none].slice(0, recent))
      return {
        org_name: org,
        project_name: random.chance(0.8) ? "webshop" : "billing",
        env_name: random.pick(envs),
        key: random.pick(keys),
        user_id: id("user_id"),
        rule_id: id("rule_id"),
        sa_id: id("sa_id"),
        group_name: random.pick(groups),
        federation_id: id("federation_id"),
        webhook_id: id("webhook_id"),
        delivery_id: id("delivery_id"),
        session_id: id("session_id"),
        delegation_id: id("delegation_id"),
        passkey_id: id("passkey_id"),
        export_id: id("export_id"),
        import_id: id("import_id"),
        removed_id: none,
        use_rule_id: id("use_rule_id"),
        connection_name: random.pick(connections),
        rotation_name: "shop-app",
        role_name: "shop-role",
        lease_id: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1dce",
        target_name: random.pick(targets),
        approval_id: none,
        request_id: id("request_id"),
        backup_id: none
      }
    }
  } as const
}
export type Known = ReturnType<typeof makeKnown>
