import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"
import { chromiumFlags, chromiumPath, noChromium } from "../../../../scripts/chromium.mjs"
import { ask, codeInLog, logIn, startCoffer } from "../support/coffer.mjs"
import { median } from "../support/load.mjs"

const assets = fileURLToPath(new URL("../../dist/web/-/assets", import.meta.url))
const keys = 2_000
const envs = ["dev", "staging", "prod", "preview", "demo", "perf"]
/** A processor four times slower, and 1.6 Mbit/s with 150 ms to the server and back. */
const slow = { offline: false, downloadThroughput: 200_000, uploadThroughput: 94_000, latency: 150 }

/** The limit for all scripts, in KiB. `packages/console/test/unit/Size.test.ts` holds it too. */
const scriptTarget = 280

const scriptKibibytes = () =>
  readdirSync(assets)
    .filter((name) => name.endsWith(".js"))
    .reduce((sum, name) => sum + gzipSync(readFileSync(join(assets, name))).length, 0) / 1024

const email = "ada@example.com"

/** Logs in as a browser does; returns the cookie. */
const cookieOf = async (server) => {
  const headers = { "content-type": "application/json", "x-coffer": "1", origin: server.url }
  const post = (path, body) => fetch(server.url + path, { method: "POST", headers, body: JSON.stringify(body) })
  await post("/api/auth/login", { email })
  const code = await codeInLog(server)(email)
  const answer = await post("/api/auth/verify", { email, code, session: "cookie" })
  const [, cookie] = /^coffer=([^;]+)/.exec(answer.headers.getSetCookie().join()) ?? []
  if (cookie === undefined) throw new Error(`no cookie: ${answer.status}`)
  return cookie
}

/** Makes an organization with the large matrix. */
const prepare = async (server) => {
  const token = await logIn(server, email)
  const project = "/api/orgs/acme/projects/web"
  await ask(server, "POST", "/api/orgs", { token, body: { name: "acme" } })
  await ask(server, "POST", "/api/orgs/acme/projects", { token, body: { name: "web" } })
  await ask(server, "POST", "/api/orgs/acme/projects", { token, body: { name: "small" } })
  for (const name of envs.slice(3)) await ask(server, "POST", `${project}/envs`, { token, body: { name } })
  for (const env of envs) {
    const set = Object.fromEntries(
      Array.from({ length: keys }, (_, index) => [
        `KEY_${String(index).padStart(4, "0")}`,
        index % 7 === 0 ? env : "same"
      ])
    )
    await ask(server, "PATCH", `${project}/envs/${env}/bundle`, { token, body: { set } })
  }
  const few = Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`KEY_${index}`, "value"]))
  await ask(server, "PATCH", "/api/orgs/acme/projects/small/envs/dev/bundle", { token, body: { set: few } })
}

/** Opens the matrix in a new tab. Returns the times of the first paint and of the grid, in milliseconds. */
const visit = async (context, url, isSlow) => {
  const page = await context.newPage()
  const session = await context.newCDPSession(page)
  if (isSlow) {
    await session.send("Network.enable")
    await session.send("Network.emulateNetworkConditions", slow)
    await session.send("Emulation.setCPUThrottlingRate", { rate: 4 })
  }
  await page.goto(url)
  await page.getByRole("grid").waitFor({ timeout: 60_000 })
  const grid = await page.evaluate("performance.now()")
  const paint = await page.evaluate(
    `performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? performance.now()`
  )
  return { page, session, paint, grid }
}

/** Scrolls the matrix at every frame. Returns the frames' times in milliseconds. */
const scroll = (page) =>
  page.evaluate(`new Promise((resolve) => {
    const scroller = document.querySelector(".matrix-scroller")
    const frames = []
    let before = performance.now()
    const step = (now) => {
      frames.push(now - before)
      before = now
      scroller.scrollTop += 150
      if (frames.length < 301) requestAnimationFrame(step)
      else resolve(frames.slice(1))
    }
    requestAnimationFrame(step)
  })`)

const heapMebibytes = async (session) => {
  await session.send("HeapProfiler.collectGarbage")
  const { usedSize } = await session.send("Runtime.getHeapUsage")
  return usedSize / 1024 / 1024
}

const figure = (row, value, unit, target) => ({
  row: `console: ${row}`,
  against: "",
  measured: `${value.toFixed(unit === "ms" ? 0 : 1)} ${unit}`,
  base: "",
  ratio: value,
  ...(target !== undefined && { target }),
  atLeast: false
})

/** Measures the console in a browser. Without a browser, only the size of its script is known. */
const row = {
  name: "console",
  quick: false,
  run: async (context) => {
    const size = figure("script in all, gzip", scriptKibibytes(), "KiB", scriptTarget)
    const executablePath = chromiumPath()
    if (executablePath === undefined) {
      process.stderr.write(`console: paint and frames are left out: ${noChromium}\n`)
      return [size]
    }
    const { chromium } = await import("playwright-core")
    const server = await startCoffer(context.folder("console"))
    const browser = await chromium.launch({ executablePath, args: chromiumFlags })
    try {
      await prepare(server)
      const cookie = await cookieOf(server)
      const logged = async () => {
        const fresh = await browser.newContext({ viewport: { width: 1280, height: 800 } })
        await fresh.addCookies([{ name: "coffer", value: cookie, url: server.url, httpOnly: true, sameSite: "Strict" }])
        return fresh
      }
      const [first, second] = [[], []]
      for (let round = 0; round < 7; round++) {
        const fresh = await logged()
        for (const times of [first, second]) {
          const { grid, page, paint } = await visit(fresh, `${server.url}/acme/small`, true)
          times.push({ grid, paint })
          await page.close()
        }
        await fresh.close()
      }
      const large = await visit(await logged(), `${server.url}/acme/web`, false)
      const frames = (await scroll(large.page)).sort((a, b) => a - b)
      const heap = await heapMebibytes(large.session)
      const of = (times, name) => median(times.map((time) => time[name]))
      return [
        size,
        figure("first visit, slow machine: first paint", of(first, "paint"), "ms", 3_000),
        figure("first visit, slow machine: the matrix is there", of(first, "grid"), "ms"),
        figure("second visit, slow machine: first paint", of(second, "paint"), "ms", 1_000),
        figure("second visit, slow machine: the matrix is there", of(second, "grid"), "ms"),
        figure(`${keys} keys x ${envs.length}: the matrix is there`, large.grid, "ms"),
        figure(`${keys} keys x ${envs.length}: median frame while scrolling`, median(frames), "ms"),
        figure(`${keys} keys x ${envs.length}: 95th percentile`, frames[Math.floor(frames.length * 0.95)], "ms"),
        figure(`${keys} keys x ${envs.length}: memory of scripts`, heap, "MiB")
      ]
    } finally {
      await browser.close()
      await server.stop()
    }
  }
}

export const rows = [row]
