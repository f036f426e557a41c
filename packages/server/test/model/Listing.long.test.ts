import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import fc from "fast-check"
import { type Driver, driver, people } from "./Driver.js"
import type { Account, At, Caller, Key, Org, Role, Rule, User } from "./Model.js"
import { hasty, holds, onEverything, status } from "./Support.js"
import { isOnPostgres } from "../support/Services.js"
import { isSoak, runs } from "../../../domain/test/support/Runs.js"

const patternOf = (names: ReadonlyArray<string>) =>
  fc.oneof(
    fc.constantFrom("*", ...names),
    fc.constantFrom(...names).map((name) => `${name.slice(0, 2)}*`),
    fc.constantFrom(...names).map((name) => `*${name.slice(-1)}`),
    fc.constantFrom(...names).map((name) => name.replace(/[a-z]/, "?")),
    fc.tuple(fc.constantFrom(...names), fc.constantFrom(...names)).map((two) => `{${two.join(",")}}`)
  )

const projects = ["web", "web-api", "billing"]
const envs = ["dev", "staging", "prod"]
const keys = ["A", "B", "C"]

interface Setting {
  readonly roles: ReadonlyArray<Role>
  readonly rules: ReadonlyArray<Pick<Rule, "project" | "env" | "level"> & { readonly subject: number }>
  readonly secrets: ReadonlyArray<Pick<At, "project" | "env"> & { readonly key: string }>
}

const settings: fc.Arbitrary<Setting> = fc.record({
  roles: fc.tuple(...[1, 2, 3].map(() => fc.constantFrom<Role>("admin", "developer", "member"))),
  rules: fc.array(
    fc.record({
      subject: fc.nat(20),
      project: patternOf(projects),
      env: patternOf(envs),
      level: fc.constantFrom("read", "write", "admin")
    }),
    { maxLength: 8 }
  ),
  secrets: fc.uniqueArray(
    fc.record({ project: fc.constantFrom(...projects), env: fc.constantFrom(...envs), key: fc.constantFrom(...keys) }),
    { selector: (one) => JSON.stringify(one), maxLength: 6 }
  )
})

/** One environment, for one caller: the list, the bundle and each key say the same. */
const agreeAt = (service: Driver, caller: Caller, at: At) =>
  Effect.gen(function* () {
    const list = yield* status(service.listSecrets(caller, at))
    const whole = yield* status(service.readAll(caller, at))
    // An account that is never given a value is still shown the keys.
    const reveals = "superadmin" in caller || caller.account.reveal
    assert.strictEqual(whole.status, list.status === 200 && !reveals ? 403 : list.status)
    const listed = (list.answer ?? []).map(({ key, version }) => `${key} ${version}`)
    if (whole.status === 200) {
      const bundled = whole.answer!.bundle!.data.map(({ key, version }) => `${key} ${version}`)
      assert.deepStrictEqual(bundled, listed)
    }
    for (const key of keys) {
      const got = yield* status(service.readSecret(caller, at, key))
      const isListed = listed.some((one) => one.startsWith(`${key} `))
      assert.strictEqual(got.status, whole.status !== 200 ? whole.status : isListed ? 200 : 404)
    }
  })

describe("what a list shows", () => {
  it.live(
    "is what get allows, for random rules and subjects: organizations, projects, secrets and rules",
    () =>
      Effect.gen(function* () {
        yield* hasty
        const persons = yield* people(5)
        let begun = 0
        const property = ({ roles, rules, secrets }: Setting) =>
          Effect.gen(function* () {
            const service = yield* driver(persons)
            const names = [`shown-${++begun}`, `hidden-${begun}`]
            const [org, other] = names as [string, string]
            const users = persons.map((_, n): User => ({ type: "user", n, superadmin: false }))
            const [owner, ...rest] = users as [User, ...Array<User>]
            const outsider = users.at(-1)!
            yield* service.createOrg(owner, org)
            yield* service.createOrg(outsider, other)
            for (const project of projects) yield* service.createProject(owner, org, project)
            for (const [index, role] of roles.entries()) yield* service.invite(owner, org, rest[index]!, role)
            const where: Org = { name: org, alive: true, members: [], projects: [] }
            const machines: Array<Account> = []
            const machineKeys: Array<Key> = []
            for (const [index, project] of [undefined, "web", undefined].entries()) {
              const reveal = index !== 2
              const account: Account = {
                type: "account",
                org: where,
                name: `m${index}`,
                project: null,
                reveal,
                alive: true
              }
              const key = { account, good: true }
              service.keepAccount(
                account,
                key,
                yield* service.createAccount(owner, org, { name: account.name, project, reveal })
              )
              machines.push(account)
              machineKeys.push(key)
            }
            const subjects = [...users.slice(1, 4), ...machines]
            const granted = new Map<string, Rule>()
            for (const { subject: n, ...patterns } of rules) {
              const subject = subjects[n % subjects.length]!
              const { rule } = yield* service.grant(owner, org, { subject, ...patterns })
              const made: Rule = { org: where, subject, ...patterns, alive: true }
              service.keepRule(made, rule.id)
              granted.set(rule.id, made)
            }
            for (const { key, ...at } of secrets)
              yield* service.setSecret(owner, { org, ...at }, key, `value of ${key}`)

            for (const caller of [...users, ...machineKeys] as ReadonlyArray<Caller>) {
              const told = JSON.stringify("superadmin" in caller ? caller.n : caller.account.name)
              const listed = (yield* service.listOrgs(caller)).map(({ name }) => String(name))
              for (const name of names) {
                const got = yield* status(service.readOrg(caller, name))
                assert.strictEqual(got.status, listed.includes(name) ? 200 : 404, `${told} ${name}`)
              }
              const shown = yield* status(service.listProjects(caller, org))
              const shownNames = (shown.answer ?? []).map(({ name }) => String(name))
              for (const project of projects) {
                const got = yield* status(service.listEnvs(caller, org, project))
                assert.strictEqual(got.status, shownNames.includes(project) ? 200 : 404, `${told} ${project}`)
                for (const env of envs) yield* agreeAt(service, caller, { org, project, env })
              }
            }

            // Last, because it changes things: the rules that a caller is shown are those that it can revoke.
            const ruleCaller = ([...users.slice(1, 4), ...machineKeys] as ReadonlyArray<Caller>)[begun % 6]!
            const rulesShown = yield* status(service.listRules(ruleCaller, org))
            const shownIds = new Set((rulesShown.answer ?? []).map(({ id }) => String(id)))
            // Rules that are not shown go first: a caller that revokes its own admin rule loses what it rested on.
            const order = [...granted].sort(([a], [b]) => Number(shownIds.has(a)) - Number(shownIds.has(b)))
            for (const [id, rule] of order) {
              const got = yield* status(service.revoke(ruleCaller, org, rule))
              const wanted = rulesShown.status !== 200 ? rulesShown.status : shownIds.has(id) ? 200 : 404
              if (got.status !== wanted) {
                // Allowed only where the ground itself was revoked on the way.
                assert.isTrue(
                  wanted === 200 && !("superadmin" in ruleCaller) && [403, 404].includes(got.status),
                  `${got.status} ${wanted}`
                )
              }
            }
          })
        yield* holds(settings, property, {
          numRuns: runs(isOnPostgres() ? 5 : 20)
        })
      }).pipe(onEverything),
    isSoak ? 1_200_000 : 300_000
  )
})
