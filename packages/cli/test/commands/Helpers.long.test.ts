import { execFileSync } from "node:child_process"
import { appendFileSync, chmodSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, beforeAll, describe, it } from "vitest"
import { finish, node } from "../support/Programs.js"
import { client } from "../support/Terminal.js"
import { workplace } from "../support/Workplace.js"

const place = workplace()
const dockerHelper = fileURLToPath(new URL("../../bin/docker-credential-coffer.js", import.meta.url))

const at = "org: acme\nproject: webshop\nenv: dev\n"
const helpers = `helpers:
  git:
    github.com: { username: x-access-token, key: GITHUB_TOKEN }
    "GIT.example.com:8443": { username: "ada", key: MULTILINE }
    "usual.example:443": { username: "ada", key: GHCR_TOKEN }
    github.com/acme: { username: "acme-bot", key: GHCR_TOKEN }
  docker:
    ghcr.io: { username: bot, key: GHCR_TOKEN }
    index.docker.io: { username: hub, key: GHCR_TOKEN }
`

/** A repository of its own with a service.yml. */
const repository = (name: string, source: string) => {
  const folder = join(place.home.folder, name)
  mkdirSync(folder)
  execFileSync("git", ["init", "--quiet", folder])
  writeFileSync(join(folder, "service.yml"), source)
  return folder
}

const trust = async (cwd: string) => {
  const { code, stderr, stdout } = await place.home.coffer(["trust"], { cwd })
  assert.strictEqual(code, 0, stderr)
  return stdout
}

beforeAll(async () => {
  await place.ok("secret", "set", "GITHUB_TOKEN", "ghp_dev")
  await place.ok("secret", "set", "GITHUB_TOKEN", "ghp_prod", "--env", "prod")
  await place.ok("secret", "set", "MULTILINE", "a\nhost=evil.example")
  await place.ok("secret", "set", "GHCR_TOKEN", 'gh"cr\n')
  await place.ok("secret", "set", "AWS_ACCESS_KEY_ID", "AKIAEXAMPLE")
  await place.ok("secret", "set", "AWS_SECRET_ACCESS_KEY", "s3/cr+et")
  mkdirSync(join(place.home.folder, "bin"))
  writeFileSync(join(place.home.folder, "bin/coffer"), `#!/bin/sh\nexec ${node} ${client} "$@"\n`)
  chmodSync(join(place.home.folder, "bin/coffer"), 0o755)
}, 300_000)

describe("coffer helper git", () => {
  const git = (cwd: string, operation: string, request: string) => {
    const env = {
      PATH: `${join(place.home.folder, "bin")}:${place.home.environment["PATH"] ?? ""}`,
      GIT_TERMINAL_PROMPT: "0",
      GIT_ASKPASS: "",
      SSH_ASKPASS: ""
    }
    const args = ["-c", "credential.helper=", "-c", "credential.helper=!coffer helper git", "credential", operation]
    return finish(place.home.spawn("git", args, { cwd, env }), `${request}\n\n`)
  }
  const asks = "protocol=https\nhost=github.com"

  it("gives git the credential of a host once the file is trusted, and until it changes", async () => {
    const cwd = repository("git", at + helpers)
    const stranger = await git(cwd, "fill", asks)
    assert.deepStrictEqual([stranger.code, stranger.stdout], [128, ""])
    const why =
      "coffer: github.com: no credential is given, because service.yml is not trusted: read it, then run: coffer"
    assert.include(stranger.stderr, why)

    assert.include(await trust(cwd), "coffer helper gives GITHUB_TOKEN to git for github.com, coffer helper gives MULT")
    const filled = await git(cwd, "fill", asks)
    assert.deepStrictEqual([filled.code, filled.stderr], [0, ""])
    assert.strictEqual(filled.stdout, `${asks}\nusername=x-access-token\npassword=ghp_dev\n`)
    // A request of git to store the credential is then ignored.
    const approved = await git(cwd, "approve", `${asks}\nusername=x-access-token\npassword=ghp_dev`)
    assert.deepStrictEqual([approved.code, approved.stderr], [0, ""])

    appendFileSync(join(cwd, "service.yml"), "# changed\n")
    const changed = await git(cwd, "fill", asks)
    assert.deepStrictEqual([changed.code, changed.stdout], [128, ""])
    assert.include(changed.stderr, "because service.yml has changed since it was trusted")
  })

  it("gives nothing to another host, user or protocol, and no value that could name another host", async () => {
    const cwd = repository("other", at + helpers)
    await trust(cwd)
    for (const [request, said] of [
      ["protocol=https\nhost=github.com.evil.example", ""],
      ["protocol=https\nhost=evil.example\npath=github.com", ""],
      ["protocol=https\nhost=ghcr.io", ""],
      ["protocol=https\nhost=github.com\nusername=other", ""],
      ["protocol=http\nhost=github.com", "coffer: github.com: a credential is given for https alone, not for http\n"],
      ["protocol=https\nhost=git.example.com:8443", "coffer: MULTILINE has a line break or a NUL byte"]
    ] as const) {
      const { code, stderr, stdout } = await git(cwd, "fill", request)
      assert.deepStrictEqual([code, stdout, stderr.includes(said)], [128, "", true], stderr)
      assert.notInclude(stderr, "evil.example=")
      if (said === "") assert.notInclude(stderr, "coffer:")
    }
  })

  it("gives the credential of the longest path, and takes a missing port for the usual one", async () => {
    const cwd = repository("paths", at + helpers)
    await trust(cwd)
    const ask = async (request: string) => {
      const { code, stderr, stdout } = await place.home.coffer(["helper", "git", "get"], {
        cwd,
        input: `${request}\n\n`
      })
      assert.strictEqual(code, 0, stderr)
      return stdout
    }
    assert.strictEqual(await ask("protocol=https\nhost=usual.example"), 'username=ada\npassword=gh"cr\n')
    assert.include(await ask("protocol=https\nhost=github.com:443"), "username=x-access-token\n")
    for (const path of ["acme", "acme/webshop.git", "acme/webshop"]) {
      assert.include(await ask(`${asks}\npath=${path}`), "username=acme-bot\n", path)
    }
    for (const path of ["acme2/webshop", "other/acme", ""]) {
      assert.include(await ask(`${asks}\npath=${path}`), "username=x-access-token\n", path)
    }
  })

  it("takes no place from an untrusted service.yml in a folder below", async () => {
    const cwd = repository("nested", at + helpers)
    await trust(cwd)
    const below = join(cwd, "below")
    mkdirSync(below)
    writeFileSync(join(below, "service.yml"), "env: prod\n")
    // git starts its helpers at the root of the work tree.
    assert.include((await git(below, "fill", asks)).stdout, "password=ghp_dev\n")
    const get = () => place.home.coffer(["helper", "git", "get"], { cwd: below, input: `${asks}\n\n` })
    const stranger = await get()
    assert.deepStrictEqual([stranger.code, stranger.stdout], [0, ""])
    assert.include(stranger.stderr, "github.com: no credential is given, because service.yml is not trusted")
    const lines = (await trust(below)).trim().split("\n")
    assert.lengthOf(lines, 2)
    assert.match(lines[0] ?? "", /below\/service\.yml is trusted as it is now: coffer helper takes the place from it$/)
    assert.include((await get()).stdout, "password=ghp_prod\n")
  })
})

describe("docker-credential-coffer", () => {
  const docker = (cwd: string, operation: string, input = "") =>
    finish(place.home.spawn(node, [dockerHelper, operation], { cwd }), input)

  it("gives Docker the credential of a registry, and keeps no login", async () => {
    const cwd = repository("docker", at + helpers)
    const stranger = await docker(cwd, "get", "ghcr.io")
    assert.strictEqual(stranger.code, 1)
    assert.match(stranger.stdout, /^no credential is given, because service\.yml is not trusted: read it/)
    assert.strictEqual((await docker(cwd, "list")).stdout, "{}\n")
    await trust(cwd)
    for (const [server, user] of [
      ["ghcr.io", "bot"],
      ["https://GHCR.io/v2/", "bot"],
      ["https://index.docker.io/v1/\n", "hub"]
    ] as const) {
      const { code, stdout } = await docker(cwd, "get", server)
      assert.strictEqual(code, 0, stdout)
      assert.deepStrictEqual(JSON.parse(stdout), { ServerURL: server.trim(), Username: user, Secret: 'gh"cr' })
    }
    for (const server of ["github.com", "http://ghcr.io", "evil.example/ghcr.io", ""]) {
      const { code, stdout } = await docker(cwd, "get", server)
      assert.deepStrictEqual([code, stdout], [1, "credentials not found in native keychain\n"], server)
    }
    assert.deepStrictEqual(JSON.parse((await docker(cwd, "list")).stdout), {
      "ghcr.io": "bot",
      "index.docker.io": "hub"
    })
    for (const operation of ["store", "erase"]) {
      const { code, stdout } = await docker(cwd, operation, '{"ServerURL":"ghcr.io","Username":"bot","Secret":"x"}')
      assert.strictEqual(code, 1)
      assert.match(stdout, /^coffer keeps no logins of Docker: store the password with coffer secret set/)
    }
  })
})

describe("coffer helper aws and exec", () => {
  it("print what the tool asks for, from a trusted or a named place", async () => {
    const cwd = repository("aws", at)
    const helper = (...args: ReadonlyArray<string>) => place.home.coffer(["helper", ...args], { cwd })
    for (const tool of [["aws"], ["exec", "GITHUB_TOKEN"]]) {
      const { code, stderr, stdout } = await helper(...tool)
      assert.deepStrictEqual([code, stdout], [1, ""])
      assert.include(
        stderr,
        "no credential is given, because service.yml is not trusted: read it, then run: coffer trust"
      )
    }
    // A place that the command line names in full needs no trust.
    assert.strictEqual((await helper("exec", "GITHUB_TOKEN", "--env", "acme/webshop/prod")).stdout, "ghp_prod")
    await trust(cwd)
    const aws = await helper("aws")
    assert.deepStrictEqual(JSON.parse(aws.stdout), {
      Version: 1,
      AccessKeyId: "AKIAEXAMPLE",
      SecretAccessKey: "s3/cr+et"
    })
    const names = ["--access-key-id", "GITHUB_TOKEN", "--session-token", "GHCR_TOKEN"]
    assert.deepInclude(JSON.parse((await helper("aws", ...names)).stdout), {
      AccessKeyId: "ghp_dev",
      SessionToken: 'gh"cr'
    })
    assert.strictEqual((await helper("exec", "GHCR_TOKEN")).stdout, 'gh"cr\n')
    const { Expiration } = JSON.parse((await helper("aws", "--expires-in", "1h")).stdout)
    assert.closeTo(Date.parse(Expiration), Date.now() + 3_600_000, 120_000)
    const broken = await helper("aws", "--session-token", "MULTILINE")
    assert.deepStrictEqual([broken.code, broken.stdout], [1, ""])
    assert.include(broken.stderr, "MULTILINE has a line break or a NUL byte in it")
    const absent = await helper("exec", "NONE")
    assert.deepStrictEqual([absent.code, absent.stdout], [4, ""])
  })
})
