import * as Record from "effect/Record"
import { fillLines, type Texts } from "./Fill.js"
import texts from "./install.json" with { type: "json" }

/** Returns the texts for the installation of a version of the client, and the place of its release. */
export const installTexts = (version: string): Texts => ({
  version,
  ...Record.map(texts, (lines) => fillLines(lines, { version }))
})
