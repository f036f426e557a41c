import { assert, describe, it } from "vitest"
import { workplace } from "../support/Workplace.js"

const place = workplace()
const { ok, prints } = place

const set = (env: string, values: Readonly<Record<string, string>>) =>
  Promise.all(Object.entries(values).map(([key, value]) => ok("secret", "set", key, value, "--env", env)))

describe("secret list --all-envs", () => {
  it("shows where each key is missing, and where its value differs, without values", async () => {
    assert.deepStrictEqual(await ok("secret", "list", "--all-envs"), {
      stdout: "",
      stderr: "coffer: there are no secrets in webshop\n"
    })
    await set("dev", { ALIKE: "hunter2", ALL_DIFFER: "hunter2", ONE_DIFFERS: "hunter2" })
    await set("staging", { ALIKE: "hunter2", ALL_DIFFER: "hunter3", ONE_DIFFERS: "hunter2" })
    await set("prod", { ALIKE: "hunter2", ALL_DIFFER: "hunter4", ONE_DIFFERS: "hunter3", ONLY_PROD: "hunter2" })
    const { stderr, stdout } = await ok("secret", "list", "--all-envs")
    assert.deepStrictEqual(stdout.split("\n"), [
      "ALIKE\tA\tA\tA\tsame",
      "ALL_DIFFER\tA\tB\tC\tdifferent",
      "ONE_DIFFERS\tA\tA\tB\tdifferent",
      "ONLY_PROD\tmissing\tmissing\tA\tmissing in dev, staging",
      ""
    ])
    assert.strictEqual(stderr, "coffer: dev, staging, prod: equal letters in a row are equal values\n")
    const json = await prints("secret", "list", "--all-envs", "--json")
    assert.notInclude(json, "hunter")
    const { data, environments, left_out } = JSON.parse(json)
    assert.deepStrictEqual([environments, left_out], [["dev", "staging", "prod"], []])
    assert.deepStrictEqual(data[3].environments.dev, null)
    assert.deepStrictEqual(data[2].environments.prod.version, 1)
    assert.strictEqual(data[2].environments.staging.value, data[2].environments.dev.value)
    assert.notInclude(await prints("audit", "list", "--action", "secret.read", "--all"), "secret.read")
  })

  it("needs no environment, and refuses --env", async () => {
    const both = await place.home.coffer(["secret", "list", "--all-envs", "--env", "dev"])
    assert.deepStrictEqual([both.code, both.stdout], [2, ""])
    assert.match(both.stderr, /--env names one environment, and --all-envs all/)
    const cwd = "/"
    const missing = await place.home.coffer(["secret", "list", "--org", "acme"], { cwd })
    assert.match(missing.stderr, /project/)
    assert.match(missing.stderr, /--env/)
    const args = ["secret", "list", "--all-envs", "--org", "acme", "--project", "webshop"]
    assert.strictEqual((await place.home.coffer(args, { cwd })).code, 0)
  })

  it("says what the caller may not list or compare", async () => {
    await ok("member", "invite", "grace@example.com", "--role", "developer")
    const grant = ["acl", "grant", "--email", "grace@example.com", "--project-pattern", "webshop"]
    await ok(...grant, "--env-pattern", "{dev,staging}", "--permission", "read")
    const grace = await place.server.login("grace@example.com")
    try {
      const at = ["--org", "acme", "--project", "webshop"]
      const { code, stderr, stdout } = await grace.coffer(["secret", "list", "--all-envs", ...at])
      assert.strictEqual(code, 0, stderr)
      assert.match(stdout, /^ALL_DIFFER\tA\tB\tdifferent$/m)
      assert.match(stderr, /left out, because you may not list them: prod\n$/)
    } finally {
      grace.remove()
    }
  })
})
