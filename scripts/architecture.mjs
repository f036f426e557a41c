/**
 * Draws docs/internals/architecture.svg: the packages, the rooms (folders) of the contract, and the ten rooms of the server in their order.
 * The captions come from docs/internals/architecture.md, which must have a row for every room. Fails if an import of a package runs back.
 * With `--check`, it only fails if the picture is stale.
 */
import { readFile, writeFile } from "node:fs/promises"
import { modulesOf } from "./architecture/imports.mjs"
import { importsBack, layers, roomOf } from "./architecture/layers.mjs"
import { arrow, box, picture, room, text } from "./architecture/svg.mjs"

const file = new URL("../docs/internals/architecture.svg", import.meta.url)
const page = await readFile(new URL("../docs/internals/architecture.md", import.meta.url), "utf8")

const packages = new Map(
  await Promise.all(
    ["domain", "client", "server", "cli", "mcp", "console"].map(async (name) => [name, await modulesOf(name)])
  )
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
  name === "server"
    ? [...new Set([...packages.get(name).keys()].filter((path) => path.includes("/")).map(roomOf))].sort()
    : [...new Set([...packages.get(name).values()].map((one) => one.room))].filter((one) => one !== ".").sort()
const rooms = [...packages.keys()].flatMap((name) => roomsOf(name).map((one) => `${name}/${one}`))
const problems = [
  ...rooms.filter((one) => !described.has(one)).map((one) => `docs/internals/architecture.md has no row for ${one}/`),
  ...[...described.keys()]
    .filter((one) => !rooms.includes(one))
    .map((one) => `docs/internals/architecture.md has a row for ${one}/, which does not exist`),
  ...Object.keys(layers).flatMap((name) => [
    ...importsBack(name, packages.get(name)).map(
      ([from, to]) => `${name}: ${from} imports ${to}, which is in a later room`
    ),
    ...[...new Set([...packages.get(name).keys()].filter((path) => path.includes("/")).map(roomOf))]
      .filter((one) => !layers[name].includes(one))
      .map((one) => `${name}: ${one}/ is not in the order of rooms, scripts/architecture/layers.mjs`)
  ])
]

const uses = (from, to) => [...packages.get(from).values()].some((one) => one.packages.includes(to))

const roomHeight = 58
const gap = 10
const frame = { x: 250, y: 20, width: 930 }
const drawn = []
const lines = []

/** The folders of a room of the server. */
const foldersOf = (name) => {
  const inner = [...packages.get("server").keys()].filter((path) => path.startsWith(`${name}/`))
  return [
    ...new Set(inner.map((path) => path.split("/")).flatMap((parts) => (parts.length > 2 ? [parts[1]] : [])))
  ].sort()
}

/** The rooms of the server, the last one on top. */
const styles = { database: "storage", access: "admission", directory: "feature", secrets: "feature" }
const rowHeight = 46
const stack = [...layers.server].reverse()
stack.forEach((name, index) => {
  const area = {
    x: frame.x + 18,
    y: frame.y + 56 + index * (rowHeight + gap),
    width: frame.width - 36,
    height: rowHeight
  }
  drawn.push(
    box(area, styles[name] ?? "room"),
    text(area.x + 16, area.y + 29, "name", name),
    text(area.x + 130, area.y + 29, "about", described.get(`server/${name}`) ?? ""),
    text(area.x + 330, area.y + 29, "small", foldersOf(name).join(" · "))
  )
})
frame.height = 56 + layers.server.length * (rowHeight + gap) + 8

/** The clients, at the left. */
const clients = { x: 20, y: frame.y, width: 182, height: frame.height }
const client = (index) => ({ x: 32, y: clients.y + 42 + index * 94, width: 158, height: 78 })
const cli = client(0)
const mcp = client(1)
const web = client(2)
const library = client(3)
drawn.push(text(cli.x + 12, cli.y + 26, "title", "cli"))
drawn.push(text(cli.x + 12, cli.y + 45, "about", "the command line,"))
drawn.push(text(cli.x + 12, cli.y + 62, "about", "coffer"))
drawn.push(text(web.x + 12, web.y + 26, "title", "console"))
drawn.push(text(web.x + 12, web.y + 45, "about", "the web console,"))
drawn.push(text(web.x + 12, web.y + 62, "about", "in the browser"))
drawn.push(text(mcp.x + 12, mcp.y + 26, "title", "mcp"))
drawn.push(text(mcp.x + 12, mcp.y + 45, "about", "tools for AI agents,"))
drawn.push(text(mcp.x + 12, mcp.y + 62, "about", "coffer-mcp"))
drawn.push(text(library.x + 12, library.y + 26, "title", "client"))
drawn.push(text(library.x + 12, library.y + 45, "about", "secrets for"))
drawn.push(text(library.x + 12, library.y + 62, "about", "applications"))
lines.push(arrow(`M${clients.x + clients.width} ${mcp.y + 39}H${frame.x - 3}`))
lines.push(text(clients.x + clients.width + 24, mcp.y + 31, "head", "HTTP", "middle"))
if (uses("cli", "server")) {
  const y = cli.y + 22
  lines.push(arrow(`M${cli.x + cli.width} ${y}H${frame.x - 3}`, "load"))
}

/** The legend, below the clients. */
const legend = [
  ["edge", "imports or calls"],
  ["load", "loads when it needs it"]
]
legend.forEach(([style, meaning], index) => {
  const y = clients.y + clients.height - 54 + index * 30
  lines.push(arrow(`M${cli.x} ${y}h${26}`, style), text(cli.x + 34, y + 4, "small", meaning))
})

/** The contract, at the bottom. */
const columns = Math.ceil(layers.domain.length / 2)
const domain = { x: 20, y: frame.y + frame.height + 46, width: 1160, height: 2 * (roomHeight + gap) + 26 }
const first = { x: domain.x + 190, y: domain.y + 18 }
const width = (domain.x + domain.width - 18 - first.x - gap * (columns - 1)) / columns
drawn.push(text(domain.x + 18, domain.y + 44, "title", "domain"))
drawn.push(text(domain.x + 18, domain.y + 63, "about", "the contract"))
layers.domain.forEach((name, index) => {
  const [x, y] = [
    first.x + (index % columns) * (width + gap),
    first.y + Math.floor(index / columns) * (roomHeight + gap)
  ]
  drawn.push(room({ x, y, width, height: roomHeight }, "room", name, described.get(`domain/${name}`) ?? ""))
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
  box(library, "frame"),
  box(frame, "frame", 12),
  text(frame.x + 18, frame.y + 31, "title", "server"),
  text(
    frame.x + 84,
    frame.y + 31,
    "about",
    "coffer-server: main.ts starts it, Server.ts puts the rooms together. A room imports only rooms below it"
  ),
  box(domain, "frame", 12)
]

const title = "The packages of Coffer and their rooms, in layers by what they import"
const svg = picture(1200, domain.y + domain.height + 20, title, [...frames, ...lines, ...drawn])
if (problems.length === 0 && !process.argv.includes("--check")) await writeFile(file, svg)
else if (svg !== (await readFile(file, "utf8").catch(() => "")))
  problems.push("stale: docs/internals/architecture.svg; run: npm run generate")
if (problems.length > 0) {
  process.stderr.write(`${problems.join("\n")}\n`)
  process.exitCode = 1
}
