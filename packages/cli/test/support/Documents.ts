import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

export const root = fileURLToPath(new URL("../../../../", import.meta.url))

/** Every page that the project has, by its path from the root. */
export const pages = [
  ...readdirSync(root),
  ...["docs", "deploy"].flatMap((folder) =>
    readdirSync(`${root}/${folder}`, { encoding: "utf8", recursive: true }).map((name) => `${folder}/${name}`)
  )
]
  .filter((name) => name.endsWith(".md"))
  .map((path) => ({ path, text: readFileSync(`${root}/${path}`, "utf8") }))

/** A fenced block of a page. */
export interface Block {
  readonly path: string
  readonly line: number
  readonly language: string
  /** The text after the language. */
  readonly info: string
  readonly text: string
}

export const blocksOf = ({ path, text }: (typeof pages)[number]): ReadonlyArray<Block> =>
  [...text.matchAll(/^```(\S*)[ \t]*(.*)\n([\s\S]*?)^```$/gm)].map(([, language = "", info = "", body = ""], index) => {
    const [found] = [...text.matchAll(/^```(\S*)[ \t]*(.*)\n([\s\S]*?)^```$/gm)].slice(index)
    return { path, line: text.slice(0, found?.index ?? 0).split("\n").length, language, info, text: body }
  })

/** Returns the commands that a console block shows, each with its output. */
export const shownIn = (text: string) =>
  text
    .split(/^\$ /m)
    .slice(1)
    .map((shown) => {
      const [command = "", ...output] = shown.trimEnd().split("\n")
      return { command, output: output.join("\n") }
    })
