import type { EnvPath } from "@coffer/domain/api/Paths"
import type { KeyCheck } from "@coffer/domain/secrets/DeclaredKey"
import { inStageOrder } from "@coffer/domain/directory/EnvironmentOrder"
import type { EnvName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import { CannotDo } from "../../base/Failures.js"
import { atEnvs, type Call } from "../../grammar/Command.js"
import { inPlace, optionalPlace } from "../../grammar/PlaceForm.js"
import { note, printTable } from "../../terminal/Print.js"
import { printView, type View } from "../../terminal/View.js"

interface Checked extends KeyCheck {
  readonly environment: EnvName
}

const problemsOf = ({ breaks, environment, extra, missing }: Checked) => [
  ...missing.map((key) => [environment, key, "missing"] as const),
  ...(breaks ?? []).map((key) => [environment, key, "breaks its pattern"] as const),
  ...extra.map((key) => [environment, key, "not declared"] as const)
]

const check = (call: Call, path: EnvPath) =>
  Effect.map(
    call("declared", (api) => api.check({ path })),
    (found): Checked => ({ environment: path.env_name, ...found })
  )

/** The environments that the caller may list, each with its check, and the names of the others. */
const checkAll = Effect.fnUntraced(function* (call: Call, path: Omit<EnvPath, "env_name">) {
  const { data } = yield* call("environments", (api) => api.list({ path }))
  const hidden: Array<EnvName> = []
  const checked = yield* Effect.forEach(inStageOrder(data), ({ name }) =>
    Effect.catchTag(check(call, { ...path, env_name: name }), "Forbidden", () => {
      hidden.push(name)
      return Effect.succeed(null)
    })
  )
  return { checked: checked.filter((one) => one !== null), hidden }
})

const viewOf = (checked: ReadonlyArray<Checked>): View => {
  const problems = checked.flatMap(problemsOf)
  return {
    json: { data: checked },
    text: problems.length === 0 ? Effect.void : printTable(["environment", "key", "problem"], problems)
  }
}

export const checkCommand = atEnvs("check", {
  description: "Compare the keys of an environment with what the project declares; exit 1 if they differ",
  examples: ["coffer check", "coffer check webshop/prod --json", "coffer check --all-envs"],
  options: { place: optionalPlace },
  place: inPlace,
  run: ({ call, json, path: { env_name, ...path } }) =>
    Effect.gen(function* () {
      const { checked, hidden } =
        env_name === undefined
          ? yield* checkAll(call, path)
          : { checked: [yield* check(call, { ...path, env_name })], hidden: [] }
      if (hidden.length > 0) yield* note(`left out, because you may not list them: ${hidden.join(", ")}`)
      const place = env_name === undefined ? path.project_name : `${path.project_name}/${env_name}`
      if (checked.every(({ declared }) => declared === 0)) {
        yield* printView({ ...viewOf(checked), text: Effect.void }, json)
        return yield* note(`project ${path.project_name} declares no keys: coffer declare --from .env.example begins`)
      }
      yield* printView(viewOf(checked), json)
      if (checked.some(({ breaks }) => breaks === null)) {
        yield* note("patterns were not checked: this service account is never given values")
      }
      const count = checked.flatMap(problemsOf).length
      if (count === 0) return yield* note(`${place} has what is declared`)
      return yield* new CannotDo({
        message: `${place}: ${count === 1 ? "1 key differs" : `${count} keys differ`} from what is declared`
      })
    })
})
