import { assert, describe, it } from "@effect/vitest"
import { Pattern } from "@coffer/domain/Pattern"
import { Effect, Redacted, Schema } from "effect"
import fc from "fast-check"
import { matcherOf } from "../../src/access/PatternMatch.js"
import { type Driver, driver, people, type Person } from "./Driver.js"
import * as model from "./Model.js"
import { type Everything, hasty, holds, long, onEverything, setSuperadmin, status } from "./Support.js"
import { isOnPostgres } from "../support/Services.js"

const headcount = 6
const roles = ["owner", "admin", "developer", "member"] as const
const levels = ["read", "write", "admin"] as const
const projectNames = ["web", "web-api", "api"] as const
const envNames = ["prod", "dev", "qa"] as const
const secretKeys = ["A", "B"] as const
const projectPatterns = ["*", "web", "api", "web*", "*api", "{web,api}", "w?b", "web{,-api}", "?*-{api,x}", "none"]
const envPatterns = ["*", "dev", "prod", "{dev,qa}", "p*", "*a", "??", "d?v", "{q,de}{a,v}", "none"]

/** One random call. Each field is there for every call, and the ones that a call does not need are ignored. */
interface Step {
  readonly call: string
  readonly caller: number
  readonly org: number
  readonly to: number
  readonly user: number
  readonly role: model.Role
  readonly level: model.Level
  readonly project: number
  readonly env: number
  readonly patterns: readonly [string, string]
  readonly key: string
  readonly subject: number
  readonly rule: number
  readonly flag: boolean
}

interface Scene {
  readonly world: model.World
  readonly service: Driver
  readonly persons: ReadonlyArray<Person>
  readonly orgs: ReadonlyArray<string>
}

const pick = <A>(all: ReadonlyArray<A>, n: number): A => all[n % all.length]!

let values = 0

/** A call on both sides: what the model says, and the service's doing, whose answer may teach the driver ids. */
interface Both {
  readonly told: string
  readonly expected: () => { readonly status: number; readonly made?: unknown }
  readonly actual: Effect.Effect<{ readonly status: number; readonly learn: (made: never) => void }, never, Everything>
}

const both = <M, A, R>(
  told: string,
  expected: () => { readonly status: number; readonly made?: M },
  actual: Effect.Effect<A, { readonly _tag: string }, R>,
  learn: (made: M, answer: A) => void = () => undefined
) => ({
  told,
  expected: expected as Both["expected"],
  actual: Effect.map(status(actual), ({ answer, status }) => ({
    status,
    learn: (made: M) => learn(made, answer as A)
  }))
})

const callersOf = (world: model.World): ReadonlyArray<model.Caller> => [...world.users, ...world.keys]

const callsOf = ({ orgs, persons, service, world }: Scene, step: Step) => {
  const caller = pick(callersOf(world), step.caller)
  const org = pick(orgs, step.org)
  const to = pick(orgs, step.to)
  const user = pick(world.users, step.user)
  const project = pick(projectNames, step.project)
  const at = { org, project, env: pick(envNames, step.env) }
  const account = pick(world.accounts, step.subject)
  const subject = pick([...world.users, ...world.accounts], step.subject)
  const rule = world.rules.length === 0 ? undefined : pick(world.rules, step.rule)
  const request = { subject, project: step.patterns[0], env: step.patterns[1], level: step.level }
  const machine = {
    name: pick(["ci", "bot"], step.to),
    project: step.flag ? undefined : project,
    reveal: step.key === "A"
  }
  const text = `value ${++values}`
  const { flag, key, role } = step
  const calls = {
    createOrg: () => both(org, () => model.createOrg(world, caller, org), service.createOrg(caller, org)),
    renameOrg: () =>
      both(`${org} ${to}`, () => model.renameOrg(world, caller, org, to), service.renameOrg(caller, org, to)),
    deleteOrg: () => both(org, () => model.deleteOrg(world, caller, org), service.deleteOrg(caller, org)),
    invite: () =>
      both(
        `${org} user ${user.n} ${role}`,
        () => model.invite(world, caller, org, user, role),
        service.invite(caller, org, user, role)
      ),
    setRole: () =>
      both(
        `${org} user ${user.n} ${role}`,
        () => model.setRole(world, caller, org, user, role),
        service.setRole(caller, org, user, role)
      ),
    removeMember: () =>
      both(
        `${org} user ${user.n}`,
        () => model.removeMember(world, caller, org, user),
        service.removeMember(caller, org, user)
      ),
    listMembers: () =>
      both(
        org,
        () => model.listMembers(world, caller, org),
        service.listMembers(caller, org),
        (made, rows) =>
          assert.sameMembers(
            rows.map(({ role, user_id }) => `${persons.findIndex(({ id }) => id === user_id)} ${role}`),
            [...made]
          )
      ),
    readAudit: () => both(org, () => model.administer(world, caller, org), service.readAudit(caller, org)),
    listAccounts: () => both(org, () => model.administer(world, caller, org), service.listAccounts(caller, org)),
    createProject: () =>
      both(
        `${org} ${project}`,
        () => model.createProject(world, caller, org, project),
        service.createProject(caller, org, project)
      ),
    renameProject: () => {
      const other = pick(projectNames, step.to)
      return both(
        `${org} ${project} ${other}`,
        () => model.renameProject(world, caller, org, project, other),
        service.renameProject(caller, org, project, other)
      )
    },
    deleteProject: () =>
      both(
        `${org} ${project}`,
        () => model.deleteProject(world, caller, org, project),
        service.deleteProject(caller, org, project)
      ),
    createEnv: () => both(JSON.stringify(at), () => model.createEnv(world, caller, at), service.createEnv(caller, at)),
    deleteEnv: () => both(JSON.stringify(at), () => model.deleteEnv(world, caller, at), service.deleteEnv(caller, at)),
    createAccount: () =>
      both(
        `${org} ${JSON.stringify(machine)}`,
        () => model.createAccount(world, caller, org, machine),
        service.createAccount(caller, org, machine),
        (made, answer) =>
          service.keepAccount(
            made,
            world.keys.find((one) => one.account === made)!,
            answer
          )
      ),
    rotate: () =>
      both(
        `${org} ${account.name} grace ${flag}`,
        () => model.rotate(world, caller, org, account, flag),
        service.rotate(caller, org, account, flag),
        (made, answer) => service.keepKey(made, answer)
      ),
    revokeAccount: () =>
      both(
        `${org} ${account.name}`,
        () => model.revokeAccount(world, caller, org, account),
        service.revokeAccount(caller, org, account)
      ),
    grant: () =>
      both(
        `${org} ${subject.type === "user" ? `user ${subject.n}` : subject.name} ${step.patterns.join("/")} ${step.level}`,
        () => model.grant(world, caller, org, request),
        service.grant(caller, org, request),
        (made, answer) => {
          assert.strictEqual(answer.created, service.ruleId(made) === undefined, "a rule is made once, then changed")
          service.keepRule(made, answer.rule.id)
        }
      ),
    revoke: () => both(org, () => model.revoke(world, caller, org, rule), service.revoke(caller, org, rule)),
    setSecret: () =>
      both(
        `${JSON.stringify(at)} ${key}`,
        () => model.setSecret(world, caller, at, key, text),
        service.setSecret(caller, at, key, text)
      ),
    removeSecret: () =>
      both(
        `${JSON.stringify(at)} ${key}`,
        () => model.removeSecret(world, caller, at, key),
        service.removeSecret(caller, at, key)
      ),
    readSecret: () =>
      both(
        `${JSON.stringify(at)} ${key}`,
        () => model.readSecret(world, caller, at, key),
        service.readSecret(caller, at, key),
        (made, { value, version }) => assert.strictEqual(`${version} ${Redacted.value(value)}`, made)
      )
  } as const
  return { caller, calls }
}

type Call = keyof ReturnType<typeof callsOf>["calls"]

const nameOf = (caller: model.Caller): string =>
  "superadmin" in caller ? `user ${caller.n}` : `a key of ${caller.account.name}`

/** Does one random call on both sides and holds them against each other. Answers what happened, as a sentence. */
const take = (scene: Scene, step: Step) =>
  Effect.gen(function* () {
    if (step.call === "superadmin") {
      const user = pick(scene.world.users, step.user)
      user.superadmin = step.flag
      yield* setSuperadmin(scene.persons[user.n]!.id, step.flag)
      return `user ${user.n} superadmin ${step.flag}`
    }
    const { caller, calls } = callsOf(scene, step)
    const { actual, expected, told } = calls[step.call as Call]() as Both
    const found = yield* actual
    const wanted = expected()
    const sentence = `${nameOf(caller)}: ${step.call} ${told} is ${wanted.status}`
    assert.strictEqual(found.status, wanted.status, sentence)
    if (wanted.status === 200) found.learn(wanted.made as never)
    return sentence
  })

type Expected = { readonly status: number; readonly made?: unknown }

/** Holds a call of the service against what the model says of it: the status, and what is shown. */
const same = <A, R>(
  told: string,
  expected: Expected,
  actual: Effect.Effect<A, { readonly _tag: string }, R>,
  shown: (answer: A) => unknown = () => undefined
) =>
  Effect.map(status(actual), (found) => {
    assert.strictEqual(found.status, expected.status, told)
    if (found.status === 200) assert.deepEqual(shown(found.answer as A), expected.made, told)
  })

/** A list of the model's, in the order of the service's lists. */
const sorted = (expected: { readonly status: number; readonly made?: ReadonlyArray<string> }): Expected =>
  expected.made === undefined ? expected : { ...expected, made: [...expected.made].sort() }

const namesOf = (all: ReadonlyArray<{ readonly name: string }>) => all.map(({ name }) => name)

const agreeAt = ({ service, world }: Scene, caller: model.Caller, at: model.At) =>
  Effect.gen(function* () {
    const told = (what: string) => `${nameOf(caller)} ${what} in ${JSON.stringify(at)}`
    yield* same(told("lists"), sorted(model.listSecrets(world, caller, at)), service.listSecrets(caller, at), (all) =>
      all.map(({ key, version }) => `${key} ${version}`)
    )
    if (at.env === "no-such") return
    yield* same(told("reads"), sorted(model.readAll(world, caller, at)), service.readAll(caller, at), ({ bundle }) =>
      bundle!.data.map(({ key, value, version }) => `${key} ${version} ${Redacted.value(value)}`)
    )
    yield* same(told("writes"), model.reaches(world, caller, at, "write"), service.reaches(caller, at, "write"))
    yield* same(told("rules"), model.reaches(world, caller, at, "admin"), service.reaches(caller, at, "admin"))
  })

const agreeIn = (scene: Scene, caller: model.Caller, org: string) =>
  Effect.gen(function* () {
    const { service, world } = scene
    const told = (what: string) => `${nameOf(caller)} lists ${what} of ${org}`
    yield* same(
      told("projects"),
      sorted(model.listProjects(world, caller, org)),
      service.listProjects(caller, org),
      namesOf
    )
    const projects = model.liveOrg(world, org)?.projects
    if (projects === undefined) return
    if (model.listProjects(world, caller, org).status !== 200) {
      const { envs, name } = projects[0] ?? { name: "no-such", envs: [] }
      return yield* agreeAt(scene, caller, { org, project: name, env: envs[0]?.name ?? "no-such" })
    }
    const rules = model.listRules(world, caller, org)
    const ids = "made" in rules ? rules.made.map((rule): string => service.ruleId(rule)!) : []
    yield* same(told("rules"), sorted({ ...rules, made: ids }), service.listRules(caller, org), (all) =>
      all.map(({ id }): string => id).sort()
    )
    for (const { envs, name } of [...projects, { name: "no-such", envs: [] }]) {
      yield* same(
        told(`environments in ${name}`),
        sorted(model.listEnvs(world, caller, org, name)),
        service.listEnvs(caller, org, name),
        namesOf
      )
      if (name === "no-such") continue
      for (const env of [...envs, { name: "no-such" }]) {
        yield* agreeAt(scene, caller, { org, project: name, env: env.name })
      }
    }
  })

/** `explain`, asked by a superadmin about everyone, says of each what the model says. */
const agreeOnReasons = ({ service, world }: Scene, root: model.User) =>
  Effect.gen(function* () {
    for (const org of world.orgs.filter(({ alive }) => alive)) {
      const machines = world.keys.filter(({ account, good }) => good && account.alive && account.org === org)
      const subjects = [...world.users.filter((user) => model.knows(org, user)), ...machines]
      for (const project of org.projects) {
        for (const env of project.envs) {
          const at = { org: org.name, project: project.name, env: env.name }
          for (const subject of subjects) {
            const { allowed } = yield* service.explain(root, "superadmin" in subject ? subject : subject.account, at)
            const wanted = levels.filter((level) => model.reaches(world, subject, at, level).status === 200)
            assert.deepStrictEqual([...allowed], wanted, `explain ${nameOf(subject)} in ${JSON.stringify(at)}`)
          }
        }
      }
    }
  })

/** Everyone, everywhere, everything: what the model says of each is what the service does. */
const agree = (scene: Scene, root: model.User) =>
  Effect.gen(function* () {
    const { orgs, service, world } = scene
    const ours = new Set(orgs)
    for (const caller of callersOf(world)) {
      yield* same(
        `${nameOf(caller)} lists organizations`,
        sorted(model.listOrgs(world, caller)),
        service.listOrgs(caller),
        (all) => namesOf(all).filter((name) => ours.has(name))
      )
      const isDead = model.listOrgs(world, caller).status === 401
      for (const org of isDead ? orgs.slice(0, 1) : orgs) yield* agreeIn(scene, caller, org)
    }
    yield* agreeOnReasons(scene, root)
  })

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

const weights: Readonly<Record<Call | "superadmin", number>> = {
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

const anyRun = fc.record({
  grants: firstGrants,
  steps: fc.array(anyStep, { minLength: 5, maxLength: long ? 60 : 20, size: "max" })
})

describe("authorization", () => {
  it.live(
    "does for every random sequence of calls what a plain model of the specification says, and no more",
    () =>
      Effect.gen(function* () {
        yield* hasty
        const persons = yield* people(headcount + 1)
        const root: model.User = { type: "user", n: headcount, superadmin: true }
        yield* setSuperadmin(persons[headcount]!.id, true)
        let runs = 0
        const outcomes = new Map<string, number>()
        const property = ({ grants, steps }: typeof anyRun extends fc.Arbitrary<infer A> ? A : never) =>
          Effect.gen(function* () {
            const run = ++runs
            const users = Array.from({ length: headcount }, (_, n): model.User => ({
              type: "user",
              n,
              superadmin: false
            }))
            for (const { n } of users) yield* setSuperadmin(persons[n]!.id, false)
            const scene: Scene = {
              world: { users, orgs: [], accounts: [], keys: [], rules: [] },
              service: yield* driver(persons),
              persons,
              orgs: [`alpha-${run}`, `beta-${run}`, `gamma-${run}`]
            }
            const history: Array<string> = []
            yield* Effect.gen(function* () {
              for (const step of [...[...beginnings, ...grants].map((one) => ({ ...nothing, ...one })), ...steps]) {
                const sentence = yield* take(scene, step)
                history.push(sentence)
                const kind = `${step.call} ${sentence.slice(-3)}`
                outcomes.set(kind, (outcomes.get(kind) ?? 0) + 1)
              }
              yield* agree(scene, root)
            }).pipe(
              Effect.catchAllDefect((defect) =>
                Effect.die(new Error(`${String(defect)}\nafter\n  ${history.join("\n  ")}`, { cause: defect }))
              )
            )
          })
        yield* holds(anyRun, property, { numRuns: long ? 1_000 : isOnPostgres() ? 12 : 60 })
        // The runs say something only when each call is both allowed and refused among them.
        for (const call of long ? Object.keys(weights).filter((call) => call !== "superadmin") : []) {
          for (const wanted of [200, call === "createOrg" ? 409 : 403]) {
            assert.isAbove(outcomes.get(`${call} ${wanted}`) ?? 0, 0, `${call} was never ${wanted}`)
          }
        }
        if (process.env.COFFER_SHOW === "1") console.log(Object.fromEntries([...outcomes].sort()))
      }).pipe(onEverything),
    long ? 1_200_000 : 300_000
  )
})

const isPattern = Schema.is(Schema.typeSchema(Pattern))
const letters = fc.constantFrom("a", "b", "-", "0")
const names = fc.string({ unit: letters, minLength: 2, maxLength: 8 }).filter((name) => !/^-|-$/.test(name))
const words = fc.string({ unit: fc.oneof(letters, fc.constantFrom("*", "?")), maxLength: 4 })
const groups = fc.array(words, { minLength: 2, maxLength: 3 }).map((choices) => `{${choices.join(",")}}`)
const patterns = fc
  .array(fc.oneof({ weight: 2, arbitrary: words }, { weight: 1, arbitrary: groups }), { minLength: 1, maxLength: 4 })
  .map((parts) => parts.join("").replace(/\*+/g, "*"))
  .filter((text) => isPattern(text))

describe("a pattern", () => {
  it("matches the names that a plain matcher says", () => {
    fc.assert(
      fc.property(patterns, fc.array(names, { minLength: 1, maxLength: 10 }), (pattern, all) => {
        for (const name of all) assert.strictEqual(matcherOf(name)(pattern), model.globMatches(pattern, name), name)
      }),
      { numRuns: long ? 20_000 : 5_000 }
    )
  })
})
