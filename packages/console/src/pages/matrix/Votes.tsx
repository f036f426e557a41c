import type { EnvName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import { plainCall } from "../../client/Client.js"
import { votersOf } from "../../kit/Approvers.js"
import { useLoad } from "../../kit/Load.js"
import { Shield } from "../../kit/Shield.js"
import type { ProjectPlace } from "../../staging/Writes.js"

interface VotesProps {
  readonly place: ProjectPlace
  readonly envs: ReadonlyArray<EnvName>
}

/** Says which of the changes need votes, and whose. A protection that cannot be read is said without its people. */
export const Votes = ({ envs, place: { org, project } }: VotesProps) => {
  const { value } = useLoad(envs.join(" "), () =>
    Effect.forEach(
      envs,
      (env) =>
        plainCall("protections", (api) =>
          api.get({ path: { org_name: org, project_name: project, env_name: env } })
        ).pipe(
          Effect.map((protection) => `${votersOf(protection)} ${protection.needed === 1 ? "has" : "have"}`),
          Effect.orElseSucceed(() => "other people have")
        ),
      { concurrency: 3 }
    )
  ).loaded.value
  return (
    <div role="status">
      {envs.map((env, index) => (
        <p key={env} class="hint">
          <Shield /> {env} is protected: the change becomes a request, and is made once{" "}
          {value?.[index] ?? "other people have"} approved it.
        </p>
      ))}
    </div>
  )
}
