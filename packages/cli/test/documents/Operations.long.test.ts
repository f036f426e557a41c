import { spawnSync } from "node:child_process"
import { chmodSync, copyFileSync, existsSync, readFileSync, writeFileSync } from "node:fs"
import { opensDatabase } from "@coffer/server/rotation"
import Sqlite from "better-sqlite3"
import { Effect, Redacted } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { parse } from "yaml"
import { isSoak } from "../../../domain/test/support/Runs.js"
import { invariants } from "../../../server/test/support/Services.js"
import { type Block, blocksOf, pages, root } from "../support/Documents.js"
import { Stage } from "../support/Stage.js"

const index = pages.find((one) => one.path === "docs/operations.md")!

/** The pages of procedures, in the order in which the index lists them. */
const procedurePages = [...index.text.matchAll(/^\| \[[^\]]+\]\((operations\/[a-z-]+\.md)\)/gm)].map(([, path = ""]) =>
  pages.find((one) => one.path === `docs/${path}`)!
)

/** The blocks of commands, each under its heading. */
const blocks = procedurePages.flatMap((page) =>
  blocksOf(page)
    .filter(({ language }) => language === "sh")
    .map((block) => {
      const above = page.text.split("\n").slice(0, block.line - 1)
      return { ...block, heading: above.findLast((line) => /^#+ /.test(line))?.replace(/^#+ /, "") ?? "" }
    })
)

const blockOf = (heading: string, beginning: string): Block => {
  const found = blocks.find((block) => block.heading === heading && block.text.startsWith(beginning))
  assert.isDefined(found, `${heading} has a block that begins with ${beginning}`)
  return found
}

const isTested = ({ info }: Block) => !info.startsWith("no-test")

/** The commands of a procedure: a line each, with its continuation lines. */
const commandsOf = ({ text }: Block): ReadonlyArray<string> => {
  const lines =
    /^\(\n([\s\S]*)\n\)\n$/
      .exec(text)?.[1]
      ?.split("\n")
      .map((line) => line.trim()) ?? []
  const commands: Array<string> = []
  let joined = ""
  for (const line of lines) {
    joined += `${line}\n`
    if (/(\\|&&)$/.test(line)) continue
    commands.push(joined)
    joined = ""
  }
  return commands
}

const procedures = {
  mail: blockOf("Log in without mail", "("),
  restore: blockOf("Restore a backup", "("),
  back: blockOf("Take a restore back", "("),
  rotate: blockOf("Rotate the master key", "("),
  goBack: blockOf("Go back", "("),
  evidence: blockOf("When the audit log does not verify", "(")
}
type Procedure = keyof typeof procedures

const value = "before all of it"

let stage: Stage
/** The files of a machine with a backup that was fetched. */
let template: Stage
let variables: Record<string, string> = {}

const done = async (machine: Stage, script: string) => {
  const result = await machine.run(script, variables)
  assert.strictEqual(result.code, 0, `${script}\n${result.stdout}${result.stderr}`)
  return result.stdout
}

beforeAll(async () => {
  stage = await Stage.set({ furnished: true })
  await done(stage, `printf '${value}' | coffer secret set KEPT; coffer backup create`)
  // The person and the service accounts that the page locks out.
  await done(
    stage,
    "coffer member invite grace@example.com; coffer service-account create ci; coffer service-account create agent"
  )
  const backup = (await done(stage, "coffer backup list | head -n 1 | cut -f 1")).trim()
  variables = { BACKUP: backup }
  await done(stage, `coffer backup restore ${backup} --yes; systemctl stop coffer`)
  template = await stage.copy()
  await done(stage, "systemctl start coffer")
}, 120_000)

afterAll(async () => {
  await template.remove()
  await stage.clear()
})

describe("the procedures of docs/operations", () => {
  it("stand in the index, each page of them", () => {
    const all = pages.map(({ path }) => path).filter((path) => path.startsWith("docs/operations/"))
    assert.sameMembers(
      procedurePages.map(({ path }) => path),
      all
    )
  })

  it("leave few blocks out, and are each one command for the shell", () => {
    assert.isAbove(blocks.filter(isTested).length, 12)
    for (const [name, block] of Object.entries(procedures)) {
      assert.isAbove(commandsOf(block).length, 3, name)
      assert.match(commandsOf(block)[0] ?? "", /^set -e/, name)
    }
  })

  it("do what the page says, in its order", { timeout: 300_000 }, async () => {
    const original = stage.here("/etc/coffer/master.key")
    const first = readFileSync(original, "utf8")
    for (const block of blocks.filter(isTested)) {
      if (block.heading === "Go back") {
        // The copy of the database that a migration would have kept.
        await done(
          stage,
          "systemctl stop coffer; cp -p /var/lib/coffer/service.db /var/lib/coffer/service.db.before-0002; systemctl start coffer"
        )
      }
      const { code, stderr, stdout } = await stage.run(block.text, variables)
      assert.strictEqual(code, 0, `${block.path}:${block.line}\n${block.text}\n${stdout}${stderr}`)
      if (/restore --apply|end --all/.test(block.text)) await stage.logIn("ada@example.com")
    }
    assert.strictEqual(await done(stage, "coffer secret get KEPT"), value)
    assert.notStrictEqual(readFileSync(original, "utf8"), first, "the key was rotated")
    assert.strictEqual(await done(stage, "stat -c %a /etc/coffer/master.key"), "640\n")
    assert.strictEqual(await done(stage, "cat /etc/coffer/master.key.until-*"), first)
    assert.strictEqual(await done(stage, "ls /etc/coffer | grep -c new || true"), "0\n")
  })
})

/** A machine where no server runs, before a procedure. */
const machineFor = async (name: Procedure) => {
  const machine = await template.copy()
  const database = machine.here("/var/lib/coffer/service.db")
  const beside = (suffix: string) => {
    copyFileSync(database, database + suffix)
    chmodSync(database + suffix, 0o600)
    return database + suffix
  }
  if (name === "goBack") beside(".before-0002")
  if (name === "back") {
    const kept = beside(".replaced-20260131T120000.000Z")
    writeFileSync(
      `${machine.home.folder}/restore-${variables["BACKUP"] ?? ""}.log`,
      `the database that it replaces is kept as ${kept}\n`
    )
  }
  return machine
}

const keyOf = (machine: Stage) => readFileSync(machine.here("/etc/coffer/master.key"), "utf8").trim()

/** Asserts that the machine's database is intact under the configured key, and that the stored secret is there. */
const assertWhole = async (machine: Stage) => {
  const database = machine.here("/var/lib/coffer/service.db")
  await Effect.runPromise(invariants(database, keyOf(machine)))
  const connection = new Sqlite(database, { readonly: true })
  const versions = connection.prepare("SELECT count(*) FROM secret_versions").pluck().get()
  connection.close()
  assert.strictEqual(versions, 1)
}

const opens = (machine: Stage) =>
  Effect.runPromise(opensDatabase(machine.here("/var/lib/coffer/service.db"), Redacted.make(keyOf(machine))))

/** Commands that write a database, a key or a copy of one. A soak cuts after the others too: they leave nothing half-done. */
const writes = /\b(node|cp|mv) /

const cuts = Object.entries(procedures).flatMap(([name, block]) => {
  const [setting = "", ...commands] = commandsOf(block)
  const whole = commands.map((_, index) => commands.slice(0, index + 1))
  // Power is lost while a command that is two does the first.
  const halves = commands.flatMap((command, index) => {
    const [half, rest] = command.split(/ && /)
    return rest === undefined || half === undefined ? [] : [[...commands.slice(0, index), half]]
  })
  const relevant = [...whole.slice(0, -1), ...halves].filter((done) => isSoak || writes.test(done.at(-1) ?? ""))
  return relevant.map((done) => ({
    name: name as Procedure,
    script: `${setting}${done.join("")}`,
    after: done.at(-1)?.trim().split("\n")[0]?.slice(0, 60) ?? "",
    block
  }))
})

describe.concurrent("cut short", { timeout: 300_000 }, () => {
  it.each(cuts)("after `$after`, $name loses nothing, and is done by the next run", async ({ block, name, script }) => {
    const machine = await machineFor(name)
    const cut = await machine.run(script, variables)
    assert.strictEqual(cut.code, 0, `${script}\n${cut.stderr}`)
    const isRotated = !(await opens(machine))
    // Between the commit and the new file's name there is one moment when the configured key is the old one.
    if (isRotated) assert.match(script, /--out \/etc\/coffer\/master\.key\.new$/)
    else await assertWhole(machine)
    const again = await machine.run(block.text, variables)
    assert.strictEqual(again.code, 0, `${block.text}\n${again.stdout}${again.stderr}`)
    await done(machine, "systemctl stop coffer")
    await assertWhole(machine)
    await machine.remove()
  })
})

/** The three offline commands. The other two procedures apply a restored database too. */
const offline: ReadonlyArray<Procedure> = [
  "mail",
  "restore",
  "rotate",
  ...(isSoak ? (["back", "goBack"] as const) : [])
]

const failures: ReadonlyArray<{
  readonly what: string
  readonly before: string
  readonly after?: string
  readonly says: RegExp
}> = [
  {
    what: "while another server has the database",
    // A server that nobody stops, as one that was started by hand.
    before: "systemctl start coffer; mv PIDFILE ~/other.pid",
    after: "mv ~/other.pid PIDFILE; systemctl stop coffer",
    says: /is in use by another coffer-server or an offline command/
  },
  {
    what: "with a wrong key",
    before: "cp -p /etc/coffer/master.key ~/right; openssl rand -hex 32 > /etc/coffer/master.key",
    after: "cat ~/right > /etc/coffer/master.key",
    says: /does not open this database/
  }
]

describe.concurrent("failing", { timeout: 300_000 }, () => {
  for (const { after = "", before, says, what } of failures) {
    it.each(offline)(`${what}, %s changes nothing and says why`, async (name) => {
      const machine = await machineFor(name)
      await done(machine, before.replace("PIDFILE", machine.pidFile))
      const failed = await machine.run(procedures[name].text, variables)
      assert.notStrictEqual(failed.code, 0)
      assert.match(failed.stderr, says)
      assert.notMatch(failed.stdout + failed.stderr, /[0-9a-f]{64}|^\s+at /m)
      assert.isFalse(existsSync(machine.here("/etc/coffer/master.key.new")))
      await done(machine, after.replace("PIDFILE", machine.pidFile))
      await assertWhole(machine)
      await done(machine, "rm -f ada.token; systemctl start coffer; systemctl stop coffer")
      await machine.remove()
    })
  }

  it("with a full disk for the keys, a rotation changes nothing", async ({ skip }) => {
    const machine = await machineFor("rotate")
    const keys = machine.here("/etc/coffer")
    const key = readFileSync(`${keys}/master.key`)
    const settings = readFileSync(`${keys}/coffer.env`)
    for (const size of ["8k", "12k"]) {
      if (spawnSync("mount", ["-t", "tmpfs", "-o", `size=${size},mode=700`, "tmpfs", keys]).status !== 0) skip()
      try {
        writeFileSync(`${keys}/master.key`, key)
        writeFileSync(`${keys}/coffer.env`, settings)
        const failed = await machine.run(procedures.rotate.text, variables)
        assert.notStrictEqual(failed.code, 0)
        assert.match(failed.stderr, /No space left on device|ENOSPC|the disk is full/)
        assert.isTrue(readFileSync(`${keys}/master.key`).equals(key))
        assert.isFalse(existsSync(`${keys}/master.key.new`))
      } finally {
        spawnSync("umount", ["--lazy", keys])
      }
      await assertWhole(machine)
    }
    await machine.remove()
  })
})

describe("the forms for Docker", () => {
  const text = blockOf("Each procedure in Docker", "# check").text
  const read = (name: string) => readFileSync(`${root}/deploy/${name}`, "utf8")
  const compose = parse(read("compose.yaml")) as {
    services: Record<string, { volumes: ReadonlyArray<string> }>
    secrets: Record<string, { file: string }>
  }
  const dockerfile = read("Dockerfile")

  it("name services, files and folders that are there", () => {
    const commands = text
      .replaceAll("\\\n", " ")
      .split("\n")
      .map((line) => line.trim())
      .filter((line) => line.startsWith("docker "))
    assert.isAbove(commands.length, 12)
    for (const command of commands) {
      const [, verb = "", rest = ""] = /^docker compose (\w+)(.*)$/.exec(command) ?? []
      assert.include(["run", "stop", "start", "cp", "up", "exec", "build", "logs"], verb, command)
      const words = rest.trim().split(/\s+/)
      assert.isTrue(
        words.some((word) => Object.keys(compose.services).includes(word.split(":")[0] ?? "")),
        command
      )
    }
    const folders = compose.services["coffer"]!.volumes.map((volume) => volume.split(":")[1])
    for (const [, folder = ""] of text.matchAll(/(?:[\s:])(\/[a-z]+)\/[\w.]+/g)) {
      assert.include([...folders, "/opt"], folder)
    }
    assert.match(dockerfile, /^ {4}SERVICE_DB_PATH=\/data\/service\.db/m)
    assert.match(dockerfile, /^ENTRYPOINT \["node", "\/opt\/coffer\/bin\/coffer-server"\]$/m)
    assert.include(text, "--entrypoint /opt/coffer/bin/coffer coffer")
    const files = Object.values(compose.secrets).map(({ file }) => file)
    for (const [, file = ""] of text.matchAll(/(secrets\/master\.key)(?=[\s.])/g)) assert.include(files, `./${file}`)
    assert.match(text, /chown 10001 /)
    assert.match(dockerfile, /^USER 10001:/m)
  })

  it("run commands that the programs have", () => {
    for (const command of ["check", "drill", "session ", "restore --apply "]) assert.include(text, ` coffer ${command}`)
    assert.include(text, "master-key rotate --db /data/service.db --generate --out /data/new.key")
  })
})
