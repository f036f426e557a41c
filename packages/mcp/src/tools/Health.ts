import * as Schema from "effect/Schema"
import { reads } from "../Hints.js"
import { parameters, tool } from "../Tool.js"

export const healthCheck = tool({
  name: "health_check",
  title: "Check the server",
  description:
    "Returns the status ok when the server answers, and an error that says why when it does not. It needs no credential. " +
    "Use it first when other tools fail to reach the server.",
  hints: reads,
  parameters: parameters({}),
  at: "server",
  credential: false,
  output: Schema.Struct({ status: Schema.Literal("ok") }),
  run: (call) => call("system", (api) => api.health())
})
