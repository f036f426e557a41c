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

/** One key, as far as its platform tells: its value, a version or a time, or only that it is there. */
export interface Told {
  readonly value?: Redacted.Redacted
  /** Changes whenever the key does. */
  readonly stamp?: string
  /** Its id there, or a property that a write of it must repeat. */
  readonly ref?: string
}

/** A target, as its platform tells. */
export interface Listed {
  readonly keys: ReadonlyMap<string, Told>
  /** Changes whenever the target does, as far as the platform tells. */
  readonly stamp: string
  /** Properties that a write must repeat, such as the key that values are sealed with. */
  readonly extra?: Readonly<Record<string, string>>
}

/** Values to write, and names to remove. */
export interface Writing {
  readonly put: ReadonlyMap<string, Value>
  readonly remove: ReadonlyArray<string>
}

interface EveryKind {
  /** The most that a list tells of a key. */
  readonly tells: "values" | "versions" | "times" | "names"
  /** The problem with a name or a value for the platform; null if it takes them. */
  readonly refuses: (name: string, value: string, place: TargetPlace) => string | null
  readonly list: (connection: Connection) => Effect.Effect<Listed, PlatformFailed>
}

/** Platforms that change all keys of a target at once, or none. */
export interface WholeKind extends EveryKind {
  /** Writes, unless the target has changed since it was listed. */
  readonly write: (connection: Connection, listed: Listed, writing: Writing) => Effect.Effect<void, PlatformFailed>
}

/** Platforms that change one key at a time. */
export interface SingleKind extends EveryKind {
  /** One call at a time, because each writes what another one does. */
  readonly isOrdered?: true
  /** Writes a key. Returns its new stamp, if the platform tells it. */
  readonly put: (
    connection: Connection,
    listed: Listed,
    name: string,
    value: string
  ) => Effect.Effect<string | undefined, PlatformFailed>
  readonly remove: (connection: Connection, listed: Listed, name: string) => Effect.Effect<void, PlatformFailed>
}

export type TargetKind = WholeKind | SingleKind
