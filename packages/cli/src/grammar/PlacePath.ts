import type { CommandLineSettings } from "@coffer/client/internal/Settings"
import * as Either from "effect/Either"

/** The ways to name a place in one word. */
export const pathForms = { env: "[[ORG/]PROJECT/]ENV", project: "[ORG/]PROJECT" } as const

/** Whether a word names a place by more than the environment: `webshop/prod` or `acme/webshop/prod`. */
export const isPlacePath = (word: string): boolean => /^(?:[a-z0-9-]+\/){1,2}[a-z0-9-]+$/.test(word)

const words = { org: "organizations", project: "projects" } as const

/** Joins what a path says with what an option says. */
const join = (key: keyof typeof words, path: string, part: string | undefined, option: string | undefined) =>
  part === undefined || option === undefined || part === option
    ? Either.right(part ?? option)
    : Either.left(`--${key} ${option} and ${path} name two different ${words[key]}: leave one of them out`)

/** The names in a path; undefined if there are more, or one is empty. */
export const partsOf = (path: string, most: number) => {
  const parts = path.split("/")
  return parts.length <= most && parts.every((part) => part !== "") ? parts : undefined
}

/** Reads `[[ORG/]PROJECT/]ENV` beside another place, whose names it takes where it has none. Fails with a sentence. */
export const placeBeside = (
  { org, project }: Pick<CommandLineSettings, "org" | "project">,
  path: string,
  option: string
): Either.Either<CommandLineSettings, string> => {
  const [envName, projectName, orgName] = (partsOf(path, 3) ?? []).reverse()
  return envName === undefined
    ? Either.left(`${option} takes ${pathForms.env}`)
    : Either.right({ org: orgName ?? org, project: projectName ?? project, env: envName })
}

/** Takes `ORG/PROJECT/ENV` in place of an environment apart, and `ORG/PROJECT` in place of a project. Fails with a sentence. */
export const splitPaths = (given: CommandLineSettings): Either.Either<CommandLineSettings, string> =>
  Either.gen(function* () {
    const { env = "", org, project = "" } = given
    const envParts = env.includes("/") ? partsOf(env, 3) : [env]
    if (envParts === undefined) return yield* Either.left(`--env takes ${pathForms.env}`)
    const projectParts = project.includes("/") ? partsOf(project, 2) : [project]
    if (projectParts === undefined) return yield* Either.left(`--project takes ${pathForms.project}`)
    const [envName, projectOfEnv, orgOfEnv] = envParts.reverse()
    const [projectName, orgOfProject] = projectParts.reverse()
    const known = yield* join("org", project, orgOfProject, org)
    return {
      ...given,
      org: yield* join("org", env, orgOfEnv, known),
      project: yield* join("project", env, projectOfEnv, projectName || undefined),
      env: envName || undefined
    }
  })
