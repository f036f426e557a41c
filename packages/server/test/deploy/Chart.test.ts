import Ajv from "ajv"
import { execFileSync, spawnSync } from "node:child_process"
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { described } from "@coffer/server/base/config/Descriptions"
import ts from "typescript"
import { assert, describe, expect, it } from "vitest"
import { parse, parseAllDocuments } from "yaml"
import type { Json } from "../support/Program.js"

const root = new URL("../../../../", import.meta.url)
const chart = fileURLToPath(new URL("deploy/helm/coffer", root))
const read = (path: string) => readFileSync(new URL(path, root), "utf8")

/** The arguments that the chart is rendered with, by golden file. */
const goldens = {
  default: [],
  ingress: ["--set=ingress.enabled=true,ingress.annotations.example\\.com/team=shop"],
  sqlite: ["--set=database=sqlite,replicas=1,volume.storageClass=fast,disruptionBudget.enabled=false"]
} as const
type Golden = keyof typeof goldens
const names: ReadonlyArray<Golden> = ["default", "ingress", "sqlite"]

const objectsOf = (name: Golden): ReadonlyArray<Json> =>
  parseAllDocuments(read(`packages/server/test/deploy/golden/${name}.yaml`)).map((document) => document.toJS())

const byName = (a: Json, b: Json) => (a.name < b.name ? -1 : 1)

/** The kind and name of each object that selects pods, with the names of the pods that it selects. */
const selected = (objects: ReadonlyArray<Json>): Readonly<Record<string, ReadonlyArray<string>>> => {
  const pods = objects.flatMap(({ metadata, spec: { template } }) => (template ? [[metadata.name, template]] : []))
  return Object.fromEntries(
    objects.flatMap(({ kind, metadata, spec: { podSelector, selector } }) => {
      const labels: Json = podSelector?.matchLabels ?? selector?.matchLabels ?? selector
      if (labels === undefined) return []
      const matches = ([, { metadata }]: ReadonlyArray<Json>) =>
        Object.entries(labels).every(([label, value]) => metadata.labels[label] === value)
      return [[`${kind} ${metadata.name}`, pods.filter(matches).map(([name]) => name)]]
    })
  )
}

/** Returns the result of `selected` for installations that select their own pods alone. */
const ownPods = (names: ReadonlyArray<string>) =>
  Object.fromEntries(
    names.flatMap((name) =>
      ["Deployment", "NetworkPolicy", "PodDisruptionBudget", "Service"].map((kind) => [`${kind} ${name}`, [name]])
    )
  )

/** Makes a chart that includes this one twice, and has pods of its own. */
const parentChart = (folder: string) => {
  for (const name of ["charts", "templates"]) mkdirSync(join(folder, name), { recursive: true })
  cpSync(chart, join(folder, "charts/coffer"), { recursive: true })
  const included = { name: "coffer", version: "*", repository: "", condition: "coffer.enabled" }
  const dependencies = [included, { ...included, alias: "vault" }]
  writeFileSync(
    join(folder, "Chart.yaml"),
    JSON.stringify({ apiVersion: "v2", name: "shop", version: "1.0.0", dependencies })
  )
  const labels = { app: "{{ .Release.Name }}", "app.kubernetes.io/instance": "{{ .Release.Name }}" }
  const metadata = { name: "{{ .Release.Name }}", labels: { ...labels, "app.kubernetes.io/name": "shop" } }
  const pods = { kind: "StatefulSet", metadata, spec: { template: { metadata } } }
  writeFileSync(join(folder, "templates/pods.yaml"), JSON.stringify(pods))
  writeFileSync(join(folder, "values.yaml"), JSON.stringify({ coffer: { enabled: true } }))
}

/** Objects by kind. The order of variables means nothing, because none names another. */
const byKind = (objects: ReadonlyArray<Json>): Readonly<Record<string, Json>> => {
  for (const { spec } of objects) spec.template?.spec.containers[0].env.sort(byName)
  return Object.fromEntries(objects.map((object) => [object.kind, object]))
}

describe("the chart as helm renders it", () => {
  const helm = process.env["COFFER_HELM"] ?? "helm"
  const hasHelm = spawnSync(helm, ["version"]).status === 0
  const missing = hasHelm ? "" : " [there is no helm: set COFFER_HELM]"
  const rendered = (args: ReadonlyArray<string>, release = "coffer", path = chart) =>
    spawnSync(helm, ["template", release, path, "--kube-version", "1.30.0", ...args], { encoding: "utf8" })

  it.skipIf(!hasHelm)(`is as the golden files say, and helm lint finds nothing${missing}`, async () => {
    for (const name of names) {
      const { stderr, stdout } = rendered(goldens[name])
      assert.strictEqual(stderr, "")
      await expect(stdout).toMatchFileSnapshot(`golden/${name}.yaml`)
    }
    assert.include(execFileSync(helm, ["lint", "--strict", chart], { encoding: "utf8" }), "0 chart(s) failed")
  })

  it.skipIf(!hasHelm)(`is refused with the sentence of a rule${missing}`, () => {
    const { stderr } = rendered(["--set=database=sqlite"])
    assert.include(stderr, "replicas: 1, or database: postgresql, because a database file serves one server")
    assert.include(rendered(["--set=secretName="]).stderr, "secretName: the name of a Secret with master.key")
    assert.include(rendered(["--set=env.SMTP_PASSWORD=x"]).stderr, "SMTP_PASSWORD")
  })

  it.skipIf(!hasHelm)(`selects the pods of its own release, also as a part of another chart${missing}`, () => {
    const folder = mkdtempSync(join(tmpdir(), "coffer-chart-"))
    parentChart(folder)
    const long = "x".repeat(53)
    const objects = [
      rendered([], "coffer"),
      rendered([], "shop", folder),
      rendered([], long),
      rendered(["--set=nameOverride=keys"], "test"),
      rendered(["--set=fullnameOverride=safe"], "123")
    ].flatMap(({ stderr, stdout }) => {
      assert.strictEqual(stderr, "")
      return parseAllDocuments(stdout).map((document): Json => document.toJS())
    })
    rmSync(folder, { recursive: true })
    const names = ["coffer", "shop-coffer", "shop-vault", `${long}-coffer`, "test-keys", "safe"]
    assert.deepStrictEqual(selected(objects), ownPods(names))
    assert.include(rendered(["--set=enabled=false"]).stderr, "enabled")
  })

  it("is by default what deploy/kubernetes has, which selects the pods by one label", () => {
    const { resources }: Json = parse(read("deploy/kubernetes/kustomization.yaml"))
    const ours = resources.map((name: string): Json => parse(read(`deploy/kubernetes/${name}`)))
    const labels = { "app.kubernetes.io/name": "coffer", "app.kubernetes.io/instance": "coffer" }
    const [one, two] = [JSON.stringify({ app: "coffer" }), JSON.stringify(labels)]
    assert.deepStrictEqual(byKind(objectsOf("default")), byKind(JSON.parse(JSON.stringify(ours).replaceAll(one, two))))
  })

  it("has an Ingress for the Service where one is asked for, and is else the same", () => {
    const { Ingress, ...others } = byKind(objectsOf("ingress"))
    assert.deepStrictEqual(others, byKind(objectsOf("default")))
    const [rule] = Ingress.spec.rules
    assert.deepStrictEqual(rule.http.paths[0].backend.service, {
      name: others["Service"].metadata.name,
      port: { name: "http" }
    })
    assert.deepStrictEqual(Ingress.spec.tls[0].hosts, [rule.host])
  })

  it("keeps a database file on a volume, for one server that has ended before the next one starts", () => {
    const { Deployment, PersistentVolumeClaim: claim, ...others } = byKind(objectsOf("sqlite"))
    assert.sameMembers(Object.keys(others), ["NetworkPolicy", "Service"])
    assert.strictEqual(Deployment.spec.replicas, 1)
    assert.deepStrictEqual(Deployment.spec.strategy, { type: "Recreate" })
    const { containers, volumes } = Deployment.spec.template.spec
    const { claimName } = volumes.find(({ name }: Json) => name === "work").persistentVolumeClaim
    assert.strictEqual(claimName, claim.metadata.name)
    assert.deepStrictEqual(claim.metadata.annotations, { "helm.sh/resource-policy": "keep" })
    assert.deepInclude(containers[0].volumeMounts, { name: "work", mountPath: "/data" })
    const variables = containers[0].env.map(({ name }: Json) => name)
    assert.notIncludeMembers(variables, ["SERVICE_DATABASE_URL_FILE"])
    assert.notInclude(variables, "SERVICE_DB_PATH", "the image's is below /data")
  })

  it("has no field and no type that Kubernetes' API does not have", () => {
    const modules: Readonly<Record<string, string>> = {
      "apps/v1": "apps/v1",
      "networking.k8s.io/v1": "networking/v1",
      "policy/v1": "policy/v1",
      v1: "core/v1"
    }
    const source = (objects: ReadonlyArray<Json>) =>
      objects
        .map(({ apiVersion, kind, ...rest }, index) => {
          const type = `import("kubernetes-types/${modules[apiVersion]}").${kind}`
          return `export const object${index}: ${type} = ${JSON.stringify({ apiVersion, kind, ...rest })}`
        })
        .join("\n")
    const problems = (text: string) => {
      const file = fileURLToPath(new URL("packages/server/test/deploy/objects.ts", root))
      const options = { lib: ["lib.es2015.d.ts"], module: ts.ModuleKind.ESNext, types: [], strict: true, noEmit: true }
      const settings = { ...options, moduleResolution: ts.ModuleResolutionKind.Bundler, skipLibCheck: true }
      const host = ts.createCompilerHost(settings)
      const { fileExists, getSourceFile } = host
      host.fileExists = (path) => path === file || fileExists.call(host, path)
      host.getSourceFile = (path, target, ...more) =>
        path === file ? ts.createSourceFile(path, text, target) : getSourceFile.call(host, path, target, ...more)
      const program = ts.createProgram([file], settings, host)
      return ts
        .getPreEmitDiagnostics(program)
        .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"))
    }
    const all = names.flatMap(objectsOf)
    assert.lengthOf(all, 4 + 5 + 4)
    assert.deepStrictEqual(problems(source(all)), [])
    const [object] = all
    for (const wrong of [{ maxUnavailble: 1 }, { policyTypes: "Ingress" }]) {
      assert.lengthOf(problems(source([{ ...object, spec: { ...object.spec, ...wrong } }])), 1)
    }
  })
})

describe("the values of the chart", () => {
  const schema: Json = JSON.parse(read("deploy/helm/coffer/values.schema.json"))
  const values: Json = parse(read("deploy/helm/coffer/values.yaml"))
  const validate = new Ajv({ allErrors: true }).compile(schema)
  const problems = (changes: Json) => {
    validate({ ...values, ...changes })
    return (validate.errors ?? [])
      .map(({ dataPath, message, params }) => `${dataPath} ${message} ${JSON.stringify(params)}`)
      .join("\n")
  }

  it("are taken by default, for several servers on PostgreSQL, and for one with a file", () => {
    for (const changes of [{}, { replicas: 5 }, { database: "sqlite", replicas: 1 }]) {
      assert.strictEqual(problems(changes), "")
    }
  })

  it("are refused where they cannot work, with a sentence", () => {
    const sentence = "replicas: 1, or database: postgresql, because a database file serves one server"
    assert.include(problems({ database: "sqlite" }), sentence)
    for (const secretName of ["", null, "Not a name"]) {
      assert.include(problems({ secretName }), "secretName: the name of a Secret with master.key")
    }
    for (const wrong of [{ replicas: 0 }, { replica: 2 }, { database: "mysql" }, { env: { SERVICE_PORT: 7100 } }]) {
      assert.notStrictEqual(problems(wrong), "", JSON.stringify(wrong))
    }
  })

  it("hold no secret setting", () => {
    const secret = described.flatMap(({ variables }) =>
      variables.filter(({ file, secret }) => file === true || secret === true).map(({ variable }) => variable)
    )
    for (const name of secret) assert.include(problems({ env: { [name]: "x" } }), "should NOT be valid", name)
    const others = schema.properties.env.propertyNames.not.enum.filter((name: string) => !secret.includes(name))
    // The chart sets the others, or they name files.
    for (const name of others) assert.match(name, /^SERVICE_(HOST|PORT|DB_PATH|\w+_FILE)$/)
    assert.include(problems({ secretFiles: { SERVICE_MASTER_KEY_FILE: "x" } }), "should NOT be valid")
  })

  it("are of this version", () => {
    const { version }: Json = JSON.parse(read("package.json"))
    const { appVersion, name, version: own }: Json = parse(read("deploy/helm/coffer/Chart.yaml"))
    assert.deepStrictEqual([name, own, appVersion], ["coffer", version, version])
  })
})
