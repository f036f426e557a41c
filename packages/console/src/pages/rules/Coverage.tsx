import type { EnvName, OrgName, ProjectName } from "@coffer/domain/base/Names"
import type { Pattern } from "@coffer/domain/base/Pattern"
import { matcherOf } from "@coffer/domain/base/PatternMatch"
import * as Effect from "effect/Effect"
import { call } from "../../client/Calls.js"
import { environmentNames } from "../../client/Environments.js"
import { useLoad } from "../../kit/Load.js"
import { Reading } from "../../kit/Reading.js"

/** The environments of more projects are not read. */
const shown = 20

interface Patterns {
  readonly org: OrgName
  readonly project: Pattern | null
  readonly env: Pattern | null
}

const readEnvironments = (org: OrgName, projects: ReadonlyArray<ProjectName>) =>
  Effect.forEach(projects, (project) => Effect.map(environmentNames(org, project), (envs) => ({ project, envs })), {
    concurrency: 4
  })

const Place = ({
  envs,
  isCovered,
  project
}: {
  readonly project: ProjectName
  readonly envs: ReadonlyArray<EnvName>
  readonly isCovered: (env: EnvName) => boolean
}) => (
  <li>
    <span class="rules-project">{project}</span>
    {envs.map((env) => (
      <span key={env} class={isCovered(env) ? "badge good" : "badge rules-out"}>
        {isCovered(env) ? "✓ " : "– "}
        {env}
        <span class="hidden">{isCovered(env) ? " is covered" : " is not covered"}</span>
      </span>
    ))}
  </li>
)

const Places = ({
  env,
  matching,
  org
}: {
  readonly org: OrgName
  readonly env: Pattern | null
  readonly matching: ReadonlyArray<ProjectName>
}) => {
  const first = matching.slice(0, shown)
  const found = useLoad(`${org} ${first.join(" ")}`, () => readEnvironments(org, first))
  return (
    <Reading of={found}>
      {(places) => (
        <>
          <ul class="rules-places">
            {places.map(({ envs, project }) => (
              <Place
                key={project}
                project={project}
                envs={envs}
                isCovered={(name) => env !== null && matcherOf(name)(env)}
              />
            ))}
          </ul>
          {matching.length > shown && <p class="quiet">and {matching.length - shown} more projects</p>}
        </>
      )}
    </Reading>
  )
}

const Covered = ({ env, org, project }: Patterns & { readonly project: Pattern }) => {
  const projects = useLoad(org, () =>
    Effect.map(
      call("projects", (api) => api.list({ path: { org_name: org } })),
      ({ data }) => data.map(({ name }) => name)
    )
  )
  return (
    <Reading of={projects}>
      {(names) => {
        const matching = names.filter((name) => matcherOf(name)(project))
        return (
          <>
            <p role="status">
              {matching.length === 0
                ? "No project has such a name yet."
                : `${matching.length} of ${names.length} projects${env === null ? "" : ", where marked"}.`}
            </p>
            <Places org={org} env={env} matching={matching} />
            <p class="quiet">New projects and environments with such names are covered too.</p>
          </>
        )
      }}
    </Reading>
  )
}

/** The places that patterns cover at this moment. Later projects with such names are covered too. */
export const Coverage = ({ env, org, project }: Patterns) =>
  project === null ? (
    <p class="quiet">Type a pattern of projects, such as web* or {"{shop,blog}"}.</p>
  ) : (
    <Covered env={env} org={org} project={project} />
  )
