import { generateKeyPairSync } from "node:crypto"
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { request } from "node:https"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { certificateFor } from "../federations/Issuer.js"
import { freePort } from "../support/Port.js"
import { life, started } from "./RealPlatform.js"

const isThere = ["etcd", "kube-apiserver"].every((name) => spawnSync(name, ["--version"]).error === undefined)

interface Reply {
  readonly status: number
  readonly json: Readonly<Record<string, unknown>>
}

/** An API server whose administrator has the token `admin`, and a program the token `pusher`. */
const cluster = Effect.gen(function* () {
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "coffer-cluster-"))),
    (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true }))
  )
  const file = (name: string, text: string) => {
    const path = join(folder, name)
    writeFileSync(path, text, { mode: 0o600 })
    return path
  }
  const { cert, key } = certificateFor("127.0.0.1")
  const [ports, peers, secure] = yield* Effect.promise(() => Promise.all([freePort(), freePort(), freePort()]))
  const [store, peer] = [`http://127.0.0.1:${ports}`, `http://127.0.0.1:${peers}`]
  yield* started(
    "etcd",
    [
      ...["--data-dir", join(folder, "etcd"), "--listen-client-urls", store, "--advertise-client-urls", store],
      ...["--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", `default=${peer}`]
    ],
    async () => (await fetch(`${store}/health`)).ok
  )
  const call = (method: string, path: string, body?: unknown, type = "application/json") =>
    new Promise<Reply>((resolve, reject) => {
      const asked = request(
        `https://127.0.0.1:${secure}${path}`,
        { method, ca: cert, headers: { authorization: "Bearer admin", "content-type": type } },
        (response) => {
          let text = ""
          response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk))
          response.on("end", () => {
            const json = text.startsWith("{") ? (JSON.parse(text) as Reply["json"]) : {}
            resolve({ status: response.statusCode ?? 0, json })
          })
        }
      )
      asked.on("error", reject)
      asked.end(body === undefined ? undefined : JSON.stringify(body))
    })
  const signing = file(
    "accounts.key",
    generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ type: "pkcs8", format: "pem" }).toString()
  )
  yield* started(
    "kube-apiserver",
    [
      ...["--etcd-servers", store, "--secure-port", String(secure), "--bind-address", "127.0.0.1"],
      ...["--advertise-address", "127.0.0.1", "--service-cluster-ip-range", "10.0.0.0/24"],
      ...["--tls-cert-file", file("tls.crt", cert), "--tls-private-key-file", file("tls.key", key)],
      ...["--service-account-issuer", "https://kubernetes.test", "--service-account-key-file", signing],
      ...["--service-account-signing-key-file", signing, "--authorization-mode", "RBAC"],
      ...["--token-auth-file", file("tokens.csv", "admin,admin,1,system:masters\npusher,pusher,2\n")]
    ],
    async () => (await call("GET", "/readyz")).status === 200
  )
  const made = async (path: string, object: unknown) => {
    const { json, status } = await call("POST", path, object)
    assert.strictEqual(status, 201, JSON.stringify(json))
  }
  yield* Effect.promise(async () => {
    await made("/api/v1/namespaces", { metadata: { name: "webshop" } })
    const roles = "/apis/rbac.authorization.k8s.io/v1/namespaces/webshop"
    await made(`${roles}/roles`, {
      metadata: { name: "pusher" },
      rules: [{ apiGroups: [""], resources: ["secrets"], verbs: ["get", "create", "patch"] }]
    })
    await made(`${roles}/rolebindings`, {
      metadata: { name: "pusher" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "pusher" },
      subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "pusher" }]
    })
  })
  return { url: `https://127.0.0.1:${secure}`, ca: cert, call }
})

describe.skipIf(!isThere)("a real API server of Kubernetes (needs etcd and kube-apiserver in the PATH)", () => {
  it.scoped("takes what is pushed with the rights that the page names, and keeps what others wrote", () =>
    Effect.gen(function* () {
      const { ca, call, url } = yield* cluster
      const path = "/api/v1/namespaces/webshop/secrets/webshop-env"
      yield* life({
        kind: "kubernetes",
        place: { url, ca, namespace: "webshop", name: "webshop-env" },
        credential: "pusher",
        values: async () => {
          const { json } = await call("GET", path)
          const data = (json["data"] ?? {}) as Readonly<Record<string, string>>
          return Object.fromEntries(
            Object.entries(data).map(([name, text]) => [name, Buffer.from(text, "base64").toString()])
          )
        },
        write: async (name, value) => {
          const data = { [name]: value === null ? null : Buffer.from(value).toString("base64") }
          const merge = "application/merge-patch+json"
          const { status } = await call("PATCH", `${path}?fieldManager=kubectl-edit`, { data }, merge)
          if (status === 404)
            await call("POST", "/api/v1/namespaces/webshop/secrets", { metadata: { name: "webshop-env" }, data })
        }
      })
    })
  )
})
