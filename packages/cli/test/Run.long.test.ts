import { assert, beforeAll, describe, it } from "vitest"
import { chmodSync, mkdirSync, writeFileSync } from "node:fs"
import { constants } from "node:os"
import { join } from "node:path"
import { type TestHome, finish, node, until } from "./support/Programs.js"
import { workplace } from "./support/Workplace.js"

/** Says each signal that it gets, for a while after the first: a second delivery may come late. */
const probe = `
import os, signal, sys, time
names = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"]
seen = []
for name in names:
    signal.signal(getattr(signal, name), lambda n, _: seen.append(signal.Signals(n).name))
print("ready", flush=True)
end = time.time() + 120
while time.time() < end and not seen: time.sleep(0.01)
time.sleep(1.2)
print(",".join(seen), flush=True)
`

const place = workplace()

beforeAll(async () => {
  await place.ok("secret", "set", "GREETING", "hello world")
  await place.ok("secret", "set", "EMPTY", "")
  await place.ok("secret", "set", "LANG", "from-the-store")
  await place.ok("secret", "set", "with.dot", "x")
  await place.ok("secret", "set", "NODE_OPTIONS", "--", "--require=/evil.js")
  await place.ok("secret", "set", "SERVICE_API_KEY", "stored")
}, 300_000)

const run = (args: ReadonlyArray<string>, options: Parameters<TestHome["coffer"]>[1] = {}) =>
  place.home.coffer(["run", ...args], options)

describe("the environment", () => {
  it("has the secrets, over what was inherited, and nothing of Coffer's own", async () => {
    const { code, stdout } = await run(["--", "env"], { env: { LANG: "from-outside", OTHER: "kept" } })
    assert.strictEqual(code, 0)
    const lines = stdout.split("\n")
    assert.includeMembers(lines, ["GREETING=hello world", "EMPTY=", "LANG=from-the-store", "OTHER=kept"])
    const own = Object.keys({ ...place.home.environment, GREETING: 1, EMPTY: 1, LANG: 1, OTHER: 1 })
    assert.deepStrictEqual(
      lines.filter((line) => line !== "" && !own.includes(line.split("=")[0] ?? "")),
      []
    )
  })

  it("names on standard error what it leaves out, and passes it on when told to", async () => {
    const { stderr, stdout } = await run(["env"])
    assert.match(stderr, /left out with\.dot: /)
    assert.match(
      stderr,
      /left out NODE_OPTIONS, SERVICE_API_KEY, .*--allow-env NODE_OPTIONS --allow-env SERVICE_API_KEY/
    )
    assert.notMatch(stdout, /evil|stored/)
    const allowed = await run(["--allow-env", "SERVICE_API_KEY", "printenv", "SERVICE_API_KEY"])
    assert.strictEqual(allowed.stdout, "stored\n")
  })

  it("has only the keys that --only names, and says nothing then", async () => {
    const { stderr, stdout } = await run(["--only", "GREETING,EMPTY", "sh", "-c", 'echo "$GREETING|$LANG"'])
    assert.strictEqual(stdout, "hello world|\n")
    assert.strictEqual(stderr, "")
    const missing = await run(["--only=NOT_THERE", "true"])
    assert.strictEqual(missing.code, 125)
    assert.match(missing.stderr, /NOT_THERE/)
  })

  it("refuses a value with a NUL byte by name", async () => {
    await place.home.coffer(["secret", "set", "NUL", "--env", "staging"], { input: Buffer.from("a\0b") })
    const { code, stderr, stdout } = await run(["--env", "staging", "echo", "started"])
    assert.strictEqual(code, 125)
    assert.match(stderr, /^coffer: NUL: the value holds a NUL byte/)
    assert.strictEqual(stdout, "")
  })

  it("refuses by name what is larger than the kernel takes", async () => {
    const big = "x".repeat(65_000)
    for (const key of ["BIG1", "BIG2", "BIG3", "BIG4", "BIG5"]) {
      const { code } = await place.home.coffer(["secret", "set", key, "--env", "prod"], { input: big })
      assert.strictEqual(code, 0)
    }
    const fits = await run(["--env", "prod", "sh", "-c", "echo ${#BIG5}"])
    assert.strictEqual(fits.stdout, "65000\n", fits.stderr)
    const padding = Object.fromEntries(Array.from({ length: 15 }, (_, at) => [`PAD${at}`, "y".repeat(120_000)]))
    const { code, stderr } = await place.home.shell("ulimit -s 8192; exec $COFFER run --env prod true", {
      env: padding
    })
    assert.strictEqual(code, 125)
    assert.match(stderr, /KiB and the system allows 2048 KiB; the largest variables are PAD/)
  })
})

describe("the command line", () => {
  it("reaches the command untouched", async () => {
    const args = [
      "",
      " ",
      "a b",
      '"',
      "'",
      "$HOME",
      "`id`",
      "*",
      "\\",
      "é€😀",
      "a\nb",
      "--",
      "--version",
      "-h",
      "--log-level"
    ]
    const { code, stdout } = await run([node, "-p", "JSON.stringify(process.argv.slice(1))", "--", ...args])
    assert.strictEqual(code, 0)
    assert.deepStrictEqual(JSON.parse(stdout), args)
  })

  it("is refused where its bytes are not UTF-8", async () => {
    const argument = await place.home.shell(`exec $COFFER run -- echo ok "$(printf '\\377')"`)
    assert.strictEqual(argument.code, 125)
    assert.match(argument.stderr, /argument 2 of the command is not UTF-8/)
    const variable = await place.home.shell(`BAD="$(printf '\\377')" exec $COFFER run -- true`)
    assert.strictEqual(variable.code, 125)
    assert.match(variable.stderr, /variable "BAD" is not UTF-8/)
  })

  it("is not for run where it begins with an option that run does not have", async () => {
    const { code, stderr } = await run(["--bogus", "true"])
    assert.strictEqual(code, 125)
    assert.match(stderr, /^coffer: unknown option --bogus; if it is the command, write -- before it/)
    assert.strictEqual((await run([])).code, 125)
  })
})

describe("the streams", () => {
  it("are the client's own, byte for byte", async () => {
    const input = Buffer.alloc(3_000_000, "0123456789abcdef\n")
    const { code, stdout } = await run(["cat"], { input })
    assert.strictEqual(code, 0)
    assert.isTrue(Buffer.from(stdout).equals(input))
  })

  it("are the only descriptors open in the command", async () => {
    const list = "import os; print([fd for fd in range(256) if os.path.exists(f'/proc/self/fd/{fd}')])"
    const { stdout } = await run(["python3", "-c", list])
    // File descriptors that the process that runs the tests has left open are not Coffer's.
    assert.strictEqual(stdout, (await finish(place.home.spawn("python3", ["-c", list]))).stdout)
  })

  it("may be closed by the reader", async () => {
    const piped = await place.home.shell(`{ { $COFFER run -- yes; echo "code $?" >&3; } | head -n 1; } 3>&1`)
    assert.match(piped.stdout, /code 141/)
  })
})

describe("the end", () => {
  it("is the command's own code", async () => {
    const codes = [0, 1, 7, 125, 255]
    const results = await Promise.all(codes.map((code) => run(["sh", "-c", `exit ${code}`])))
    assert.deepStrictEqual(
      results.map(({ code }) => code),
      codes
    )
  })

  it("is the command's own signal", async () => {
    const signals = ["TERM", "INT", "HUP", "QUIT", "USR1", "USR2", "KILL", "ABRT", "SEGV"]
    const results = await Promise.all(signals.map((signal) => run(["sh", "-c", `ulimit -c 0; kill -${signal} $$`])))
    assert.deepStrictEqual<unknown>(
      results.map(({ signal }) => signal),
      signals.map((signal) => `SIG${signal}`)
    )
    const pipe = await run(["sh", "-c", "kill -PIPE $$"])
    assert.isTrue(pipe.code === 141 || pipe.signal === "SIGPIPE")
  })

  it("tells not found from not executable", async () => {
    const at = (name: string) => join(place.home.folder, name)
    writeFileSync(at("plain"), "echo hello from $0 $1\n")
    writeFileSync(at("lost"), "#!/no/such/interpreter\n")
    mkdirSync(at("folder"), { recursive: true })
    const cases = [
      ["no-such-command", 127, /no-such-command: there is no such command/],
      ["./no-such-file", 127, /no such command/],
      ["./folder", 126, /it is a directory/],
      ["./plain", 126, /it is not executable/],
      ["", 127, /no such command/]
    ] as const
    for (const [command, code, message] of cases) {
      const result = await run(["--only", "GREETING", command])
      assert.strictEqual(result.code, code, command)
      assert.match(result.stderr, message)
    }
    for (const name of ["plain", "lost"]) chmodSync(at(name), 0o755)
    const plain = await run(["./plain", "one"])
    assert.strictEqual(plain.stdout, "hello from ./plain one\n")
    const lost = await run(["./lost"])
    assert.strictEqual(lost.code, 126)
    assert.match(lost.stderr, /\/no\/such\/interpreter, which runs it, does not exist/)
  })

  it("is 125 when run itself fails, with a sentence that says why", async () => {
    const dead = await run(["true"], { env: { SERVICE_SERVER_URL: "http://127.0.0.1:9" } })
    assert.strictEqual(dead.code, 125)
    assert.match(dead.stderr, /there is no session at/)
    const env = await run(["--env", "nowhere", "true"])
    assert.strictEqual(env.code, 125)
    assert.match(env.stderr, /nowhere/)
  })
})

describe("a signal to the client", () => {
  it("reaches the command once", async () => {
    const send = async (signal: NodeJS.Signals) => {
      const client = place.home.start(["run", "--", "python3", "-c", probe])
      let ready = false
      client.stdout?.once("data", () => (ready = true))
      const end = finish(client)
      await until(() => (ready ? true : undefined), "the probe")
      await new Promise((resolve) => setTimeout(resolve, 300))
      client.kill(signal)
      assert.strictEqual((await end).stdout, `ready\n${signal}\n`)
    }
    await Promise.all((["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"] as const).map(send))
  }, 300_000)

  it("ends the client with that signal before there is a command", async () => {
    for (const after of [60, 100, 140, 180, 240]) {
      const client = place.home.start(["run", "--", "sleep", "200"])
      const end = finish(client)
      await new Promise((resolve) => setTimeout(resolve, after))
      client.kill("SIGTERM")
      assert.strictEqual((await end).signal, "SIGTERM", `after ${after} ms`)
    }
  })

  it("leaves no command behind", async () => {
    const client = place.home.start(["run", "--", "sh", "-c", "echo $$; exec sleep 300"])
    let pid = 0
    client.stdout?.once("data", (data: Buffer) => (pid = Number(data.toString())))
    const end = finish(client)
    await until(() => (pid > 0 ? true : undefined), "the command")
    client.kill("SIGTERM")
    const { signal } = await end
    assert.strictEqual(signal, "SIGTERM")
    assert.throws(() => process.kill(pid, 0))
  })
})

/** Starts the client on a terminal of its own, types at it, and tells what came out. */
const onTerminal = `
import os, pty, select, sys, time
typed, args = sys.argv[1].encode().decode("unicode_escape").encode(), sys.argv[2:]
pid, fd = pty.fork()
if pid == 0: os.execvp(args[0], args)
out, sent, end = b"", False, time.time() + 120
while time.time() < end:
    if select.select([fd], [], [], 0.05)[0]:
        try: data = os.read(fd, 65536)
        except OSError: break
        if not data: break
        out += data
    if b"ready" in out and not sent:
        time.sleep(0.3); os.write(fd, typed); sent = True
_, status = os.waitpid(pid, 0)
sys.stdout.write(out.decode().replace("\\r\\n", "\\n"))
print("status", os.waitstatus_to_exitcode(status))
`

describe("on a terminal", () => {
  const terminal = (typed: string, args: ReadonlyArray<string>, before: ReadonlyArray<string> = []) =>
    finish(
      place.home.spawn("python3", [
        "-c",
        onTerminal,
        typed,
        ...before,
        node,
        join(import.meta.dirname, "../bin/coffer.js"),
        "run",
        "--only",
        "GREETING",
        "--",
        ...args
      ])
    )

  it("the command has the terminal", async () => {
    const { stdout } = await terminal("", [
      "python3",
      "-c",
      "import os; print(os.isatty(0), os.isatty(1), os.tcgetpgrp(0) == os.getpgrp())"
    ])
    assert.strictEqual(stdout, "True True True\nstatus 0\n")
  })

  it("ctrl-C reaches the command once", async () => {
    // Whose input standard input is does not tell who has the terminal.
    const ways = [[], ["sh", "-c", 'exec "$@" < /dev/null', "sh"]]
    for (const { stdout } of await Promise.all(ways.map((way) => terminal("\\x03", ["python3", "-c", probe], way)))) {
      assert.match(stdout, /^ready\n(\^C)?SIGINT\nstatus 0\n$/)
    }
  })

  it("ctrl-C ends both, as the signal does", async () => {
    const { stdout } = await terminal("\\x03", ["sh", "-c", "echo ready; exec sleep 100"])
    assert.match(stdout, new RegExp(`status -${constants.signals.SIGINT}\n$`))
  })
})
