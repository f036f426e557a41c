import type { TargetPlace } from "@coffer/domain/secrets/TargetKinds"
import type * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import type { Value } from "../../keys/Envelope.js"
import type { Ask } from "./PlatformCalls.js"
import type { PlatformFailed } from "./PlatformFailed.js"

/** A target, with what authenticates there. */
export interface Connection {
  readonly place: TargetPlace
  readonly credential: Value
  readonly ask: Ask
}

/** One key, as far as its platform tells: its value, a digest or a time, or only that it is there. */
export interface Told {
  readonly value?: Redacted.Redacted
  /** Changes whenever the key does, as far as the platform tells. */
  readonly stamp?: string
}

/** A target, as its platform tells. */
export interface Listed {
  readonly keys: ReadonlyMap<string, Told>
  /** Changes whenever the target does, as far as the platform tells. */
  readonly stamp: string
}

/** Values to write, and names to remove. */
export interface Writing {
  readonly put: ReadonlyMap<string, Value>
  readonly remove: ReadonlyArray<string>
}

interface EveryKind {
  /** The problem with a name or a value for the platform; null if it takes them. */
  readonly refuses: (name: string, value: string) => string | null
  readonly list: (connection: Connection) => Effect.Effect<Listed, PlatformFailed>
}

/** Platforms that change all keys of a target at once, or none. */
export interface WholeKind extends EveryKind {
  /** Writes, unless the target has changed since it was listed. */
  readonly write: (connection: Connection, listed: Listed, writing: Writing) => Effect.Effect<void, PlatformFailed>
}

/** Platforms that change one key at a time. */
export interface SingleKind extends EveryKind {
  readonly put: (
    connection: Connection,
    listed: Listed,
    name: string,
    value: string
  ) => Effect.Effect<void, PlatformFailed>
  readonly remove: (connection: Connection, listed: Listed, name: string) => Effect.Effect<void, PlatformFailed>
}

export type TargetKind = WholeKind | SingleKind
