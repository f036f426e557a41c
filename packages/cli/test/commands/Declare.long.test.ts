import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { workplace } from "../support/Workplace.js"

const place = workplace()

const coffer = (line: string, input?: string) =>
  place.home.coffer(line.split(" "), { ...(input !== undefined && { input }) })
const at = "--env acme/webshop/dev"
const inProject = "--org acme --project webshop"
const fileOf = (name: string) => join(place.home.folder, name)

const example = `# Where the shop listens
# @type=port
PORT=8080

# @required=forEnv(prod)
DATABASE_URL=postgres://app@localhost/shop
# LOG_LEVEL=info
`

describe("coffer declare and coffer check", () => {
  it("take a file over, change nothing the second time, and write a file that reads back", async () => {
    writeFileSync(fileOf(".env.example"), example)
    const tried = await coffer(`declare ${inProject} --from .env.example --dry-run`)
    assert.include(tried.stderr, "would be 3 created")
    assert.strictEqual((await coffer(`declare list ${inProject} --json`)).stdout.trim(), '{\n  "data": []\n}')
    const made = await coffer(`declare ${inProject} --from .env.example`)
    assert.deepStrictEqual(made.stdout.trim().split("\n"), [
      "PORT\tcreated\teverywhere\t[0-9]{1,5}\t8080",
      "DATABASE_URL\tcreated\tprod\t-\tpostgres://app@localhost/shop",
      "LOG_LEVEL\tcreated\tnowhere\t-\tinfo"
    ])
    assert.strictEqual((await coffer(`declare ${inProject} --write written.env.example`)).code, 0)
    const again = await coffer(`declare ${inProject} --from written.env.example`)
    assert.include(again.stderr, "0 created, 0 updated, 3 unchanged")
    const kept = readFileSync(fileOf("written.env.example"), "utf8")
    chmodSync(fileOf("written.env.example"), 0o640)
    writeFileSync(fileOf("written.env.example"), "# by hand\n")
    assert.strictEqual((await coffer(`declare ${inProject} --write written.env.example --yes`)).code, 0)
    assert.strictEqual(readFileSync(fileOf("written.env.example"), "utf8"), kept)
    assert.strictEqual(statSync(fileOf("written.env.example")).mode & 0o777, 0o640)
    assert.notMatch(readdirSync(place.home.folder).join(), /[0-9a-f]{8}-/, "no part of it is left over")
    assert.include(
      (await coffer(`declare ${inProject} --write written.env.example`)).stderr,
      "has the 3 declared keys of webshop already"
    )
    assert.include(kept, '# Where the shop listens\n# @required @type=string(matches="^(?:[0-9]{1,5})$")\nPORT=8080\n')
  })

  it("ask before they replace something, and overwrite no file unasked", async () => {
    writeFileSync(fileOf(".env.example"), example.replace("listens", "answers"))
    const refused = await coffer(`declare ${inProject} --from .env.example`)
    assert.deepStrictEqual([refused.code, refused.stdout], [2, ""])
    assert.include(refused.stderr, "--yes")
    assert.strictEqual((await coffer(`declare ${inProject} --write .env.example`)).code, 2)
    assert.strictEqual((await coffer(`declare ${inProject} --from .env.example --yes`)).code, 0)
  })

  it("never send the values of a file whose name does not say that they are examples", async () => {
    mkdirSync(fileOf("examples"))
    writeFileSync(fileOf("examples/.env"), "# SESSION_KEY=canary-2b6a\nSESSION_KEY=canary-5d1c # canary-7c0f\n")
    const made = await coffer(`declare ${inProject} --from examples/.env --required-nowhere`)
    assert.strictEqual(made.code, 0, made.stderr)
    assert.include(made.stderr, "may be secrets")
    const listed = await coffer(`declare list ${inProject} --json`)
    assert.notInclude(listed.stdout + made.stdout + made.stderr, "canary")
    assert.strictEqual((await coffer(`declare rm SESSION_KEY ${inProject} --yes`)).code, 0)
  })

  it("never send what looks like a credential, whatever the file is called", async () => {
    const real = `ghp_${"aB3dE5".repeat(6)}`
    writeFileSync(fileOf("real.env.example"), `# the token\nTOKEN=${real}\nNAME=x\n`)
    const tried = await coffer(`declare ${inProject} --from real.env.example --dry-run --json`)
    assert.include(tried.stderr, "looks like a real secret: the value or comment of TOKEN;")
    assert.notInclude(tried.stdout + tried.stderr, real)
    assert.include(tried.stdout, '"example": "x"')
  })

  it("name what is missing, not declared and against its pattern, and end with exit code 1", async () => {
    await coffer(`secret set PORT ${at}`, "canary-8f3b")
    await coffer(`secret set OLD ${at}`, "canary-9a2e")
    const checked = await coffer(`check ${at}`)
    assert.deepStrictEqual(
      [checked.code, checked.stdout],
      [1, "dev\tPORT\tbreaks its pattern\ndev\tOLD\tnot declared\n"]
    )
    const all = await coffer(`check ${inProject} --all-envs --json`)
    assert.strictEqual(all.code, 1)
    assert.deepStrictEqual(
      (
        JSON.parse(all.stdout) as { data: ReadonlyArray<{ environment: string; missing: ReadonlyArray<string> }> }
      ).data.map(({ environment, missing }) => [environment, ...missing]),
      [["dev"], ["staging", "PORT"], ["prod", "DATABASE_URL", "PORT"]]
    )
    assert.notInclude(checked.stderr + all.stdout, "canary")
  })

  it("keep a command from starting whose keys are not as declared, and warn of the write", async () => {
    const kept = await coffer(`run ${at} --check -- echo started`)
    assert.deepStrictEqual([kept.code, kept.stdout], [125, ""])
    assert.include(kept.stderr, "against their pattern PORT")
    const warned = await coffer(`secret set PORT ${at}`, "many")
    assert.include(warned.stderr, "warning: PORT of webshop/dev: the value breaks the pattern")
    await coffer(`secret set PORT ${at}`, "80")
    const started = await coffer(`run ${at} --check -- echo started`)
    assert.deepStrictEqual([started.code, started.stdout], [0, "started\n"])
    assert.strictEqual((await coffer(`project update webshop --org acme --strict`)).code, 0)
    const refused = await coffer(`secret set PORT ${at}`, "canary-1b7d")
    assert.strictEqual(refused.code, 1)
    assert.notInclude(refused.stderr, "canary")
    await coffer(`secret delete OLD ${at} --yes`)
    assert.strictEqual((await coffer(`check ${at}`)).code, 0)
  })

  it("write no file where nothing is declared, or may be seen", async () => {
    const { token } = place.home
    await place.server.call("POST", "/api/orgs/acme/members", { body: { email: "grace@example.com" }, token })
    const grace = await place.server.login("grace@example.com")
    writeFileSync(join(grace.folder, ".env.example"), "PORT=1\n")
    const { code, stderr } = await grace.coffer(`declare ${inProject} --write .env.example --yes`.split(" "))
    assert.deepStrictEqual(
      [code, stderr],
      [1, "coffer: project webshop declares no keys, or none that you may see; nothing was written to .env.example\n"]
    )
    assert.strictEqual(readFileSync(join(grace.folder, ".env.example"), "utf8"), "PORT=1\n")
    grace.remove()
  })

  it("take one key as it is given, and leave the rest of it as it was", async () => {
    await coffer(`declare PORT ${inProject} --required-in dev,qa --owner ops`)
    const { data } = JSON.parse((await coffer(`declare list ${inProject} --json`)).stdout) as {
      data: ReadonlyArray<Readonly<Record<string, unknown>>>
    }
    const { updated_at: _at, updated_by: _by, ...port } = data.find(({ key }) => key === "PORT") ?? {}
    assert.deepStrictEqual(port, {
      ...{ key: "PORT", required_in: ["dev", "qa"], pattern: "[0-9]{1,5}", owner: "ops" },
      ...{ description: "Where the shop answers", example: "8080" }
    })
    const wrong = await coffer(`declare PORT ${inProject} --pattern [`)
    assert.strictEqual(wrong.code, 1)
    assert.include(wrong.stderr, "pattern: is no RE2 regular expression")
    assert.strictEqual((await coffer(`declare ${inProject}`)).code, 2)
  })
})
