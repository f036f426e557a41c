import * as Context from "effect/Context"

/** The version of this program. */
export class Version extends Context.Reference<Version>()("@coffer/cli/base/Version", {
  defaultValue: () => "0.0.0-dev"
}) {}
