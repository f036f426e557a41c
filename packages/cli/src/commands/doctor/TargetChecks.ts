import type { EnvPath } from "@coffer/domain/api/Paths"
import * as Effect from "effect/Effect"
import type { Call } from "../../grammar/Command.js"
import { failed, ok, problem, warning } from "./Finding.js"

/** Whether the server pushes to the targets of an environment as it should. Only admins may ask. */
export const checkTargets = (call: Call, path: EnvPath) =>
  Effect.match(
    call("targets", (api) => api.list({ path })),
    {
      onFailure: (failure) => [failed("targets", failure)],
      onSuccess: ({ data }) =>
        data
          .filter(({ automatic }) => automatic !== "off")
          .map(({ failures, name, paused, problem: why, retry_at }) =>
            paused !== null
              ? problem("targets", `${name} is stopped: ${paused}; then: coffer target resume ${name}`)
              : failures > 0
                ? problem(
                    "targets",
                    `${name} is not pushed: ${why ?? "it failed"}; tried again at ${retry_at ?? "once"}`
                  )
                : why !== null
                  ? warning("targets", `${name}: ${why}: coffer push ${name} --plan`)
                  : ok("targets", `${name} is pushed by the server`)
          )
    }
  )
