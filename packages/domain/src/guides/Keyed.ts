import * as Struct from "effect/Struct"
import { fillPieces, type Piece } from "./Fill.js"
import { installTexts } from "./Install.js"
import guides from "./keyed.json" with { type: "json" }

/** Guides for programs that sign in with a key. None contains the key. */

export type KeyedTarget = keyof typeof guides

export const keyedTargets = Struct.keys(guides)

export interface KeyedUse {
  readonly server: string
  readonly org: string
  readonly project: string
  readonly env: string
}

/** Returns the lines for a target, which stores the key among its own secrets. */
export const keyedPieces = (target: KeyedTarget, use: KeyedUse, version: string): ReadonlyArray<Piece> =>
  fillPieces(guides[target], { ...use, ...installTexts(version) })
