/**
 * Writes the section of the current version into CHANGELOG.md, from the subjects of the commits (`area: imperative`), grouped
 * by area. Usage: `node scripts/changelog.mjs [FROM]`, where FROM is the last commit of the release before. Run before a
 * release, in a full clone; the result is committed, and nothing else reads the history. A summary that somebody wrote under
 * the version's heading, above the areas, is kept.
 */
import { execFileSync } from "node:child_process"
import { readFile, writeFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { format, resolveConfig } from "prettier"

const root = new URL("../", import.meta.url)
const page = new URL("CHANGELOG.md", root)

/** Areas of changes that users do not notice. */
const internal = new Set(["bench", "build", "ci", "docs", "scripts", "tests"])
const rephrased = /\bplain words\b/

const [from] = process.argv.slice(2)
const { version } = JSON.parse(await readFile(new URL("package.json", root), "utf8"))

const log = execFileSync("git", ["log", "--format=%cs %s", ...(from === undefined ? [] : [`${from}..`])], {
  cwd: fileURLToPath(root),
  encoding: "utf8"
})
const commits = log.split("\n").flatMap((line) => {
  const [, date, areas, text] = /^(\S+) ([a-z-]+(?:, [a-z-]+)*): (.+)$/.exec(line) ?? []
  return areas === undefined ? [] : [{ date, areas: areas.split(", "), text }]
})

const byArea = new Map()
for (const { areas, text } of commits) {
  const [area] = areas
  if (internal.has(area) || rephrased.test(text)) continue
  byArea.set(area, [...(byArea.get(area) ?? []), text])
}

const before = await readFile(page, "utf8").catch(() => "")
const versions = before.split(/^(?=## )/m).filter((one) => /^## /.test(one))
const isOfVersion = (one) => one.startsWith(`## ${version} `)
const [, summary] = /^## .*\n([^]*?)(?=^### |(?![^]))/m.exec(versions.find(isOfVersion) ?? "") ?? []

const escaped = (text) => text.replace(/[*_<[\]`]/g, "\\$&")
const section = [
  `## ${version} (${commits[0].date})`,
  ...(summary === undefined ? [] : [summary.trim()]),
  ...[...byArea]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([area, texts]) => [`### ${area}`, texts.map((text) => `- ${escaped(text)}`).join("\n")])
]

const older = versions.filter((one) => !isOfVersion(one))
const text = [
  "# Changelog",
  "What changed in each release, by area. The newest change comes first.",
  ...section,
  ...older
]
await writeFile(page, await format(text.join("\n\n"), { ...(await resolveConfig(page)), parser: "markdown" }))
