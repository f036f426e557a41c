import type { DelegatedPlace } from "@coffer/client/internal/DelegationFile"
import type { OwnDelegation } from "@coffer/domain/directory/Delegation"

/** The environments of a delegation. */
export const placesOf = ({
  also = [],
  env,
  org,
  project
}: Pick<OwnDelegation, "also" | "env" | "org" | "project">): ReadonlyArray<DelegatedPlace> =>
  [{ project, env }, ...also].map((one) => ({ org_name: org, project_name: one.project, env_name: one.env }))
