import type { ServerUrl } from "@coffer/domain/client/ServerUrl"
import type { EnvName, OrgName, ProjectName } from "@coffer/domain/Names"
import { Effect } from "effect"
import { NotThere } from "../../Failures.js"
import { type Call, connect } from "../../grammar/Command.js"
import { note } from "../../terminal/Print.js"

interface Names {
  readonly org: OrgName | undefined
  readonly project: ProjectName | undefined
  readonly env: EnvName | undefined
}

const notThere = (what: string, list: string) =>
  new NotThere({ message: `there is no ${what}, or you may not see it; coffer ${list} shows what there is` })

const check = Effect.fnUntraced(function* (call: Call, { env, org, project }: Names) {
  if (org === undefined) return
  const orgs = yield* call("organizations", (api) => api.list({}))
  if (!orgs.data.some(({ name }) => name === org)) return yield* notThere(`organization ${org}`, "org list")
  if (project === undefined) return
  const projects = yield* call("projects", (api) => api.list({ path: { org_name: org } }))
  if (!projects.data.some(({ name }) => name === project)) {
    return yield* notThere(`project ${project} in ${org}`, `project list --org ${org}`)
  }
  if (env === undefined) return
  const path = { org_name: org, project_name: project }
  const environments = yield* call("environments", (api) => api.list({ path }))
  if (!environments.data.some(({ name }) => name === env)) {
    return yield* notThere(`environment ${env} in ${org}/${project}`, `env list --org ${org} --project ${project}`)
  }
})

/**
 * Fails with NotThere if the server does not have a name. A server that cannot be asked, or that refuses to tell, is no
 * reason to fail: a note says so.
 */
export const checkNames = (server: ServerUrl, place: Names) =>
  place.org === undefined
    ? Effect.void
    : Effect.flatMap(connect(server), ({ call }) => check(call, place)).pipe(
        Effect.timeoutFail({ duration: "10 seconds", onTimeout: () => new Error("no answer within 10 s") }),
        Effect.catchAll((failure) =>
          failure instanceof NotThere
            ? Effect.fail(failure)
            : note(`whether these names exist could not be checked: ${failure.message}`)
        )
      )
