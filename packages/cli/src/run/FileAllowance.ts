import type { PrivateFileError } from "@coffer/client/internal/PrivateFile"
import type { FoundServiceFiles } from "@coffer/client/internal/ServiceFile"
import { type FileTrust, fileTrust } from "@coffer/client/internal/TrustedFiles"
import * as Effect from "effect/Effect"

/** The keys that `service.yml` would pass on, and whether that file is trusted. */
export interface FileAllowance {
  /** The path of the file, for messages. */
  readonly name: string
  readonly keys: ReadonlyArray<string>
  readonly trust: FileTrust
}

/** Reads what `service.yml` allows. None if it allows nothing. */
export const fileAllowance = ({
  allowEnv
}: FoundServiceFiles): Effect.Effect<FileAllowance | undefined, PrivateFileError> =>
  allowEnv === undefined
    ? Effect.succeed(undefined)
    : Effect.map(fileTrust(allowEnv.file), (trust) => ({ name: allowEnv.file.name, keys: allowEnv.names, trust }))

const remedy = "read it, then run: coffer trust"

/** Why keys that the file allows are left out, and what to do. */
export const allowanceProblem = ({ keys, name, trust }: FileAllowance): string => {
  const why = trust === "changed" ? "has changed since it was trusted" : "is not trusted"
  return `${keys.join(", ")}: ${name} allows that, but ${why}; ${remedy}`
}
