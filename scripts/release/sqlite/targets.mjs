/**
 * The platforms whose SQLite is compiled, by the name of the package without its scope. `zig` is the platform as the compiler names
 * it, with the oldest system that Node itself runs on. Windows is missing: Node's headers for it need Microsoft's compiler.
 */
const linux = (cpu, architecture) => ({
  [`sqlite-linux-${cpu}`]: { os: "linux", cpu, libc: "glibc", zig: `${architecture}-linux-gnu.2.28` },
  [`sqlite-linux-${cpu}-musl`]: { os: "linux", cpu, libc: "musl", zig: `${architecture}-linux-musl` }
})

export const targets = {
  ...linux("x64", "x86_64"),
  ...linux("arm64", "aarch64"),
  "sqlite-darwin-x64": { os: "darwin", cpu: "x64", zig: "x86_64-macos.13.5" },
  "sqlite-darwin-arm64": { os: "darwin", cpu: "arm64", zig: "aarch64-macos.13.5" }
}

/** The Nodes that a package has a module for, by the version of their modules. The last ones of each run it too. */
export const nodes = { 115: "node-20", 127: "node-22", 137: "node-24", 147: "node-26" }

export const moduleOf = (abi) => `abi-${abi}.node`
