import { assert } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import type { Calls } from "./Calls.js"
import * as model from "./Model.js"
import { status } from "./Support.js"

const projectNames = ["web", "web-api", "api"] as const
const envNames = ["prod", "dev", "qa"] as const
/** One random call. Each field is there for every call, and the ones that a call does not need are ignored. */
export interface Step {
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

/** The model's world and the service, which are to agree. `R` is what the service needs. */
export interface Scene<R> {
  readonly world: model.World
  readonly service: Calls<R>
  /** The ids of the people, by the model's numbers. */
  readonly persons: ReadonlyArray<{ readonly id: string }>
  readonly orgs: ReadonlyArray<string>
  /** The number of values that were made. */
  values: number
}

const pick = <A>(all: ReadonlyArray<A>, n: number): A => all[n % all.length]!

/** A call on both sides: what the model says, and the service's doing, whose answer may teach the driver ids. */
interface Both<R> {
  readonly told: string
  readonly expected: () => { readonly status: number; readonly made?: unknown }
  readonly actual: Effect.Effect<{ readonly status: number; readonly learn: (made: never) => void }, never, R>
}

const both = <M, A, R>(
  told: string,
  expected: () => { readonly status: number; readonly made?: M },
  actual: Effect.Effect<A, { readonly _tag: string }, R>,
  learn: (made: M, answer: A) => void = () => undefined
) => ({
  told,
  expected: expected as Both<R>["expected"],
  actual: Effect.map(status(actual), ({ answer, status }) => ({
    status,
    learn: (made: M) => learn(made, answer as A)
  }))
})

export const callersOf = (world: model.World): ReadonlyArray<model.Caller> => [...world.users, ...world.keys]

const callsOf = <R>(scene: Scene<R>, step: Step) => {
  const { orgs, persons, service, world } = scene
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
  const text = `value ${++scene.values}`
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
        // The invited person accepts by a call: the model knows no owner who has not.
        Effect.tap(service.invite(caller, org, user, role), () => Effect.ignore(service.listMembers(user, org)))
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

export type Call = keyof ReturnType<typeof callsOf>["calls"]

export const nameOf = (caller: model.Caller): string =>
  "superadmin" in caller ? `user ${caller.n}` : `a key of ${caller.account.name}`

/** Does one random call on both sides and holds them against each other. Answers what happened, as a sentence. */
export const take = <R>(scene: Scene<R>, step: Step) =>
  Effect.gen(function* () {
    if (step.call === "superadmin") {
      const user = pick(scene.world.users, step.user)
      user.superadmin = step.flag
      yield* scene.service.setSuperadmin(user, step.flag)
      return `user ${user.n} superadmin ${step.flag}`
    }
    const { caller, calls } = callsOf(scene, step)
    const { actual, expected, told } = calls[step.call as Call]() as Both<R>
    const found = yield* actual
    const wanted = expected()
    const sentence = `${nameOf(caller)}: ${step.call} ${told} is ${wanted.status}`
    assert.strictEqual(found.status, wanted.status, sentence)
    if (wanted.status === 200) found.learn(wanted.made as never)
    return sentence
  })
