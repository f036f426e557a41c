import type { EnvName, OrgName, ProjectName } from "@coffer/domain/base/Names"
import { environmentNames } from "../client/Environments.js"
import { envOf } from "../routing/Places.js"
import { query, setQuery } from "../routing/Router.js"
import { Choose } from "./Choose.js"
import { useLoad } from "./Load.js"
import { Problem } from "./Problem.js"

/** The environment that a page is about: the one that its address names, or else that of production, or the first. */
export const useEnvChoice = (org: OrgName, project: ProjectName) => {
  const { loaded, reload } = useLoad(`${org}/${project}`, () => environmentNames(org, project))
  const names = loaded.value.value ?? []
  const asked = envOf(query.value)
  const env: EnvName | undefined =
    names.find((name) => name === asked) ?? names.find((name) => /^prod/.test(name)) ?? names[0]
  const choice =
    env === undefined ? (
      <Problem failure={loaded.value.failure} retry={reload} />
    ) : (
      <div class="env-choice">
        <Choose label="Environment" value={env} words={names} choose={(name) => setQuery("env", name)} />
      </div>
    )
  return { env, choice }
}
