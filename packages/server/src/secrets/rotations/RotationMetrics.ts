import { counters, gauge } from "../../base/Metrics.js"

/** The turns of rotations on this server: those that were done, and the tries of steps that failed. */
export const turns = counters<"done" | "failed">(
  "coffer_rotation_turns_total",
  "Turns of rotations on this server: done, or tries of a step that failed",
  "outcome",
  ["done", "failed"]
)

export const rotationsPaused = gauge(
  "coffer_rotations_paused",
  "Rotations that are paused, by people or after 10 failures; only on the server that renews"
)
