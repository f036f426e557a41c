import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, expect, inject, it } from "vitest"
import { TestHome } from "../../../cli/test/support/Programs.js"
import { Signer } from "../../../server/test/federations/Signer.js"
import { noChromium } from "../../../../scripts/chromium.mjs"
import { cellOf } from "../support/Cells.js"
import { codeFor, type Json, Person } from "../support/Person.js"
import { Hands, Steps } from "../support/Steps.js"
import { mistakenFile, newcomers, of, org, peopleFile, projects } from "../support/Thirty.js"
import { hasBrowser, Visit } from "../support/Visit.js"

const why = hasBrowser() ? "" : ` [${noChromium}]`
const issuer = "https://github.thirty.example.com/_services/token"

describe.skipIf(!hasBrowser())(`the first week of thirty people${why}`, { timeout: 120_000 }, () => {
  const { url } = inject("server")
  const steps = new Steps()
  const home = new TestHome(url)
  const all: Array<Visit> = []
  let admin: Hands
  let api: Person

  const open = async (path: string, person?: Person) => {
    const visit = await Visit.open(path, person)
    all.push(visit)
    return new Hands(visit)
  }
  const list = async (path: string): Promise<ReadonlyArray<Json>> =>
    (await api.call("GET", `/api/orgs/${org}${path}`)).data
  const valueOf = async (project: string, env: string, key: string): Promise<string> =>
    (await api.call("GET", `/api/orgs/${org}/projects/${project}/envs/${env}/secrets/${key}`)).value

  beforeAll(async () => {
    admin = await open("/")
  })
  afterAll(async () => {
    home.remove()
    process.stdout.write(`\n${steps.table}`)
    for (const visit of all) await visit.close()
  })

  it("an admin makes the organization, and invites thirty people by a file without mistakes alone", async () => {
    await steps.take("log in by mail", admin, async () => {
      await admin.fill("E-mail address", of("ada"))
      await admin.press("Send me a code")
      await admin.fill("Code", await codeFor(of("ada")))
      await admin.press("Log in")
      await admin.visit.sees("Welcome to Coffer")
    })
    await steps.take("create the organization", admin, async () => {
      await admin.fill("Name of the organization", org)
      await admin.key("Enter")
      await admin.visit.sees(`Projects of ${org}`)
    })
    api = await Person.login(of("ada"))
    const run = (...args: ReadonlyArray<string>) => admin.enter(home.coffer(args))
    await steps.take("log in at a terminal", admin, async () => {
      assert.strictEqual((await run("login", "--email", of("ada"))).code, 0)
      const code = await codeFor(of("ada"), 2)
      assert.strictEqual((await run("login", "--email", of("ada"), "--code", code)).code, 0)
    })
    const file = join(home.folder, "people.csv")
    await steps.take("invite 30 people: a file with mistakes", admin, async () => {
      writeFileSync(file, mistakenFile)
      const { code, stderr } = await run("member", "invite", "--file", file, "--org", org)
      assert.notStrictEqual(code, 0)
      assert.match(stderr, /line 4: the e-mail address.*line 5: the role.*line 6: rule 1.*nothing was/s)
      assert.lengthOf(await list("/members"), 1)
      assert.lengthOf(await list("/acl"), 0)
    })
    await steps.take("invite 30 people: the corrected file", admin, async () => {
      writeFileSync(file, peopleFile)
      const { code, stderr } = await run("member", "invite", "--file", file, "--org", org)
      assert.strictEqual(code, 0, stderr)
    })
    assert.lengthOf(await list("/members"), 31)
    const rules = await list("/acl")
    assert.lengthOf(rules, 27)
    assert.isFalse(rules.some(({ env_pattern }) => env_pattern.includes("prod") || env_pattern === "*"))
  })

  it("an admin imports six projects of four kinds of files, and gives access to those without it", async () => {
    for (const { name, project, text } of projects) {
      await steps.take(`import ${project} by ${name("dev") || "paste"}`, admin, async () => {
        if (project !== projects[0]?.project) await admin.press("New project")
        await admin.fill("Name of the project", project)
        await admin.key("Enter")
        await admin.visit.sees(`${project} has no secrets yet`)
        for (const env of ["dev", "prod"]) {
          if (name(env) === "") await admin.paste(text(env))
          else await admin.drop(name(env), text(env))
          // The name of a file says it; a text is for the first environment, unless one chooses another.
          if (name(env) === "" && env === "prod") await admin.choose("Into", env)
          await admin.press(new RegExp(`^Stage \\d for ${env}$`))
        }
        await admin.press("Review and write")
        await admin.press(/^Write to dev, prod/)
        await admin.visit.sees("Written to dev, prod")
      })
      for (const env of ["dev", "prod"]) {
        assert.strictEqual(await valueOf(project, env, "SESSION_KEY"), `canary-${env}-session`)
      }
      await admin.follow(org)
    }
    await admin.page.getByRole("row", { name: /^webshop 3 8 .*by ada@/ }).waitFor()
    assert.lengthOf(await list("/projects"), projects.length)

    await steps.take("give three people access by rules", admin, async () => {
      for (const name of newcomers) {
        await admin.follow("Members")
        const row = admin.page.getByRole("row", { name: new RegExp(`^${of(name)} no access yet invited`) })
        await admin.click(row.getByRole("link"))
        await admin.page.getByRole("row", { name: "webshop/prod none" }).waitFor()
        await admin.follow("Grant by a rule")
        await expect.poll(() => admin.page.getByLabel("Who").inputValue()).toBe(of(name))
        await admin.fill("Projects", "*")
        await admin.fill("Environments", "dev")
        await admin.key("Enter")
        await admin.page.getByRole("row", { name: new RegExp(`^${of(name)} \\*/dev read`) }).waitFor()
      }
    })
    await admin.follow("Members")
    await admin.page.getByRole("row", { name: of("zoe") }).waitFor()
    assert.strictEqual(await admin.page.getByText("no access yet").count(), 0)
  })

  it("connects GitHub without a key", async () => {
    const signer = await Signer.make()
    const seconds = Math.floor(Date.now() / 1000)
    const claims = { iss: issuer, sub: "repo:thirty/webshop", repository_id: "74", environment: "production", jti: "1" }
    const tokenOf = (audience: string) =>
      signer.sign({ ...claims, aud: audience, iat: seconds, nbf: seconds, exp: seconds + 3600 })
    await steps.take("connect GitHub without a key", admin, async () => {
      await admin.follow("Service accounts")
      await admin.press("New service account")
      await admin.fill("Name", "ci")
      await admin.choose("Project", "webshop")
      await admin.choose("Environment that it reads", "prod")
      await admin.press("Create")
      await admin.fill("Id of the repository", "74")
      await admin.fill("Deployment environment (optional)", "production")
      // An own GitHub, with the keys of this test.
      await admin.click(admin.page.getByText("Issuer, keys, further claims and name"))
      await admin.fill("Issuer", issuer)
      await admin.fill("Public keys (JWKS)", JSON.stringify(signer.jwks))
      await admin.press("Let ci sign in")
      await admin.visit.sees(`coffer run ${org}/webshop/prod -- ./deploy.sh`)
    })
    const audience = `coffer:${new URL(url).host}/${org}/ci`
    await steps.take("try a token of a job", admin, async () => {
      await admin.key("Escape")
      await admin.press(/^Keyless sign-in of ci/)
      await admin.press("Try a token")
      await admin.fill("Token of a job", await tokenOf(audience))
      await admin.press("Try the token")
      await admin.visit.sees("The account signs in with this token, by github.")
      await admin.key("Escape")
    })
    const env = { SERVICE_ACCOUNT: `${org}/ci`, SERVICE_ID_TOKEN: await tokenOf(audience) }
    const job = new TestHome(url)
    const { stderr, stdout } = await job.coffer(["run", `${org}/webshop/prod`, "--", "printenv", "STRIPE_KEY"], { env })
    job.remove()
    assert.strictEqual(stdout, "canary-prod-stripe\n", stderr)
  })

  it("three colleagues work at once, and one of them is told who was faster", async () => {
    const [bob, carol, dan] = await Promise.all([
      Person.login(of("bob")).then((person) => open(`/${org}/webshop`, person)),
      Person.login(of("carol")).then((person) => open(`/${org}/webshop`, person)),
      Person.login(of("dan")).then((person) => open("/", person))
    ])
    const stage = async (hands: Hands, value: string) => {
      await hands.click(cellOf(hands.visit, "LOG_LEVEL", "dev"))
      await hands.key("e")
      await hands.type(value)
      await hands.key("Enter")
      await hands.visit.sees("1 change staged")
    }
    await Promise.all([
      steps.take("bob edits a value", bob, async () => {
        await stage(bob, "of-bob")
      }),
      steps.take("carol copies four keys to staging", carol, async () => {
        await carol.click(carol.page.getByLabel("Choose all keys that are shown"))
        await carol.press("Copy to")
        await carol.press("Review")
        await carol.press("Write to staging")
        await carol.visit.sees("Written to staging")
      }),
      steps.take("dan finds STRIPE_KEY and reveals it", dan, async () => {
        await dan.follow(org)
        await dan.visit.sees(`Projects of ${org}`)
        await dan.key("Control+k")
        await dan.type("stripe_k")
        await dan.page.getByRole("option", { name: "STRIPE_KEY key of webshop" }).waitFor()
        await dan.key("Enter")
        await dan.press("Reveal")
        await dan.visit.sees("canary-dev-stripe")
      })
    ])
    assert.strictEqual(await valueOf("webshop", "staging", "STRIPE_KEY"), "canary-dev-stripe")
    await dan.follow("← Matrix")
    await stage(dan, "of-dan")
    await steps.take("bob writes", bob, async () => {
      await bob.press("Review and write")
      await bob.press("Write to dev")
      await bob.visit.sees("Written to dev")
    })
    await steps.take("dan writes the same key after bob", dan, async () => {
      await dan.press("Review and write")
      await dan.visit.sees("has changed since you began")
      assert.strictEqual(await valueOf("webshop", "dev", "LOG_LEVEL"), "of-bob")
      await dan.press("Keep mine in dev")
      await dan.press("Write to dev")
      await dan.visit.sees("Written to dev")
    })
    assert.strictEqual(await valueOf("webshop", "dev", "LOG_LEVEL"), "of-dan")

    await steps.take("bob reads the history and reverts", bob, async () => {
      await bob.follow("History")
      await bob.page.getByRole("row", { name: /dev revision 3.*dan@.*current/ }).waitFor()
      await bob.click(bob.page.getByRole("row", { name: /dev revision 3/ }).locator("summary"))
      await bob.visit.sees("v2 → v3")
      await bob.press("Revert to here (dev, revision 2)")
      await bob.press("Revert dev")
      await bob.visit.sees("Written to dev")
    })
    assert.strictEqual(await valueOf("webshop", "dev", "LOG_LEVEL"), "of-bob")
    assert.strictEqual(await bob.page.getByRole("row", { name: /prod/ }).count(), 0)
  })

  it("an agent asks, and the one who approves sees it on every page", async () => {
    const account = { name: "agent", project: "webshop", reveal: false }
    const agent = await api.call("POST", `/api/orgs/${org}/service-accounts`, account)
    const rule = { project_pattern: "webshop", env_pattern: "dev", permission: "use" }
    await api.call("POST", `/api/orgs/${org}/acl`, {
      ...{ subject_type: "service_account", subject_id: agent.id },
      ...rule
    })
    await steps.take("allow an agent one use of a key", admin, async () => {
      await admin.key("Control+k")
      await admin.type("stripe_k")
      await admin.page.getByRole("option", { name: "STRIPE_KEY key of webshop" }).waitFor()
      await admin.key("Enter")
      await admin.press("Allow a use")
      await admin.fill("Who", "agent")
      await admin.fill("Hosts", "api.invalid")
      await admin.fill("Paths", "/v1/refunds")
      await admin.click(admin.page.getByLabel("POST", { exact: true }))
      await admin.choose("Approval", "each")
      await admin.click(admin.page.getByRole("button", { name: "Allow", exact: true }))
      await admin.visit.sees("each request is approved")
    })
    const ask = async (): Promise<Json> => {
      const answer = await fetch(`${url}/api/orgs/${org}/projects/webshop/envs/dev/use`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-api-key": agent.api_key },
        body: JSON.stringify({ method: "POST", url: "https://api.invalid/v1/refunds", secrets: ["STRIPE_KEY"] })
      })
      return (await answer.json()).error
    }
    assert.strictEqual((await ask()).code, "APPROVAL_NEEDED")
    await admin.page.goto(`${url}/${org}`)
    await steps.take("approve what an agent asks for", admin, async () => {
      await expect.poll(() => admin.page.title()).toBe(`(1) ${org} · Coffer`)
      await admin.follow(/^Requests 1 waiting/)
      await admin.press(/^Approve/)
      await admin.visit.sees("agent may send it once")
      await admin.page.getByRole("link", { name: "Requests", exact: true }).waitFor()
    })
    assert.strictEqual((await ask()).code, "UPSTREAM_FAILED")
  })
})
