/**
 * Writes docs/licences.md: the licence of every production dependency, from the lockfile and the packages. With `--check`,
 * it only fails if the page is stale. It always fails on a licence that is not on the list.
 */
import { readFile, writeFile } from "node:fs/promises"
import { format, resolveConfig } from "prettier"

const root = new URL("../", import.meta.url)
const page = new URL("docs/licences.md", root)

/** Permissive licences: they require only attribution. */
const allowed = new Set([
  "0BSD",
  "Apache-2.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "BlueOak-1.0.0",
  "ISC",
  "MIT",
  "MIT-0",
  "Unlicense"
])

/** Checks an SPDX expression of the forms in use: `(MIT OR WTFPL)`, `(BSD-2-Clause OR MIT OR Apache-2.0)`. */
const isAllowed = (licence) =>
  licence
    .replace(/^\(|\)$/g, "")
    .split(" OR ")
    .some((choice) => choice.split(" AND ").every((one) => allowed.has(one)))

const lock = JSON.parse(await readFile(new URL("package-lock.json", root), "utf8"))

const licenceOf = async (path, entry) => {
  if (entry.license !== undefined) return entry.license
  const manifest = await readFile(new URL(`${path}/package.json`, root), "utf8").then(JSON.parse, () => ({}))
  const { license, licenses } = manifest
  return license?.type ?? license ?? licenses?.map(({ type }) => type).join(" OR ") ?? "unknown"
}

const packages = await Promise.all(
  Object.entries(lock.packages)
    .filter(([path, entry]) => path.includes("node_modules/") && !entry.dev && !entry.link)
    .map(async ([path, entry]) => ({
      name: path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length),
      version: entry.version,
      licence: await licenceOf(path, entry),
      optional: entry.optional === true
    }))
)

const rows = [...new Map(packages.map((one) => [`${one.name} ${one.version}`, one])).values()].sort((a, b) =>
  `${a.name} ${a.version}` < `${b.name} ${b.version}` ? -1 : 1
)
const refused = rows.filter(({ licence }) => !isAllowed(licence))
for (const { licence, name, version } of refused) {
  process.stderr.write(
    `${name} ${version} has the licence ${licence}, which is not on the list in scripts/licences.mjs\n`
  )
}

const counts = [...rows.reduce((sums, { licence }) => sums.set(licence, (sums.get(licence) ?? 0) + 1), new Map())].sort(
  ([, a], [, b]) => b - a
)

const text = [
  "# Licences",
  `For everybody who redistributes Coffer: the licences of the ${rows.length} packages that run with it. Coffer itself is under [Apache-2.0](../LICENSE).`,
  "<!-- Written by scripts/licences.mjs from package-lock.json: run npm run generate when that changes. -->",
  "Packages that only build and test it are not listed. Each package brings the text of its licence with it. `npm run sbom` prints the same as a CycloneDX bill of materials.",
  ["| licence | packages |", "| --- | --- |", ...counts.map(([licence, count]) => `| ${licence} | ${count} |`)].join(
    "\n"
  ),
  "## Packages",
  [
    "| package | version | licence |",
    "| --- | --- | --- |",
    ...rows.map(
      ({ licence, name, optional, version }) => `| ${name}${optional ? " (optional)" : ""} | ${version} | ${licence} |`
    )
  ].join("\n")
].join("\n\n")

const formatted = await format(text, { ...(await resolveConfig(page)), parser: "markdown" })
if (!process.argv.includes("--check")) await writeFile(page, formatted)
else if (formatted !== (await readFile(page, "utf8").catch(() => ""))) {
  process.stderr.write("docs/licences.md is stale; run: npm run generate\n")
  process.exitCode = 1
}
if (refused.length > 0) process.exitCode = 1
