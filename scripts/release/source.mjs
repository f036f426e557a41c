/** The source that a signed release states: a commit, whose files and tag must be those of the release. */
import { execFileSync } from "node:child_process"

/** Returns the commit of a repository. Fails if files differ from it, or if its tag is of another version. */
export const commitOf = (folder, version) => {
  const git = (...words) => execFileSync("git", words, { cwd: folder, encoding: "utf8" }).trim()
  const changed = git("status", "--porcelain", "--untracked-files=no")
  if (changed !== "") throw new Error(`commit or undo what is changed, then sign the release:\n${changed}`)
  const tags = git("tag", "--points-at", "HEAD", "--list", "v[0-9]*").split("\n").filter(Boolean)
  if (tags.length > 0 && !tags.includes(`v${version}`)) {
    throw new Error(`the commit is tagged ${tags.join(", ")}, and package.json has the version ${version}`)
  }
  return git("rev-parse", "HEAD")
}
