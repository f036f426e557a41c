import type { SecretPath } from "@coffer/domain/api/Paths"
import { inStageOrder } from "@coffer/domain/EnvironmentOrder"
import type { EnvName } from "@coffer/domain/Names"
import * as Effect from "effect/Effect"
import { call } from "../../client/Calls.js"
import { useLoad } from "../../kit/Load.js"
import { Reading } from "../../kit/Reading.js"
import { Link } from "../../routing/Link.js"
import { envOf, projectAddress, secretAddress } from "../../routing/Places.js"
import { query } from "../../routing/Router.js"
import { hasUses } from "../../state/Server.js"
import type { PageProps, PlaceAt } from "../PageProps.js"
import { CopyTo } from "./CopyTo.js"
import { Declared } from "./Declared.js"
import { Due } from "./Due.js"
import "./Page.css"
import { References } from "./References.js"
import { UseRules } from "./UseRules.js"
import { Versions } from "./Versions.js"

/** The matrix says where the key is, and what the caller may do there. */
const readEverywhere = ({ key, org, project }: PlaceAt<"secret">) =>
  Effect.map(
    call("environments", (api) =>
      api.matrix({ path: { org_name: org, project_name: project }, urlParams: {}, headers: {} })
    ),
    (response) => {
      const environments = response?.environments ?? []
      const cells = response?.data.find((row) => row.key === key)?.cells ?? []
      return inStageOrder(environments).map((env) => ({ env, cell: cells[environments.indexOf(env)] ?? null }))
    }
  )

const pathOf = ({ key, org, project }: PlaceAt<"secret">, env: EnvName): SecretPath => ({
  org_name: org,
  project_name: project,
  env_name: env,
  key
})

/** A secret: its versions in one environment, and what can be done with them. */
export const Page = ({ place }: PageProps<"secret">) => {
  const { key, org, project } = place
  const everywhere = useLoad(`${org}/${project}/${key}`, () => readEverywhere(place))
  return (
    <section class="narrow">
      <p>
        <Link to={projectAddress(org, project)}>← Matrix</Link>
      </p>
      <h1 class="key">{key}</h1>
      <Reading of={everywhere}>
        {(found) => {
          const wanted = envOf(query.value)
          const readable = found.filter(({ env }) => env.allowed.includes("read"))
          const first = readable.find(({ cell }) => cell !== null) ?? readable[0]
          const current = readable.find(({ env }) => env.name === wanted) ?? first
          if (current === undefined) return <p>You may not read any environment of this project.</p>
          return (
            <>
              <nav class="secret-envs" aria-label="Environments">
                {found.map(({ cell, env }) =>
                  env.allowed.includes("read") ? (
                    <Link
                      key={env.name}
                      to={secretAddress(org, project, env.name, key)}
                      class="button"
                      isCurrent={env.name === current.env.name}
                    >
                      {env.name} <span class="quiet">{cell === null ? "missing" : `v${String(cell.version)}`}</span>
                    </Link>
                  ) : (
                    <span key={env.name} class="button secret-off" title="not readable for you">
                      {env.name}
                    </span>
                  )
                )}
              </nav>
              <Versions
                key={current.env.name}
                path={pathOf(place, current.env.name)}
                env={current.env}
                cell={current.cell}
                changed={everywhere.reload}
              />
              {current.cell !== null && (
                <References
                  key={`references ${current.env.name}`}
                  path={pathOf(place, current.env.name)}
                  cell={current.cell}
                />
              )}
              {current.cell !== null && (
                <Due
                  key={`due ${current.env.name}`}
                  path={pathOf(place, current.env.name)}
                  env={current.env}
                  cell={current.cell}
                  changed={everywhere.reload}
                />
              )}
              {current.cell !== null && (
                <CopyTo
                  key={`copy ${current.env.name}`}
                  path={pathOf(place, current.env.name)}
                  targets={found.flatMap(({ env }) =>
                    env.name !== current.env.name && env.allowed.includes("write") ? [env] : []
                  )}
                />
              )}
              <Declared path={{ org_name: org, project_name: project, key }} />
              {current.cell !== null && hasUses() && (
                <UseRules key={`uses ${current.env.name}`} path={pathOf(place, current.env.name)} env={current.env} />
              )}
            </>
          )
        }}
      </Reading>
    </section>
  )
}
