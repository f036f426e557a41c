import { spawn } from "node:child_process"
import { once } from "node:events"
import { createServer, type Server } from "node:net"
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import Sqlite from "better-sqlite3"
import { SMTPServer } from "smtp-server"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { FaultyStore } from "../backups/FaultyStore.js"
import { cleanUp, freshFolder, type Json, masterKey, Program, type Variables } from "../support/Program.js"

const bin = fileURLToPath(new URL("../../bin/coffer-server.js", import.meta.url))

interface Checked {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** Runs `coffer-server check` to its end. */
const check = (folder: string, args: ReadonlyArray<string>, variables: Variables = {}): Promise<Checked> =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, [bin, "check", ...args], {
      cwd: folder,
      env: { PATH: process.env["PATH"], SERVICE_MASTER_KEY: masterKey, SMTP_HOST: "log", ...variables }
    })
    const said = { out: "", err: "" }
    child.stdout.setEncoding("utf8").on("data", (text: string) => (said.out += text))
    child.stderr.setEncoding("utf8").on("data", (text: string) => (said.err += text))
    child.once("close", (code) => {
      resolve({ code, ...said })
    })
  })

/** The checks of a report in JSON, by name. */
const found = async (folder: string, variables: Variables = {}, args: ReadonlyArray<string> = []) => {
  const { code, err, out } = await check(folder, ["--json", ...args], variables)
  assert.strictEqual(err, "")
  const report: Json = JSON.parse(out)
  assert.strictEqual(report.ok, code === 0, out)
  const named = (name: string) => report.checks.find((finding: Json) => finding.name === name)
  for (const finding of report.checks) {
    if (["failed", "warning"].includes(finding.status)) assert.isString(finding.next, finding.message)
  }
  return { code, report, named, out }
}

let store: FaultyStore
let stopped = ""
/** The check of a mail server that does not greet: it ends after ten seconds, during which the other tests run. */
let mute: ReturnType<typeof found>

beforeAll(async () => {
  // A server that expects TLS waits for the client's first bytes.
  const silent = createServer((socket) => void socket.on("error", () => undefined))
  mute = found(freshFolder(), await settingsOf(silent)).finally(() => silent.close())
  store = await FaultyStore.start()
  const program = await Program.start()
  await program.login("ada@example.com")
  await program.stop()
  stopped = program.folder
})

afterAll(async () => {
  await store.close()
  cleanUp()
})

/** A mail server that takes one login; `mails` are those that it got. */
const mailServer = async () => {
  const mails: Array<string> = []
  const server = new SMTPServer({
    disabledCommands: ["STARTTLS"],
    allowInsecureAuth: true,
    onAuth: ({ password }, _session, done) => {
      if (password === "hunter2-smtp") done(null, { user: "coffer" })
      else done(new Error("no"))
    },
    onData: (stream, { envelope }, done) => {
      let text = ""
      stream.setEncoding("utf8").on("data", (chunk: string) => (text += chunk))
      stream.on("end", () => {
        mails.push(`${envelope.rcptTo.map(({ address }) => address).join()}\n${text}`)
        done()
      })
    }
  })
  const port = await new Promise<number>((resolve) => {
    const listener = server.listen(0, "127.0.0.1", () => {
      const address = listener.address()
      resolve(typeof address === "object" && address !== null ? address.port : 0)
    })
  })
  const settings = {
    SMTP_HOST: "127.0.0.1",
    SMTP_PORT: String(port),
    SMTP_USERNAME: "coffer",
    SMTP_PASSWORD: "hunter2-smtp",
    SMTP_FROM: "coffer@example.com"
  }
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(resolve)
    })
  return { mails, settings, close }
}

/** Lets a mail server listen; answers the settings to reach it. */
const settingsOf = async (server: Server) => {
  await once(server.listen(0, "127.0.0.1"), "listening")
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return { SMTP_HOST: "127.0.0.1", SMTP_PORT: String(port), SMTP_FROM: "coffer@example.com" }
}

/** A relay that refuses greetings with an address, as large ones do. Returns its port, and what it was greeted with. */
const strictRelay = async () => {
  const greetings: Array<string> = []
  const server = createServer((socket) => {
    socket.on("error", () => undefined).write("220 relay.example.com ESMTP\r\n")
    socket.setEncoding("utf8").on("data", (line: string) => {
      greetings.push(line.trim())
      if (/^(EHLO|HELO) \S*[[\]]|^(EHLO|HELO) [^.]+$/m.test(line.trim())) socket.end("421 4.7.0 try again later\r\n")
      else socket.write(line.startsWith("QUIT") ? "221 bye\r\n" : "250 relay.example.com\r\n")
    })
  })
  return { greetings, settings: await settingsOf(server), close: () => server.close() }
}

describe("coffer-server check", () => {
  it("greets the mail server with a name, and names the greeting that it refuses", async () => {
    const relay = await strictRelay()
    const greeted = await found(stopped, relay.settings)
    assert.strictEqual(greeted.named("mail").status, "ok", greeted.out)
    assert.include(relay.greetings, "EHLO example.com")
    const refused = await found(stopped, { ...relay.settings, SMTP_EHLO_NAME: "container" })
    assert.strictEqual(refused.named("mail").status, "failed")
    assert.match(refused.named("mail").next, /refuses the greeting "EHLO container": set SMTP_EHLO_NAME/)
    relay.close()
  })

  it("says that the mail server seems to expect STARTTLS", async () => {
    const relay = await strictRelay()
    const plain = await found(stopped, { ...relay.settings, SMTP_TLS: "implicit" })
    assert.match(plain.named("mail").next, /does not seem to begin with TLS: leave SMTP_TLS at required/)
    relay.close()
  })

  it("finds a sound database and its key, whether a server runs or not", async () => {
    const { code, named } = await found(stopped)
    assert.strictEqual(code, 0)
    assert.match(named("database").message, /service\.db is sound, .* schema \d+; no server is running on it$/)
    assert.match(named("key").message, /^the master key \(fingerprint [0-9a-f]{16}\) opens the database$/)
    for (const name of ["settings", "clock", "files"]) assert.strictEqual(named(name).status, "ok", named(name).message)
    for (const name of ["mail", "backups"]) assert.strictEqual(named(name).status, "off")

    const program = await Program.start({}, stopped)
    const running = await found(stopped)
    assert.strictEqual(running.code, 0, running.out)
    assert.match(running.named("database").message, /; a server is running on it$/)
    assert.strictEqual((await program.call("GET", "/health/ready")).status, 200)
    assert.deepStrictEqual(await program.stop(), { code: 0, signal: null })
    const again = await Program.start({}, stopped)
    await again.stop()
  })

  it("prints each setting with its source, and no secret", async () => {
    const folder = freshFolder()
    const file = join(folder, "key")
    writeFileSync(file, `${masterKey}\n`, { mode: 0o600 })
    const { code, err, out } = await check(folder, [], {
      ...store.settings,
      SERVICE_MASTER_KEY: undefined,
      SERVICE_MASTER_KEY_FILE: file,
      SERVICE_PORT: "7200",
      SUPERADMIN_EMAIL_3: "root@example.com",
      SMTP_PASSWORD: "hunter2-smtp",
      OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318",
      OTEL_EXPORTER_OTLP_HEADERS: "authorization=hunter2-otel",
      SMTP_USER: "ada"
    })
    assert.deepStrictEqual([code, err], [0, ""], out)
    for (const line of [
      /^ {2}SERVICE_MASTER_KEY +set \(64 hexadecimal digits\) \(SERVICE_MASTER_KEY_FILE\)$/m,
      /^ {2}SERVICE_PORT +7200$/m,
      /^ {2}SERVICE_HOST +127\.0\.0\.1 \(default\)$/m,
      /^ {2}SMTP_PASSWORD +set$/m,
      /^ {2}SMTP_FROM +- \(unset\)$/m,
      /^ {2}SUPERADMIN_EMAIL_3 +root@example\.com$/m,
      /^ {2}warning {2}settings {2}SMTP_USER is not a setting and is ignored: did you mean SMTP_USERNAME\?$/m,
      /^ {2}warning {2}database {2}there is no database at service\.db\n +do: the server creates one/m
    ]) {
      assert.match(out, line)
    }
    assert.notMatch(out, /hunter2/)
    assert.notInclude(out, masterKey)
    assert.deepStrictEqual(readdirSync(folder), ["key"])
  })

  it("says what is wrong with the settings, and shows no value that breaks its rule", async () => {
    const { code, named, out } = await found(freshFolder(), {
      SERVICE_MASTER_KEY: "hunter2",
      SERVICE_PORT: "hunter2",
      BACKUP_SCHEDULE_HOURS: "6"
    })
    assert.strictEqual(code, 1)
    assert.strictEqual(named("settings").status, "failed")
    for (const name of ["SERVICE_MASTER_KEY", "SERVICE_PORT", "BACKUP_S3_ENDPOINT"])
      assert.include(out, `correct ${name}`)
    assert.notInclude(out, "hunter2")
  })

  it("finds a wrong key, a damaged file, files that others may read, and a clock that runs behind", async () => {
    const folder = freshFolder()
    const path = join(folder, "service.db")
    const bytes = readFileSync(join(stopped, "service.db"))
    writeFileSync(path, bytes, { mode: 0o600 })
    const other = await found(folder, { SERVICE_MASTER_KEY: "7".repeat(64) })
    assert.strictEqual(other.code, 1)
    assert.match(other.named("key").message, /does not open the database/)

    chmodSync(path, 0o640)
    assert.match((await found(folder)).named("files").next, /^chmod 600 .*service\.db/)
    chmodSync(path, 0o600)

    const database = new Sqlite(path)
    database.exec("DROP TRIGGER IF EXISTS audit_entries_no_update")
    for (const { name } of database
      .prepare<[], { name: string }>("SELECT name FROM sqlite_master WHERE type = 'trigger'")
      .all()) {
      database.exec(`DROP TRIGGER "${name}"`)
    }
    database.exec("UPDATE audit_entries SET created_at = '2999-01-01T00:00:00.000Z'")
    database.close()
    const late = await found(folder)
    assert.strictEqual(late.code, 1)
    assert.match(late.named("clock").message, /newest audit entry is from 2999-01-01/)

    writeFileSync(path, Buffer.concat([bytes.subarray(0, 4096), Buffer.alloc(bytes.length - 4096, 7)]))
    const damaged = await found(folder)
    assert.strictEqual(damaged.code, 1)
    assert.strictEqual(damaged.named("database").status, "failed")
    assert.match(damaged.named("database").next, /restore a backup/)
  })

  it("logs in at the mail server, sends a test mail when asked to, and says what to do when it may not", async () => {
    const mail = await mailServer()
    const folder = freshFolder()
    const connected = await found(folder, mail.settings)
    assert.deepStrictEqual([connected.code, connected.named("mail").status], [0, "ok"], connected.out)
    assert.deepStrictEqual(mail.mails, [])
    const sent = await found(folder, mail.settings, ["--mail-to", "ada@example.com"])
    assert.include(sent.named("mail").message, "accepted a test mail to ada@example.com")
    assert.lengthOf(mail.mails, 1)
    assert.match(mail.mails.join(), /^ada@example\.com\n[\s\S]*Subject: A test mail of Coffer/)
    const refused = await found(folder, { ...mail.settings, SMTP_PASSWORD: "hunter2-wrong" })
    assert.strictEqual(refused.code, 1)
    assert.match(refused.named("mail").message, /refused: EAUTH/)
    assert.include(refused.named("mail").next, "SMTP_PASSWORD")
    assert.notInclude(refused.out, "hunter2")
    await mail.close()
    const gone = await found(folder, mail.settings)
    assert.match(gone.named("mail").message, /ECONNREFUSED/)
    assert.strictEqual((await found(folder, {}, ["--mail-to", "ada@example.com"])).code, 1)
  })

  it("writes to the backups' store, reads back and deletes, and leaves nothing there", async () => {
    const folder = freshFolder()
    const { code, named } = await found(folder, store.settings)
    assert.strictEqual(code, 0)
    assert.match(named("backups").message, /writes, returns and deletes objects; there is no backup in it/)
    assert.deepStrictEqual([...store.objects.keys()], [])
    store.fault = (operation) => (operation === "put" ? 403 : "none")
    const refused = await found(folder, store.settings)
    store.fault = () => "none"
    assert.strictEqual(refused.code, 1)
    assert.match(refused.named("backups").message, /the object store did not take the backup: .*403/)
    assert.match(refused.named("backups").next, /BACKUP_/)
    assert.isFalse(existsSync(join(folder, "service.db")))
  })

  it("writes, reads back and deletes in a directory of backups, leaves nothing, and names a missing one", async () => {
    const folder = freshFolder()
    const kept = freshFolder()
    const { code, named } = await found(folder, { BACKUP_DIR: kept })
    assert.strictEqual(code, 0)
    assert.match(named("backups").message, /writes, returns and deletes objects/)
    assert.deepStrictEqual(readdirSync(kept), [])
    const absent = await found(folder, { BACKUP_DIR: join(kept, "unmounted") })
    assert.strictEqual(absent.code, 1)
    assert.match(absent.named("backups").message, /BACKUP_DIR: .*unmounted does not exist/)
  })

  it("takes its own options alone", async () => {
    for (const args of [["--mail-to"], ["--mail-to", "nobody"], ["--verbose"], ["now"]]) {
      const { code, err, out } = await check(freshFolder(), args)
      assert.deepStrictEqual([code, out], [2, ""])
      assert.match(
        err,
        /^coffer-server: check takes --mail-to with one e-mail address, and --json: see coffer-server --help\n$/
      )
    }
  })

  it("says that the mail server seems to expect TLS from the start", async () => {
    const { named } = await mute
    assert.match(named("mail").next, /does not greet: if it expects TLS from the start, set SMTP_TLS=implicit/)
  })
})
