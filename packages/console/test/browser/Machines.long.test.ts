import type { Piece } from "@coffer/domain/guides/Fill"
import { afterAll, assert, beforeAll, describe, inject, it } from "vitest"
import { parse } from "yaml"
import { noChromium } from "../../../../scripts/chromium.mjs"
import { clusterIssuer, podClaims, Signer } from "../../../server/test/federations/Signer.js"
import { Person, terminalOf } from "../support/Person.js"
import { hasBrowser, Visit } from "../support/Visit.js"

const why = hasBrowser() ? "" : ` [${noChromium}]`

describe.skipIf(!hasBrowser())(`machines of an organization${why}`, () => {
  let mia: Person
  let visit: Visit
  let signer: Signer

  const dialog = () => visit.page.locator("dialog")

  beforeAll(async () => {
    mia = await Person.login("mia@example.com")
    await mia.organization("machines")
    signer = await Signer.make()
    visit = await Visit.open("/machines/-/accounts", mia)
  })
  afterAll(async () => {
    await visit.close()
  })

  it("an account signs in without a stored key: from the wizard to the lines, by the keyboard alone", async () => {
    const { keyboard } = visit.page
    await visit.page.getByRole("button", { name: "New service account" }).focus()
    await keyboard.press("Enter")
    await dialog().getByLabel("Name").focus()
    await keyboard.type("ci")
    await visit.isAccessible("wizard without a key")
    await keyboard.press("Enter")
    await visit.sees("has no key. Say whose tokens it signs in with.")
    await dialog().getByLabel("Id of the repository").focus()
    await keyboard.type("74")
    await keyboard.press("Tab")
    await keyboard.type("production")
    await visit.isAccessible("a federation's form")
    await keyboard.press("Enter")
    await visit.sees("No key is stored anywhere.")
    const job = parse(await dialog().locator("pre").innerText()).jobs.deploy
    assert.deepStrictEqual(job.env, { SERVICE_SERVER_URL: inject("server").url, SERVICE_ACCOUNT: "machines/ci" })
    assert.strictEqual(job.environment, "production")
    assert.include(job.steps[1].run, "npm install --global ./coffer-")
    assert.strictEqual(job.steps[2].run, "coffer run machines/webshop/dev -- ./deploy.sh")
    await visit.isAccessible("lines without a key")
    await keyboard.press("Escape")
    await visit.sees("none")
  })

  it("an account is bound to networks, and freed from them again", async () => {
    const row = visit.page.getByRole("row").filter({ hasText: "ci" })
    await visit.press("Networks of ci")
    await visit.fill("It may call from", "10.0.0.0/33")
    await visit.press("Save")
    await visit.sees(/10\.0\.0\.0\/33 is no network/)
    await visit.fill("It may call from", "198.51.100.0/24\n2001:db8:7::/48, 10.20.0.0/16")
    await visit.isAccessible("networks")
    await visit.press("Save")
    await row.getByText("3 networks").waitFor()
    await visit.isAccessible("bound service accounts")
    await visit.press("Networks of ci")
    const field = dialog().getByLabel("It may call from")
    assert.strictEqual(await field.inputValue(), "198.51.100.0/24\n2001:db8:7::/48\n10.20.0.0/16")
    await field.fill("")
    await visit.press("Save")
    await row.getByText("3 networks").waitFor({ state: "detached" })
    const { data } = await mia.call("GET", "/api/orgs/machines/service-accounts")
    assert.notProperty(data[0], "allowed_networks")
  })

  it("an account for a program has its lines: those of the terminal, but for what the console has done", async () => {
    const terminal = await terminalOf("mia@example.com")
    /** Returns the terminal's instructions after the rule, for an account with the same name as the console's. */
    const linesFor = async (program: string, name: string, ...more: ReadonlyArray<string>) => {
      const place = ["--org", "machines", "--project", "webshop", "--env", "dev"]
      const command = ["service-account", "create", `${name}-too`, "--for", program, "--json", ...place, ...more]
      const { code, stderr, stdout } = await terminal.coffer(command)
      assert.strictEqual(code, 0, stderr)
      const [, ...pieces]: ReadonlyArray<Piece> = JSON.parse(stdout.replaceAll(`${name}-too`, name)).lines
      return pieces
    }
    const shown = async () => {
      const found = dialog().locator(".accounts-piece")
      const [whats, lines] = await Promise.all([
        found.locator("p:first-child").allInnerTexts(),
        found.locator("pre").allInnerTexts()
      ])
      return whats.map((what, index) => ({ what, lines: lines[index] }))
    }
    const begin = async (name: string, program: string) => {
      await visit.press("New service account")
      await dialog().getByLabel("Name").fill(name)
      await dialog().getByLabel("It is for").selectOption(program)
    }
    const [dokploy, operator, csi] = await Promise.all([
      linesFor("dokploy", "panel"),
      linesFor("vault-secrets-operator", "pods", "--no-key"),
      linesFor("csi-provider", "mounts", "--no-key")
    ])
    terminal.remove()

    await begin("panel", "Dokploy")
    await dialog().getByLabel("The key expires after").waitFor()
    assert.isTrue(await dialog().getByLabel("It signs in").isDisabled())
    await visit.press("Create")
    await visit.sees("The server needs SERVICE_VAULT_API=1.")
    assert.deepStrictEqual(await shown(), dokploy)
    await dialog().getByLabel("It runs in").selectOption("Vault Secrets Operator")
    await visit.sees('roleId: "machines/panel"')
    await visit.leaveKey()

    await begin("mounts", "Vault's CSI provider")
    assert.strictEqual(await dialog().getByLabel("It signs in").inputValue(), "without a stored key")
    await visit.press("Create")
    await visit.press("Trust it later")
    await visit.sees("mounts has no key, and trusts no cluster yet.")
    assert.deepStrictEqual(await shown(), csi)
    await visit.page.keyboard.press("Escape")

    await begin("pods", "Vault Secrets Operator")
    await visit.press("Create")
    await dialog().getByLabel("Namespace").fill("shop")
    await dialog().getByLabel("Service account of the pod").fill("webshop")
    await dialog().getByLabel("Public keys (JWKS)").fill(JSON.stringify(signer.jwks))
    await visit.isAccessible("the pods of a program")
    await visit.press("Let pods sign in")
    await visit.sees("No key is stored anywhere.")
    assert.match(operator[0]?.lines ?? "", /^coffer service-account trust pods .* --kubernetes shop\/webshop /)
    assert.deepStrictEqual(await shown(), operator.slice(1))
    await visit.isAccessible("lines for a program")
    await visit.page.keyboard.press("Escape")
  })

  it("each kind has its form, and a token is tried against what an account takes", async () => {
    await visit.press(/^Keyless sign-in of ci/)
    await visit.press("Add a CI system or cluster")
    const kind = dialog().getByLabel("It runs in")
    for (const [word, label] of [
      ["GitLab", "Id of the project"],
      ["Buildkite", "Id of the pipeline"],
      ["CircleCI", "Id of the organization"],
      ["other", "Further claims"]
    ] as const) {
      await kind.selectOption(word)
      await dialog().getByLabel(label).waitFor()
    }
    await dialog().getByLabel("Further claims").fill("ref=main")
    await dialog().getByLabel("Issuer").fill("https://git.example.com")
    await visit.sees(/must name an id that is never given again/)
    await visit.isAccessible("a federation with a mistake")
    await kind.selectOption("Kubernetes")
    await dialog().getByLabel("Namespace").fill("shop")
    await dialog().getByLabel("Service account of the pod").fill("deploy")
    await dialog().getByLabel("Further claims").fill("")
    await dialog().getByLabel("Issuer").fill(clusterIssuer)
    await dialog().getByLabel("Public keys (JWKS)").fill(JSON.stringify(signer.jwks))
    await visit.press("Let ci sign in")
    await visit.sees("expirationSeconds: 600")
    await visit.press(/All federations of ci/)
    await visit.sees("/kubernetes.io/serviceaccount/name = deploy")
    await visit.isAccessible("federations")

    await visit.press("Try a token")
    const claims = podClaims("machines/ci", Math.floor(Date.now() / 1000))
    const aud = `coffer:${new URL(inject("server").url).host}/machines/ci`
    const attempt = async (more: object) => {
      const token = await signer.sign({ ...claims, aud, ...more })
      await dialog().getByLabel("Token of a job").fill(token)
      await visit.press("Try the token")
      return token
    }
    const token = await attempt({})
    await visit.sees("The account signs in with this token, by kubernetes.")
    await attempt({ aud: "other" })
    await visit.sees("No federation takes this token.")
    await dialog().getByRole("row").filter({ hasText: "aud" }).getByText('"other"').waitFor()
    await visit.isAccessible("a token that does not fit")
    assert.notInclude(await visit.page.content(), token.slice(0, 30))

    await visit.press(/All federations of ci/)
    await visit.press("Revoke the federation kubernetes")
    await visit.fill(/^Type/, "kubernetes")
    await dialog().last().getByRole("button", { name: "Revoke", exact: true }).click()
    await visit.page.getByText("/kubernetes.io/namespace = shop").waitFor({ state: "detached" })
    await visit.page.keyboard.press("Escape")
    const { data } = await mia.call("GET", "/api/orgs/machines/audit-logs?resource_type=federation")
    assert.deepStrictEqual(
      data.map(({ action }: { readonly action: string }) => action),
      ["federation.revoke", "federation.create", "federation.create", "federation.create"]
    )
  })
})
