import * as Context from "effect/Context"
import * as Data from "effect/Data"

/** The environment variables of the process. */
export class Variables extends Context.Reference<Variables>()("@coffer/client/Variables", {
  defaultValue: (): Readonly<Record<string, string | undefined>> => process.env
}) {}

/** A setting is invalid. The message says where it was given. */
export class BadSetting extends Data.TaggedError("BadSetting")<{ readonly message: string }> {}

/** Returns the value of a variable. An empty variable counts as unset. */
export const variable = (env: Readonly<Record<string, string | undefined>>, name: string): string | undefined =>
  env[name] === "" ? undefined : env[name]
