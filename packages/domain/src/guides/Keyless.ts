import { fillPieces, type Piece } from "./Fill.js"
import { installTexts } from "./Install.js"
import guides from "./keyless.json" with { type: "json" }

/** Guides for CI systems and clusters whose jobs sign in without a stored key. */

export type KeylessSystem = keyof typeof guides

export interface KeylessUse {
  readonly server: string
  readonly audience: string
  /** `ORGANIZATION/ACCOUNT`. */
  readonly account: string
  /** The environment whose secrets the job gets: `ORG/PROJECT/ENV`, as one writes it. */
  readonly place: string
  /** The deployment environment of the CI system. */
  readonly environment: string | undefined
  /** The service account of the cluster. */
  readonly serviceAccount: string | undefined
}

/** Returns the configuration of a CI system or cluster that signs in, as YAML. */
export const keylessPieces = (system: KeylessSystem, use: KeylessUse, version: string): ReadonlyArray<Piece> =>
  fillPieces(guides[system], { ...use, ...installTexts(version) })
