/** A Homebrew formula and a Nix flake that install the tarballs of the release, pinned by their sums. */
import { createHash } from "node:crypto"
import { readFile } from "node:fs/promises"
import { root } from "../bundling.mjs"
import { sqlitePackages } from "./system/sqlite.mjs"

/** Where the files of a version are published. */
export const folderOf = (version) => process.env.COFFER_RELEASE_URL ?? `https://coffer.example.com/releases/${version}`

const digest = (content) => createHash("sha256").update(content)

const formula = (name, content, url) => `# Made by npm run release.
class Coffer < Formula
  desc "Command-line client of Coffer, and its tool server for AI agents"
  homepage "https://coffer.example.com"
  url "${url}/${name}"
  sha256 "${digest(content).digest("hex")}"
  license "Apache-2.0"

  depends_on "node"

  def install
    system "npm", "install", *std_npm_args
    bin.install_symlink libexec.glob("bin/*")
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/bash/coffer"
    fish_completion.install "completions/fish/coffer.fish"
    zsh_completion.install "completions/zsh/_coffer"
  end

  test do
    assert_equal version.to_s, shell_output("#{bin}/coffer --version").strip
  end
end
`

/** The locked packages of SQLite, with the hashes of the lockfile. */
const sqliteSources = async () => {
  const { packages } = JSON.parse(await readFile(new URL("package-lock.json", root), "utf8"))
  return sqlitePackages.map((name) => {
    const { integrity, version } = packages[`node_modules/${name}`]
    return `          {
            name = "${name}";
            src = pkgs.fetchurl {
              url = "https://registry.npmjs.org/${name}/-/${name}-${version}.tgz";
              hash = "${integrity}";
            };
          }`
  })
}

const wrapped = (programs) =>
  Object.entries(programs).map(
    ([name, path]) =>
      `            makeWrapper \${node}/bin/node $out/bin/${name} --add-flags $out/lib/node_modules/${path}`
  )

const derivation = ({ build = [], inputs, install, name, source }) => `pkgs.stdenv.mkDerivation {
          pname = "${name}";
          inherit version;
          src = pkgs.fetchurl {
            url = "\${folder}/${source.name}";
            hash = "sha256-${digest(source.content).digest("base64")}";
          };
          sourceRoot = "package";
          nativeBuildInputs = [ ${inputs.join(" ")} ];
${build.join("\n") || "          dontBuild = true;"}
          installPhase = ''
            runHook preInstall
${install.join("\n")}
            installManPage man/*.1
            runHook postInstall
          '';
        };`

const flake = ({ client, server, sources, url, version }) => `# Made by npm run release.
{
  description = "Coffer, a secrets manager";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-25.11";

  outputs = { self, nixpkgs }:
    let
      version = "${version}";
      folder = "${url}";
      systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
      packagesOf = pkgs: let
        node = pkgs.nodejs_24;
        # SQLite is compiled for this Node.
        sqlite = [
${sources.join("\n")}
        ];
      in rec {
        default = coffer;
        coffer = ${derivation({
          name: "coffer",
          source: client,
          inputs: ["pkgs.makeWrapper", "pkgs.installShellFiles"],
          install: [
            "            mkdir -p $out/lib/node_modules/coffer",
            "            cp -r . $out/lib/node_modules/coffer",
            ...wrapped({
              coffer: "coffer/cli/bin/coffer.js",
              "coffer-mcp": "coffer/mcp/bin/coffer-mcp.js",
              "docker-credential-coffer": "coffer/cli/bin/docker-credential-coffer.js"
            }),
            "            installShellCompletion --cmd coffer --bash completions/bash/coffer --fish completions/fish/coffer.fish --zsh completions/zsh/_coffer"
          ]
        })}
        coffer-server = ${derivation({
          name: "coffer-server",
          source: server,
          inputs: ["node", "pkgs.python3", "pkgs.makeWrapper", "pkgs.installShellFiles"],
          build: [
            "          buildPhase = ''",
            "            runHook preBuild",
            "            ${nixpkgs.lib.concatMapStrings ({ name, src }: ''",
            "              mkdir -p node_modules/${name}",
            "              tar -xzf ${src} --strip-components=1 -C node_modules/${name}",
            "            '') sqlite}",
            "            # See scripts/release/system/sqlite.mjs.",
            "            sed '/^ *\\(Add\\|Remove\\)CleanupHook();$/d' ${node}/include/node/node_object_wrap.h > $TMPDIR/node_object_wrap.h",
            '            (cd node_modules/better-sqlite3 && CXXFLAGS="-include $TMPDIR/node_object_wrap.h" HOME=$TMPDIR npm_config_nodedir=${node} npm run build-release)',
            "            mv node_modules/better-sqlite3/build/Release/better_sqlite3.node .",
            "            rm -r node_modules/better-sqlite3/{build,deps,src}",
            "            install -D better_sqlite3.node node_modules/better-sqlite3/build/Release/better_sqlite3.node",
            "            rm better_sqlite3.node",
            "            runHook postBuild",
            "          '';"
          ],
          install: [
            "            mkdir -p $out/lib/node_modules/@coffer/server",
            "            cp -r . $out/lib/node_modules/@coffer/server",
            ...wrapped({ "coffer-server": "@coffer/server/bin/coffer-server.js" })
          ]
        })}
      };
    in {
      packages = nixpkgs.lib.genAttrs systems (system: packagesOf nixpkgs.legacyPackages.\${system});
    };
}
`

/**
 * Returns the formula and the flake by path.
 *
 * @param files the tarballs by name
 */
export const recipes = async (files, version) => {
  const source = (name) => ({ name, content: files[name] })
  const client = source(`coffer-${version}.tgz`)
  const server = source(`coffer-server-${version}.tgz`)
  const url = folderOf(version)
  return {
    "Formula/coffer.rb": formula(client.name, client.content, url),
    "flake.nix": flake({ client, server, sources: await sqliteSources(), url, version })
  }
}
