import * as Context from "effect/Context"

/** Whether this process still starts. Nobody waits for a response then, so its statements may take longer. */
export class Starting extends Context.Reference<Starting>()("@coffer/server/Starting", {
  defaultValue: (): { isOver: boolean } => ({ isOver: true })
}) {}
