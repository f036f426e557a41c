import { assert } from "@effect/vitest"
import { inStageOrder } from "@coffer/domain/directory/EnvironmentOrder"
import { Effect, Redacted } from "effect"
import * as model from "./Model.js"
import { nameOf, type Scene } from "./Steps.js"
import { status } from "./Support.js"

const levels = ["read", "write", "admin"] as const

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

/** Environments of the model, in the order of the service's lists. */
const inOrder = (expected: { readonly status: number; readonly made?: ReadonlyArray<string> }): Expected =>
  expected.made === undefined
    ? expected
    : { ...expected, made: namesOf(inStageOrder(expected.made.map((name) => ({ name })))) }

const agreeAt = <R>({ service, world }: Scene<R>, caller: model.Caller, at: model.At) =>
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

const agreeIn = <R>(scene: Scene<R>, caller: model.Caller, org: string) =>
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
        inOrder(model.listEnvs(world, caller, org, name)),
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
const agreeOnReasons = <R>({ service, world }: Scene<R>, root: model.User) =>
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
            assert.deepStrictEqual(
              [...allowed],
              wanted.length > 0 ? ["use", ...wanted] : [],
              `explain ${nameOf(subject)} in ${JSON.stringify(at)}`
            )
          }
        }
      }
    }
  })

/** Each of these callers, everywhere, everything: what the model says of them is what the service does. */
export const agree = <R>(scene: Scene<R>, root: model.User, callers: ReadonlyArray<model.Caller>) =>
  Effect.gen(function* () {
    const { orgs, service, world } = scene
    const ours = new Set(orgs)
    for (const caller of callers) {
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
