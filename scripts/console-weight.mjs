/**
 * Measures the first visit of a matrix on a slow phone, beside a minimal page that fetches the same response and draws a plain
 * table. Needs a build and Chromium: `node scripts/console-weight.mjs [runs]`.
 */
import { once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import { createServer, request } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ask, codeInLog, logIn, startCoffer } from "../packages/server/bench/support/coffer.mjs"
import { chromiumFlags, chromiumPath, noChromium } from "./chromium.mjs"
import { tools } from "./test-tools.mjs"

const { chromium } = tools("playwright-core")

const runs = Number(process.argv[2] ?? 3)
const envs = ["dev", "staging", "prod", "preview"]
const email = "ada@example.com"

/** Latency in milliseconds, and bytes a second. The processor is four times slower. */
const networks = {
  "400 ms, 400 kbit/s": { latency: 400, downloadThroughput: 50_000, uploadThroughput: 50_000 },
  "150 ms, 1.6 Mbit/s": { latency: 150, downloadThroughput: 200_000, uploadThroughput: 94_000 }
}

const compact = (project) => `/api/orgs/acme/projects/${project}/matrix?format=compact`

/** Draws a table of all keys and cells: nothing else. */
const minimal = (project) => `<!doctype html><meta charset="utf-8"><title>Matrix</title><table></table><script>
fetch(${JSON.stringify(compact(project))}, { headers: { "x-coffer": "1" } }).then((sent) => sent.json()).then(({ data }) => {
  const row = ({ key, cells }) => "<tr><th>" + key + "</th>" + cells.map((cell) => "<td>" + (cell === null ? "" : "v" + cell[0]) + "</td>").join("") + "</tr>"
  document.querySelector("table").innerHTML = data.map(row).join("")
})
</script>`

const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]

/** Serves the minimal page, and passes calls of the API on. */
const startMinimal = async (server) => {
  const proxy = createServer((incoming, outgoing) => {
    if (!incoming.url.startsWith("/api/")) {
      outgoing.setHeader("content-type", "text/html").end(minimal(incoming.url.slice(1)))
      return
    }
    const { headers, url } = incoming
    request(server.url + url, { headers: { ...headers, host: new URL(server.url).host } }, (answer) => {
      outgoing.writeHead(answer.statusCode, answer.headers)
      answer.pipe(outgoing)
    }).end()
  }).listen(0, "127.0.0.1")
  await once(proxy, "listening")
  return { url: `http://127.0.0.1:${proxy.address().port}`, close: () => proxy.close() }
}

const prepare = async (server) => {
  const token = await logIn(server, email)
  await ask(server, "POST", "/api/orgs", { token, body: { name: "acme" } })
  for (const keys of [150, 2_000]) {
    const project = `/api/orgs/acme/projects/keys-${keys}`
    await ask(server, "POST", "/api/orgs/acme/projects", { token, body: { name: `keys-${keys}` } })
    await ask(server, "POST", `${project}/envs`, { token, body: { name: "preview" } })
    for (const env of envs) {
      const set = Object.fromEntries(
        Array.from({ length: keys }, (_, index) => [`KEY_${String(index).padStart(4, "0")}`, index % 7 ? "same" : env])
      )
      await ask(server, "PATCH", `${project}/envs/${env}/bundle`, { token, body: { set } })
    }
  }
}

const cookieOf = async (server) => {
  const headers = { "content-type": "application/json", "x-coffer": "1", origin: server.url }
  const post = (path, body) => fetch(server.url + path, { method: "POST", headers, body: JSON.stringify(body) })
  await post("/api/auth/login", { email })
  const code = await codeInLog(server)(email)
  const answer = await post("/api/auth/verify", { email, code, session: "cookie" })
  return /^coffer=([^;]+)/.exec(answer.headers.getSetCookie().join())[1]
}

/** The requests of a page, with the milliseconds from its beginning to their start, first byte and end. */
const waterfall = (page) =>
  page.evaluate(`performance.getEntries()
    .filter(({ entryType }) => /^(navigation|resource|paint|mark)$/.test(entryType))
    .map(({ name, responseEnd = 0, responseStart = 0, startTime }) =>
      [startTime, responseStart, responseEnd].map((at) => at.toFixed(0).padStart(6)).join("") + " " + name + "\\n")
    .join("")`)

/** Visits an address with an empty cache. Returns the requests, the bytes as they came, when the first cell was drawn, and when the page could be used. */
const visit = async (browser, cookie, address, network) => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  await context.addCookies([
    { name: "coffer", value: cookie, url: new URL(address).origin, httpOnly: true, sameSite: "Strict" }
  ])
  const page = await context.newPage()
  await page.addInitScript(`{
    const look = (name, selector) => {
      if (document.querySelector(selector) === null) requestAnimationFrame(() => look(name, selector))
      else requestAnimationFrame(() => (window[name] = performance.now()))
    }
    look("firstCell", "[role=gridcell], td")
    look("usable", "#console [role=gridcell], td")
  }`)
  const session = await context.newCDPSession(page)
  let [requests, bytes] = [0, 0]
  session.on("Network.requestWillBeSent", () => requests++)
  session.on("Network.loadingFinished", ({ encodedDataLength }) => (bytes += encodedDataLength))
  await session.send("Network.enable")
  await session.send("Network.emulateNetworkConditions", { offline: false, ...network })
  await session.send("Emulation.setCPUThrottlingRate", { rate: 4 })
  await page.goto(address, { waitUntil: "networkidle", timeout: 120_000 })
  await page.locator("#console [role=gridcell], td").first().waitFor({ timeout: 120_000 })
  const [firstCell, usable] = await page.evaluate(
    "new Promise((resolve) => requestAnimationFrame(() => resolve([window.firstCell, window.usable])))"
  )
  if (process.env.COFFER_SHOW_WEIGHT !== undefined) process.stdout.write(await waterfall(page))
  await context.close()
  return { requests, bytes, firstCell, usable }
}

const executablePath = chromiumPath()
if (executablePath === undefined) throw new Error(noChromium)
const folder = await mkdtemp(join(tmpdir(), "coffer-weight-"))
const server = await startCoffer(folder)
const browser = await chromium.launch({ executablePath, args: chromiumFlags })
const plain = await startMinimal(server)
try {
  await prepare(server)
  const cookie = await cookieOf(server)
  for (const [name, network] of Object.entries(networks)) {
    for (const keys of [150, 2_000]) {
      const medians = []
      for (const [what, address] of [
        ["minimal", `${plain.url}/keys-${keys}`],
        ["console", `${server.url}/acme/keys-${keys}`]
      ]) {
        const seen = []
        for (let run = 0; run < runs; run++) seen.push(await visit(browser, cookie, address, network))
        const [{ bytes, requests }] = seen
        const firstCell = median(seen.map((one) => one.firstCell))
        const usable = median(seen.map((one) => one.usable))
        medians.push(firstCell)
        const text = `${requests} requests, ${(bytes / 1024).toFixed(0)} KiB, first cell after ${(firstCell / 1000).toFixed(2)} s, usable after ${(usable / 1000).toFixed(2)} s`
        process.stdout.write(`${name}, ${keys} keys × ${envs.length}: ${what}: ${text}\n`)
      }
      process.stdout.write(`${name}, ${keys} keys × ${envs.length}: ${(medians[1] / medians[0]).toFixed(2)} ×\n`)
    }
  }
} finally {
  plain.close()
  await browser.close()
  await server.stop()
  await rm(folder, { recursive: true, force: true })
}
