import type { ShownRow } from "./Groups.js"
import type { TrackName } from "./Tracks.js"

/** The id of a cell's element; that of the key's own cell without a track. */
export const cellId = (key: ShownRow["key"], track: TrackName | null): string => `cell:${key}:${track ?? ""}`
