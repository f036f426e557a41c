import { CurrentCaller } from "@coffer/domain/access/Actor"
import { Email, EnvName, OrgName, ProjectName, ServiceAccountName } from "@coffer/domain/base/Names"
import { Pattern } from "@coffer/domain/base/Pattern"
import * as Headers from "@effect/platform/Headers"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { Access } from "../../access/Access.js"
import { Authenticator } from "../../access/caller/Authenticator.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { Acl } from "../../directory/acl/Acl.js"
import { Sessions } from "../../directory/login/Sessions.js"
import { Users } from "../../directory/login/Users.js"
import { Organizations } from "../../directory/organizations/Organizations.js"
import { Projects } from "../../directory/projects/Projects.js"
import { ServiceAccounts } from "../../directory/service-accounts/ServiceAccounts.js"
import { InstanceLive } from "../../keys/Instance.js"
import { KeyringLive } from "../../keys/Keyring.js"
import { WrapBudget } from "../../keys/WrapBudget.js"
import { Environments } from "../../secrets/environments/Environments.js"
import { Bundles } from "../../secrets/services/Bundles.js"
import { EngineLive } from "../Engine.js"
import { sessionOf } from "../offline/OfflineSession.js"
import { DevRefused } from "./DevRefused.js"
import type { Seed } from "./SeedFile.js"

const org = { org_name: OrgName.make("dev") }
const project = { ...org, project_name: ProjectName.make("app") }
const owner = Schema.decodeSync(Email)("dev@example.com")
const pattern = Schema.decodeSync(Pattern)
const account = ServiceAccountName.make("app")

/** The path of an environment, as clients take it. */
export const placeOf = (env: string): string => `${project.org_name}/${project.project_name}/${env}`

/** An environment of every new project, for a seed that names none. */
const firstEnv = EnvName.make("dev")

const fill = (seed: Seed, file: string) =>
  Effect.gen(function* () {
    const access = yield* Access
    const environments = yield* Environments
    const bundles = yield* Bundles
    const existing = yield* Effect.flatMap(access.project(project, "env.list"), environments.list)
    for (const [env_name, set] of seed) {
      const entering = access.right({ ...project, env_name }, "secret.write")
      yield* Effect.gen(function* () {
        if (!existing.some(({ name }) => name === env_name)) {
          yield* access.change(access.project(project, "env.create"), (place) => environments.create(place, env_name))
        }
        const draft = yield* bundles.prepare(entering, { set })
        yield* access.change(entering, (place) => bundles.write(place, { set }, undefined, draft))
      }).pipe(Effect.mapError(({ message }) => new DevRefused({ message: `${file}: ${env_name}: ${message}` })))
    }
  })

/** Makes the organization, the project and an account that reads and writes the project. Returns the account's key. */
const found = Effect.gen(function* () {
  const access = yield* Access
  const organizations = yield* Organizations
  const projects = yield* Projects
  const accounts = yield* ServiceAccounts
  const acl = yield* Acl
  yield* access.change(access.founder(), (founder) => organizations.create(founder, org.org_name))
  yield* access.change(access.org(org, "project.create"), (place) => projects.create(place, project.project_name))
  const { api_key, id } = yield* access.change(access.org(org, "service_account.create"), (place) =>
    accounts.create(place, { name: account, project: project.project_name })
  )
  yield* access.change(access.org(org, "acl.grant"), (place) =>
    acl.grant(place, {
      subject_type: "service_account",
      subject_id: id,
      project_pattern: pattern(project.project_name),
      env_pattern: pattern("*"),
      permission: "write"
    })
  )
  return api_key ?? (yield* Effect.dieMessage("a new account has no key"))
})

const services = Layer.mergeAll(
  Users.Default,
  Sessions.Default,
  Organizations.Default,
  Projects.Default,
  Environments.Default,
  ServiceAccounts.Default,
  Acl.Default,
  Bundles.Default,
  Authenticator.Default
).pipe(
  Layer.provideMerge(Access.Default),
  Layer.provideMerge(AuditLog.Default),
  Layer.provide([InstanceLive, WrapBudget.Default]),
  Layer.provideMerge(EngineLive),
  Layer.provide(KeyringLive)
)

/** Fills an empty database by the rules of the API, as a person who owns it. Returns the key and the first place. */
export const seedDatabase = (seed: Seed, file: string) =>
  Effect.gen(function* () {
    const token = yield* sessionOf(owner)
    const { identify } = yield* Authenticator
    const caller = yield* identify(Headers.fromInput({ authorization: `Bearer ${Redacted.value(token)}` }))
    return yield* Effect.gen(function* () {
      const api_key = yield* Effect.orDie(found)
      yield* fill(seed, file)
      const [first = firstEnv] = seed.keys()
      return { api_key, place: placeOf(first) }
    }).pipe(Effect.provideService(CurrentCaller, caller))
  }).pipe(Effect.catchTag("Unauthorized", Effect.die), Effect.provide(services))
