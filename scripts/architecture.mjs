/**
 * Draws docs/architecture.svg: the packages and their rooms (folders), in layers by their imports. The captions come from
 * docs/architecture.md, which must have a row for every room. With `--check`, it only fails if the picture is stale.
 */
import { readFile, writeFile } from "node:fs/promises"
import { modulesOf } from "./architecture/imports.mjs"
import { layersOf } from "./architecture/layers.mjs"
import { across, arrow, box, curve, over, picture, room, text } from "./architecture/svg.mjs"

const file = new URL("../docs/architecture.svg", import.meta.url)
const page = await readFile(new URL("../docs/architecture.md", import.meta.url), "utf8")

const packages = new Map(
  await Promise.all(["domain", "server", "cli", "mcp", "console"].map(async (name) => [name, await modulesOf(name)]))
)

/** The caption of each room, from the tables of the page. */
const described = (() => {
  const found = new Map()
  let owner = ""
  for (const line of page.split("\n")) {
    owner = /^### packages\/([a-z]+)$/.exec(line)?.[1] ?? owner
    const [, name, about] = /^\| `([a-z/-]+)\/` +\| ([^|]+?) +\|/.exec(line) ?? []
    if (name !== undefined) found.set(`${owner}/${name}`, about.replaceAll("`", ""))
  }
  return found
})()

const roomsOf = (name) =>
  [...new Set([...packages.get(name).values()].map((one) => one.room))].filter((one) => one !== ".").sort()
const rooms = [...packages.keys()].flatMap((name) => roomsOf(name).map((one) => `${name}/${one}`))
const problems = [
  ...rooms.filter((one) => !described.has(one)).map((one) => `docs/architecture.md has no row for ${one}/`),
  ...[...described.keys()]
    .filter((one) => !rooms.includes(one))
    .map((one) => `docs/architecture.md has a row for ${one}/, which does not exist`)
]

const uses = (from, to) => [...packages.get(from).values()].some((one) => one.packages.includes(to))

const { beside, edges, featureImports, features, rows } = layersOf(packages.get("server"))

const roomHeight = 58
const rowGap = 50
const frame = { x: 250, y: 20, width: 930 }
const inner = { x: frame.x + 18, width: frame.width - 36 }
const drawn = []
const lines = []
const areas = new Map()

const place = (name, area, style) => {
  areas.set(name, area)
  drawn.push(room(area, style, name, described.get(`server/${name}`) ?? ""))
}

/** Features: as many per row as fit. */
const perRow = 5
const gap = 10
const featureWidth = (inner.width - 24 - gap * (perRow - 1)) / perRow
const featureRows = Math.ceil(features.length / perRow)
const band = { ...inner, y: frame.y + 50, height: featureRows * (roomHeight + gap) + 34 }
features.forEach((name, index) => {
  const x = inner.x + 12 + (index % perRow) * (featureWidth + gap)
  const y = band.y + 32 + Math.floor(index / perRow) * (roomHeight + gap)
  place(name, { x, y, width: featureWidth, height: roomHeight }, "feature")
})

/** The rows below the features, with the rooms that no request needs beside them. */
const sideWidth = 186
const main = { x: inner.x, width: inner.width - sideWidth - 26 }
const styleOf = (row) => {
  if (row === rows[0]) return "admission"
  if (row.includes("database")) return "storage"
  return row === rows.at(-1) ? "room" : "service"
}
const rowsTop = band.y + band.height + rowGap
rows.forEach((row, index) => {
  const width = Math.min(170, (main.width - (row.length - 1) * 26) / row.length)
  const step = row.length === 1 ? 0 : Math.min((main.width - width) / (row.length - 1), width + 80)
  const start = main.x + (main.width - width - step * (row.length - 1)) / 2
  row.forEach((name, position) => {
    const area = { x: start + position * step, y: rowsTop + index * (roomHeight + rowGap), width, height: roomHeight }
    place(name, area, styleOf(row))
  })
})
const rowsBottom = rowsTop + rows.length * (roomHeight + rowGap) - rowGap
const sideHeight = 54 + beside.length * (roomHeight + gap)
const side = { x: inner.x + inner.width - sideWidth, y: rowsTop, width: sideWidth, height: sideHeight }
beside.forEach((name, index) => {
  const y = side.y + 54 + index * (roomHeight + gap)
  place(name, { x: side.x + 12, y, width: sideWidth - 24, height: roomHeight }, "room")
})
frame.height = Math.max(rowsBottom, side.y + side.height) + 18 - frame.y

/** Whether a room imports another indirectly: then its direct import is not drawn. */
const direct = edges.filter((edge) => !edge.up)
const reaches = (from, to, seen = new Set()) =>
  direct.some(
    (edge) => edge.from === from && !seen.has(edge.to) && (edge.to === to || reaches(edge.to, to, seen.add(edge.to)))
  )
const isImplied = ({ from, to }) => direct.some((edge) => edge.from === from && edge.to !== to && reaches(edge.to, to))

/** The ends of arrows between two rows: spread over the widths, in the order of their targets. */
const shown = edges.filter((edge) => edge.up || !isImplied(edge))
const isAbove = (a, b) => areas.get(a).y < areas.get(b).y
const partOf = (name, other, isUp) => {
  const others = shown
    .filter((edge) => [edge.from, edge.to].includes(name))
    .map((edge) => (edge.from === name ? edge.to : edge.from))
    .filter((one) => areas.get(one).y !== areas.get(name).y && isAbove(one, name) === isUp)
    .concat(isUp && rows[0].includes(name) ? ["features"] : [])
    .sort((a, b) => (areas.get(a)?.x ?? 0) - (areas.get(b)?.x ?? 0))
  return (others.indexOf(other) + 1) / (others.length + 1)
}
for (const edge of shown) {
  const [from, to] = [areas.get(edge.from), areas.get(edge.to)]
  const style = edge.up ? "up" : "edge"
  const row = rows.find((one) => one.includes(edge.from))
  const distance = Math.abs(row.indexOf(edge.from) - row.indexOf(edge.to))
  if (from.y !== to.y) {
    const isUp = isAbove(edge.to, edge.from)
    lines.push(curve(from, to, style, partOf(edge.from, edge.to, isUp), partOf(edge.to, edge.from, !isUp)))
  } else lines.push(distance === 1 ? across(from, to, style) : over(from, to, style))
}
/** The imports that most features have in the first row. */
for (const name of rows[0] ?? []) {
  if (featureImports(name).length * 2 < features.length) continue
  const to = areas.get(name)
  lines.push(arrow(`M${to.x + to.width / 2} ${band.y + band.height}V${to.y - 3}`))
}

/** The clients, at the left. */
const clients = { x: 20, y: frame.y, width: 182, height: frame.height }
const cliRooms = roomsOf("cli")
const cli = { x: 32, y: clients.y + 42, width: 158, height: 62 + cliRooms.length * (roomHeight + 8) }
const mcp = { x: 32, y: cli.y + cli.height + 16, width: 158, height: 78 }
drawn.push(text(cli.x + 12, cli.y + 24, "title", "cli"), text(cli.x + 12, cli.y + 43, "about", "the client, coffer"))
cliRooms.forEach((name, index) => {
  const area = { x: cli.x + 10, y: cli.y + 56 + index * (roomHeight + 8), width: cli.width - 20, height: roomHeight }
  drawn.push(room(area, "room", name, described.get(`cli/${name}`) ?? ""))
})
const web = { x: 32, y: mcp.y + mcp.height + 16, width: 158, height: 78 }
drawn.push(text(web.x + 12, web.y + 26, "title", "console"))
drawn.push(text(web.x + 12, web.y + 45, "about", "the web console,"))
drawn.push(text(web.x + 12, web.y + 62, "about", "in the browser"))
drawn.push(text(mcp.x + 12, mcp.y + 26, "title", "mcp"))
drawn.push(text(mcp.x + 12, mcp.y + 45, "about", "tools for AI agents,"))
drawn.push(text(mcp.x + 12, mcp.y + 62, "about", "coffer-mcp"))
const http = areas.get("http")
const middle = http.y + roomHeight / 2
lines.push(arrow(`M${clients.x + clients.width} ${middle}H${http.x - 3}`))
lines.push(text(clients.x + clients.width + 24, middle - 8, "head", "HTTP", "middle"))
if (uses("cli", "server")) {
  const y = cli.y + 22
  lines.push(arrow(`M${cli.x + cli.width} ${y}H${frame.x - 3}`, "load"))
}

/** The legend, below the clients. */
const legend = [
  ["edge", "imports"],
  ["up", "against the layers"],
  ["load", "loads when it needs it"]
]
legend.forEach(([style, meaning], index) => {
  const y = clients.y + clients.height - 84 + index * 30
  lines.push(arrow(`M${cli.x} ${y}h${26}`, style), text(cli.x + 34, y + 4, "small", meaning))
})

/** The contract, at the bottom. */
const domain = { x: 20, y: frame.y + frame.height + 46, width: 1160, height: 94 }
const domainRooms = roomsOf("domain")
const own = { x: domain.x + 190, y: domain.y + 18, width: 226, height: roomHeight }
const others = (domain.x + domain.width - 18 - own.x - own.width - 16 * domainRooms.length) / domainRooms.length
drawn.push(text(domain.x + 18, domain.y + 44, "title", "domain"))
drawn.push(text(domain.x + 18, domain.y + 63, "about", "the contract"))
drawn.push(room(own, "room", "names, rules, errors", "Permissions: who may do what"))
domainRooms.forEach((name, index) => {
  const x = own.x + own.width + 16 + index * (others + 16)
  drawn.push(
    room({ x, y: own.y, width: others, height: roomHeight }, "room", name, described.get(`domain/${name}`) ?? "")
  )
})
const toDomain = (x, y) => lines.push(arrow(`M${x} ${y}V${domain.y - 3}`))
if (uses("cli", "domain") && uses("mcp", "domain")) toDomain(clients.x + clients.width / 2, clients.y + clients.height)
if (uses("server", "domain")) toDomain(frame.x + frame.width / 2, frame.y + frame.height)

const frames = [
  box(clients, "group", 12),
  text(clients.x + 12, clients.y + 27, "head", "Clients"),
  box(cli, "frame"),
  box(mcp, "frame"),
  box(web, "frame"),
  box(frame, "frame", 12),
  text(frame.x + 18, frame.y + 31, "title", "server"),
  text(frame.x + 84, frame.y + 31, "about", "coffer-server: main.ts starts it, Server.ts puts the rooms together"),
  box(band, "group"),
  text(band.x + 12, band.y + 21, "head", "Features: Http.ts (handlers), the service, Repo.ts (its SQL)"),
  box(side, "group"),
  text(side.x + 12, side.y + 22, "head", "Beside requests"),
  text(side.x + 12, side.y + 40, "about", "no room imports these"),
  box(domain, "frame", 12)
]

const title = "The packages of Coffer and their rooms, in layers by what they import"
const svg = picture(1200, domain.y + domain.height + 20, title, [...frames, ...lines, ...drawn])
if (problems.length === 0 && !process.argv.includes("--check")) await writeFile(file, svg)
else if (svg !== (await readFile(file, "utf8").catch(() => "")))
  problems.push("stale: docs/architecture.svg; run: npm run generate")
if (problems.length > 0) {
  process.stderr.write(`${problems.join("\n")}\n`)
  process.exitCode = 1
}
