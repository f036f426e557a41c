import { Effect } from "effect"
import fc from "fast-check"
import { agree } from "./Agree.js"
import type { Calls } from "./Calls.js"
import type * as model from "./Model.js"
import { type Call, callersOf, type Scene, type Step, take } from "./Steps.js"
import { isSoak } from "../../../domain/test/support/Runs.js"

/** The people of a run; one more is the superadmin who looks at the end. */
export const headcount = 6
const roles = ["owner", "admin", "developer", "member"] as const
const levels = ["read", "write", "admin"] as const
const secretKeys = ["A", "B"] as const
const projectPatterns = ["*", "web", "api", "web*", "*api", "{web,api}", "w?b", "web{,-api}", "?*-{api,x}", "none"]
const envPatterns = ["*", "dev", "prod", "{dev,qa}", "p*", "*a", "??", "d?v", "{q,de}{a,v}", "none"]

/** Where every run begins: two organizations, people of each role, projects, two machines and a few rules. */
const beginnings: ReadonlyArray<Partial<Step> & { readonly call: string }> = [
  { call: "createOrg", caller: 0, org: 0 },
  { call: "createProject", caller: 0, org: 0, project: 0 },
  { call: "createProject", caller: 0, org: 0, project: 1 },
  { call: "invite", caller: 0, org: 0, user: 1, role: "admin" },
  { call: "invite", caller: 1, org: 0, user: 2, role: "developer" },
  { call: "invite", caller: 1, org: 0, user: 3, role: "member" },
  { call: "createAccount", caller: 1, org: 0, to: 0, flag: true, key: "A" },
  { call: "createAccount", caller: 1, org: 0, to: 1, flag: false, project: 0, key: "A" },
  { call: "createOrg", caller: 4, org: 1 },
  { call: "createProject", caller: 4, org: 1, project: 0 },
  { call: "setSecret", caller: 0, org: 0, project: 0, env: 0, key: "A" },
  { call: "setSecret", caller: 1, org: 0, project: 0, env: 1, key: "B" },
  { call: "setSecret", caller: 1, org: 0, project: 1, env: 0, key: "A" },
  { call: "setSecret", caller: 4, org: 1, project: 0, env: 0, key: "A" }
]

const nothing: Step = {
  call: "",
  caller: 0,
  org: 0,
  to: 0,
  user: 0,
  role: "member",
  level: "read",
  project: 0,
  env: 0,
  patterns: ["*", "*"],
  key: "A",
  subject: 0,
  rule: 0,
  flag: false
}

export const weights: Readonly<Record<Call | "superadmin", number>> = {
  grant: 12,
  revoke: 4,
  setRole: 4,
  removeMember: 4,
  invite: 6,
  superadmin: 2,
  createProject: 3,
  renameProject: 3,
  deleteProject: 2,
  createEnv: 2,
  deleteEnv: 2,
  createAccount: 4,
  revokeAccount: 2,
  rotate: 3,
  setSecret: 6,
  removeSecret: 4,
  readSecret: 3,
  listMembers: 1,
  listAccounts: 1,
  readAudit: 1,
  createOrg: 1,
  renameOrg: 1,
  deleteOrg: 1
}

/** Owners and admins act more often than chance would have it, or little would ever happen. */
const anyCaller = fc.oneof({ weight: 4, arbitrary: fc.nat(1) }, { weight: 4, arbitrary: fc.nat(40) })

const anyOf = <A>(first: A, ...others: ReadonlyArray<A>) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(first) }, { weight: 2, arbitrary: fc.constantFrom(first, ...others) })

const anyStep: fc.Arbitrary<Step> = fc.record({
  call: fc.oneof(...Object.entries(weights).map(([call, weight]) => ({ weight, arbitrary: fc.constant(call) }))),
  caller: anyCaller,
  org: fc.oneof({ weight: 5, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(2) }),
  to: fc.nat(2),
  user: fc.nat(headcount - 1),
  role: fc.constantFrom(...roles),
  level: fc.constantFrom(...levels),
  project: anyOf(0, 1, 2),
  env: anyOf(0, 1, 2),
  patterns: fc.tuple(fc.constantFrom(...projectPatterns), fc.constantFrom(...envPatterns)),
  key: anyOf(...secretKeys),
  subject: fc.nat(40),
  rule: fc.nat(40),
  flag: fc.boolean()
})

/** Rules that an admin grants before the rest: to the developer, the member and the two machines. */
const firstGrants = fc.array(
  fc.record({
    caller: fc.constant(1),
    call: fc.constant("grant"),
    subject: fc.constantFrom(2, 3, headcount, headcount + 1),
    level: fc.constantFrom(...levels),
    patterns: fc.tuple(fc.constantFrom(...projectPatterns), fc.constantFrom(...envPatterns))
  }),
  { maxLength: 5 }
)

export const anyRun = fc.record({
  grants: firstGrants,
  steps: fc.array(anyStep, { minLength: 5, maxLength: isSoak ? 60 : 20, size: "max" })
})
export type Run = typeof anyRun extends fc.Arbitrary<infer A> ? A : never

/** Something that a run is tried on. */
export interface Subject<R> {
  /** The number of the run, for names that no other run has. */
  readonly run: number
  readonly service: Calls<R>
  readonly persons: Scene<R>["persons"]
  /** At the end, one of so many callers tries everything; everyone by default. */
  readonly sample?: number
}

/**
 * Does a run on the service and on a new model, and holds the two against each other after each call and at the end.
 * Returns what happened, as sentences.
 */
export const play = <R>({ persons, run, sample = 1, service }: Subject<R>, { grants, steps }: Run) =>
  Effect.gen(function* () {
    const users = Array.from({ length: headcount }, (_, n): model.User => ({ type: "user", n, superadmin: false }))
    for (const user of users) yield* service.setSuperadmin(user, false)
    const scene: Scene<R> = {
      world: { users, orgs: [], accounts: [], keys: [], rules: [] },
      service,
      persons,
      orgs: [`alpha-${run}`, `beta-${run}`, `gamma-${run}`],
      values: 0
    }
    const root: model.User = { type: "user", n: headcount, superadmin: true }
    yield* service.setSuperadmin(root, true)
    const history: Array<string> = []
    yield* Effect.gen(function* () {
      for (const step of [...[...beginnings, ...grants].map((one) => ({ ...nothing, ...one })), ...steps]) {
        history.push(yield* take(scene, step))
      }
      const callers = callersOf(scene.world).filter((_, index) => index % sample === run % sample)
      yield* agree(scene, root, callers)
    }).pipe(
      Effect.catchAllDefect((defect) =>
        Effect.die(new Error(`${String(defect)}\nafter\n  ${history.join("\n  ")}`, { cause: defect }))
      )
    )
    return history
  })
