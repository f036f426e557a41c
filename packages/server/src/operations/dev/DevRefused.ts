import * as Data from "effect/Data"

/** Why `coffer-server dev` does not start as it was asked to: one sentence, without values. */
export class DevRefused extends Data.TaggedError("DevRefused")<{ readonly message: string }> {}
