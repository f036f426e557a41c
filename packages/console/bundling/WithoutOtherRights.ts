import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import type { Plugin } from "vite"

const source = fileURLToPath(new URL("../src", import.meta.url))

const row = /^ *("\w+\.\w+"): \{.*?\brole: ("\w+").*?\},?$/gm

/** Leaves out the actions that no page names, and all of an action's needs but the role: the console decides on nothing else. */
export const withoutOtherRights = (): Plugin => {
  const text = readdirSync(source, { encoding: "utf8", recursive: true })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => readFileSync(`${source}/${name}`, "utf8"))
    .join("\n")
  return {
    name: "without-other-rights",
    transform(code, id) {
      if (!id.endsWith("/domain/dist/access/Permissions.js")) return null
      const short = code.replace(row, (_row, action: string, role: string) =>
        text.includes(action) ? `${action}: { role: ${role} },` : ""
      )
      if (short === code) throw new Error("the table of rights has another form")
      return { code: short, map: null }
    }
  }
}
