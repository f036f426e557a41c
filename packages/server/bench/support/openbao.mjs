import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { onServerCore } from "./machine.mjs"
import { freePort, start } from "./process.mjs"

const raft = (folder) => `
storage "raft" {
  path = "${join(folder, "raft")}"
  node_id = "bench"
}
`

const postgresql = (databaseUrl) => `
storage "postgresql" {
  connection_url = "${databaseUrl}?sslmode=disable"
}
`

const configuration = (folder, port, clusterPort, storage) => `
disable_mlock = true
ui = false
api_addr = "http://127.0.0.1:${port}"
cluster_addr = "http://127.0.0.1:${clusterPort}"
${storage}

listener "tcp" {
  address = "127.0.0.1:${port}"
  cluster_address = "127.0.0.1:${clusterPort}"
  tls_disable = true
}

audit "file" "file" {
  options = {
    file_path = "${join(folder, "audit.log")}"
  }
}
`

const policy = `path "secret/data/prod/*" { capabilities = ["create", "update", "read"] }`

/**
 * Starts OpenBao in a setup comparable to Coffer: one node, raft storage or a PostgreSQL database, a file audit device,
 * versioned secrets (KV 2), and a token with a policy to read and write them. It runs on the server's core.
 */
export const startOpenBao = async (program, folder, secrets, databaseUrl) => {
  const [port, clusterPort] = [await freePort(), await freePort()]
  mkdirSync(join(folder, "raft"), { mode: 0o700 })
  const storage = databaseUrl === undefined ? raft(folder) : postgresql(databaseUrl)
  writeFileSync(join(folder, "bao.hcl"), configuration(folder, port, clusterPort, storage))
  const server = start(onServerCore([program, "server", "-config", join(folder, "bao.hcl")]), {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder },
    logFile: join(folder, "bao.log")
  })
  const url = `http://127.0.0.1:${port}`
  let token
  const ask = async (method, path, body) => {
    const answer = await fetch(`${url}/v1/${path}`, {
      method,
      headers: { ...(token !== undefined && { "x-vault-token": token }) },
      ...(body !== undefined && { body: JSON.stringify(body) })
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`OpenBao: ${method} ${path}: ${answer.status} ${text}`)
    return text === "" ? undefined : JSON.parse(text)
  }
  const untilItAgrees = async (action) => {
    for (let tries = 0; ; tries++) {
      try {
        return await action()
      } catch (error) {
        if (tries === 100) throw error
        await sleep(100)
      }
    }
  }

  const { keys, root_token } = await untilItAgrees(() =>
    ask("PUT", "sys/init", { secret_shares: 1, secret_threshold: 1 })
  )
  await ask("PUT", "sys/unseal", { key: keys[0] })
  await untilItAgrees(() => ask("GET", "sys/health"))
  token = root_token
  await untilItAgrees(() => ask("POST", "sys/mounts/secret", { type: "kv", options: { version: "2" } }))
  await ask("PUT", "sys/policies/acl/bench", { policy })
  const { auth } = await ask("POST", "auth/token/create", { policies: ["bench"], ttl: "24h" })
  token = auth.client_token
  const paths = Object.keys(secrets).map((name) => `/v1/secret/data/prod/${name}`)
  for (const [name, value] of Object.entries(secrets)) {
    await untilItAgrees(() => ask("POST", `secret/data/prod/${name}`, { data: { value } }))
  }
  const headers = { "x-vault-token": token }
  return {
    ...server,
    url,
    version: (await ask("GET", "sys/health")).version,
    reads: paths.map((path) => ({ path, headers })),
    writes: paths.map((path, index) => ({
      method: "POST",
      path,
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify({ data: { value: `another value ${index}`.padEnd(32, "x") } })
    }))
  }
}
