import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { ProgramName } from "@coffer/domain/guides/Programs"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { parse } from "yaml"
import { freePort } from "../../../server/test/support/Port.js"
import { folderOf, isThere, run } from "../../../server/test/vault/real/Run.js"
import { Cluster, eventually } from "../../../server/test/support/Cluster.js"
import { workplace } from "../support/Workplace.js"

// The programs of a cluster as they are, with Kubernetes' API server and the lines that `service-account create --for` prints.
// Each is skipped where it is not on the PATH, so this file is part of a soak: server/test/vault/WorksWith.test.ts makes the
// same calls in each run.

const needs = {
  operator: ["vault-secrets-operator"],
  provider: ["vault-csi-provider", "csi-driver-mount", "unshare"]
} as const

const isReady = (name: keyof typeof needs) => Cluster.isThere && needs[name].every(isThere)

for (const program of ["etcd", "kube-apiserver", "kubectl", ...needs.operator, ...needs.provider]) {
  if (!isThere(program)) process.stderr.write(`${program} is not on this machine: tests with a cluster are skipped\n`)
}

const place = workplace("ada@example.com", (url) => ({ SERVICE_VAULT_API: "1", SERVICE_PUBLIC_URL: url }))

let cluster: Cluster

beforeAll(async () => {
  if (!isReady("operator") && !isReady("provider")) return
  cluster = await Cluster.start()
  await cluster.kubectl(["create", "namespace", "shop"])
  await cluster.kubectl(["create", "serviceaccount", "webshop", "--namespace", "shop"])
  await place.ok("secret", "set", "DATABASE_URL", "postgres://one", "--env", "prod")
})

afterAll(() => cluster?.stop())

/** Runs a line of a shell, such as a page has it. */
const shell = async (line: string, input = "") => {
  const { code, stderr } = await place.home.shell(line.replace(/^coffer /, "$COFFER "), {
    env: { KUBECONFIG: cluster.variables["KUBECONFIG"] ?? "" },
    input
  })
  assert.strictEqual(code, 0, `${line}: ${stderr}`)
}

/** Makes an account for a program, runs the commands that are printed for it, and returns its files. */
const prepared = async (account: string, program: ProgramName, ...more: ReadonlyArray<string>) => {
  const words = ["service-account", "create", account, "--for", program, "--env", "prod", "--json", ...more]
  const { api_key: key, lines } = JSON.parse(await place.prints(...words))
  const pieces: ReadonlyArray<string> = lines.map((piece: { readonly lines: string }) => piece.lines)
  await shell("kubectl get --raw /openid/v1/jwks > cluster.json")
  const isFile = (piece: string) => piece.startsWith("apiVersion:")
  for (const piece of pieces) if (!isFile(piece)) await shell(piece, `${key}\n`)
  return pieces.filter(isFile).join("---\n")
}

const inShop = ["--namespace", "shop"]

describe.skipIf(!isReady("operator"))("Vault Secrets Operator 1.4.1", () => {
  const kinds = "vaultstaticsecret,vaultauth,vaultconnection"

  it.each([
    ["a key", "keyed", []],
    ["the token of a service account", "keyless", ["--no-key"]]
  ] as const)("fills a secret of the cluster and brings a changed value, by %s", async (_by, account, more) => {
    // As its image has them.
    const crds = join(folderOf("vault-secrets-operator") ?? "", "crds")
    await cluster.kubectl(["apply", "--server-side", "-f", crds])
    await cluster.kubectl(["wait", "--for=condition=Established", "crd", "--all"])
    const operator = cluster.run(
      "vault-secrets-operator",
      ...["--leader-elect=false", "--metrics-bind-address=0", "--health-probe-bind-address=0"]
    )
    const arrived = (value: string) =>
      eventually(
        async () => {
          const { out } = await cluster.try(["get", "secret", "webshop", ...inShop, "-o", "json"])
          const { data = {} } = out === "" ? {} : JSON.parse(out)
          const found = Buffer.from(data.DATABASE_URL ?? "", "base64").toString()
          return found === value ? true : undefined
        },
        () => `${value}\n${operator.err.text.slice(-5_000)}`
      )
    await place.ok("secret", "set", "DATABASE_URL", "postgres://one", "--env", "prod")
    const files = await prepared(account, "vault-secrets-operator", ...more)
    await cluster.kubectl(["apply", "--validate=strict", "-f", "-"], files)
    await arrived("postgres://one")
    const often = JSON.stringify({ spec: { refreshAfter: "1s" } })
    await cluster.kubectl(["patch", "vaultstaticsecret", "webshop", ...inShop, "--type=merge", "-p", often])
    await place.ok("secret", "set", "DATABASE_URL", "postgres://two", "--env", "prod")
    await arrived("postgres://two")
    if (account === "keyed") {
      const id = (await place.prints("service-account", "rotate", account)).trim()
      await place.ok("secret", "set", "DATABASE_URL", "postgres://three", "--env", "prod")
      await operator.err.said(/invalid role or secret ID/)
      await arrived("postgres://two")
      const patch = JSON.stringify({ stringData: { id } })
      await cluster.kubectl(["patch", "secret", "coffer-key", ...inShop, "--type=merge", "-p", patch])
      await arrived("postgres://three")
    }
    assert.notInclude(operator.out.text + operator.err.text, "postgres://")
    await cluster.kubectl(["delete", kinds, "--all", ...inShop])
    await cluster.kubectl(["delete", "secret", "webshop", ...inShop, "--ignore-not-found"])
    await operator.stop()
  })
})

describe.skipIf(!isReady("provider"))("Vault's CSI provider 1.7.4 with the driver 1.6.0", () => {
  /** A script that runs a program with the service account of a pod's container, at the place where programs look for it. */
  const asPod = `mount -t tmpfs tmpfs /run && mkdir -p /run/secrets/kubernetes.io &&
    ln -s "$1" /run/secrets/kubernetes.io/serviceaccount && shift && exec "$@"`

  const startProvider = async () => {
    const account = ["vault-csi-provider", "--namespace", "default"]
    await cluster.kubectl(["create", "serviceaccount", ...account])
    const rights = ["--verb=get,create", "--resource=secrets,serviceaccounts/token"]
    await cluster.kubectl(["create", "clusterrole", "provider", ...rights])
    const subject = "--serviceaccount=default:vault-csi-provider"
    await cluster.kubectl(["create", "clusterrolebinding", "provider", "--clusterrole=provider", subject])
    const folder = join(cluster.folder, "provider")
    mkdirSync(folder)
    writeFileSync(join(folder, "token"), await cluster.kubectl(["create", "token", ...account]))
    writeFileSync(join(folder, "ca.crt"), readFileSync(cluster.certificate))
    writeFileSync(join(folder, "namespace"), "default")
    const socket = join(folder, "vault.sock")
    const own = [`-endpoint=${socket}`, `-health-addr=127.0.0.1:${await freePort()}`]
    const address = ["KUBERNETES_SERVICE_HOST=127.0.0.1", `KUBERNETES_SERVICE_PORT=${cluster.port}`]
    const words = ["--map-root-user", "--mount", "sh", "-c", asPod, "sh", folder, "env", ...address]
    const provider = cluster.run("unshare", ...words, "vault-csi-provider", ...own)
    await provider.err.said(/Starting gRPC server/)
    return { provider, socket }
  }

  it("mounts a value into a pod, by the token that it asks for and by that of the kubelet", async () => {
    const { provider, socket } = await startProvider()
    const { spec } = parse(await prepared("mounted", "csi-provider", "--no-key"))
    const mount = async (pod: string, serviceAccount: string, more: Readonly<Record<string, string>> = {}) => {
      const manifest = {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: pod, namespace: "shop" },
        spec: { serviceAccountName: serviceAccount, containers: [{ name: "web", image: "web" }] }
      }
      const made = await cluster.kubectl(["create", "-o", "json", "-f", "-"], JSON.stringify(manifest))
      const attributes = {
        ...spec.parameters,
        "csi.storage.k8s.io/pod.name": pod,
        "csi.storage.k8s.io/pod.namespace": "shop",
        "csi.storage.k8s.io/pod.uid": JSON.parse(made).metadata.uid,
        "csi.storage.k8s.io/serviceAccount.name": serviceAccount,
        ...more
      }
      const folder = join(cluster.folder, pod)
      mkdirSync(folder)
      const ran = await run("csi-driver-mount", [socket, JSON.stringify(attributes), folder], cluster.variables)
      return { ...ran, value: () => readFileSync(join(folder, "DATABASE_URL"), "utf8") }
    }
    await place.ok("secret", "set", "DATABASE_URL", "postgres://mounted", "--env", "prod")
    const asking = await mount("asking", "webshop")
    assert.strictEqual(asking.code, 0, asking.err)
    assert.strictEqual(asking.value(), "postgres://mounted")
    const { audience } = spec.parameters
    const token = (await cluster.kubectl(["create", "token", "webshop", ...inShop, "--audience", audience])).trim()
    const tokens = { [audience]: { token, expirationTimestamp: new Date(Date.now() + 600_000).toISOString() } }
    const given = await mount("given", "webshop", {
      "csi.storage.k8s.io/serviceAccount.tokens": JSON.stringify(tokens)
    })
    assert.strictEqual(given.code, 0, given.err)
    assert.strictEqual(given.value(), "postgres://mounted")
    await cluster.kubectl(["create", "serviceaccount", "other", ...inShop])
    const other = await mount("refused", "other")
    assert.match(other.err, /failed to login[^]*400/)
    assert.notInclude(other.err + provider.out.text + provider.err.text, "postgres://")
    await provider.stop()
  })
})
