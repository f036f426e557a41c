/** The files that the packages `coffer` of Debian and RPM systems install. */
import { manualPages, systemPackages } from "./nfpm.mjs"

/** The names of completions that the shells look for. */
export const completionNames = { bash: "coffer", zsh: "_coffer", fish: "coffer.fish" }

const completions = ({ bash, fish, zsh }) => ({
  "/usr/share/bash-completion/completions/coffer": bash,
  "/usr/share/fish/vendor_completions.d/coffer.fish": fish,
  "/usr/share/zsh/vendor-completions/_coffer": { content: zsh, only: "deb" },
  "/usr/share/zsh/site-functions/_coffer": { content: zsh, only: "rpm" }
})

/** @param licences the texts by file name */
export const documents = (name, { LICENSE, ...others }, changelog) =>
  Object.fromEntries(
    Object.entries({ copyright: LICENSE, ...others, "CHANGELOG.md": changelog }).map(([file, text]) => [
      `/usr/share/doc/${name}/${file}`,
      text
    ])
  )

/**
 * Returns the packages of the client by file name.
 *
 * @param made what `executable` returns
 */
export const clientPackages = ({ changelog, made, pages, shells, ...common }) =>
  systemPackages({
    ...common,
    name: "coffer",
    compression: "gzip",
    description: "Coffer's command-line client and its tool server for AI agents",
    files: {
      "/usr/bin/coffer": made.program,
      "/usr/bin/coffer-mcp": { symlink: "coffer" },
      ...manualPages(pages),
      ...completions(shells),
      ...documents("coffer", made.licences, changelog)
    },
    // Those of the pinned Node.
    needs: {
      deb: ["libc6 (>= 2.28)", "libstdc++6 (>= 8)", "libgcc-s1 | libgcc1"],
      rpm: ["glibc >= 2.28", "libstdc++ >= 8", "libgcc"]
    }
  })
