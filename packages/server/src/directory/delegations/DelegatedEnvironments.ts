import type { Delegated } from "@coffer/domain/access/Actor"

/** The environments of a delegation as its responses have them. */
export const environmentsOf = ([first, ...others]: Delegated["places"]) => ({
  project: first.project.name,
  env: first.env.name,
  ...(others.length > 0 && { also: others.map(({ env, project }) => ({ project: project.name, env: env.name })) })
})
