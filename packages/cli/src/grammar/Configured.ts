import { loadSettings } from "@coffer/client/internal/Settings"
import * as Effect from "effect/Effect"

interface NamedPlace {
  readonly org_name: string
  readonly project_name?: string
  readonly env_name?: string
}

/** Whether a command line without options finds this place: then a hint leaves its options out. */
export const isConfigured = ({ env_name, org_name, project_name }: NamedPlace) =>
  loadSettings({}).pipe(
    Effect.map(({ find }) =>
      (
        [
          ["org", org_name],
          ["project", project_name],
          ["env", env_name]
        ] as const
      ).every(([key, name]) => name === undefined || find(key)?.text === name)
    ),
    Effect.orElseSucceed(() => false)
  )
