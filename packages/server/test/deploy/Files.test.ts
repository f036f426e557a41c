import { spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { described } from "@coffer/server/base/config/Descriptions"
import { loadConfig } from "@coffer/server/base/Config"
import { Effect, Either } from "effect"
import { afterAll, assert, describe, it } from "vitest"
import { parse } from "yaml"
import type { Json } from "../support/Program.js"

const root = new URL("../../../../", import.meta.url)
const deploy = (name: string) => readFileSync(new URL(`deploy/${name}`, root), "utf8")
const folder = mkdtempSync(join(tmpdir(), "coffer-deploy-"))

afterAll(() => {
  rmSync(folder, { recursive: true })
})

const known = new Set(
  described.flatMap(({ variables }) => variables.flatMap(({ variable }) => [variable, `${variable}_FILE`]))
)

/** Checks that the services of a Compose file name only secrets, networks, volumes and files that there are. */
const assertDeclared = ({ networks, secrets, services, volumes }: Json): void => {
  for (const service of Object.values<Json>(services)) {
    for (const name of service.secrets ?? []) assert.property(secrets, name)
    for (const name of service.networks) assert.property(networks, name)
    for (const mount of service.volumes ?? []) {
      const [source] = String(mount).split(":")
      if (source?.startsWith("./") === true) assert.isTrue(existsSync(new URL(`deploy/${source}`, root)), source)
      else assert.property(volumes, source ?? "")
    }
  }
}

describe("deploy/compose.yaml", () => {
  const compose: Json = parse(deploy("compose.yaml"))
  const { networks, services } = compose

  it("runs the server without rights, on a file system that it cannot write to, reached by the proxy alone", () => {
    const { coffer, proxy } = services
    for (const service of [coffer, proxy]) {
      assert.isTrue(service.read_only)
      assert.deepStrictEqual(service.cap_drop, ["ALL"])
      assert.deepStrictEqual(service.security_opt, ["no-new-privileges:true"])
    }
    assert.isUndefined(coffer.ports)
    assert.deepStrictEqual(proxy.ports, ["80:80", "443:443"])
    assert.isTrue(networks.inside.internal)
  })

  it("names only what it declares", () => {
    assertDeclared(compose)
    assert.strictEqual(services.coffer.build, "../release/container")
  })

  it("gives settings that the server takes", () => {
    const file = join(folder, "key")
    writeFileSync(file, `${"0".repeat(64)}\n`)
    const given: Record<string, string> = services.coffer.environment
    assert.deepStrictEqual(
      Object.keys(given).filter((name) => !known.has(name)),
      []
    )
    const settings = Object.fromEntries(
      Object.entries(given).map(([name, value]) => [name, name.endsWith("_FILE") ? file : value])
    )
    return Effect.runPromise(Effect.either(loadConfig(settings))).then((result) => {
      assert.isTrue(Either.isRight(result), String(result))
    })
  })
})

/** Checks that settings are known, and that the server takes them together. */
const assertTaken = async (given: Readonly<Record<string, string>>): Promise<void> => {
  assert.deepStrictEqual(
    Object.keys(given).filter((name) => !known.has(name)),
    []
  )
  const key = join(folder, "key")
  writeFileSync(key, `${"0".repeat(64)}\n`)
  const url = join(folder, "url")
  writeFileSync(url, "postgres://coffer:secret@postgres/coffer?sslmode=disable")
  const settings = Object.fromEntries(
    Object.entries(given).map(([name, value]) => [
      name,
      name === "SERVICE_DATABASE_URL_FILE" ? url : name.endsWith("_FILE") ? key : value
    ])
  )
  const result = await Effect.runPromise(Effect.either(loadConfig(settings)))
  if (Either.isLeft(result)) assert.fail(result.left.message)
  assert.strictEqual(result.right.postgres?.target.host, "postgres")
}

describe("deploy/compose.postgres.yaml", () => {
  const compose: Json = parse(deploy("compose.postgres.yaml"), { merge: true })
  const { networks, services } = compose
  const servers = ["coffer-1", "coffer-2", "coffer-3"]

  it("runs three servers without rights, reached by the proxy alone, with settings that they take", async () => {
    for (const name of servers) {
      assert.isTrue(services[name].read_only)
      assert.deepStrictEqual(services[name].cap_drop, ["ALL"])
      assert.isUndefined(services[name].ports)
      await assertTaken(services[name].environment)
    }
    assert.strictEqual(services.proxy.environment.COFFER_UPSTREAM, servers.map((name) => `${name}:7100`).join(" "))
    assert.isUndefined(services.postgres.ports)
    assert.deepStrictEqual(services.postgres.networks, ["inside"])
    assert.isTrue(networks.inside.internal)
  })

  it("names only what it declares", () => {
    assertDeclared(compose)
  })
})

describe("deploy/kubernetes", () => {
  const kustomization: Json = parse(deploy("kubernetes/kustomization.yaml"))
  const resources: ReadonlyArray<Json> = kustomization.resources.map((name: string) =>
    parse(deploy(`kubernetes/${name}`))
  )
  const of = (kind: string): Json => resources.find((resource) => resource.kind === kind)
  const pod = of("Deployment").spec.template
  const [container] = pod.spec.containers

  it("runs three servers without rights, with probes of paths that exist, and settings that they take", async () => {
    assert.strictEqual(of("Deployment").spec.replicas, 3)
    assert.isTrue(container.securityContext.readOnlyRootFilesystem)
    assert.isTrue(pod.spec.securityContext.runAsNonRoot)
    assert.strictEqual(container.livenessProbe.httpGet.path, "/health")
    assert.strictEqual(container.readinessProbe.httpGet.path, "/health/ready")
    await assertTaken(Object.fromEntries(container.env.map(({ name, value }: Json) => [name, value])))
  })

  it("selects its pods, and mounts the files of its secret", () => {
    for (const kind of ["Deployment", "PodDisruptionBudget", "Service", "NetworkPolicy"]) {
      const { podSelector, selector } = of(kind).spec
      const labels = podSelector?.matchLabels ?? selector.matchLabels ?? selector
      assert.deepStrictEqual(labels, pod.metadata.labels, kind)
    }
    const files: ReadonlyArray<string> = kustomization.secretGenerator[0].files
    const named = container.env.filter(({ name }: Json) => name.endsWith("_FILE")).map(({ value }: Json) => value)
    assert.sameMembers(
      named,
      files.map((file) => `/run/coffer/${file}`)
    )
  })
})

describe("deploy/Dockerfile", () => {
  const dockerfile = deploy("Dockerfile")
  const last = dockerfile.slice(dockerfile.lastIndexOf("\nFROM "))

  it("ends as a user without rights, with a check of health, and bears no secret", () => {
    assert.match(last, /^USER 10001:10001$/m)
    assert.match(last, /^HEALTHCHECK .*\n? *.*\/health\/ready/m)
    assert.notMatch(dockerfile, /^(ARG|ENV) .*(KEY|PASSWORD|TOKEN)/m)
  })

  it("sets what the server knows", () => {
    const variables = [...last.matchAll(/\b((?:SERVICE|SMTP|BACKUP)_[A-Z0-9_]+)=/g)].map(([, name = ""]) => name)
    assert.isAbove(variables.length, 3)
    for (const variable of variables) assert.isTrue(known.has(variable), variable)
  })

  it("downloads and compiles nothing but the image of Node", () => {
    assert.match(dockerfile, /npm install --global --offline .*--ignore-scripts/)
    assert.lengthOf(dockerfile.match(/^FROM /gm) ?? [], 1)
  })
})

describe("deploy/coffer.service", () => {
  const unit = deploy("coffer.service")

  it("sets what the server knows", () => {
    const variables = [...unit.matchAll(/^Environment=([A-Z0-9_]+)=/gm)].map(([, name = ""]) => name)
    assert.isAbove(variables.length, 1)
    for (const variable of variables) assert.isTrue(known.has(variable), variable)
  })

  const has = spawnSync("systemd-analyze", ["--version"], { stdio: "ignore" }).status === 0

  it.skipIf(!has)("is a unit that systemd understands and calls little exposed (needs systemd-analyze)", () => {
    const file = join(folder, "coffer.service")
    // The program itself need not be here.
    writeFileSync(file, unit.replace("/usr/bin/node", "/bin/sh"))
    const verified = spawnSync("systemd-analyze", ["verify", file], { encoding: "utf8" })
    assert.strictEqual(verified.stderr, "")
    assert.strictEqual(verified.status, 0)
    const judged = spawnSync("systemd-analyze", ["security", "--offline=true", "--threshold=15", file], {
      encoding: "utf8"
    })
    assert.strictEqual(judged.status, 0, judged.stdout)
  })
})

describe("the settings that the .deb and .rpm begin with", () => {
  it("are those of the operations page, as comments, and known to the server", () => {
    const text = readFileSync(new URL("scripts/release/system/server/coffer.env", root), "utf8")
    const settings = [...text.matchAll(/^#(([A-Z0-9_]+)=.*)$/gm)]
    for (const [, , variable = ""] of settings) assert.isTrue(known.has(variable), variable)
    const page = readFileSync(new URL("docs/operations/systemd.md", root), "utf8")
    assert.include(page, `\`\`\`ini\n${settings.map(([, setting]) => `${setting}\n`).join("")}\`\`\``)
    assert.notMatch(text, /^[^#\n]/m)
  })
})
