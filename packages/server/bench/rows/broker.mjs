import { execFileSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import { readFileSync } from "node:fs"
import { Agent, createServer, request } from "node:https"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { ask, settle, startCoffer } from "../support/coffer.mjs"
import { median } from "../support/load.mjs"

export const certificateIn = (folder) => {
  const [key, cert] = [join(folder, "key.pem"), join(folder, "ca.pem")]
  const form = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost"
  const files = ["-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", cert]
  execFileSync("openssl", [...form.split(" "), ...files], { stdio: "ignore" })
  return { key: readFileSync(key), cert: readFileSync(cert) }
}

/** The other side: /small answers at once, /large sends a mebibyte of JSON with base64 in it for four seconds. */
const startUpstream = async (certificate) => {
  const small = JSON.stringify({ data: "x".repeat(1_000) })
  const large = Buffer.from(JSON.stringify({ data: randomBytes(786_000).toString("base64") }))
  const server = createServer(certificate, async (incoming, response) => {
    incoming.resume()
    response.setHeader("content-type", "application/json")
    if (incoming.url === "/small") return void response.end(small)
    for (let from = 0; from < large.length; from += 65_536) {
      response.write(large.subarray(from, from + 65_536))
      await sleep(250)
    }
    response.end()
  })
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve))
  return { url: `https://localhost:${server.address().port}`, host: `localhost:${server.address().port}`, server }
}

/** A request over a connection of its own, as the broker makes it. */
const direct = (url, ca) =>
  new Promise((resolve, reject) => {
    const agent = new Agent({ keepAlive: false, ca })
    request(url, { agent, headers: { authorization: "Bearer x" } }, (response) => {
      response.resume().on("end", resolve)
    })
      .on("error", reject)
      .end()
  })

const timed = async (step) => {
  const begun = performance.now()
  await step()
  return performance.now() - begun
}

const percentile99 = (times) => [...times].sort((a, b) => a - b)[Math.floor(times.length * 0.99)]

const row = {
  name: "broker",
  quick: false,
  run: async ({ folder }) => {
    const files = folder("broker")
    const certificate = certificateIn(files)
    const upstream = await startUpstream(certificate)
    const server = await startCoffer(files, {
      env: {
        SERVICE_BROKER: "1",
        SERVICE_OUTBOUND_ALLOW_NETWORKS: "127.0.0.0/8,::1",
        NODE_EXTRA_CA_CERTS: join(files, "ca.pem")
      }
    })
    const { env, org, owner } = await settle(server)
    const accounts = await Promise.all(
      ["one", "two", "three", "four"].map(async (name) => {
        const { body } = await ask(server, "POST", `/api/orgs/${org}/service-accounts`, {
          token: owner,
          body: { name }
        })
        const rule = { subject_type: "service_account", subject_id: body.id, permission: "use" }
        const everywhere = { ...rule, project_pattern: "*", env_pattern: "*" }
        await ask(server, "POST", `/api/orgs/${org}/acl`, { token: owner, body: everywhere })
        return body.api_key
      })
    )
    await ask(server, "POST", `${env}/secrets/KEY_0/use-rules`, {
      token: owner,
      body: {
        hosts: [upstream.host],
        paths: ["/*"],
        place: { in: "header", name: "authorization", format: "Bearer {}" },
        accounts: ["one", "two", "three", "four"],
        per_minute: 6_000,
        per_day: 1_000_000,
        max_kib: 1_024
      }
    })
    const use = (key, path) =>
      ask(server, "POST", `${env}/use`, {
        key,
        body: { method: "GET", url: upstream.url + path, secrets: ["KEY_0"] }
      })
    const [through, alone] = [[], []]
    for (let round = 0; round < 450; round++) {
      const times = [
        await timed(() => direct(`${upstream.url}/small`, certificate.cert)),
        await timed(() => use(accounts[0], "/small"))
      ]
      // The first ones warm up.
      if (round < 50) continue
      alone.push(times[0])
      through.push(times[1])
    }

    const idle = (await server.settledMemory()).resident
    await server.longestStall()
    let peak = idle
    const watch = setInterval(() => (peak = Math.max(peak, server.memory())), 20)
    const begun = performance.now()
    const answers = await Promise.all(accounts.flatMap((key) => [0, 1, 2, 3].map(() => use(key, "/large"))))
    const seconds = (performance.now() - begun) / 1000
    clearInterval(watch)
    const stall = await server.longestStall()
    const sizes = answers.map(({ body }) => body.body.length)
    if (Math.min(...sizes) < 1_000_000) throw new Error(`an answer has ${Math.min(...sizes)} characters`)
    await server.stop()
    upstream.server.closeAllConnections()
    upstream.server.close()

    const added = (name, of) => ({
      row: `use of a secret, ${name}`,
      against: "the request alone, also over TLS",
      measured: `${of(through).toFixed(1)} ms`,
      base: `${of(alone).toFixed(1)} ms`,
      ratio: of(through) / of(alone),
      atLeast: false
    })
    return [
      added("median", median),
      added("99th percentile", percentile99),
      {
        row: "16 slow answers of 1 MiB at the same time: peak of resident memory over idle",
        against: "",
        measured: `${(peak - idle).toFixed(0)} MiB, in ${seconds.toFixed(0)} s`,
        base: "",
        ratio: peak - idle,
        target: 300,
        atLeast: false
      },
      {
        row: "16 slow answers of 1 MiB at the same time: longest stall of the event loop",
        against: "",
        measured: `${stall.toFixed(0)} ms`,
        base: "",
        ratio: stall,
        atLeast: false
      }
    ]
  }
}

export const rows = [row]
