import type { ServiceAccountId } from "@coffer/domain/base/Ids"
import type { Email, EnvName, OrgName, ProjectName } from "@coffer/domain/base/Names"
import { useSignal } from "@preact/signals"
import * as Effect from "effect/Effect"
import { useId } from "preact/hooks"
import { call } from "../client/Calls.js"
import { environmentNames } from "../client/Environments.js"
import { useLoad } from "./Load.js"
import { Reading } from "./Reading.js"
import { Ahead } from "./When.js"

export type Subject =
  | { readonly subject_type: "user"; readonly email: Email }
  | { readonly subject_type: "service_account"; readonly subject_id: ServiceAccountId }

interface SubjectProps {
  readonly org: OrgName
  readonly subject: Subject
}

interface AccessProps extends SubjectProps {
  readonly project: ProjectName
  readonly env: EnvName
}

const keyOf = (subject: Subject) => (subject.subject_type === "user" ? subject.email : subject.subject_id)

const Access = ({ env, org, project, subject }: AccessProps) => {
  const found = useLoad([org, project, env, keyOf(subject)].join(" "), () =>
    call("acl", (api) => api.explain({ path: { org_name: org }, urlParams: { ...subject, project, env } }))
  )
  return (
    <Reading of={found}>
      {({ allowed, allowed_for_some: some = [], because }) => (
        <>
          <p>
            {allowed.length + some.length === 0 ? (
              <span class="badge">no access</span>
            ) : (
              allowed.map((permission) => (
                <span key={permission} class="badge good">
                  {permission}
                </span>
              ))
            )}
            {some.map((permission) => (
              <span key={permission} class="badge">
                {permission} for some keys
              </span>
            ))}
          </p>
          <ul class="reasons">
            {because.map((reason) => (
              <li key={`${reason.by} ${reason.rule_id ?? reason.permission}`}>
                <strong>{reason.denies === true ? `not ${reason.permission}` : reason.permission}</strong>{" "}
                {reason.by === "rule"
                  ? reason.group === undefined
                    ? "by a rule"
                    : `by a rule of the group ${reason.group}`
                  : reason.by === "role"
                    ? `by the role ${reason.role ?? ""}`
                    : "as a superadmin of this server"}
                {reason.key_pattern !== undefined && ` for ${reason.key_pattern}`}
                {reason.rule_id !== undefined && <code class="quiet"> {reason.rule_id}</code>}
                {reason.expires_at !== undefined && (
                  <>
                    , ends <Ahead time={reason.expires_at} />
                  </>
                )}
                {reason.limited_by !== undefined && <span class="quiet">, limited by {reason.limited_by}</span>}
              </li>
            ))}
          </ul>
          {because.length === 0 && <p class="quiet">No role and no rule gives access here.</p>}
        </>
      )}
    </Reading>
  )
}

const Environments = ({ org, project, subject }: SubjectProps & { readonly project: ProjectName }) => {
  const chosen = useSignal<EnvName | null>(null)
  const id = useId()
  const found = useLoad(`${org} ${project}`, () => environmentNames(org, project))
  return (
    <Reading of={found}>
      {(names) => {
        const env = names.find((name) => name === chosen.value) ?? names[0]
        return env === undefined ? (
          <p class="quiet">The project has no environments.</p>
        ) : (
          <>
            <label for={id}>Environment</label>
            <select
              id={id}
              value={env}
              onChange={({ currentTarget }) => {
                chosen.value = names.find((name) => name === currentTarget.value) ?? null
              }}
            >
              {names.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
            <Access org={org} project={project} env={env} subject={subject} />
          </>
        )
      }}
    </Reading>
  )
}

interface ExplainProps extends SubjectProps {
  /** The project that is shown first. */
  readonly project?: ProjectName | null
}

/** The permissions of a person or a service account in an environment, with the role or rule that determines each. */
export const Explain = ({ org, project: first = null, subject }: ExplainProps) => {
  const chosen = useSignal(first)
  const id = useId()
  const found = useLoad(org, () =>
    Effect.map(
      call("projects", (api) => api.list({ path: { org_name: org } })),
      ({ data }) => data.map(({ name }) => name)
    )
  )
  return (
    <div class="explain">
      <Reading of={found}>
        {(names) => {
          const project = names.find((name) => name === chosen.value) ?? names[0]
          return project === undefined ? (
            <p class="quiet">There are no projects yet.</p>
          ) : (
            <>
              <label for={id}>Project</label>
              <select
                id={id}
                value={project}
                onChange={({ currentTarget }) => {
                  chosen.value = names.find((name) => name === currentTarget.value) ?? null
                }}
              >
                {names.map((name) => (
                  <option key={name}>{name}</option>
                ))}
              </select>
              <Environments key={project} org={org} project={project} subject={subject} />
            </>
          )
        }}
      </Reading>
    </div>
  )
}
