import type { EnvPath } from "@coffer/domain/api/Paths"
import * as Effect from "effect/Effect"
import { momentText } from "../../base/Moments.js"
import type { Call } from "../../grammar/Command.js"
import { failed, ok, problem, warning } from "./Finding.js"

const drifts: ReadonlyArray<string> = ["changed there", "missing there"]

const nextTry = (moment: string | null) =>
  moment === null ? "tried again with the next change" : `tried again at ${momentText(moment)}`

/** Whether the server pushes to the targets of an environment as it should. Only admins may ask. */
export const checkTargets = (call: Call, path: EnvPath) =>
  Effect.match(
    call("targets", (api) => api.list({ path })),
    {
      onFailure: (failure) => [failed("targets", failure)],
      onSuccess: ({ data }) =>
        data
          .filter(({ automatic }) => automatic !== "off")
          .map(({ failures, name, paused, problem: why, retry_at, state }) =>
            paused !== null
              ? problem("targets", `${name} is stopped: ${paused}; then: coffer target resume ${name}`)
              : failures > 0
                ? problem(
                    "targets",
                    `${name} is not pushed: ${why ?? "it failed"}; ${nextTry(retry_at)}; now: coffer target resume ${name}`
                  )
                : why !== null
                  ? warning("targets", `${name}: ${why}: coffer push ${name} --plan`)
                  : state !== null && drifts.includes(state)
                    ? warning("targets", `${name}: keys are ${state}: coffer push ${name} --plan`)
                    : ok("targets", `${name} is pushed by the server`)
          )
    }
  )
