import { generateKeyPairSync, randomBytes } from "node:crypto"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { assert } from "vitest"
import { ServerProcess } from "../../../client/src/testing/ServerProcess.js"
import { freePort } from "./Port.js"
import { isThere, type Ran, run } from "../vault/real/Run.js"

/** Waits until something is found: as long as programs that wait between their tries may need. */
export const eventually = async <A>(
  look: () => Promise<A | undefined>,
  what: () => string,
  seconds = 60
): Promise<A> => {
  const end = performance.now() + seconds * 1000
  for (;;) {
    const found = await look()
    if (found !== undefined) return found
    if (performance.now() > end) throw new Error(`waited ${seconds} s in vain: ${what()}`)
    await setTimeout(250)
  }
}

/** Kubernetes' API server with an etcd of its own. There is no node and no controller: nothing runs in it. */
export class Cluster {
  /** The environment variables that a program needs to use the cluster as its administrator. */
  readonly variables: Readonly<Record<string, string>>
  #processes: ReadonlyArray<ServerProcess> = []

  private constructor(
    readonly folder: string,
    readonly port: number
  ) {
    const { PATH = "" } = process.env
    this.variables = { PATH, HOME: folder, KUBECONFIG: join(folder, "kubeconfig") }
  }

  static readonly isThere = ["etcd", "kube-apiserver", "kubectl"].every(isThere)

  static async start(): Promise<Cluster> {
    const cluster = new Cluster(mkdtempSync(join(tmpdir(), "coffer-cluster-")), await freePort())
    await cluster.#start()
    return cluster
  }

  /** The certificate of the API server, which signs itself. */
  get certificate(): string {
    return join(this.folder, "certificates/apiserver.crt")
  }

  #file(name: string, text: string): string {
    const path = join(this.folder, name)
    writeFileSync(path, text, { mode: 0o600 })
    return path
  }

  async #start(): Promise<void> {
    const etcd = `http://127.0.0.1:${await freePort()}`
    const token = randomBytes(16).toString("hex")
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 })
    const key = this.#file("accounts.key", privateKey.export({ type: "pkcs1", format: "pem" }).toString())
    const server = `https://127.0.0.1:${this.port}`
    const kubeconfig = {
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "test", cluster: { server, "certificate-authority": this.certificate } }],
      users: [{ name: "admin", user: { token } }],
      contexts: [{ name: "test", context: { cluster: "test", user: "admin" } }],
      "current-context": "test"
    }
    this.#file("kubeconfig", JSON.stringify(kubeconfig))
    this.#processes = [
      this.run(
        "etcd",
        ...["--data-dir", join(this.folder, "etcd"), "--unsafe-no-fsync", "--listen-peer-urls=http://127.0.0.1:0"],
        ...[`--listen-client-urls=${etcd}`, `--advertise-client-urls=${etcd}`]
      ),
      this.run(
        "kube-apiserver",
        ...[`--etcd-servers=${etcd}`, `--secure-port=${this.port}`, "--service-cluster-ip-range=10.0.0.0/24"],
        ...["--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", "--endpoint-reconciler-type=none"],
        ...[`--cert-dir=${join(this.folder, "certificates")}`, "--authorization-mode=RBAC"],
        `--token-auth-file=${this.#file("tokens.csv", `${token},admin,admin,system:masters\n`)}`,
        "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
        ...[`--service-account-key-file=${key}`, `--service-account-signing-key-file=${key}`]
      )
    ]
    await eventually(
      async () => ((await this.try(["get", "--raw", "/readyz"])).code === 0 ? true : undefined),
      () => this.#processes.map(({ err }) => err.text.slice(-2_000)).join("\n"),
      120
    )
  }

  /** Starts a program that uses the cluster. */
  run(program: string, ...words: ReadonlyArray<string>): ServerProcess {
    return new ServerProcess([program, ...words], { env: this.variables, cwd: this.folder })
  }

  try(words: ReadonlyArray<string>, input?: string): Promise<Ran> {
    return run("kubectl", words, this.variables, { input, seconds: 60 })
  }

  /** Runs a command of `kubectl`, which must succeed, and returns its output. */
  async kubectl(words: ReadonlyArray<string>, input?: string): Promise<string> {
    const { code, err, out } = await this.try(words, input)
    assert.strictEqual(code, 0, `kubectl ${words.join(" ")}: ${err}`)
    return out
  }

  async stop(): Promise<void> {
    for (const process of [...this.#processes].reverse()) await process.stop("SIGKILL")
    rmSync(this.folder, { recursive: true, force: true })
  }
}
