/** The picture of docs/performance.md: how many requests of each kind a core carries in a second, by their processor time. */

const width = 720
const left = 150
const scale = 430
const barHeight = 18
const groupHeight = 64

const bar = ({ value, style, y, most }) => {
  const length = Math.max(2, Math.round((value / most) * scale))
  return [
    `<rect x="${left}" y="${y}" width="${length}" height="${barHeight}" rx="3" class="${style}"/>`,
    `<text x="${left + length + 8}" y="${y + 13.5}" class="value">${Math.round(value).toLocaleString("en")}</text>`
  ].join("\n")
}

/** Returns an SVG, given the rates of each kind: `[{ kind, sqlite, postgres }]`, in requests a second of a core. */
export const capacityPicture = (rates) => {
  const most = Math.max(...rates.flatMap(({ postgres, sqlite }) => [sqlite, postgres]))
  const height = 56 + rates.length * groupHeight
  const groups = rates.map(({ kind, postgres, sqlite }, index) => {
    const y = 52 + index * groupHeight
    return [
      `<text x="${left - 12}" y="${y + 24}" text-anchor="end" class="kind">${kind}</text>`,
      bar({ value: sqlite, style: "sqlite", y, most }),
      bar({ value: postgres, style: "postgres", y: y + barHeight + 4, most })
    ].join("\n")
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui,sans-serif" font-size="13" role="img" aria-label="Requests a second of a core">
<style>
.page{fill:#fff}.kind,.value,.head{fill:#1f2328}.sqlite{fill:#2450b8}.postgres{fill:#8ab0f0}
@media(prefers-color-scheme:dark){.page{fill:#0d1117}.kind,.value,.head{fill:#f0f3f6}.sqlite{fill:#93b4ff}.postgres{fill:#3c5a9e}}
</style>
<rect class="page" width="${width}" height="${height}"/>
<text x="16" y="28" class="head" font-weight="600">Requests a second of a core</text>
<rect x="${left + 130}" y="16" width="12" height="12" rx="2" class="sqlite"/><text x="${left + 148}" y="27" class="head">server with a database file</text>
<rect x="${left + 350}" y="16" width="12" height="12" rx="2" class="postgres"/><text x="${left + 368}" y="27" class="head">server on PostgreSQL</text>
${groups.join("\n")}
</svg>
`
}
