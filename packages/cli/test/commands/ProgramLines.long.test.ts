import { programNames } from "@coffer/domain/guides/Programs"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { parseAllDocuments } from "yaml"
import { workplace } from "../support/Workplace.js"

const place = workplace()
const create = (...args: ReadonlyArray<string>) => place.home.coffer(["service-account", "create", ...args])

describe("service-account create --for", () => {
  it("prints the key alone on standard output, once, and the lines with the real place on standard error", async () => {
    const { code, stderr, stdout } = await create("panel one", "--for", "dokploy", "--env", "prod")
    assert.strictEqual(code, 0, stderr)
    assert.match(stdout, /^svc_sa_[\w-]+\n$/)
    assert.notInclude(stderr, stdout.trim())
    assert.include(stderr, "SERVICE_VAULT_API=1")
    assert.include(stderr, `\nName: coffer\nVault URL: ${place.server.url}\nKV Mount: webshop\n`)
    assert.include(stderr, "\nDATABASE_URL=${{vault.coffer.prod:DATABASE_URL}}\n")
    const [grant = ""] = /^coffer acl grant .*$/m.exec(stderr) ?? []
    const ran = await place.home.shell(grant.replace("coffer", "$COFFER"))
    assert.strictEqual(ran.code, 0, ran.stderr)
    assert.include(await place.prints("acl", "list"), "panel one")
  })

  it("gives the lines in a field of the record, without the key, and takes the place of service.yml", async () => {
    const { code, stderr, stdout } = await create("panel two", "--for", "fnox", "--json")
    assert.strictEqual(code, 0, stderr)
    const { api_key, lines } = JSON.parse(stdout)
    assert.strictEqual(stdout.split(api_key).length, 2)
    assert.notInclude(stderr, "FNOX_VAULT_TOKEN")
    assert.include(lines[1].lines, 'value = "dev/DATABASE_URL"')
  })

  it("needs no key for a pod, which it then lets sign in", async () => {
    const { code, stderr, stdout } = await create("pod", "--for", "csi-provider", "--no-key")
    assert.deepStrictEqual([code, stdout], [0, ""], stderr)
    const yaml = stderr.slice(stderr.indexOf("apiVersion:"))
    const [document] = parseAllDocuments(yaml).map((each) => each.toJS())
    const audience = `coffer:${new URL(place.server.url).host}/acme/pod`
    assert.deepInclude(document.spec.parameters, { roleName: "acme/pod", vaultAddress: place.server.url, audience })
  })

  it("refuses what would not work, before anything is made", async () => {
    const refused: ReadonlyArray<readonly [ReadonlyArray<string>, RegExp]> = [
      [
        ["--program", "dokplay"],
        new RegExp(`--program takes one of ${programNames.join(", ")}; did you mean dokploy\\?`)
      ],
      [["--for", "dokploy", "--no-key"], /dokploy needs a key, and --no-key makes none/],
      [["--for", "csi-provider"], /csi-provider signs in with the token of its pod, and needs no key: add --no-key/],
      [["--for", "n8n", "--no-reveal"], /--program n8n is for an account that reads values, and --no-reveal gives none/]
    ]
    for (const [args, says] of refused) {
      const { code, stderr, stdout } = await create("never", ...args)
      assert.deepStrictEqual([code, stdout], [2, ""], stderr)
      assert.match(stderr, says)
    }
    assert.notInclude(await place.prints("service-account", "list"), "never")
  })

  it("gives Komodo a wrapper that starts a command with the secrets", async () => {
    await place.ok("secret", "set", "DATABASE_URL", "postgres://dev")
    const { stderr, stdout } = await create("komodo", "--for", "komodo")
    const [, wrapper = ""] = /^compose_cmd_wrapper = "(.*)"$/m.exec(stderr) ?? []
    const [grant = ""] = /^coffer (acl grant .*)$/m.exec(stderr) ?? []
    await place.ok(...grant.slice("coffer ".length).split(" "))
    const file = join(place.home.folder, "komodo.key")
    writeFileSync(file, stdout, { mode: 0o600 })
    const command = wrapper
      .replace("/etc/komodo/coffer.key", file)
      .replace("coffer run", "$COFFER run")
      .replace("[[COMPOSE_COMMAND]]", "printenv DATABASE_URL")
    const ran = await place.home.shell(command, { env: { HOME: join(place.home.folder, "nobody") } })
    assert.strictEqual(ran.stdout, "postgres://dev\n", ran.stderr)
  })
})
