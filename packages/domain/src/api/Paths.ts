import * as Schema from "effect/Schema"
import { EnvName, OrgName, ProjectName, SecretKey } from "../base/Names.js"

/** The parameters of paths, outermost first. */
export const orgPath = { org_name: OrgName }
export const projectPath = { ...orgPath, project_name: ProjectName }
export const envPath = { ...projectPath, env_name: EnvName }
export const secretPath = { ...envPath, key: SecretKey }

export const OrgPath = Schema.Struct(orgPath)
export type OrgPath = typeof OrgPath.Type
export const ProjectPath = Schema.Struct(projectPath)
export type ProjectPath = typeof ProjectPath.Type
export const EnvPath = Schema.Struct(envPath)
export type EnvPath = typeof EnvPath.Type
export const SecretPath = Schema.Struct(secretPath)
export type SecretPath = typeof SecretPath.Type

const org = "/api/orgs/:org_name"
const project = `${org}/projects/:project_name` as const
const env = `${project}/envs/:env_name` as const

export const paths = {
  orgs: "/api/orgs",
  org,
  projects: `${org}/projects`,
  project,
  matrix: `${project}/matrix`,
  envs: `${project}/envs`,
  env
} as const
