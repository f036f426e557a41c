import { once } from "node:events"
import { constants, readFileSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { assert, beforeAll, describe, it } from "vitest"
import { finish, node } from "./support/Programs.js"
import { atPty } from "./support/Pty.js"
import { workplace } from "./support/Workplace.js"

const place = workplace()

beforeAll(async () => {
  await place.ok("secret", "set", "GREETING", "hello world")
}, 300_000)

const output = async (script: string) => {
  const { code, stderr, stdout } = await place.home.shell(script)
  assert.strictEqual(code, 0, stderr)
  return stdout
}

describe("the command inherits", () => {
  it("the umask, the working directory, the limits and the priority", async () => {
    const ask = "'umask; pwd; ulimit -n; nice'"
    const settings = "umask 027; cd /usr; ulimit -n 333; exec nice -n 3"
    const place = "--org acme --project webshop --env dev"
    const mine = await output(`${settings} $COFFER run ${place} -- sh -c ${ask}`)
    assert.strictEqual(mine, await output(`${settings} sh -c ${ask}`))
    assert.match(mine, /^0027\n\/usr\n333\n-?\d+\n$/)
  })

  it("no blocked or ignored signal, and no process of the client's", async () => {
    const { stdout } = await place.home.coffer(["run", "--", "grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"])
    // A shell as control: what whoever runs the tests ignores is not Coffer's.
    assert.strictEqual(stdout.replaceAll(/[1-9a-f]/g, "").match(/0/g)?.length, 32, stdout)
    const children = await place.home.coffer([
      "run",
      "--",
      "sh",
      "-c",
      "read -r children < /proc/$$/task/$$/children; echo [$children]"
    ])
    assert.strictEqual(children.stdout, "[]\n")
  })

  it("no ignored SIGHUP from nohup: docs/run.md says that it is lost", async () => {
    const status = await output("exec nohup $COFFER run -- grep SigIgn /proc/self/status 2>/dev/null")
    assert.match(status, /^SigIgn:\t0+\n$/)
  })
})

describe("descriptors above 2", () => {
  it("keep a lock while the command runs, and give it back at its end", async () => {
    const lock = await output(
      `exec 9> lk; flock -n 9; ( exec $COFFER run -- sh -c 'touch started; sleep 1.5' ) & exec 9>&-
      until [ -e started ]; do sleep 0.05; done
      flock -n lk true && echo free || echo held; wait; flock -n lk true && echo free || echo held`
    )
    assert.strictEqual(lock, "held\nfree\n")
  })

  it("are the same in the command: a file, one end of a pipe, a number beyond 16", async () => {
    // dash has no descriptor of two digits.
    const script = `bash <<'END'
printf 'from a file' > in
printf 'from a pipe' | { exec 7<&0 3< in 21> out
$COFFER run -- bash -c 'cat <&3; echo; cat <&7; echo; echo written >&21' < /dev/null; }
cat out
END`
    assert.strictEqual(await output(script), "from a file\nfrom a pipe\nwritten\n")
  })

  it("are those alone that the client was started with, also beside it", async () => {
    const list = "import os; print([fd for fd in range(3, 256) if os.path.exists(f'/proc/self/fd/{fd}')])"
    const open = (command: string) => output(`exec 5> five; exec ${command} python3 -c "${list}"`)
    assert.strictEqual(await open("$COFFER run --"), await open("env"))
    assert.strictEqual(await open("$COFFER run --mask --"), await open("env"))
  })

  it("take the jobserver of make along, which is a pipe with both ends", async () => {
    const hand = `import os; r, w = os.pipe(); os.set_inheritable(r, True); os.set_inheritable(w, True)
os.write(w, b"+"); os.environ["MAKEFLAGS"] = f"-j --jobserver-auth={r},{w}"
os.execvp("sh", ["sh", "-c", f"exec $COFFER run -- sh -c 'head -c 1 <&{r}'"])`
    writeFileSync(join(place.home.folder, "hand.py"), hand)
    assert.strictEqual(await output("python3 hand.py"), "+")
  })
})

describe("the streams that the client shares", () => {
  it("are never made non-blocking, which whoever shares them would be too", async () => {
    const flags: Array<string | undefined> = []
    // By the time it asks for the secrets, all that it needs is loaded.
    const asked = createServer((_, response) => {
      for (const descriptor of [1, 2]) {
        const info = readFileSync(`/proc/${client.pid}/fdinfo/${descriptor}`, "utf8")
        flags.push(/^flags:\s+([0-7]+)$/m.exec(info)?.[1])
      }
      response.writeHead(404).end()
    }).listen(0, "127.0.0.1")
    await once(asked, "listening")
    const { port } = asked.address() as AddressInfo
    const env = { SERVICE_API_KEY: "svc_sa_x", SERVICE_SERVER_URL: `http://127.0.0.1:${port}` }
    const client = place.home.start(["run", "true"], { env })
    assert.strictEqual((await finish(client)).code, 125)
    asked.close()
    assert.lengthOf(flags, 2)
    for (const octal of flags) assert.strictEqual(parseInt(octal ?? "", 8) & constants.O_NONBLOCK, 0, octal)
  })
})

describe("a slow reader", () => {
  it("gets all that the command has written", async () => {
    const write = "head -c 3000000 /dev/zero"
    assert.strictEqual((await output(`$COFFER run -- ${write} | { sleep 0.5; wc -c; }`)).trim(), "3000000")
  })
})

describe("the command never sees", () => {
  it("the API key that fetched its secrets, from the variable or from the file", async () => {
    const created = await place.home.coffer(["service-account", "create", "runner", "--json"])
    const { api_key: key, id } = JSON.parse(created.stdout)
    const grant = ["--project-pattern", "*", "--env-pattern", "*", "--permission", "read"]
    assert.strictEqual((await place.home.coffer(["acl", "grant", "--service-account", id, ...grant])).code, 0)
    const file = join(place.home.folder, "key")
    writeFileSync(file, `${key}\n`, { mode: 0o600 })
    for (const env of [{ SERVICE_API_KEY: key }, { SERVICE_API_KEY_FILE: file }]) {
      const { code, stderr, stdout } = await place.home.coffer(["run", "--", "env"], { env })
      assert.strictEqual(code, 0, stderr)
      assert.include(stdout, "GREETING=hello world\n")
      assert.notInclude(stdout, key)
      assert.notInclude(stdout, "SERVICE_API_KEY")
    }
  })
})

/** A shell with job control on a terminal of its own, where a person stops the command and lets it go on. */
const jobControl = `${atPty(["bash", "--norc", "--noprofile", "-i"])}
type("PS1='$ '; stty -echo\\n"); time.sleep(0.5)
type(sys.argv[1] + "\\n"); until(b"ready"); time.sleep(0.3)
type("\\x1a"); until(b"Stopped")
type("echo shell is $((40 + 2))\\n"); until(b"shell is 42")
type("fg\\n"); until(b"continued")
type("echo code $?\\n"); until(b"code 9")
type("exit\\n"); os.waitpid(pid, 0)
print("ok")
`

const resumable = `
import signal, sys, time
def go_on(*_): print("continued", flush=True); sys.exit(9)
signal.signal(signal.SIGCONT, go_on)
print("ready", flush=True)
time.sleep(200)
`

describe("on a terminal with job control", () => {
  it("ctrl-Z stops both and fg lets both go on", async () => {
    writeFileSync(join(place.home.folder, "resumable.py"), resumable)
    const coffer = join(import.meta.dirname, "../bin/coffer.js")
    const result = await finish(
      place.home.spawn("python3", ["-c", jobControl, `${node} ${coffer} run -- python3 resumable.py`])
    )
    assert.strictEqual(result.stdout, "ok\n", result.stderr)
  }, 300_000)
})
