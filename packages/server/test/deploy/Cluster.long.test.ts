import { cpSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { parseAllDocuments } from "yaml"
import { Cluster } from "../support/Cluster.js"
import type { Json } from "../support/Program.js"

// Kubernetes' own API server judges what deploy/ and the pages have for a cluster. It is skipped where there is none, so this
// file is part of a soak: Chart.test.ts compares the same objects with the types of its API in each run.

if (!Cluster.isThere)
  process.stderr.write("etcd, kube-apiserver or kubectl is not on this machine: tests are skipped\n")

const path = (name: string) => fileURLToPath(new URL(`../../../../${name}`, import.meta.url))

let cluster: Cluster

beforeAll(async () => {
  if (!Cluster.isThere) return
  cluster = await Cluster.start()
  const labels = ["enforce", "warn"].map((mode) => `pod-security.kubernetes.io/${mode}=restricted`)
  await cluster.kubectl(["create", "namespace", "shop"])
  await cluster.kubectl(["label", "namespace", "shop", ...labels])
  await cluster.kubectl(["create", "serviceaccount", "default", "--namespace", "shop"])
})

afterAll(() => cluster?.stop())

/** As `kubectl apply` does, in a namespace that takes no pod with more rights than it needs, and without a warning. */
const applied = (source: ReadonlyArray<string>, input?: string) =>
  cluster.kubectl(
    ["apply", "--namespace=shop", "--dry-run=server", "--validate=strict", "--warnings-as-errors", ...source],
    input
  )

describe.skipIf(!Cluster.isThere)("Kubernetes' API server", () => {
  it.each(["default", "ingress", "sqlite"])("takes what the chart renders: %s", async (golden) => {
    assert.include(await applied(["-f", path(`packages/server/test/deploy/golden/${golden}.yaml`)]), "deployment.apps/")
  })

  it("takes deploy/kubernetes with the files that its first lines make", async () => {
    const folder = join(cluster.folder, "kubernetes")
    cpSync(path("deploy/kubernetes"), folder, { recursive: true })
    for (const name of ["master.key", "smtp.password", "database.url"]) writeFileSync(join(folder, name), name)
    assert.match(await applied(["-k", folder]), /^secret\/coffer-\w+ created/m)
  })

  it("takes the pods of the pages", async () => {
    const fragments = ["machines", "operations/helm"].flatMap((page) =>
      [...readFileSync(path(`docs/${page}.md`), "utf8").matchAll(/^```yaml\n([\s\S]*?)^```$/gm)]
        .flatMap(([, text = ""]) => parseAllDocuments(text).map((document): Json => document.toJS()))
        .filter(({ containers }) => containers !== undefined)
    )
    assert.lengthOf(fragments, 2)
    for (const [index, { containers, ...spec }] of fragments.entries()) {
      const securityContext = { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } }
      const pod = {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: `pod-${index}` },
        spec: {
          ...spec,
          containers: containers.map((one: Json) => ({ image: "web", securityContext, ...one })),
          securityContext: { seccompProfile: { type: "RuntimeDefault" }, runAsNonRoot: true, ...spec.securityContext }
        }
      }
      await applied(["-f", "-"], JSON.stringify(pod))
    }
  })
})
