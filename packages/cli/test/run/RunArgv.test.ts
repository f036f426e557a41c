import { assert, describe, it } from "@effect/vitest"
import { splitRunArgv } from "../../src/run/RunArgv.js"

const none = {
  serverUrl: undefined,
  org: undefined,
  project: undefined,
  env: undefined,
  also: [],
  only: [],
  allowEnv: [],
  leases: new Map<string, string>(),
  files: undefined,
  isOverriding: true,
  isMasking: false,
  isChecking: false,
  isQuiet: false,
  isNonInteractive: false,
  watch: undefined,
  offline: undefined
}

describe("splitRunArgv", () => {
  it("ends the options of run at the first other argument", () => {
    const cases = [
      [["ls"], none, "ls", []],
      [["--", "ls", "-l"], none, "ls", ["-l"]],
      [["ls", "--env", "prod", "--", "x"], none, "ls", ["--env", "prod", "--", "x"]],
      [["--env", "prod", "ls"], { ...none, env: "prod" }, "ls", []],
      [["--env=prod", "--org=a=b", "--", "--help"], { ...none, env: "prod", org: "a=b" }, "--help", []],
      [["--only", "A,B", "--only=C", "x"], { ...none, only: ["A", "B", "C"] }, "x", []],
      [["--allow-env", "PATH", "--allow-env", "IFS", "x"], { ...none, allowEnv: ["PATH", "IFS"] }, "x", []],
      [["--also", "a/b/c", "--also=d", "x"], { ...none, also: ["a/b/c", "d"] }, "x", []],
      [["--project=--env", "x"], { ...none, project: "--env" }, "x", []],
      [["--no-override", "--quiet", "x"], { ...none, isOverriding: false, isQuiet: true }, "x", []],
      [["--check", "x"], { ...none, isChecking: true }, "x", []],
      [["--mask", "x"], { ...none, isMasking: true }, "x", []],
      [["-", "-h"], none, "-", ["-h"]],
      [["--", ""], none, "", []]
    ] as const
    for (const [argv, options, command, args] of cases) {
      assert.deepStrictEqual<unknown>(splitRunArgv(argv), { type: "run", options, command, args })
    }
  })

  it("takes a place for one only where -- comes next", () => {
    const cases = [
      [["acme/webshop/prod", "--", "ls", "-l"], { ...none, env: "acme/webshop/prod" }, "ls", ["-l"]],
      [["--org", "acme", "webshop/prod", "--", "ls"], { ...none, org: "acme", env: "webshop/prod" }, "ls", []],
      [["bin/start", "--port", "--", "x"], none, "bin/start", ["--port", "--", "x"]],
      [["--", "bin/start", "--", "x"], none, "bin/start", ["--", "x"]],
      [["./start", "--", "x"], none, "./start", ["--", "x"]],
      [["a/b/c/d", "--", "x"], none, "a/b/c/d", ["--", "x"]],
      [["echo", "--", "x"], none, "echo", ["--", "x"]]
    ] as const
    for (const [argv, options, command, args] of cases) {
      assert.deepStrictEqual<unknown>(splitRunArgv(argv), { type: "run", options, command, args })
    }
    assert.deepStrictEqual(splitRunArgv(["--env", "dev", "webshop/prod", "--", "ls"]), {
      type: "wrong",
      message: "--env dev and webshop/prod both name the environment: leave one of them out"
    })
    assert.strictEqual(splitRunArgv(["acme/webshop/prod", "--"]).type, "wrong")
  })

  it("takes options between a place and --, unless a file has the name of the place", () => {
    const argv = ["acme/webshop/prod", "--also", "acme/shared/prod", "--quiet", "--", "ls", "--", "-l"]
    const run = { type: "run", command: "ls", args: ["--", "-l"] } as const
    const place = { ...none, env: "acme/webshop/prod", also: ["acme/shared/prod"], isQuiet: true }
    assert.deepStrictEqual<unknown>(
      splitRunArgv(argv, () => false),
      { ...run, options: place }
    )
    assert.deepStrictEqual<unknown>(
      splitRunArgv(["--mask", ...argv], () => false),
      { ...run, options: { ...place, isMasking: true } }
    )
    assert.deepStrictEqual<unknown>(
      splitRunArgv(argv, (path) => path === "acme/webshop/prod"),
      { type: "run", options: none, command: "acme/webshop/prod", args: argv.slice(1) }
    )
    for (const between of [["--port"], ["--aslo", "x"], ["--check", "npm"], ["npm", "--check"]]) {
      const other = ["bin/start", ...between, "--", "x"]
      assert.deepStrictEqual<unknown>(
        splitRunArgv(other, () => false),
        { type: "run", options: none, command: "bin/start", args: other.slice(1) }
      )
    }
    assert.deepStrictEqual(
      splitRunArgv(["webshop/prod", "--stop-signal", "NONE", "--watch", "--", "ls"], () => false),
      { type: "wrong", message: "--stop-signal takes the name of a signal, such as TERM or INT" }
    )
    assert.strictEqual(splitRunArgv(["webshop/prod", "--help", "--", "ls"], () => false).type, "help")
    assert.strictEqual(splitRunArgv(["webshop/prod", "--quiet", "--"], () => false).type, "wrong")
  })

  it("gives help, but not in the command's place", () => {
    assert.strictEqual(splitRunArgv(["--help"]).type, "help")
    assert.strictEqual(splitRunArgv(["--env", "prod", "-h"]).type, "help")
    assert.strictEqual(splitRunArgv(["ls", "--help"]).type, "run")
  })

  it("refuses what it does not know", () => {
    for (const argv of [
      [],
      ["--"],
      ["--env", "x"],
      ["--env"],
      ["--env=", "x"],
      ["-x", "ls"],
      ["--Env", "a", "x"],
      ["--__proto__", "x"]
    ]) {
      assert.strictEqual(splitRunArgv(argv).type, "wrong", argv.join(" "))
    }
    assert.strictEqual(splitRunArgv(["--env", "a", "--env", "b", "x"]).type, "wrong")
  })

  it("reads how the environment is followed, and what to do offline", () => {
    const watch = { interval: 5000, stopSignal: "SIGTERM", stopTimeout: 10_000, signal: undefined }
    const offline = { maxAge: 86_400_000 }
    const cases = [
      [["--watch", "x"], { ...none, watch }],
      [["--watch", "--watch-interval", "500ms", "x"], { ...none, watch: { ...watch, interval: 500 } }],
      [["--watch-interval=2m", "--watch", "x"], { ...none, watch: { ...watch, interval: 120_000 } }],
      [
        ["--watch", "--stop-signal=int", "--stop-timeout", "1.5", "x"],
        { ...none, watch: { ...watch, stopSignal: "SIGINT", stopTimeout: 1500 } }
      ],
      [["--watch", "--signal", "SIGHUP", "x"], { ...none, watch: { ...watch, signal: "SIGHUP" } }],
      [["--offline-fallback", "x"], { ...none, offline }],
      [["--offline-fallback", "--offline-max-age", "7d", "x"], { ...none, offline: { maxAge: 604_800_000 } }]
    ] as const
    for (const [argv, options] of cases) {
      assert.deepStrictEqual<unknown>(splitRunArgv(argv), { type: "run", options, command: "x", args: [] })
    }
  })

  it("refuses by name what cannot be understood of them", () => {
    const cases = [
      [["--watch=1", "x"], "--watch takes no value"],
      [["--watch", "--watch-interval", "soon", "x"], "--watch-interval takes a time"],
      [["--watch", "--watch-interval", "1ms", "x"], "--watch-interval takes a time of at least 100ms"],
      [["--watch", "--stop-timeout", "-1s", "x"], "--stop-timeout takes a time"],
      [["--watch", "--signal", "NOPE", "x"], "--signal takes the name of a signal"],
      [["--watch", "--stop-signal", "__proto__", "x"], "--stop-signal takes the name of a signal"],
      [["--signal", "HUP", "x"], "--signal says how --watch works: give --watch too"],
      [["--offline-max-age", "1h", "x"], "--offline-max-age says how --offline-fallback works"],
      [["--offline-fallback", "--offline-max-age", "1y", "x"], "--offline-max-age takes a time"]
    ] as const
    for (const [argv, message] of cases) {
      const split = splitRunArgv(argv)
      assert.include(split.type === "wrong" ? split.message : split.type, message)
    }
  })

  it("takes files by paths that stay below their folder", () => {
    const files = (...argv: ReadonlyArray<string>) => {
      const split = splitRunArgv([...argv, "--", "x"])
      return split.type === "run" ? split.options.files : split
    }
    assert.deepStrictEqual<unknown>(files("--file", "A=a", "--file=b.c=x=y/z", "--files", "."), {
      paths: new Map([
        ["A", "a"],
        ["b.c", "x=y/z"]
      ]),
      directory: "."
    })
    const message = "--file takes a key and a path without .. that does not begin with /, as in TLS_KEY=tls/key.pem"
    for (const text of ["A", "A=", "=a", "1A=a", "A=/a", "A=..", "A=a/../b", "A=a//b", "A=./a", "A=a/"]) {
      assert.deepStrictEqual<unknown>(files("--file", text), { type: "wrong", message }, text)
    }
    assert.deepInclude(files("--files", "../x"), { type: "wrong" })
    assert.deepInclude(files("--file", "A=a", "--file", "A=b"), { message: "--file names A twice" })
  })
})
