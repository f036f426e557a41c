/** Packages of Debian and of RPM systems, by nfpm: one description makes both. */
import { execFile } from "node:child_process"
import { mkdir, readFile, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import { gzipSync } from "node:zlib"

/** The names of Node's processor architectures in the formats. */
const architectures = { arm64: { deb: "arm64", rpm: "aarch64" }, x64: { deb: "amd64", rpm: "x86_64" } }

/** Returns the nfpm of COFFER_NFPM or of the PATH, or undefined. */
export const findNfpm = async () => {
  const nfpm = process.env.COFFER_NFPM ?? "nfpm"
  try {
    await promisify(execFile)(nfpm, ["--version"])
    return nfpm
  } catch {
    return undefined
  }
}

/** Manual pages, where `man` looks for them. */
export const manualPages = (pages) =>
  Object.fromEntries(
    Object.entries(pages).map(([name, text]) => [`/usr/share/man/man1/${name}.gz`, gzipSync(text, { level: 9 })])
  )

/** One entry of a package. Nothing of it depends on the file that nfpm reads. */
const entryOf = async ([path, file], source) => {
  if (file.symlink !== undefined) return { src: file.symlink, dst: path, type: "symlink" }
  if (file.type === "dir") return { dst: path, ...file, file_info: { mode: 0o755, owner: "root", group: "root" } }
  await writeFile(source, file.content ?? file)
  const mode = file.mode ?? (file.executable ? 0o755 : 0o644)
  const { only: packager, type } = file
  return { src: source, dst: path, type, packager, file_info: { mode, owner: "root", group: "root" } }
}

/** The folders that only this package has. dpkg removes them with the files that are in them, RPM those that it knows. */
const foldersOf = (name, files) => {
  const own = [`/usr/lib/${name}/`, `/usr/share/doc/${name}/`]
  const above = (path) =>
    own.some((folder) => path.startsWith(folder)) ? [dirname(path), ...above(dirname(path))] : []
  const folders = new Set(Object.keys(files).flatMap(above))
  return Object.fromEntries([...folders].sort().map((path) => [path, { type: "dir", packager: "rpm" }]))
}

/** The scripts of a package, where nfpm reads them. */
const written = async (folder, scripts = {}) =>
  Object.fromEntries(
    await Promise.all(
      Object.entries(scripts).map(async ([name, text]) => {
        await writeFile(join(folder, name), text)
        return [name, join(folder, name)]
      })
    )
  )

/**
 * Returns both packages by file name.
 *
 * @param compression gzip, or zstd, which Debian 12, Ubuntu 22.04 and RPM systems of their time read
 * @param files the content by absolute path: a text, bytes, `{ content, executable, mode, type, only }` with a type of nfpm and
 *   the only format that has it, or `{ symlink }`
 * @param needs the packages that it depends on, of each format
 * @param scripts the scripts of the package by nfpm's names
 * @param time the seconds since 1970 that all entries bear
 */
export const systemPackages = async ({ name, nfpm, time, version, ...described }) => {
  const { compression, description, files, needs, scripts } = described
  const folder = join(described.folder, name)
  await mkdir(join(folder, "files"), { recursive: true })
  const contents = await Promise.all(
    Object.entries({ ...foldersOf(name, files), ...files }).map((one, index) =>
      entryOf(one, join(folder, "files", String(index)))
    )
  )
  const architecture = architectures[process.arch]
  const common = {
    name,
    arch: architecture.deb,
    version,
    mtime: new Date(time * 1000).toISOString(),
    maintainer: "The Coffer authors <coffer@example.com>",
    description,
    homepage: "https://coffer.example.com",
    license: "Apache-2.0",
    section: "admin",
    disable_globbing: true,
    contents,
    scripts: await written(folder, scripts),
    // Otherwise the name of this machine.
    rpm: { buildhost: "localhost", compression },
    deb: { compression },
    overrides: { deb: { depends: needs.deb }, rpm: { depends: needs.rpm } }
  }
  const config = join(folder, "nfpm.json")
  await writeFile(config, JSON.stringify(common))
  const names = {
    deb: `${name}_${version}_${architecture.deb}.deb`,
    rpm: `${name}-${version}.${architecture.rpm}.rpm`
  }
  const made = Object.entries(names).map(async ([packager, file]) => {
    const target = join(folder, file)
    await promisify(execFile)(nfpm, ["package", "--config", config, "--packager", packager, "--target", target])
    return [file, await readFile(target)]
  })
  return Object.fromEntries(await Promise.all(made))
}
