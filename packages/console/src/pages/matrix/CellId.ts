import type { SecretKey } from "@coffer/domain/base/Names"
import type { TrackName } from "./Tracks.js"

/** The id of a cell's element; that of the key's own cell without a track. */
export const cellId = (key: SecretKey, track: TrackName | null): string => `cell:${key}:${track ?? ""}`
