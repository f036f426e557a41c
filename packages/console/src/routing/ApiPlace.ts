import { envNameForm, orgNameForm, projectNameForm } from "@coffer/domain/base/NameForms"
import type { EnvName, OrgName, ProjectName } from "@coffer/domain/base/Names"

/** The part of a path of the API that names an organization, a project or an environment. */
export const placeOfPath = (path: string): string =>
  /^\/api\/orgs\/[^/]+(\/projects\/[^/]+(\/envs\/[^/]+)?)?/.exec(path)?.[0] ?? ""

/** The organization that a path of the API names; null if it names none. */
export const orgOfPath = (path: string): OrgName | null => {
  const [, , , org = ""] = path.split("/")
  return orgNameForm.is(org) ? org : null
}

export interface NamedEnv {
  readonly org_name: OrgName
  readonly project_name: ProjectName
  readonly env_name: EnvName
}

/** The environment that a path of the API names; null if it names none. */
export const envOfPath = (path: string): NamedEnv | null => {
  const [, , , org_name = "", , project_name = "", , env_name = ""] = path.split("/")
  return orgNameForm.is(org_name) && projectNameForm.is(project_name) && envNameForm.is(env_name)
    ? { org_name, project_name, env_name }
    : null
}
